package prescient

import (
	"context"
	"database/sql"
	"errors"
	"fmt"
	"strings"
	"testing"
	"time"

	"github.com/jmoiron/sqlx"
)

// reslotOn changes the resolution, without the long waits.
func (r *rig) reslotOn(ctx context.Context, db *sqlx.DB, to time.Duration, change func(o *ReslotOptions)) (Reslotted, error) {
	r.t.Helper()
	o := ReslotOptions{Prefix: "p_", Resolution: to, LeaseWait: -1, Batch: 3}
	if change != nil {
		change(&o)
	}
	job, err := newReslot(db, o)
	r.must(err)
	job.settle = time.Millisecond
	err = job.run(ctx)
	return job.did, err
}

func (r *rig) reslotTo(to time.Duration) Reslotted {
	r.t.Helper()
	did, err := r.reslotOn(r.t.Context(), r.pool(time.Time{}), to, nil)
	r.must(err)
	return did
}

// onGrid checks what reslot promises about the tables: the resolution everywhere, no row early, none off the grid.
func (r *rig) onGrid(resolution time.Duration, rows int) {
	r.t.Helper()
	tables, err := openTables(r.t.Context(), r.root, "p_", resolution)
	r.must(err)
	is, err := tables.readGridOfTable(r.t.Context(), r.root)
	r.must(err)
	if want := (tableGrid{checked: resolution, filled: resolution}); is != want {
		r.t.Errorf("the table has %+v; want %+v", is, want)
	}
	all := r.pending()
	if len(all) != rows {
		r.t.Errorf("%d rows are pending; want %d", len(all), rows)
	}
	for _, job := range all {
		if !tables.grid.On(job.NextCheckAt) || job.NextCheckAt.Before(job.DueAt) {
			r.t.Errorf("due at %s, waits for %s at a resolution of %s", job.DueAt, job.NextCheckAt, resolution)
		}
		if job.CheckCount == 0 && !job.FirstCheckAt.Equal(job.NextCheckAt) {
			r.t.Errorf("first check at %s, waits for %s", job.FirstCheckAt, job.NextCheckAt)
		}
	}
	// As any language would.
	r.exec("INSERT INTO p_future_job (entity_name, entity_key, job_exec, due_at) VALUES ('plain', UUID(), 'x', '2026-11-20 13:00:00.000001')")
	var next string
	r.must(r.root.QueryRow("SELECT CAST(next_check_at AS CHAR) FROM p_future_job WHERE entity_name = 'plain'").Scan(&next))
	if want := at("13:00").Add(resolution).Format(secondLayout); resolution < time.Hour && next != want {
		r.t.Errorf("a plain insert waits for %s; want %s", next, want)
	}
	r.exec("DELETE FROM p_future_job WHERE entity_name = 'plain'")
	_, err = r.root.Exec("UPDATE p_future_job SET next_check_at = next_check_at + INTERVAL 1 SECOND LIMIT 1")
	if rows > 0 && !isError(err, errCheckMySQL, errCheckMariaDB) {
		r.t.Errorf("a row was put off the grid: %v", err)
	}
}

// spread makes rows pending, a few on each slot from 12:00 on, and moves one that was checked.
func (r *rig) spread(n int) {
	r.t.Helper()
	jobs := make([]NewJob, n)
	for i := range jobs {
		jobs[i] = NewJob{Entity: order(fmt.Sprint(i)), JobExec: "check", DueAt: at("12:00").Add(time.Duration(i) * 137 * time.Second)}
	}
	_, err := r.client.InsertMany(r.t.Context(), r.appAt(at("11:00")), jobs)
	r.must(err)
	r.exec("UPDATE p_future_job SET check_count = 1, next_check_at = next_check_at + INTERVAL 15 MINUTE ORDER BY next_check_at DESC LIMIT 1")
}

func TestReslotPutsEveryRowOnTheNewGridAndNoneEarlier(t *testing.T) {
	eachServer(t, func(t *testing.T, r *rig) {
		r.needs(t, changeOfResolution)
		r.spread(60)
		resolution := 15 * time.Minute
		for _, to := range []time.Duration{5 * time.Minute, 20 * time.Minute, time.Hour, 40 * time.Second, 15 * time.Minute, 24 * time.Hour} {
			before := make(map[Key]FutureJob)
			for _, job := range r.pending() {
				before[job.Key()] = job
			}
			did := r.reslotTo(to)
			if did.From != resolution || did.To != to || did.Resumed {
				t.Errorf("reslot from %s to %s says %+v", resolution, to, did)
			}
			moved := 0
			for _, job := range r.pending() {
				was := before[job.Key()]
				want := later(ceil(was.NextCheckAt, to), ceil(was.DueAt, to))
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
	eachServer(t, func(t *testing.T, r *rig) {
		r.needs(t, changeOfResolution)
		r.spread(20)
		resolutions := []time.Duration{20 * time.Minute, 15 * time.Minute}
		turn := 0
		for n := 1; ; n++ {
			for _, answered := range []bool{false, true} {
				to := resolutions[turn%2]
				turn++
				h := new(hooks)
				seen := 0
				die := func(string) error {
					if seen++; seen >= n {
						return errKilled
					}
					return nil
				}
				if answered {
					h.onAnswer(die)
				} else {
					h.onStatement(die)
				}
				_, err := r.reslotOn(t.Context(), r.hookedAs("owner", time.Time{}, h), to, nil)
				if err == nil {
					if n < 10 {
						t.Errorf("it took %d statements only", n)
					}
					r.onGrid(to, 20)
					return
				}
				if !contains(err, errKilled.Error()) {
					t.Fatalf("killed at statement %d: %v", n, err)
				}
				// Either nothing was begun or all was done, or nobody can start.
				if _, err := NewClient(t.Context(), r.app, ClientOptions{Prefix: "p_"}); err != nil {
					wantErr(t, "a client", err, ErrReslotting)
					_, err = NewWorker(t.Context(), r.pool(time.Time{}), WorkerOptions{Prefix: "p_"})
					wantErr(t, "a worker", err, ErrReslotting)
				}
				r.reslotTo(to)
				r.onGrid(to, 20)
			}
		}
	})
}

func TestAnInterruptedReslotMayGoElsewhere(t *testing.T) {
	eachServer(t, func(t *testing.T, r *rig) {
		r.needs(t, changeOfResolution)
		r.spread(20)
		h := new(hooks)
		var dead bool
		h.onStatement(func(statement string) error {
			if dead = dead || strings.Contains(statement, "ADD CONSTRAINT"); dead {
				return errKilled
			}
			return nil
		})
		_, err := r.reslotOn(t.Context(), r.hookedAs("owner", time.Time{}, h), 20*time.Minute, nil)
		wantErr(t, "reslot", err, errKilled)
		if !contains(err, "nothing runs until reslot is run again, such as reslot --resolution 20m0s") {
			t.Errorf("reslot says %v", err)
		}
		r.adviceIsToReslot(20 * time.Minute)
		if _, err := NewClient(t.Context(), r.app, ClientOptions{Prefix: "p_"}); !contains(err, "15m0s", "20m0s", "run reslot again") {
			t.Errorf("a client is told %v", err)
		}
		if did := r.reslotTo(15 * time.Minute); !did.Resumed || did.From != 15*time.Minute {
			t.Errorf("reslot says %+v", did)
		}
		r.onGrid(15*time.Minute, 20)
	})
}

// adviceIsToReslot wants no finding of doctor to call for anything else than the reslot that is unfinished.
func (r *rig) adviceIsToReslot(to time.Duration) {
	r.t.Helper()
	findings := r.examine(time.Time{}, DoctorOptions{Resolution: to})
	seen := make(map[string]bool)
	for _, f := range findings {
		if f.Severity == SeverityOK {
			continue
		}
		seen[f.Code] = true
		switch kind, _, _ := strings.Cut(f.Code, "."); kind {
		case "reslot":
			if !strings.Contains(f.Do, fmt.Sprintf("reslot --resolution %s", to)) {
				r.t.Errorf("%+v", f)
			}
		case "resolution", "schema", "overdue", "missed", "rows":
			if f.Do != "see reslot first, and look again when it is done" {
				r.t.Errorf("%+v", f)
			}
		}
	}
	if !seen["reslot"] || !seen["resolution"] || !seen["rows.grid"] {
		r.t.Errorf("doctor found only %v", seen)
	}
}

func TestOldClientsAndWorkersStopAtAReslot(t *testing.T) {
	eachServer(t, func(t *testing.T, r *rig) {
		r.needs(t, changeOfResolution)
		r.spread(20)
		w := r.worker(at("12:15"), registry("check", neverCalled, Guards{}), WorkerOptions{})
		list, err := w.openSlotRun(t.Context(), at("12:15"))
		r.must(err)
		// A transaction whose snapshot is older than the change, so that slot_config looks as it was.
		old := begin(t, r.app, sql.LevelRepeatableRead)
		var n int
		r.must(old.QueryRow("SELECT COUNT(*) FROM p_slot_config").Scan(&n))
		live := r.worker(time.Time{}, NewRegistry(), WorkerOptions{})
		working := make(chan error, 1)
		go func() { working <- live.Work(t.Context()) }()
		r.reslotTo(20 * time.Minute)
		job := NewJob{Entity: order("new"), JobExec: "check", DueAt: at("13:10")}
		_, err = r.client.Insert(t.Context(), r.appAt(at("11:00")), job)
		wantErr(t, "an insert", err, ErrConfigChanged)
		_, err = r.client.InsertMany(t.Context(), r.appAt(at("11:00")), []NewJob{job})
		wantErr(t, "an insert of many", err, ErrConfigChanged)
		job.DueAt = time.Now().Add(24 * time.Hour).Truncate(time.Hour).Add(10 * time.Minute)
		// The server itself refuses to read a table in a snapshot that is older than its definition.
		if _, err = r.client.Insert(t.Context(), old, job); !isError(err, errTableChanged) {
			wantErr(t, "an insert in an old snapshot", err, ErrConfigChanged)
		}
		r.must(old.Rollback())
		if l, err := w.claim(t.Context(), at("12:15"), list[0]); l != nil || err != nil {
			t.Errorf("claimed %+v, %v", l, err)
		}
		_, err = w.Run(t.Context())
		wantErr(t, "a run", err, ErrConfigChanged)
		_, err = w.Sweep(t.Context())
		wantErr(t, "a sweep", err, ErrConfigChanged)
		_, err = w.RollForward(t.Context(), nil)
		wantErr(t, "rolling forward", err, ErrConfigChanged)
		wantErr(t, "a worker that stays up", <-working, ErrConfigChanged)
		if len(r.history()) > 0 {
			t.Errorf("in history: %+v", r.history())
		}
	})
}

func TestReslotWaitsForLeasesOrTakesAllBack(t *testing.T) {
	eachServer(t, func(t *testing.T, r *rig) {
		r.needs(t, changeOfResolution)
		r.spread(20)
		w := r.worker(time.Time{}, NewRegistry(), WorkerOptions{Lease: 2 * time.Second})
		slot := r.insertDue(1)
		list, err := w.openSlotRun(t.Context(), slot)
		r.must(err)
		held, err := w.claim(t.Context(), slot, list[0])
		r.must(err)
		_, err = r.reslotOn(t.Context(), r.pool(time.Time{}), 20*time.Minute, nil)
		wantErr(t, "reslot under a lease", err, ErrLeased)
		if !contains(err, w.Name(), stamp(slot)) {
			t.Errorf("reslot under a lease says: %v", err)
		}
		r.onGrid(15*time.Minute, 20)
		// Given back while it waits.
		r.client, err = NewClient(t.Context(), r.app, ClientOptions{Prefix: "p_"})
		r.must(err)
		r.must(w.renew(t.Context(), held))
		_, err = r.reslotOn(t.Context(), r.pool(time.Time{}), 20*time.Minute, func(o *ReslotOptions) {
			o.LeaseWait = time.Minute
			o.Progress = func(p ReslotProgress) {
				if p.Step == ReslotWait {
					r.must(w.release(t.Context(), held, false))
				}
			}
		})
		r.must(err)
		r.onGrid(20*time.Minute, 20)
	})
}

// A worker that froze under its lease, and wakes after the reslot, commits nothing.
func TestReslotFencesOffAFrozenWorker(t *testing.T) {
	eachServer(t, func(t *testing.T, r *rig) {
		r.needs(t, changeOfResolution)
		h := new(hooks)
		r.insert(at("12:00"), NewJob{Entity: order("42"), JobExec: "check", DueAt: at("13:00")})
		// Its clock stands at 13:00 and its lease is long over by that of the others.
		var once bool
		h.onStatement(func(statement string) error {
			if !once && strings.Contains(statement, "batch_seq = batch_seq + 1") {
				once = true
				r.exec("UPDATE p_slot_run SET allocated_until = UTC_TIMESTAMP(6) - INTERVAL 1 SECOND")
				r.reslotTo(30 * time.Minute)
			}
			return nil
		})
		calls := 0
		w := r.hookedWorker(at("13:00"), h, registry("check", func(context.Context, FutureJob) (*time.Time, error) {
			calls++
			return nil, nil
		}, Guards{}), WorkerOptions{})
		figures, err := w.Run(t.Context())
		if err != nil {
			wantErr(t, "the run", err, ErrConfigChanged)
		}
		if calls != 1 || figures.Ended() != 0 || len(r.history()) != 0 || !once {
			t.Errorf("%d calls, figures %+v, history %+v", calls, figures, r.history())
		}
		r.onGrid(30*time.Minute, 1)
		// Nothing is lost: it runs at the new resolution.
		r.runAt(at("13:00"), registry("check", func(context.Context, FutureJob) (*time.Time, error) { return nil, nil }, Guards{}), WorkerOptions{})
		if len(r.history()) != 1 || len(r.pending()) != 0 {
			t.Errorf("pending %+v, history %+v", r.pending(), r.history())
		}
	})
}

func TestRowsThatComeOffTheNewGridMeanwhileAreMovedToo(t *testing.T) {
	eachServer(t, func(t *testing.T, r *rig) {
		r.needs(t, changeOfResolution)
		r.spread(5)
		h := new(hooks)
		h.once("ADD CONSTRAINT", func() {
			r.exec(`INSERT INTO p_future_job (entity_name, entity_key, job_exec, due_at, first_check_at, next_check_at)
				VALUES ('late', '1', 'check', '2026-11-20 13:10', '2026-11-20 13:15', '2026-11-20 13:15')`)
		})
		did, err := r.reslotOn(t.Context(), r.hookedAs("owner", time.Time{}, h), 20*time.Minute, nil)
		r.must(err)
		if n := h.count("ADD CONSTRAINT"); n != 2 || did.Rows == 0 {
			t.Errorf("the CHECK was added in %d tries, %d rows moved", n, did.Rows)
		}
		r.onGrid(20*time.Minute, 6)
	})
}

func TestReslotRefusesWhatIsNoResolution(t *testing.T) {
	eachServer(t, func(t *testing.T, r *rig) {
		r.needs(t, changeOfResolution)
		for _, to := range []time.Duration{0, 7 * time.Minute, 500 * time.Millisecond, 48 * time.Hour} {
			_, err := Reslot(t.Context(), r.pool(time.Time{}), ReslotOptions{Prefix: "p_", Resolution: to})
			wantErr(t, to.String(), err, ErrInvalid)
		}
		_, err := Reslot(t.Context(), r.pool(time.Time{}), ReslotOptions{Prefix: "none_", Resolution: time.Hour})
		wantErr(t, "without tables", err, ErrNotMigrated)
		h := new(hooks)
		did, err := r.reslotOn(t.Context(), r.hookedAs("owner", time.Time{}, h), 15*time.Minute, nil)
		if err != nil || did.Rows != 0 || h.count("UPDATE") != 0 {
			t.Errorf("to what it is: %+v, %v, %d updates", did, err, h.count("UPDATE"))
		}
		if _, err := Reslot(t.Context(), r.pool(time.Time{}), ReslotOptions{Prefix: "p_", Resolution: time.Hour}); err != nil {
			t.Error(err)
		}
		r.onGrid(time.Hour, 0)
	})
}
