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
