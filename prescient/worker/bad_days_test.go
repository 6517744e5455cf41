package worker

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

	"prescient/prescient"
	"prescient/prescient/connect"
	"prescient/prescient/internal/rig"
	"prescient/prescient/worker/books"
	"prescient/scripts/chaos/wire"
)

// footprint is the most that a run had of what has to be bounded, seen from inside of its calls. Goroutines are those of
// the whole process: tests with a footprint run on one server after the other.
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

// A slot ten times larger than any before is seen to come, and takes longer, but no more of anything else.
func TestASlotTenTimesLargerThanAnyBeforeTakesNoMoreThanTime(t *testing.T) {
	eachFlavourInTurn(t, 15*time.Minute, func(t *testing.T, r *testRig) {
		const usual = 60
		var c rig.Calls
		for i, clock := range []string{"13:15", "13:30"} {
			n := usual
			if i == 1 {
				n *= 10
			}
			r.ManyDue(rig.At(clock), "check", i*usual, i*usual+n)
			load, err := r.Client.Load(t.Context(), r.Pool(time.Time{}), rig.At(clock), rig.At(clock).Add(time.Hour), 10)
			if err != nil || len(load) != 1 || !load[0].Slot.Equal(rig.At(clock)) || load[0].Jobs != n {
				t.Fatalf("the load that is coming: %+v, %v; want %d at %s", load, err, n, clock)
			}
			var f footprint
			execs := rig.Registry("check", func(ctx context.Context, job prescient.FutureJob) (next *time.Time, err error) {
				f.during(func() { next, err = c.Count(ctx, job) })
				return next, err
			}, prescient.Guards{})
			w := r.worker(rig.At(clock), execs, Options{Load: Load{Concurrency: 8, Buckets: 2, Batch: 50}})
			f.starts(w.send.DB)
			figures, err := w.Run(t.Context())
			if err != nil || figures.Done != n {
				t.Fatalf("%d due: %+v, %v", n, figures, err)
			}
			f.within(t, 8, 40, 6)
		}
		c.EachOnce(t, 11*usual)
		r.Balanced()
	})
}

// A job_exec that was quick and suddenly takes long makes only its own rows late: slots come and go meanwhile. The ledger
// shows which slot is not done, and the load what of it is late.
func TestAJobExecThatSuddenlyTakesLongMakesOnlyItselfLate(t *testing.T) {
	eachFlavourInTurn(t, time.Second, func(t *testing.T, r *testRig) {
		const rows, places = 60, 4
		var c rig.Calls
		var slow atomic.Bool
		var f footprint
		stuck, release := make(chan struct{}, rows), make(chan struct{})
		execs := rig.Registry("suddenly", func(ctx context.Context, job prescient.FutureJob) (next *time.Time, err error) {
			f.during(func() {
				if slow.Load() {
					stuck <- struct{}{}
					<-release
				}
				next, err = c.Count(ctx, job)
			})
			return next, err
		}, prescient.Guards{Concurrency: places})
		execs.MustRegister("other", func(ctx context.Context, job prescient.FutureJob) (next *time.Time, err error) {
			f.during(func() { next, err = c.Count(ctx, job) })
			return next, err
		}, prescient.Guards{})
		w := r.worker(time.Time{}, execs, Options{Load: Load{Concurrency: 8, Batch: 20}, Sweep: Sweep{Every: 100 * time.Millisecond, Grace: time.Second}})
		most := r.lateness(5 * time.Second)
		f.starts(w.send.DB)
		// next makes rows due in a slot to come, with numbers that no others have.
		made := 0
		next := func(exec string, n int) (slot time.Time) {
			now, err := w.Now(t.Context())
			r.Must(err)
			slot = r.Tables().Grid.Ceil(now.Add(500 * time.Millisecond))
			var jobs []prescient.NewJob
			for range n {
				jobs = append(jobs, prescient.NewJob{Entity: prescient.Entity{Name: "order", Key: fmt.Sprint(made)}, JobExec: exec, DueAt: slot})
				made++
			}
			_, err = r.Client.InsertMany(t.Context(), r.App, jobs)
			r.Must(err)
			return slot
		}
		stop := r.startWork(w)
		next("suddenly", rows)
		r.Eventually("it is quick", func() bool { return r.Count(rig.CountEnded) == rows })

		slow.Store(true)
		late := next("suddenly", rows)
		for range places {
			<-stuck
		}
		for slot := range 2 {
			next("other", rows)
			r.Eventually("the others end in their slots", func() bool {
				return r.Count("SELECT COUNT(*) FROM p_job_history WHERE job_exec = 'other'") == (slot+1)*rows
			})
		}
		if n := r.Count("SELECT COUNT(*) FROM p_job_history WHERE job_exec = 'other' AND lateness_ms > ?", most().Milliseconds()); n > 0 {
			t.Errorf("%d of the others are late", n)
		}
		if n := r.Count("SELECT COUNT(*) FROM p_slot_run WHERE slot = ? AND finished_at IS NULL", late.Format(time.DateTime)); n == 0 {
			t.Error("the ledger shows the slot as finished")
		}
		load, err := r.Client.Load(t.Context(), r.Pool(time.Time{}), late, late.Add(time.Second), 10)
		if err != nil || len(load) != 1 || load[0].Jobs != rows {
			t.Errorf("what is late: %+v, %v; want %d of %s", load, err, rows, late)
		}
		if n := len(stuck); n != 0 {
			t.Errorf("%d calls at a time; want %d", n+places, places)
		}
		f.within(t, 8, 60, 20)

		close(release)
		r.Eventually("what was late has ended, too", func() bool { return r.Count(rig.CountEnded) == 4*rows })
		r.Must(stop())
		c.EachOnce(t, 4*rows)
		if n := r.Count("SELECT COUNT(*) FROM p_job_history WHERE slot = ? AND ended_at > slot + INTERVAL 1 SECOND", late.Format(time.DateTime)); n != rows {
			t.Errorf("history has %d of the late rows as late; want %d", n, rows)
		}
		r.Balanced()
	})
}

// Rows whose calls do not come back hold up only themselves: the other rows of their slot end meanwhile, those of all its
// buckets, though few of those are worked on at a time.
func TestSlowRowsInEveryBucketHoldUpNoOthers(t *testing.T) {
	eachFlavourInTurn(t, 15*time.Minute, func(t *testing.T, r *testRig) {
		const rows, slow, batch = 600, 30, 20
		r.ManyDue(rig.At("13:15"), "quick", 0, rows)
		r.ManyDue(rig.At("13:15"), "slow", rows, rows+slow)
		var c rig.Calls
		var f footprint
		release := make(chan struct{})
		execs := rig.Registry("slow", func(ctx context.Context, job prescient.FutureJob) (next *time.Time, err error) {
			f.during(func() {
				<-release
				next, err = c.Count(ctx, job)
			})
			return next, err
		}, prescient.Guards{Concurrency: 4})
		execs.MustRegister("quick", c.Count, prescient.Guards{})
		w := r.worker(rig.At("13:15"), execs, Options{Load: Load{Concurrency: 8, Buckets: 2, Batch: batch}})
		f.starts(w.send.DB)
		type result struct {
			books.Figures
			error
		}
		ran := make(chan result, 1)
		go func() {
			figures, err := w.Run(t.Context())
			ran <- result{figures, err}
		}()
		r.Eventually("all quick ones end", func() bool { return r.Count(rig.CountEnded) == rows })
		if n := r.Count("SELECT COUNT(*) FROM p_slot_run WHERE finished_at IS NULL"); n < 8 {
			t.Errorf("%d buckets wait for slow rows: the test shows nothing", n)
		}
		if n := r.Count("SELECT COUNT(*) FROM p_future_job WHERE job_exec = 'slow'"); n != slow {
			t.Errorf("%d slow ones are pending; want %d", n, slow)
		}
		close(release)
		got := <-ran
		if got.error != nil || got.Done != rows+slow || got.LeasesLost > 0 || got.Locked > 0 {
			t.Errorf("figures: %+v, %v", got.Figures, got.error)
		}
		c.EachOnce(t, rows+slow)
		r.Balanced()
		f.within(t, 4, 50, 10)
	})
}

// A server that turns slow in the middle of a slot makes the slot late: the worker asks for no more at a time, calls
// nothing twice and drops nothing.
func TestAServerThatTurnsSlowIsNotAskedForMore(t *testing.T) {
	eachFlavourInTurn(t, 15*time.Minute, func(t *testing.T, r *testRig) {
		const rows = 300
		// From the first row in history on.
		plan, err := wire.NewPlan(`[{"Since": "INSERT INTO p_job_history", "Do": "delay", "Wait": 40000000}]`, 1)
		r.Must(err)
		var delayed atomic.Int32
		plan.Tell = func(string, string, time.Duration) { delayed.Add(1) }
		network := "slow-" + string(r.D.Flavour)
		mysql.RegisterDialContext(network, plan.Dial)
		t.Cleanup(func() { mysql.DeregisterDialContext(network) })
		config, err := mysql.ParseDSN(r.Account("worker"))
		r.Must(err)
		config.Net = network

		slot := r.InsertDue(rows)
		db, err := connect.Open(config.FormatDSN(), 0)
		r.Must(err)
		t.Cleanup(func() { _ = db.Close() })
		var c rig.Calls
		var f footprint
		f.starts(db)
		w, err := New(t.Context(), db, Options{Prefix: "p_", Load: Load{Concurrency: 8, Buckets: 2, Batch: 100, Pace: PaceFull},
			Registry: rig.Registry("check", func(ctx context.Context, job prescient.FutureJob) (next *time.Time, err error) {
				f.during(func() { next, err = c.Count(ctx, job) })
				return next, err
			}, prescient.Guards{})})
		r.Must(err)
		figures, err := w.runSlot(t.Context(), slot, runOptions{parallel: 2})
		if err != nil || figures.Done != rows || figures.LeasesLost > 0 {
			t.Errorf("figures: %+v, %v", figures, err)
		}
		if delayed.Load() < 10 {
			t.Fatalf("%d statements were slow: the test shows nothing", delayed.Load())
		}
		c.EachOnce(t, rows)
		r.Balanced()
		f.within(t, 8, 40, 8)
		if n := len(r.Pending()); n != 0 {
			t.Errorf("%d pending", n)
		}
		if n := r.Count("SELECT COUNT(*) FROM p_slot_run WHERE finished_at IS NULL"); n > 0 {
			t.Errorf("%d buckets are not finished", n)
		}
	})
}
