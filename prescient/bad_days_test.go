package prescient

import (
	"context"
	"fmt"
	"runtime"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/go-sql-driver/mysql"
	"github.com/jmoiron/sqlx"

	"prescient/prescient/internal/chaos/wire"
)

// footprint is the most that a run had of what has to be bounded, seen from inside of its calls.
type footprint struct {
	mu                             sync.Mutex
	db                             *sqlx.DB
	running                        int
	before                         int // goroutines of others
	calls, goroutines, connections int // at a time, at most
}

// starts says that a run is about to start, which has db.
func (f *footprint) starts(db *sqlx.DB) {
	f.db, f.before = db, runtime.NumGoroutine()
}

// within fails the test where a run had more at a time than this; of goroutines, besides those that were there before.
// How much of it a run has while a call looks is luck, so that these are bounds for the run's options, and not what
// another run was seen to have.
func (f *footprint) within(t *testing.T, calls, goroutines, connections int) {
	t.Helper()
	if own := f.goroutines - f.before; f.calls > calls || own > goroutines || f.connections > connections {
		t.Errorf("at most at a time: %d calls, %d goroutines, %d connections; want %d, %d and %d", f.calls, own, f.connections,
			calls, goroutines, connections)
	}
}

// during counts a call while it runs.
func (f *footprint) during(call func()) {
	f.mu.Lock()
	f.running++
	f.look()
	f.mu.Unlock()
	call()
	f.mu.Lock()
	defer f.mu.Unlock()
	f.look()
	f.running--
}

func (f *footprint) look() {
	f.calls = max(f.calls, f.running)
	f.goroutines = max(f.goroutines, runtime.NumGoroutine())
	f.connections = max(f.connections, f.db.Stats().OpenConnections)
}

// manyDue makes rows pending for a slot.
func (r *rig) manyDue(slot time.Time, exec string, from, to int) {
	r.t.Helper()
	jobs := make([]NewJob, 0, to-from)
	for i := from; i < to; i++ {
		jobs = append(jobs, NewJob{Entity: Entity{"order", fmt.Sprint(i)}, JobExec: exec, DueAt: slot})
	}
	_, err := r.client.InsertMany(r.t.Context(), r.appAt(slot.Add(-15*time.Minute)), jobs)
	r.must(err)
}

// A slot ten times larger than any before is seen to come, and takes longer, but no more of anything else.
func TestASlotTenTimesLargerThanAnyBeforeTakesNoMoreThanTime(t *testing.T) {
	eachServer(t, func(t *testing.T, r *rig) {
		const usual = 200
		var c calls
		for i, clock := range []string{"13:15", "13:30"} {
			n := usual
			if i == 1 {
				n *= 10
			}
			r.manyDue(at(clock), "check", i*usual, i*usual+n)
			load, err := r.client.Load(t.Context(), r.pool(time.Time{}), at(clock), at(clock).Add(time.Hour), 10)
			if err != nil || len(load) != 1 || !load[0].Slot.Equal(at(clock)) || load[0].Jobs != n {
				t.Fatalf("the load that is coming: %+v, %v; want %d at %s", load, err, n, clock)
			}
			var f footprint
			execs := registry("check", func(ctx context.Context, job FutureJob) (next *time.Time, err error) {
				f.during(func() { next, err = c.count(ctx, job) })
				return next, err
			}, Guards{})
			w := r.worker(at(clock), execs, WorkerOptions{Concurrency: 8, Buckets: 2, Batch: 50})
			f.starts(w.db)
			figures, err := w.Run(t.Context())
			if err != nil || figures.Done != n {
				t.Fatalf("%d due: %+v, %v", n, figures, err)
			}
			f.within(t, 8, 40, 6)
		}
		c.eachOnce(t, 11*usual)
		r.balanced()
	})
}

// A job_exec that was quick and suddenly takes long makes only its own rows late: slots come and go meanwhile. The ledger
// shows which slot is not done, and the load what of it is late.
func TestAJobExecThatSuddenlyTakesLongMakesOnlyItselfLate(t *testing.T) {
	eachServerAt(t, time.Second, func(t *testing.T, r *rig) {
		const rows, places = 60, 4
		var c calls
		var slow atomic.Bool
		var f footprint
		stuck, release := make(chan struct{}, rows), make(chan struct{})
		execs := registry("suddenly", func(ctx context.Context, job FutureJob) (next *time.Time, err error) {
			f.during(func() {
				if slow.Load() {
					stuck <- struct{}{}
					<-release
				}
				next, err = c.count(ctx, job)
			})
			return next, err
		}, Guards{Concurrency: places})
		execs.MustRegister("other", func(ctx context.Context, job FutureJob) (next *time.Time, err error) {
			f.during(func() { next, err = c.count(ctx, job) })
			return next, err
		}, Guards{})
		w := r.worker(time.Time{}, execs, WorkerOptions{Concurrency: 8, Batch: 20, SweepEvery: 100 * time.Millisecond, SweepGrace: time.Second})
		f.starts(w.db)
		// next makes rows due in a slot to come, with numbers that no others have.
		made := 0
		next := func(exec string, n int) (slot time.Time) {
			now, err := w.Now(t.Context())
			r.must(err)
			slot = r.client.grid.Ceil(now.Add(500 * time.Millisecond))
			var jobs []NewJob
			for range n {
				jobs = append(jobs, NewJob{Entity: Entity{"order", fmt.Sprint(made)}, JobExec: exec, DueAt: slot})
				made++
			}
			_, err = r.client.InsertMany(t.Context(), r.app, jobs)
			r.must(err)
			return slot
		}
		stop := r.startWork(w)
		next("suddenly", rows)
		r.eventually("it is quick", func() bool { return len(r.history()) == rows })

		slow.Store(true)
		late := next("suddenly", rows)
		for range places {
			<-stuck
		}
		for slot := range 2 {
			next("other", rows)
			r.eventually("the others end in their slots", func() bool {
				return r.count("SELECT COUNT(*) FROM p_job_history WHERE job_exec = 'other'") == (slot+1)*rows
			})
		}
		if n := r.count("SELECT COUNT(*) FROM p_job_history WHERE job_exec = 'other' AND lateness_ms > 5000"); n > 0 {
			t.Errorf("%d of the others are late", n)
		}
		if n := r.count("SELECT COUNT(*) FROM p_slot_run WHERE slot = ? AND finished_at IS NULL", late.Format(time.DateTime)); n == 0 {
			t.Error("the ledger shows the slot as finished")
		}
		load, err := r.client.Load(t.Context(), r.pool(time.Time{}), late, late.Add(time.Second), 10)
		if err != nil || len(load) != 1 || load[0].Jobs != rows {
			t.Errorf("what is late: %+v, %v; want %d of %s", load, err, rows, late)
		}
		if n := len(stuck); n != 0 {
			t.Errorf("%d calls at a time; want %d", n+places, places)
		}
		f.within(t, 8, 60, 20)

		close(release)
		r.eventually("what was late has ended, too", func() bool { return len(r.history()) == 4*rows })
		r.must(stop())
		c.eachOnce(t, 4*rows)
		if n := r.count("SELECT COUNT(*) FROM p_job_history WHERE slot = ? AND ended_at > slot + INTERVAL 1 SECOND", late.Format(time.DateTime)); n != rows {
			t.Errorf("history has %d of the late rows as late; want %d", n, rows)
		}
		r.balanced()
	})
}

// Rows whose calls do not come back hold up only themselves: the other rows of their slot end meanwhile, those of all its
// buckets, though few of those are worked on at a time.
func TestSlowRowsInEveryBucketHoldUpNoOthers(t *testing.T) {
	eachServer(t, func(t *testing.T, r *rig) {
		const rows, slow, batch = 2000, 30, 20
		r.manyDue(at("13:15"), "quick", 0, rows)
		r.manyDue(at("13:15"), "slow", rows, rows+slow)
		var c calls
		var f footprint
		release := make(chan struct{})
		execs := registry("slow", func(ctx context.Context, job FutureJob) (next *time.Time, err error) {
			f.during(func() {
				<-release
				next, err = c.count(ctx, job)
			})
			return next, err
		}, Guards{Concurrency: 4})
		execs.MustRegister("quick", c.count, Guards{})
		w := r.worker(at("13:15"), execs, WorkerOptions{Concurrency: 8, Buckets: 2, Batch: batch})
		f.starts(w.db)
		type result struct {
			Figures
			error
		}
		ran := make(chan result, 1)
		go func() {
			figures, err := w.Run(t.Context())
			ran <- result{figures, err}
		}()
		r.eventually("all quick ones end", func() bool { return len(r.history()) == rows })
		if n := r.count("SELECT COUNT(*) FROM p_slot_run WHERE finished_at IS NULL"); n < 8 {
			t.Errorf("%d buckets wait for slow rows: the test shows nothing", n)
		}
		if n := r.count("SELECT COUNT(*) FROM p_future_job WHERE job_exec = 'slow'"); n != slow {
			t.Errorf("%d slow ones are pending; want %d", n, slow)
		}
		close(release)
		got := <-ran
		if got.error != nil || got.Done != rows+slow || got.LeasesLost > 0 || got.Locked > 0 {
			t.Errorf("figures: %+v, %v", got.Figures, got.error)
		}
		c.eachOnce(t, rows+slow)
		r.balanced()
		f.within(t, 4, 50, 10)
	})
}

// A server that turns slow in the middle of a slot makes the slot late: the worker asks for no more at a time, calls
// nothing twice and drops nothing.
func TestAServerThatTurnsSlowIsNotAskedForMore(t *testing.T) {
	eachServer(t, func(t *testing.T, r *rig) {
		const rows = 600
		// From the first row in history on.
		plan, err := wire.NewPlan(`[{"Since": "INSERT INTO p_job_history", "Do": "delay", "Wait": 40000000}]`, 1)
		r.must(err)
		var delayed atomic.Int32
		plan.Tell = func(string, string, time.Duration) { delayed.Add(1) }
		network := "slow-" + string(r.d.Flavour)
		mysql.RegisterDialContext(network, plan.Dial)
		t.Cleanup(func() { mysql.DeregisterDialContext(network) })
		config, err := mysql.ParseDSN(r.account("worker"))
		r.must(err)
		config.Net = network

		slot := r.insertDue(rows)
		db, err := Open(config.FormatDSN(), 0)
		r.must(err)
		t.Cleanup(func() { _ = db.Close() })
		var c calls
		var f footprint
		f.starts(db)
		w, err := NewWorker(t.Context(), db, WorkerOptions{Prefix: "p_", Concurrency: 8, Buckets: 2, Batch: 100,
			Registry: registry("check", func(ctx context.Context, job FutureJob) (next *time.Time, err error) {
				f.during(func() { next, err = c.count(ctx, job) })
				return next, err
			}, Guards{})})
		r.must(err)
		figures, err := w.runSlot(t.Context(), slot, manner{parallel: 2})
		if err != nil || figures.Done != rows || figures.LeasesLost > 0 {
			t.Errorf("figures: %+v, %v", figures, err)
		}
		if delayed.Load() < 10 {
			t.Fatalf("%d statements were slow: the test shows nothing", delayed.Load())
		}
		c.eachOnce(t, rows)
		r.balanced()
		f.within(t, 8, 40, 8)
		if n := len(r.pending()); n != 0 {
			t.Errorf("%d pending", n)
		}
		if n := r.count("SELECT COUNT(*) FROM p_slot_run WHERE finished_at IS NULL"); n > 0 {
			t.Errorf("%d buckets are not finished", n)
		}
	})
}
