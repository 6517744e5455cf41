package reslot

import (
	"context"
	"database/sql"
	"errors"
	"fmt"
	"strings"
	"testing"
	"time"

	"github.com/jmoiron/sqlx"

	"prescient/prescient"
	"prescient/prescient/client"
	"prescient/prescient/doctor"
	"prescient/prescient/internal/errno"
	"prescient/prescient/internal/literal"
	"prescient/prescient/internal/rig"
	"prescient/prescient/internal/store"
	"prescient/prescient/worker"
	"prescient/slots"
)

// reslotOn changes the resolution, without the long waits.
func (r *testRig) reslotOn(ctx context.Context, db *sqlx.DB, to time.Duration, change func(o *Options)) (Result, error) {
	r.T.Helper()
	o := Options{Prefix: "p_", Resolution: to, LeaseWait: -1, Batch: 3}
	if change != nil {
		change(&o)
	}
	job, err := newReslot(db, o)
	r.Must(err)
	job.oldShows = time.Millisecond
	err = job.run(ctx)
	return job.did, err
}

func (r *testRig) reslotTo(to time.Duration) Result {
	r.T.Helper()
	did, err := r.reslotOn(r.T.Context(), r.Pool(time.Time{}), to, nil)
	r.Must(err)
	return did
}

// onGrid checks what reslot promises about the tables: the resolution everywhere, no row early, none off the grid.
func (r *testRig) onGrid(resolution time.Duration, rows int) {
	r.T.Helper()
	tables, err := store.OpenTables(r.T.Context(), r.Root, "p_", resolution, r.Setting)
	r.Must(err)
	is, err := tables.ReadGridOfTable(r.T.Context(), r.Root)
	r.Must(err)
	if want := (store.TableGrid{Checked: resolution, Filled: resolution}); is != want {
		r.T.Errorf("the table has %+v; want %+v", is, want)
	}
	all := r.Pending()
	if len(all) != rows {
		r.T.Errorf("%d rows are pending; want %d", len(all), rows)
	}
	for _, job := range all {
		if !tables.Grid.On(job.NextCheckAt) || job.NextCheckAt.Before(job.DueAt) {
			r.T.Errorf("due at %s, waits for %s at a resolution of %s", job.DueAt, job.NextCheckAt, resolution)
		}
		if job.CheckCount == 0 && !job.FirstCheckAt.Equal(job.NextCheckAt) {
			r.T.Errorf("first check at %s, waits for %s", job.FirstCheckAt, job.NextCheckAt)
		}
	}
	// As any language would.
	r.Exec("INSERT INTO p_future_job (entity_name, entity_key, job_exec, due_at) VALUES ('plain', UUID(), 'x', '2026-11-20 13:00:00.000001')")
	var next string
	r.Must(r.Root.QueryRow("SELECT CAST(next_check_at AS CHAR) FROM p_future_job WHERE entity_name = 'plain'").Scan(&next))
	if want := rig.At("13:00").Add(resolution).Format(literal.SecondLayout); resolution < time.Hour && next != want {
		r.T.Errorf("a plain insert waits for %s; want %s", next, want)
	}
	r.Exec("DELETE FROM p_future_job WHERE entity_name = 'plain'")
	_, err = r.Root.Exec("UPDATE p_future_job SET next_check_at = next_check_at + INTERVAL 1 SECOND LIMIT 1")
	if rows > 0 && !errno.Is(err, errno.CheckMySQL, errno.CheckMariaDB) {
		r.T.Errorf("a row was put off the grid: %v", err)
	}
}

// spread makes rows pending, a few on each slot from 12:00 on, and moves one that was checked.
func (r *testRig) spread(n int) {
	r.T.Helper()
	jobs := make([]prescient.NewJob, n)
	for i := range jobs {
		jobs[i] = prescient.NewJob{Entity: rig.Order(fmt.Sprint(i)), JobExec: "check", DueAt: rig.At("12:00").Add(time.Duration(i) * 137 * time.Second)}
	}
	_, err := r.Client.InsertMany(r.T.Context(), r.AppAt(rig.At("11:00")), jobs)
	r.Must(err)
	r.Exec("UPDATE p_future_job SET check_count = 1, next_check_at = next_check_at + INTERVAL 15 MINUTE ORDER BY next_check_at DESC LIMIT 1")
}

func TestReslotPutsEveryRowOnTheNewGridAndNoneEarlier(t *testing.T) {
	eachServer(t, func(t *testing.T, r *testRig) {
		r.Needs(t, rig.ChangeOfResolution)
		r.spread(60)
		resolution := 15 * time.Minute
		for _, to := range []time.Duration{5 * time.Minute, 20 * time.Minute, time.Hour, 40 * time.Second, 15 * time.Minute, 24 * time.Hour} {
			before := make(map[prescient.Key]prescient.FutureJob)
			for _, job := range r.Pending() {
				before[job.Key()] = job
			}
			did := r.reslotTo(to)
			if did.From != resolution || did.To != to || did.Resumed {
				t.Errorf("reslot from %s to %s says %+v", resolution, to, did)
			}
			moved := 0
			for _, job := range r.Pending() {
				was := before[job.Key()]
				want := slots.Later(ceil(was.NextCheckAt, to), ceil(was.DueAt, to))
				if !job.NextCheckAt.Equal(want) {
					t.Errorf("to %s: %s, due at %s, went to %s; want %s", to, was.NextCheckAt, was.DueAt, job.NextCheckAt, want)
				}
				if changed := !job.NextCheckAt.Equal(was.NextCheckAt); changed != (job.Revision != was.Revision) {
					t.Errorf("to %s: slot %s to %s, revision %d to %d", to, was.NextCheckAt, job.NextCheckAt, was.Revision, job.Revision)
				} else if changed {
					moved++
				}
			}
			if moved != did.Rows {
				t.Errorf("to %s: %d rows moved, it says %d", to, moved, did.Rows)
			}
			r.onGrid(to, 60)
			resolution = to
		}
	})
}

// ceil rounds up by hand.
func ceil(t time.Time, to time.Duration) time.Time {
	if down := t.Truncate(to); !down.Equal(t) {
		return down.Add(to)
	}
	return t
}

var errKilled = errors.New("killed")

// Whatever statement was the last to go out, and whether or not its answer came: what is left can be run again.
func TestReslotKilledAtAnyStatementCompletesWhenItIsRunAgain(t *testing.T) {
	eachServer(t, func(t *testing.T, r *testRig) {
		r.Needs(t, rig.ChangeOfResolution)
		r.spread(20)
		resolutions := []time.Duration{20 * time.Minute, 15 * time.Minute}
		turn := 0
		for n := 1; ; n++ {
			for _, answered := range []bool{false, true} {
				to := resolutions[turn%2]
				turn++
				h := new(rig.Hooks)
				seen := 0
				die := func(string) error {
					if seen++; seen >= n {
						return errKilled
					}
					return nil
				}
				if answered {
					h.OnAnswer(die)
				} else {
					h.OnStatement(die)
				}
				pool := r.HookedAs("owner", time.Time{}, h)
				_, err := r.reslotOn(t.Context(), pool, to, nil)
				r.Must(pool.Close()) // as a process that dies: a transaction that it had open ends with its connection
				if err == nil {
					if n < 10 {
						t.Errorf("it took %d statements only", n)
					}
					r.onGrid(to, 20)
					return
				}
				if !rig.Contains(err, errKilled.Error()) {
					t.Fatalf("killed at statement %d: %v", n, err)
				}
				// Either nothing was begun or all was done, or nobody can start.
				if _, err := client.New(t.Context(), r.App, client.Options{Prefix: "p_", Dialect: r.Setting}); err != nil {
					rig.WantErr(t, "a client", err, prescient.ErrReslotting)
					_, err = worker.New(t.Context(), r.Pool(time.Time{}), worker.Options{Prefix: "p_"})
					rig.WantErr(t, "a worker", err, prescient.ErrReslotting)
				}
				r.reslotTo(to)
				r.onGrid(to, 20)
			}
		}
	})
}

func TestAnInterruptedReslotMayGoElsewhere(t *testing.T) {
	eachServer(t, func(t *testing.T, r *testRig) {
		r.Needs(t, rig.ChangeOfResolution)
		r.spread(20)
		h := new(rig.Hooks)
		var dead bool
		h.OnStatement(func(statement string) error {
			if dead = dead || strings.Contains(statement, "ADD CONSTRAINT"); dead {
				return errKilled
			}
			return nil
		})
		_, err := r.reslotOn(t.Context(), r.HookedAs("owner", time.Time{}, h), 20*time.Minute, nil)
		rig.WantErr(t, "reslot", err, errKilled)
		if !rig.Contains(err, "nothing runs until reslot is run again: reslot --resolution 20m0s") {
			t.Errorf("reslot says %v", err)
		}
		r.adviceIsToReslot(20 * time.Minute)
		if _, err := client.New(t.Context(), r.App, client.Options{Prefix: "p_", Dialect: r.Setting}); !rig.Contains(err, "from 15m to 20m", "Run reslot --resolution 20m") {
			t.Errorf("a client is told %v", err)
		}
		if did := r.reslotTo(15 * time.Minute); !did.Resumed || did.From != 15*time.Minute {
			t.Errorf("reslot says %+v", did)
		}
		r.onGrid(15*time.Minute, 20)
	})
}

// adviceIsToReslot wants no finding of doctor to call for anything else than the reslot that is unfinished.
func (r *testRig) adviceIsToReslot(to time.Duration) {
	r.T.Helper()
	findings, err := doctor.Examine(r.T.Context(), r.Pool(time.Time{}), doctor.Options{Prefix: "p_", Resolution: to})
	r.Must(err)
	seen := make(map[string]bool)
	for _, f := range findings {
		if !f.Severity.Wrong() {
			continue
		}
		seen[f.Code] = true
		switch kind, _, _ := strings.Cut(f.Code, "."); kind {
		case "reslot":
			if !strings.Contains(f.Do, fmt.Sprintf("reslot --resolution %s", to)) {
				r.T.Errorf("%+v", f)
			}
		case "resolution", "schema", "overdue", "missed", "rows":
			if f.Do != "End the reslot first, and run `doctor` again after that." {
				r.T.Errorf("%+v", f)
			}
		}
	}
	if !seen["reslot"] || !seen["resolution"] || !seen["rows.grid"] {
		r.T.Errorf("doctor found only %v", seen)
	}
}

func TestOldClientsAndWorkersStopAtAReslot(t *testing.T) {
	eachServer(t, func(t *testing.T, r *testRig) {
		r.Needs(t, rig.ChangeOfResolution)
		r.spread(20)
		w := r.Worker(rig.At("12:15"), rig.Registry("check", rig.NeverCalled, prescient.Guards{}), worker.Options{})
		l := r.Lease(rig.At("12:15"), rig.At("12:15"), "old")
		// A transaction whose snapshot is older than the change, so that slot_config looks as it was.
		old := rig.Begin(t, r.App, sql.LevelRepeatableRead)
		var n int
		r.Must(old.QueryRow("SELECT COUNT(*) FROM p_slot_config").Scan(&n))
		live := r.Worker(time.Time{}, prescient.NewRegistry(), worker.Options{})
		working := make(chan error, 1)
		go func() { working <- live.Work(t.Context()) }()
		r.reslotTo(20 * time.Minute)
		job := prescient.NewJob{Entity: rig.Order("new"), JobExec: "check", DueAt: rig.At("13:10")}
		_, err := r.Client.Insert(t.Context(), r.AppAt(rig.At("11:00")), job)
		rig.WantErr(t, "an insert", err, prescient.ErrConfigChanged)
		_, err = r.Client.InsertMany(t.Context(), r.AppAt(rig.At("11:00")), []prescient.NewJob{job})
		rig.WantErr(t, "an insert of many", err, prescient.ErrConfigChanged)
		job.DueAt = time.Now().Add(24 * time.Hour).Truncate(time.Hour).Add(10 * time.Minute)
		// The server itself refuses to read a table in a snapshot that is older than its definition.
		if _, err = r.Client.Insert(t.Context(), old, job); !errno.Is(err, errno.TableChanged) {
			rig.WantErr(t, "an insert in an old snapshot", err, prescient.ErrConfigChanged)
		}
		r.Must(old.Rollback())
		if l.Claim(time.Minute) {
			t.Error("a lease was taken at the version of before")
		}
		_, err = w.Run(t.Context())
		rig.WantErr(t, "a run", err, prescient.ErrConfigChanged)
		_, err = w.Sweep(t.Context())
		rig.WantErr(t, "a sweep", err, prescient.ErrConfigChanged)
		_, err = w.RollForward(t.Context(), nil)
		rig.WantErr(t, "rolling forward", err, prescient.ErrConfigChanged)
		rig.WantErr(t, "a worker that stays up", <-working, prescient.ErrConfigChanged)
		if len(r.History()) > 0 {
			t.Errorf("in history: %+v", r.History())
		}
	})
}

func TestReslotWaitsForLeasesOrTakesAllBack(t *testing.T) {
	eachServer(t, func(t *testing.T, r *testRig) {
		r.Needs(t, rig.ChangeOfResolution)
		r.spread(20)
		slot := r.InsertDue(1)
		held := r.Lease(time.Time{}, slot, "somebody")
		if !held.Claim(2 * time.Second) {
			t.Fatal("the lease was not to be had")
		}
		_, err := r.reslotOn(t.Context(), r.Pool(time.Time{}), 20*time.Minute, nil)
		rig.WantErr(t, "reslot under a lease", err, prescient.ErrLeased)
		if !rig.Contains(err, "somebody", slots.Stamp(slot)) {
			t.Errorf("reslot under a lease says: %v", err)
		}
		r.onGrid(15*time.Minute, 20)
		// Given back while it waits.
		r.Client, err = client.New(t.Context(), r.App, client.Options{Prefix: "p_", Dialect: r.Setting})
		r.Must(err)
		held.Renew(2 * time.Second)
		_, err = r.reslotOn(t.Context(), r.Pool(time.Time{}), 20*time.Minute, func(o *Options) {
			o.LeaseWait = time.Minute
			o.Progress = func(p Progress) {
				if p.Step == StepWait {
					held.Release()
				}
			}
		})
		r.Must(err)
		r.onGrid(20*time.Minute, 20)
	})
}

// A worker that froze under its lease, and wakes after the reslot, commits nothing.
func TestReslotFencesOffAFrozenWorker(t *testing.T) {
	eachServer(t, func(t *testing.T, r *testRig) {
		r.Needs(t, rig.ChangeOfResolution)
		h := new(rig.Hooks)
		r.Insert(rig.At("12:00"), prescient.NewJob{Entity: rig.Order("42"), JobExec: "check", DueAt: rig.At("13:00")})
		// Its clock stands at 13:00 and its lease is long over by that of the others.
		var once bool
		h.OnStatement(func(statement string) error {
			if !once && strings.Contains(statement, "batch_seq = batch_seq + 1") {
				once = true
				r.Exec("UPDATE p_slot_run SET allocated_until = UTC_TIMESTAMP(6) - INTERVAL 1 SECOND")
				r.reslotTo(30 * time.Minute)
			}
			return nil
		})
		calls := 0
		w := r.HookedWorker(rig.At("13:00"), h, rig.Registry("check", func(context.Context, prescient.FutureJob) (*time.Time, error) {
			calls++
			return nil, nil
		}, prescient.Guards{}), worker.Options{})
		figures, err := w.Run(t.Context())
		if err != nil {
			rig.WantErr(t, "the run", err, prescient.ErrConfigChanged)
		}
		if calls != 1 || figures.Ended() != 0 || len(r.History()) != 0 || !once {
			t.Errorf("%d calls, figures %+v, history %+v", calls, figures, r.History())
		}
		r.onGrid(30*time.Minute, 1)
		// Nothing is lost: it runs at the new resolution.
		r.RunAt(rig.At("13:00"), rig.Registry("check", func(context.Context, prescient.FutureJob) (*time.Time, error) { return nil, nil }, prescient.Guards{}), worker.Options{})
		if len(r.History()) != 1 || len(r.Pending()) != 0 {
			t.Errorf("pending %+v, history %+v", r.Pending(), r.History())
		}
	})
}

func TestRowsThatComeOffTheNewGridMeanwhileAreMovedToo(t *testing.T) {
	eachServer(t, func(t *testing.T, r *testRig) {
		r.Needs(t, rig.ChangeOfResolution)
		r.spread(5)
		h := new(rig.Hooks)
		h.Once("ADD CONSTRAINT", func() {
			r.Exec(`INSERT INTO p_future_job (entity_name, entity_key, job_exec, due_at, first_check_at, next_check_at)
				VALUES ('late', '1', 'check', '2026-11-20 13:10', '2026-11-20 13:15', '2026-11-20 13:15')`)
		})
		did, err := r.reslotOn(t.Context(), r.HookedAs("owner", time.Time{}, h), 20*time.Minute, nil)
		r.Must(err)
		if n := h.Count("ADD CONSTRAINT"); n != 2 || did.Rows == 0 {
			t.Errorf("the CHECK was added in %d tries, %d rows moved", n, did.Rows)
		}
		r.onGrid(20*time.Minute, 6)
	})
}

func TestReslotRefusesWhatIsNoResolution(t *testing.T) {
	eachServer(t, func(t *testing.T, r *testRig) {
		r.Needs(t, rig.ChangeOfResolution)
		for _, to := range []time.Duration{0, 7 * time.Minute, 500 * time.Millisecond, 48 * time.Hour} {
			_, err := Run(t.Context(), r.Pool(time.Time{}), Options{Prefix: "p_", Resolution: to})
			rig.WantErr(t, to.String(), err, prescient.ErrInvalid)
		}
		_, err := Run(t.Context(), r.Pool(time.Time{}), Options{Prefix: "none_", Resolution: time.Hour})
		rig.WantErr(t, "without tables", err, prescient.ErrNotMigrated)
		h := new(rig.Hooks)
		did, err := r.reslotOn(t.Context(), r.HookedAs("owner", time.Time{}, h), 15*time.Minute, nil)
		if err != nil || did.Rows != 0 || h.Count("UPDATE") != 0 {
			t.Errorf("to what it is: %+v, %v, %d updates", did, err, h.Count("UPDATE"))
		}
		if _, err := Run(t.Context(), r.Pool(time.Time{}), Options{Prefix: "p_", Resolution: time.Hour}); err != nil {
			t.Error(err)
		}
		r.onGrid(time.Hour, 0)
	})
}
