package schedule_test

import (
	"bytes"
	"context"
	"database/sql"
	"fmt"
	"maps"
	"slices"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/jmoiron/sqlx"
	"github.com/rs/zerolog"

	"prescient/prescient"
	"prescient/prescient/internal/errno"
	"prescient/prescient/internal/rig"
	"prescient/prescient/localserver/servertest"
	"prescient/prescient/longrun"
	"prescient/prescient/schedule"
	"prescient/prescient/worker"
)

// liveRig is a worker that runs slots of a second as they come, beside an agent for long runs, by the server's own clock.
type liveRig struct {
	*testRig
	stop func()
	left atomic.Int32 // slots that found no place

	longs  sync.Mutex
	called map[string]int // of long runs, by schedule
}

func eachLive(t *testing.T, test func(t *testing.T, r *liveRig)) {
	t.Parallel()
	servertest.Each(t, func(t *testing.T, d servertest.Database) {
		r := &liveRig{testRig: newRig(t, d, time.Second), called: make(map[string]int)}
		runner, err := longrun.New(t.Context(), r.As("worker", time.Time{}), longrun.Options{Prefix: "p_", Dialect: r.Setting, Name: "live", Rules: r.schedules, Capacity: 100})
		r.Must(err)
		r.Must(runner.Register(r.registry, "export", r.schedules.LongFunc(r.Pool(time.Time{}), func(_ context.Context, run schedule.Run, _ *longrun.Run) error {
			r.longs.Lock()
			defer r.longs.Unlock()
			r.called[run.Schedule]++
			return nil
		}), prescient.Guards{}))
		w := r.Worker(time.Time{}, r.registry, worker.Options{Name: "live", Sweep: worker.Sweep{Every: time.Second, Grace: 5 * time.Second}, Log: zerolog.New(zerolog.NewTestWriter(t)).Hook(r)})
		ctx, cancel := context.WithCancel(context.WithoutCancel(t.Context()))
		done := make(chan error, 1)
		go func() { done <- w.Work(ctx) }()
		r.stop = sync.OnceFunc(func() {
			cancel()
			r.Must(<-done)
			r.Must(runner.Drain(context.Background()))
		})
		t.Cleanup(r.stop)
		test(t, r)
	})
}

// Run implements zerolog.Hook.
func (r *liveRig) Run(_ *zerolog.Event, _ zerolog.Level, message string) {
	if strings.HasPrefix(message, "earlier slots are still being run") {
		r.left.Add(1)
	}
}

// calls is how often a long schedule was called.
func (r *liveRig) calls(id string) int {
	r.longs.Lock()
	defer r.longs.Unlock()
	return r.called[id]
}

// every makes a schedule that fires each second.
func (r *liveRig) every(id string, change func(s *schedule.Schedule)) schedule.Schedule {
	r.T.Helper()
	s := schedule.Schedule{ID: id, Crontabs: []string{"@every 1s"}, JobExec: "digest"}
	if change != nil {
		change(&s)
	}
	_, err := r.schedules.Create(r.T.Context(), r.App, s)
	r.Must(err)
	return s
}

// long makes it one of long runs. Slots of a second begin by some milliseconds more or less than that one after the other.
func long(s *schedule.Schedule) {
	s.JobExec, s.Long, s.Tolerance = "export", true, time.Second
}

// hold has somebody do something in a transaction that stays open until letGo. Where it deadlocks with what a worker does, it is begun again.
func (r *liveRig) hold(db *sql.DB, level sql.IsolationLevel, do func(tx *sql.Tx) error) (letGo func()) {
	r.T.Helper()
	for {
		tx, err := db.BeginTx(context.WithoutCancel(r.T.Context()), &sql.TxOptions{Isolation: level})
		r.Must(err)
		r.T.Cleanup(func() { _ = tx.Rollback() })
		if err = do(tx); errno.RolledBack(err) {
			_ = tx.Rollback()
			continue
		}
		r.Must(err)
		return func() { r.Must(tx.Commit()) }
	}
}

// heldSlots is for how many slots something is held.
const heldSlots = 11

// apart returns the ids of schedules that are held, of those beside them, and of the others, none of which has its rows beside those that are
// held: on MariaDB a row that moves also locks the one after it in UNIQUE (job_key).
func apart(held int) (of, beside, others []string) {
	ids := make([]string, 4*held)
	for i := range ids {
		ids[i] = fmt.Sprint("s-", i)
	}
	slices.SortFunc(ids, func(a, b string) int {
		first, _ := prescient.Entity{Name: prescient.ScheduleEntity, Key: a}.KeyRange()
		second, _ := prescient.Entity{Name: prescient.ScheduleEntity, Key: b}.KeyRange()
		return bytes.Compare(first[:], second[:])
	})
	for some := range slices.Chunk(ids, 4) {
		beside, of, others = append(beside, some[0], some[2]), append(of, some[1]), append(others, some[3])
	}
	return of, beside, others
}

// holds are what an app, or somebody by plain SQL, does with a schedule in a transaction that stays open.
var holds = map[string]func(r *liveRig, tx *sql.Tx, s schedule.Schedule) error{
	"run now": func(r *liveRig, tx *sql.Tx, s schedule.Schedule) error {
		_, err := r.schedules.RunNow(r.T.Context(), tx, s.ID)
		return err
	},
	"create": func(r *liveRig, tx *sql.Tx, s schedule.Schedule) error {
		created, err := r.schedules.Create(r.T.Context(), tx, s)
		if created {
			r.T.Errorf("%s was not there", s.ID)
		}
		return err
	},
	"update": func(r *liveRig, tx *sql.Tx, s schedule.Schedule) error {
		s.Payload = []byte("another")
		_, err := r.schedules.Update(r.T.Context(), tx, s)
		return err
	},
	"pause": func(r *liveRig, tx *sql.Tx, s schedule.Schedule) error {
		if _, err := r.schedules.Pause(r.T.Context(), tx, s.ID); err != nil {
			return err
		}
		_, err := r.schedules.Resume(r.T.Context(), tx, s.ID)
		return err
	},
	"delete": func(r *liveRig, tx *sql.Tx, s schedule.Schedule) error {
		if _, err := r.schedules.Delete(r.T.Context(), tx, s.ID); err != nil {
			return err
		}
		_, err := r.schedules.Create(r.T.Context(), tx, s)
		return err
	},
	"row": func(_ *liveRig, tx *sql.Tx, s schedule.Schedule) error {
		var n int
		return tx.QueryRow("SELECT 1 FROM p_schedule WHERE id = ? FOR UPDATE", s.ID).Scan(&n)
	},
	"shared row": func(_ *liveRig, tx *sql.Tx, s schedule.Schedule) error {
		var n int
		return tx.QueryRow("SELECT 1 FROM p_schedule WHERE id = ? LOCK IN SHARE MODE", s.ID).Scan(&n)
	},
}

// Whatever is held of one schedule in a transaction that stays open, all others fire in their slots.
func TestAnOpenTransactionOnAScheduleHoldsUpNoOther(t *testing.T) {
	eachLive(t, func(t *testing.T, r *liveRig) {
		held, beside, others := apart(len(holds) + 2)
		all := make(map[string]schedule.Schedule)
		for i, id := range held {
			all[id] = r.every(id, func(s *schedule.Schedule) {
				if long(s); i == 0 {
					s.Overlap = longrun.Queue
				}
			})
		}
		for _, id := range beside {
			r.every(id, nil)
		}
		longOnes := others[:2]
		for i, id := range others {
			all[id] = r.every(id, func(s *schedule.Schedule) {
				if i < len(longOnes) {
					long(s)
					s.Crontabs, s.Tolerance = []string{"@every 5s"}, 5*time.Second // the one before it is over by then, however late it was
				}
			})
		}
		r.Eventually("all fire", func() bool {
			return !slices.ContainsFunc(append(held, longOnes...), func(id string) bool { return r.calls(id) == 0 }) && len(r.seen()) == len(beside)+len(others)-len(longOnes)
		})
		letGo := []func(){
			r.hold(r.App, sql.LevelReadCommitted, func(tx *sql.Tx) error { return holds["run now"](r, tx, all[held[0]]) }),
			r.hold(r.Root, sql.LevelReadCommitted, func(tx *sql.Tx) error {
				var keys []string // by a range, or a scan of a small table, runs of others would be locked, too
				r.Must(sqlx.NewDb(r.Root, "mysql").Select(&keys, "SELECT HEX(job_key) FROM p_long_run WHERE schedule_id = ?", held[1]))
				_, err := tx.Exec("UPDATE p_long_run FORCE INDEX (PRIMARY) SET takeovers = takeovers WHERE job_key IN (X'" + strings.Join(keys, "', X'") + "')")
				return err
			}),
		}
		for i, what := range slices.Sorted(maps.Keys(holds)) {
			letGo = append(letGo, r.hold(r.App, sql.LevelReadCommitted, func(tx *sql.Tx) error { return holds[what](r, tx, all[held[i+2]]) }))
		}
		var from string
		r.Must(r.Root.QueryRow("SELECT CAST(UTC_TIMESTAMP(6) AS CHAR)").Scan(&from))
		time.Sleep(heldSlots * time.Second) // slots come by the server's clock
		r.fired(from, others)
		before := make(map[string]int)
		for _, id := range held {
			before[id] = r.calls(id)
		}
		for _, do := range letGo {
			do()
		}
		for _, id := range held {
			r.Eventually(id+" goes on", func() bool { return r.calls(id) > before[id]+1 })
		}
		r.stop()
		if n := r.left.Load(); n > 0 {
			t.Errorf("%d slots found no place", n)
		}
		r.Balanced()
	})
}

// fired makes sure, while something is held still, that each of some schedules was called in its slots, from a time on: what waits for what is
// held would not be.
func (r *liveRig) fired(from string, ids []string) {
	r.T.Helper()
	of := "job_exec <> 'schedule.fire' AND entity_key IN ('" + strings.Join(ids, "','") + "') AND due_at > '" + from + "' AND due_at <= '" + from + "' + INTERVAL 10 SECOND"
	r.Eventually("all of those slots have run", func() bool {
		return r.Count("SELECT COUNT(*) FROM p_job_history WHERE "+of) == 10*(len(ids)-2)+2*2
	})
	if ends := r.Tally("SELECT outcome, COUNT(*) FROM p_job_history WHERE " + of + " AND outcome <> 'done' GROUP BY 1"); len(ends) > 0 {
		r.T.Errorf("ended otherwise: %v", ends)
	}
}

// seen are the schedules whose runs were called.
func (r *liveRig) seen() []string {
	r.mu.Lock()
	defer r.mu.Unlock()
	var ids []string
	for _, run := range r.runs {
		ids = append(ids, run.Schedule)
	}
	slices.Sort(ids)
	return slices.Compact(ids)
}

// A timer that is to write to its schedule, which somebody has locked, waits for that alone: all others of its slot move on, and it does so
// in the same slot once the schedule is free.
func TestATimerWaitsForItsLockedScheduleAlone(t *testing.T) {
	eachServer(t, func(t *testing.T, r *testRig) {
		for _, id := range []string{"a", "locked", "z"} {
			r.create("10:00", schedule.Schedule{ID: id, Crontabs: []string{"0 * * * *"}, JobExec: "digest", CatchUp: schedule.Skip})
		}
		r.Exec("DELETE FROM p_future_job WHERE job_exec = 'digest'") // so that the occurrence is missed, which is to be counted
		tx, err := r.Root.BeginTx(context.WithoutCancel(t.Context()), &sql.TxOptions{Isolation: sql.LevelReadCommitted})
		r.Must(err)
		defer tx.Rollback()
		var n int
		r.Must(tx.QueryRow("SELECT 1 FROM p_schedule WHERE id = 'locked' FOR UPDATE").Scan(&n))
		swept := make(chan struct{})
		go func() {
			defer close(swept)
			r.sweep("13:15")
		}()
		r.Eventually("the others have moved on", func() bool {
			return r.Count("SELECT COUNT(*) FROM p_future_job WHERE job_exec = 'schedule.fire' AND entity_key <> 'locked' AND due_at > ?", rig.At("12:00")) == 2
		})
		r.wantTimer("locked", "11:00")
		r.Must(tx.Rollback())
		<-swept
		r.sweep("13:15")
		r.wantTimer("locked", "13:00")
		if n := r.Count("SELECT COUNT(*) FROM p_schedule WHERE passed_over = 1"); n != 3 {
			t.Errorf("%d of 3 have counted what they passed over", n)
		}
		r.Balanced()
	})
}
