package worker

import (
	"context"
	"errors"
	"testing"
	"testing/synctest"
	"time"

	"prescient/prescient"
	"prescient/prescient/internal/rig"
)

func TestAPulseIsMissedOnceItIsOverdue(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		var p pulse
		if err := p.check(); !errors.Is(err, ErrNotWorking) {
			t.Errorf("before the first: %v", err)
		}
		p.expect(time.Minute)
		time.Sleep(time.Minute)
		if err := p.check(); err != nil {
			t.Errorf("in time: %v", err)
		}
		time.Sleep(5 * time.Second)
		if err := p.check(); !rig.Contains(err, "not been heard of for 5s") {
			t.Errorf("too late: %v", err)
		}
		p.expect(time.Minute)
		if err := p.check(); err != nil {
			t.Errorf("heard of again: %v", err)
		}
		p.end()
		if err := p.check(); !errors.Is(err, ErrNotWorking) {
			t.Errorf("after the end: %v", err)
		}
	})
}

func TestAWorkerIsAliveWhileItWorks(t *testing.T) {
	t.Parallel()
	eachServer(t, func(t *testing.T, r *testRig) {
		ctx, cancel := context.WithCancel(t.Context())
		var w *Worker
		var during error
		w = r.worker(time.Time{}, prescient.NewRegistry(), Options{Observer: &Observer{Working: func() { during = w.Alive(); cancel() }}})
		before := w.Alive()
		r.Must(w.Work(ctx))
		if !errors.Is(before, ErrNotWorking) || during != nil || !errors.Is(w.Alive(), ErrNotWorking) {
			t.Errorf("before %v, during %v, after %v", before, during, w.Alive())
		}
	})
}

func TestTheBacklogIsTheOldestSlotThatHasCome(t *testing.T) {
	t.Parallel()
	eachServer(t, func(t *testing.T, r *testRig) {
		w := r.worker(rig.At("14:00:30"), prescient.NewRegistry(), Options{})
		if oldest, age, err := w.Backlog(t.Context()); err != nil || !oldest.IsZero() || age != 0 {
			t.Errorf("of nothing: %s, %s, %v", oldest, age, err)
		}
		for _, due := range []string{"14:15", "13:30", "13:15"} {
			r.Insert(rig.At("13:00"), prescient.NewJob{Entity: prescient.Entity{Name: "order", Key: due}, JobExec: "check", DueAt: rig.At(due)})
		}
		if n, err := w.Overdue(t.Context()); err != nil || n != 2 {
			t.Errorf("%d slots are overdue, %v; want 2", n, err)
		}
		if oldest, age, err := w.Backlog(t.Context()); err != nil || !oldest.Equal(rig.At("13:15")) || age != 45*time.Minute+30*time.Second {
			t.Errorf("%s, %s, %v", oldest, age, err)
		}
	})
}
