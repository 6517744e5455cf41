package bucket

import (
	"errors"
	"sync/atomic"
	"testing"
	"time"

	"prescient/prescient"
	"prescient/prescient/internal/rig"
	"prescient/prescient/internal/store"
	"prescient/prescient/worker/internal/check"
)

// All the rows that were read come back unstarted, between two looks at whether to go on: the bucket is not finished.
func TestABucketWhoseRowsWereNotStartedIsNotFinished(t *testing.T) {
	t.Parallel()
	eachServer(t, time.Second, func(t *testing.T, r *testRig) {
		slot := r.InsertDue(3)
		stop := make(chan struct{})
		var c rig.Calls
		s := shared(r.As("worker", time.Time{}), r.Tables(), rig.Registry("check", c.Count, prescient.Guards{}))
		l, buckets := r.claim(s, slot)
		b := New(s, Options{Lease: l, Buckets: buckets, Clock: store.ClockAt(slot), Stop: stop, Calls: t.Context(), Hidden: new(atomic.Bool)})
		r.Eventually("the rows are read", func() bool {
			read, err := b.read(t.Context())
			r.Must(err)
			return read
		})
		close(stop)
		r.Eventually("the rows have come back", func() bool { return !b.stillFlying() })
		b.mu.Lock()
		for i := range b.answers {
			b.answers[i].Answer = check.Answer{Fate: check.NotStarted}
		}
		b.mu.Unlock()
		_, err := b.commitReady(t.Context(), true)
		r.Must(err)
		if !b.finished() || !errors.Is(b.outcome(), ErrStopped) {
			t.Errorf("finished %v, outcome %v; want it stopped, with rows left behind", b.finished(), b.outcome())
		}
		if len(r.Pending()) != 3 {
			t.Errorf("%d pending; want 3", len(r.Pending()))
		}
	})
}

// The first read of a run is small where it is soon done. Behind others it would be one more read, and a transaction, for nothing.
func TestABucketBehindOthersReadsWholeBatchesFromTheFirst(t *testing.T) {
	t.Parallel()
	eachServer(t, time.Second, func(t *testing.T, r *testRig) {
		slot := r.InsertDue(2000) // of which the bucket has a quarter: fewer than a batch of 1000, and more than a quarter of one
		stop := make(chan struct{})
		defer close(stop)
		var c rig.Calls
		s := shared(r.As("worker", time.Time{}), r.Tables(), rig.Registry("check", c.Count, prescient.Guards{}))
		l, buckets := r.claim(s, slot)
		small := s.Batch / 2 / firstPart
		for _, test := range []struct {
			firstRead int
			backlog   int
			whole     bool
		}{{0, 0, false}, {0, 17, true}, {1000, 0, true}, {5000, 17, true}} {
			s.Crowds["check"] = &Crowd{Rows: test.backlog}
			b := New(s, Options{Lease: l, Buckets: buckets, Clock: store.ClockAt(slot), Stop: stop, Calls: t.Context(), Hidden: new(atomic.Bool), FirstRead: test.firstRead})
			own := b.streams[len(b.streams)-1]
			r.Eventually("rows are read", func() bool {
				_, err := b.read(t.Context())
				r.Must(err)
				return own.outstanding > 0
			})
			if got := own.outstanding; test.whole && (got <= small || !own.dry) || !test.whole && got != small {
				t.Errorf("after reads of %d, behind %d rows: the first read has %d, and there are more: %v", test.firstRead, test.backlog, got, !own.dry)
			}
			b.stopReading()
			r.Eventually("the rows have come back", func() bool { return !b.stillFlying() })
		}
	})
}
