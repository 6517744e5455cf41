package worker

import (
	"context"
	"database/sql"
	"sync/atomic"
	"testing"
	"time"

	"github.com/jmoiron/sqlx"

	"prescient/prescient"
	"prescient/prescient/internal/literal"
	"prescient/prescient/internal/rig"
	"prescient/prescient/internal/store"
	"prescient/prescient/worker/books"
)

// lockOneInEach divides a slot into buckets, locks a row in each of the first so many in a transaction of an app, and
// returns what ends that.
func (r *testRig) lockOneInEach(slot time.Time, locked, buckets int) (letGo func()) {
	r.T.Helper()
	r.divided(slot, buckets)
	tx, err := r.App.Begin()
	r.Must(err)
	r.T.Cleanup(func() { _ = tx.Rollback() }) // where the test failed
	for bucket := range locked {
		first, last := store.BucketRange(bucket, buckets)
		var key []byte
		r.Must(tx.QueryRow("SELECT MIN(job_key) FROM p_future_job WHERE next_check_at = ? AND job_key >= ? AND job_key <= ?",
			slot.Format(literal.SecondLayout), first[:], last[:]).Scan(&key))
		var one int
		r.Must(tx.QueryRow("SELECT 1 FROM p_future_job FORCE INDEX (PRIMARY) WHERE next_check_at = ? AND job_key = ? FOR UPDATE",
			slot.Format(literal.SecondLayout), key).Scan(&one))
	}
	return func() { r.Must(tx.Rollback()) }
}

// start runs a slot beside the test.
func (r *testRig) start(w *Worker, slot time.Time, how runOptions) <-chan books.Figures {
	done := make(chan books.Figures, 1)
	go func() {
		figures, err := w.runSlot(context.WithoutCancel(r.T.Context()), slot, how)
		if err != nil {
			r.T.Error(err)
		}
		done <- figures
	}()
	return done
}

func (r *testRig) ends() int { return r.Count("SELECT COUNT(*) FROM p_job_history") }

// A worker that works on two buckets at a time goes on with the others while a row is locked in each of two: those only
// wait, and no job_exec is called twice.
func TestLockedRowsInTwoBucketsDoNotHoldUpTheOthers(t *testing.T) {
	t.Parallel()
	eachServerAt(t, time.Minute, func(t *testing.T, r *testRig) {
		const rows, buckets = 80, 4
		slot := r.InsertDue(rows)
		letGo := r.lockOneInEach(slot, 2, buckets)
		var c rig.Calls
		w := r.worker(time.Time{}, rig.Registry("check", c.Count, prescient.Guards{}), Options{Load: Load{Batch: 10, Buckets: 2}})
		done := r.start(w, slot, runOptions{parallel: 2, stay: true})
		r.Eventually("all but the two rows are in history", func() bool { return r.ends() == rows-2 })
		if n := r.Count("SELECT MAX(buckets) FROM p_slot_run"); n != buckets {
			t.Fatalf("%d buckets; want %d", n, buckets)
		}
		letGo()
		if f := <-done; f.Done != rows || f.Locked != 0 || f.Buckets != buckets {
			t.Errorf("figures: %+v", f)
		}
		c.EachOnce(t, rows)
		r.Balanced()
	})
}

// As many buckets may wait as may run; those beyond leave their locked rows at once. Nothing else is held up.
func TestLockedRowsInEveryBucketHoldUpNothingElse(t *testing.T) {
	t.Parallel()
	eachServerAt(t, time.Minute, func(t *testing.T, r *testRig) {
		const rows, buckets = 160, 8
		slot := r.InsertDue(rows)
		letGo := r.lockOneInEach(slot, buckets, buckets)
		var c rig.Calls
		execs := rig.Registry("check", c.Count, prescient.Guards{})
		done := r.start(r.worker(time.Time{}, execs, Options{Load: Load{Batch: 10, Buckets: 2}}), slot, runOptions{parallel: 2, stay: true})
		r.Eventually("all but the locked rows are in history", func() bool { return r.ends() == rows-buckets })
		letGo()
		first := <-done
		second, err := r.worker(time.Time{}, execs, Options{Load: Load{Batch: 10}}).runSlot(t.Context(), slot, runOptions{parallel: 2})
		r.Must(err)
		if first.Done+second.Done != rows || first.Locked != second.Done || first.Locked > buckets-2 {
			t.Errorf("first %+v, then %+v; want what was left to be done then", first, second)
		}
		r.Balanced()
	})
}

// A row that stays locked does not keep a run up for ever: its bucket is given back unfinished. The sweeper leaves it
// alone while it is locked, without a call, and runs it when it is free.
func TestARowThatStaysLockedIsLeftToTheSweeper(t *testing.T) {
	t.Parallel()
	eachServerAt(t, time.Second, func(t *testing.T, r *testRig) {
		const rows = 20
		slot := r.InsertDue(rows)
		letGo := r.lockOneInEach(slot, 1, 1)
		var c rig.Calls
		execs := rig.Registry("check", c.Count, prescient.Guards{})
		options := Options{Times: Times{Lease: 2 * time.Second}, Sweep: Sweep{Grace: time.Millisecond}}
		w := r.worker(time.Time{}, execs, options)
		began := time.Now()
		f := <-r.start(w, slot, runOptions{parallel: 2, stay: true})
		if took := time.Since(began); f.Done != rows-1 || f.Locked != 1 || took < 2*time.Second || took > 20*time.Second {
			t.Errorf("after %s: %+v; want one row left behind", took, f)
		}
		if n := r.Count("SELECT COUNT(*) FROM p_slot_run WHERE finished_at IS NULL AND allocated_until IS NULL AND takeovers = 0"); n != 1 {
			t.Errorf("%d buckets were given back unfinished; want 1", n)
		}
		for range 3 {
			swept, err := r.worker(time.Time{}, execs, options).Sweep(t.Context())
			r.Must(err)
			if len(swept) != 1 || swept[0].Rows() != 0 || swept[0].Locked != 1 {
				t.Errorf("swept while it is locked: %+v", swept)
			}
		}
		c.EachOnce(t, rows)
		letGo()
		swept, err := r.worker(time.Time{}, execs, options).Sweep(t.Context())
		r.Must(err)
		if len(swept) != 1 || swept[0].Done != 1 || swept[0].Locked != 0 || swept[0].Takeovers != 0 {
			t.Errorf("swept when it is free: %+v", swept)
		}
		if len(r.Pending()) != 0 || r.ends() != rows {
			t.Errorf("%d pending, %d ended", len(r.Pending()), r.ends())
		}
		r.Balanced()
	})
}

// The same for a TxFunc, which locks the row before it is called: it is called once.
func TestATxFuncWhoseRowStaysLockedIsCalledOnce(t *testing.T) {
	t.Parallel()
	eachServerAt(t, time.Second, func(t *testing.T, r *testRig) {
		const rows = 20
		slot := r.InsertDue(rows)
		letGo := r.lockOneInEach(slot, 1, 1)
		var called atomic.Int32
		execs := prescient.NewRegistry()
		r.Must(execs.RegisterTx("check", func(context.Context, *sqlx.Tx, prescient.FutureJob) (*time.Time, error) {
			called.Add(1)
			return nil, nil
		}, prescient.Guards{}))
		w := r.worker(time.Time{}, execs, Options{Times: Times{Lease: 2 * time.Second}})
		if f := <-r.start(w, slot, runOptions{parallel: 2, stay: true}); f.Done != rows-1 || f.Locked != 1 || called.Load() != rows-1 {
			t.Errorf("%+v, %d calls", f, called.Load())
		}
		letGo()
		if f := <-r.start(w, slot, runOptions{parallel: 2, stay: true}); f.Done != 1 || called.Load() != rows {
			t.Errorf("%+v, %d calls", f, called.Load())
		}
		r.Balanced()
	})
}

// A bucket that was given back, where nobody has anything locked: a row that was changed meanwhile is run as it is now.
func TestABucketThatWasGivenBackIsRunToItsEnd(t *testing.T) {
	t.Parallel()
	eachServerAt(t, time.Second, func(t *testing.T, r *testRig) {
		slot := r.InsertDue(10)
		w := r.worker(time.Time{}, prescient.NewRegistry(), Options{})
		r.Must(w.ledger.Release(t.Context(), r.claimed(w, slot), false))
		var c rig.Calls
		var h rig.Hooks
		var gone sql.Result
		// Between the look at the rows and the probe, one goes.
		h.Once("OR 1 = 0) FOR UPDATE", func() {
			var err error
			gone, err = r.Root.Exec("DELETE FROM p_future_job WHERE entity_key = '3'")
			r.Must(err)
		})
		heir := r.hookedWorker(time.Time{}, &h, rig.Registry("check", c.Count, prescient.Guards{}), Options{})
		f, err := heir.runSlot(t.Context(), slot, runOptions{parallel: 1})
		r.Must(err)
		if n, err := gone.RowsAffected(); err != nil || n != 1 {
			t.Fatal("nothing was deleted", err)
		}
		if f.Done != 9 || f.Dropped != 1 || f.Locked != 0 || f.Takeovers != 0 {
			t.Errorf("figures: %+v", f)
		}
		if n := r.Count("SELECT COUNT(*) FROM p_slot_run WHERE finished_at IS NOT NULL"); n != 1 {
			t.Errorf("%d buckets are finished; want 1", n)
		}
	})
}
