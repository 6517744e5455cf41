package worker

import (
	"context"
	"fmt"
	"slices"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	"prescient/prescient"
	"prescient/prescient/internal/rig"
	"prescient/prescient/worker/books"
)

// insertOrders makes n checks pending for 13:15.
func (r *testRig) insertOrders(n int) {
	r.T.Helper()
	jobs := make([]prescient.NewJob, n)
	for i := range jobs {
		jobs[i] = prescient.NewJob{Entity: prescient.Entity{Name: "order", Key: fmt.Sprint(i)}, JobExec: "check", DueAt: rig.At("13:15")}
	}
	_, err := r.Client.InsertMany(r.T.Context(), r.AppAt(rig.At("13:00")), jobs)
	r.Must(err)
}

const lateInsert = `INSERT INTO p_future_job (entity_name, entity_key, job_exec, due_at) VALUES ('order', ?, 'check', '2026-11-20 13:15:00')`

// insertAt has an app insert rows before a statement is sent, and returns what waits until they have come. MariaDB's DELETE
// of a range holds up an insert into it until the commit: then they come after that.
func (r *testRig) insertAt(h *rig.Hooks, step string, rows int) (came func()) {
	inserted := make(chan struct{})
	h.Once(step, func() {
		go func() {
			defer close(inserted)
			for i := range rows {
				if _, err := r.App.Exec(lateInsert, fmt.Sprint("late ", i)); err != nil {
					r.T.Errorf("at %s: %v", step, err)
				}
			}
		}()
		select {
		case <-inserted:
		case <-time.After(500 * time.Millisecond):
		}
	})
	return func() {
		r.T.Helper()
		select {
		case <-inserted:
		case <-time.After(time.Minute):
			r.T.Fatalf("nothing came at %s", step)
		}
	}
}

// Rows come into the range of a commit, from one statement to the next: none of them is deleted, or written to history,
// without a run.
func TestARowThatComesBetweenTheRowsOfACommitAtAnyStepIsNotLost(t *testing.T) {
	t.Parallel()
	eachServer(t, func(t *testing.T, r *testRig) {
		r.Needs(t, rig.ColumnDefaults)
		for _, step := range []string{"batch_seq = batch_seq + 1", "FOR UPDATE", "INTO p_job_history", "job.job_key < X'", "job.job_key IN", "COMMIT"} {
			for _, some := range []int{1, 20} {
				var h rig.Hooks
				var calls atomic.Int32
				var figures books.Figures
				execs := rig.Registry("check", func(context.Context, prescient.FutureJob) (*time.Time, error) {
					calls.Add(1)
					return nil, nil
				}, prescient.Guards{})
				// A busy machine may commit a few rows at a time, which are no ranges: then there is no such step.
				for try := 0; try < 10 && h.Count(step) == 0; try++ {
					r.Clear()
					r.Exec("DELETE FROM p_slot_run")
					calls.Store(0)
					r.insertOrders(100)
					came := r.insertAt(&h, step, some)
					var err error
					figures, err = r.hookedWorker(rig.At("13:15:01"), &h, execs, Options{}).Run(t.Context())
					r.Must(err)
					if h.Count(step) > 0 {
						came()
					}
				}
				if h.Count(step) == 0 {
					t.Fatalf("no commit came to %s", step)
				}
				ended := len(r.History())
				if figures.Done != ended || ended+len(r.Pending()) != 100+some || int(calls.Load()) != ended {
					t.Fatalf("%d at %s: figures %+v, %d calls, %d ends, %d pending; want each row called as often as it ended",
						some, step, figures, calls.Load(), ended, len(r.Pending()))
				}
				r.Balanced()
				r.Clear()
				r.Exec("DELETE FROM p_slot_run")
			}
		}
	})
}

// A cancelled row and one that comes instead leave the number of rows as it was.
func TestARowInPlaceOfACancelledOneIsNotTakenForIt(t *testing.T) {
	t.Parallel()
	eachServer(t, func(t *testing.T, r *testRig) {
		r.Needs(t, rig.ColumnDefaults)
		r.insertOrders(100)
		var h rig.Hooks
		h.Once("batch_seq = batch_seq + 1", func() {
			r.Cancels(t, prescient.Entity{Name: "order", Key: "7"})
			_, err := r.App.Exec(lateInsert, "instead")
			r.Must(err)
			r.Cancels(t, prescient.Entity{Name: "order", Key: "8"})
			_, err = r.App.Exec(lateInsert, "8")
			r.Must(err)
		})
		figures, err := r.hookedWorker(rig.At("13:15:01"), &h, rig.Registry("check", rig.NothingToDo, prescient.Guards{}), Options{}).Run(t.Context())
		r.Must(err)
		left := r.Pending()
		slices.SortFunc(left, func(a, b prescient.FutureJob) int { return strings.Compare(a.EntityKey, b.EntityKey) })
		if figures.Done != 98 || figures.Dropped != 2 || len(left) != 2 || left[0].EntityKey != "8" || left[1].EntityKey != "instead" {
			t.Errorf("figures %+v, pending %+v; want 98 done, 2 dropped, and the two that came left", figures, left)
		}
		r.Balanced()
	})
}

// A commit by ranges does not wait for somebody who inserts between its rows and has not committed.
func TestAnOpenInsertBetweenTheRowsHoldsNothingUp(t *testing.T) {
	t.Parallel()
	eachServer(t, func(t *testing.T, r *testRig) {
		r.Needs(t, rig.ColumnDefaults)
		r.insertOrders(200)
		tx, err := r.App.Begin()
		r.Must(err)
		defer func() { _ = tx.Rollback() }()
		for i := range 20 {
			_, err := tx.Exec(lateInsert, fmt.Sprint("open ", i))
			r.Must(err)
		}
		execs := prescient.NewRegistry() // whose answers come all at once, and are one commit
		r.Must(execs.RegisterBatch("check", func(_ context.Context, batch *prescient.Batch) error {
			for i := range batch.Jobs() {
				batch.Settle(i)
			}
			return nil
		}, prescient.Guards{}))
		var h rig.Hooks
		figures, err := r.hookedWorker(rig.At("13:15:01"), &h, execs, Options{}).Run(t.Context())
		r.Must(err)
		if figures.Done != 200 || h.Count("NOWAIT") != 1 || figures.Retries != 1 {
			t.Errorf("%+v, %d tries by ranges; want 200 done by their keys at the second try", figures, h.Count("NOWAIT"))
		}
		r.Must(tx.Commit())
		if left := r.Pending(); len(left) != 20 {
			t.Errorf("%d pending; want the 20 that were inserted", len(left))
		}
		r.Balanced()
	})
}

// Of a commit some rows end, each in its way, and others go on.
func TestACommitByRangesKeepsEndsAndMovesApart(t *testing.T) {
	t.Parallel()
	eachServer(t, func(t *testing.T, r *testRig) {
		r.insertOrders(600)
		var h rig.Hooks
		execs := rig.Registry("check", func(_ context.Context, job prescient.FutureJob) (*time.Time, error) {
			switch n := job.EntityKey; {
			case strings.HasSuffix(n, "3"):
				return prescient.At(rig.At("15:00")), nil
			case strings.HasSuffix(n, "7"):
				return prescient.At(rig.At("13:00")), nil // past_return
			}
			return nil, nil
		}, prescient.Guards{})
		figures, err := r.hookedWorker(rig.At("13:15:01"), &h, execs, Options{}).Run(t.Context())
		r.Must(err)
		if figures.Done != 480 || figures.Moved != 60 || figures.PastReturn != 60 || len(r.Pending()) != 60 || r.Count(rig.CountEnded) != 540 {
			t.Errorf("figures %+v, %d pending, %d ends; want 480 done, 60 moved, 60 past_return", figures, len(r.Pending()), len(r.History()))
		}
		if h.Count("NOWAIT") == 0 || h.Count("job.job_key < X'") == 0 {
			t.Error("nothing was committed by ranges")
		}
		for _, end := range r.History() {
			if past := strings.HasSuffix(end.EntityKey, "7"); past != (end.Outcome == prescient.PastReturn) || past != (end.Error != "") {
				t.Errorf("%s ended as %s, %q", end.EntityKey, end.Outcome, end.Error)
			}
		}
		r.Balanced()
	})
}
