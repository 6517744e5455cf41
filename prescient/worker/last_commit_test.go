package worker

import (
	"context"
	"errors"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	"prescient/prescient"
	"prescient/prescient/internal/rig"
)

const endsLease = "SET finished_at = IF("

// A slot takes a commit for each batch: each of its buckets ends with its last one, and no commit is of a few rows. A release of its own, and a
// first and a last read of a few rows, would be three more for each bucket.
func TestABucketTakesACommitForEachBatch(t *testing.T) {
	t.Parallel()
	eachServer(t, func(t *testing.T, r *testRig) {
		const rows, batch = 4000, 200
		slot := rig.At("13:15")
		r.insertMany(rows, slot)
		var h rig.Hooks
		w := r.hookedWorker(slot.Add(time.Second), &h, rig.Registry("check", rig.NothingToDo, prescient.Guards{}), Options{Load: Load{Batch: batch, Buckets: 1, Pace: PaceFull}})
		figures, err := w.tryRun(t.Context(), slot, runOptions{parallel: 1, finished: new(atomic.Bool)})
		r.Must(err)
		if figures.Done != rows || r.unfinished() > 0 {
			t.Fatalf("%d are done, %d buckets unfinished", figures.Done, r.unfinished())
		}
		commits, releases, alone := 0, 0, 0
		ends := false // the statement before ended a lease
		for _, statement := range h.Log {
			switch {
			case strings.Contains(statement, "SELECT"): // a read, beside others
			case strings.Contains(statement, endsLease):
				releases++
				ends = true
			case statement == "COMMIT":
				commits++
				ends = false
			default:
				if ends {
					alone++
				}
				ends = false
			}
		}
		if releases != figures.Buckets || alone > 0 {
			t.Errorf("%d leases of %d buckets were ended, %d of them by themselves", releases, figures.Buckets, alone)
		}
		if most := 3 * figures.Buckets; commits > most { // two for most, by a sample of the slot; the first bucket begins with a quarter of one
			t.Errorf("%d commits in %d buckets; want %d at most", commits, figures.Buckets, most)
		}
		if held := r.Count("SELECT COUNT(*) FROM p_slot_run WHERE allocated_until IS NOT NULL"); held > 0 {
			t.Errorf("%d buckets are still held", held)
		}
	})
}

// The last commit of a bucket is done once, whatever of it or of its answer is lost, and only one that leaves nothing ends the lease.
func TestTheLastCommitOfABucketIsDoneOnce(t *testing.T) {
	t.Parallel()
	eachServer(t, func(t *testing.T, r *testRig) {
		slot := rig.At("13:15")
		for _, c := range []struct {
			name string
			hook func(h *rig.Hooks)
		}{
			{"the end of the lease is not answered", func(h *rig.Hooks) { h.OnAnswer(rig.FirstTime(endsLease, rig.ErrConnection)) }},
			{"the end of the lease does not arrive", func(h *rig.Hooks) { h.OnStatement(rig.FirstTime(endsLease, rig.ErrConnection)) }},
			{"the COMMIT is not answered", func(h *rig.Hooks) { h.OnAnswer(rig.FirstTime("COMMIT", rig.ErrConnection)) }},
			{"the COMMIT does not arrive", func(h *rig.Hooks) { h.OnStatement(rig.FirstTime("COMMIT", rig.ErrConnection)) }},
		} {
			r.insertMany(20, slot)
			var h rig.Hooks
			c.hook(&h)
			var calls rig.Calls
			w := r.hookedWorker(slot.Add(time.Second), &h, rig.Registry("check", calls.Count, prescient.Guards{}), Options{})
			figures, err := w.tryRun(t.Context(), slot, runOptions{parallel: 1, finished: new(atomic.Bool)})
			r.Must(err)
			if figures.Done != 20 || r.ends() != 20 || r.unfinished() > 0 {
				t.Errorf("%s: %d are done, %d ended, %d buckets unfinished", c.name, figures.Done, r.ends(), r.unfinished())
			}
			calls.EachOnce(t, 20)
			if books := r.Count("SELECT SUM(done) FROM p_slot_run"); books != 20 {
				t.Errorf("%s: the books have %d", c.name, books)
			}
			r.unrun()
		}
	})
}

// Where the lease cannot be ended no row is to blame: what was answered is rolled back, and runs again.
func TestALeaseThatCannotBeEndedBlamesNoRow(t *testing.T) {
	t.Parallel()
	eachServer(t, func(t *testing.T, r *testRig) {
		slot := rig.At("13:15")
		r.insertMany(3, slot)
		var h rig.Hooks
		refused := errors.New("refused")
		h.OnStatement(func(statement string) error {
			if strings.Contains(statement, endsLease) {
				return refused
			}
			return nil
		})
		w := r.hookedWorker(slot.Add(time.Second), &h, rig.Registry("check", rig.NothingToDo, prescient.Guards{}), Options{})
		if _, err := w.tryRun(t.Context(), slot, runOptions{parallel: 1, finished: new(atomic.Bool)}); !errors.Is(err, refused) {
			t.Errorf("the run ended with %v", err)
		}
		if r.ends() > 0 || len(r.Pending()) != 3 {
			t.Errorf("%d ended, %d are pending; want all rolled back", r.ends(), len(r.Pending()))
		}
		h.OnStatement(nil)
		_, err := w.tryRun(t.Context(), slot, runOptions{parallel: 1, finished: new(atomic.Bool)})
		r.Must(err)
		if done := r.Count("SELECT COUNT(*) FROM p_job_history WHERE outcome = 'done' AND error_count = 0"); done != 3 || r.unfinished() > 0 {
			t.Errorf("%d are done at the next try, %d buckets unfinished", done, r.unfinished())
		}
	})
}

// Rows that were read and could not be looked at keep their bucket unfinished, though all others of it are committed.
func TestABucketWhoseRowsCouldNotBeLookedAtIsNotFinished(t *testing.T) {
	t.Parallel()
	eachServer(t, func(t *testing.T, r *testRig) {
		slot := rig.At("13:15")
		const rows, batch = 12, 40 // read as 5 and 7
		r.insertMany(rows, slot)
		var h rig.Hooks
		refused, looked, look := errors.New("refused"), make(chan struct{}), 0
		w := r.hookedWorker(slot.Add(time.Second), &h, rig.Registry("check", func(context.Context, prescient.FutureJob) (*time.Time, error) {
			<-looked
			return nil, nil
		}, prescient.Guards{}), Options{Load: Load{Batch: batch, Buckets: 1}})
		r.Must(w.ledger.Release(t.Context(), r.claimed(w, slot), false)) // so that its rows are looked at before they are called
		h.OnStatement(func(statement string) error {
			if strings.Contains(statement, "OR 1 = 0) FOR UPDATE SKIP LOCKED") && strings.Contains(statement, "FORCE INDEX (PRIMARY)") {
				if look++; look == 2 {
					close(looked)
					return refused
				}
			}
			return nil
		})
		if _, err := w.tryRun(t.Context(), slot, runOptions{parallel: 1, finished: new(atomic.Bool)}); !errors.Is(err, refused) {
			t.Errorf("the run ended with %v", err)
		}
		if r.ends() != 5 || r.unfinished() != 1 {
			t.Errorf("%d ended, %d buckets unfinished; want 5 and 1", r.ends(), r.unfinished())
		}
	})
}

// Where the answer to the last COMMIT is lost, and another worker has looked after the bucket since, what was committed is told all the same.
func TestTheLastCommitIsToldThoughAnotherHasTheBucketByThen(t *testing.T) {
	t.Parallel()
	eachServer(t, func(t *testing.T, r *testRig) {
		slot := rig.At("13:15")
		r.insertMany(20, slot)
		other := r.worker(slot.Add(time.Second), rig.Registry("check", rig.NothingToDo, prescient.Guards{}), Options{Name: "other"})
		var h rig.Hooks
		lost := rig.FirstTime("COMMIT", rig.ErrConnection)
		h.OnAnswer(func(statement string) error {
			err := lost(statement)
			if err != nil {
				r.Must(other.ledger.Release(t.Context(), r.claimed(other, slot), true))
			}
			return err
		})
		var heard beats
		w := r.hookedWorker(slot.Add(time.Second), &h, rig.Registry("check", rig.NothingToDo, prescient.Guards{}), Options{Observer: heard.observer()})
		how := runOptions{parallel: 1, finished: new(atomic.Bool)}
		figures, err := w.tryRun(t.Context(), slot, how)
		r.Must(err)
		if figures.Done != 20 || figures.LeasesLost > 0 || !how.finished.Load() {
			t.Errorf("%d are done, %d leases lost, may be finished: %v", figures.Done, figures.LeasesLost, how.finished.Load())
		}
		heard.wants(t, "at the end", slot, 1, 1)
	})
}
