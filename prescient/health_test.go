package prescient

import (
	"context"
	"errors"
	"testing"
	"testing/synctest"
	"time"
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
		if err := p.check(); !contains(err, "not been heard of for 5s") {
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
	eachServer(t, func(t *testing.T, r *rig) {
		ctx, cancel := context.WithCancel(t.Context())
		var w *Worker
		var during error
		w = r.worker(time.Time{}, NewRegistry(), WorkerOptions{Observer: &Observer{Working: func() { during = w.Alive(); cancel() }}})
		before := w.Alive()
		r.must(w.Work(ctx))
		if !errors.Is(before, ErrNotWorking) || during != nil || !errors.Is(w.Alive(), ErrNotWorking) {
			t.Errorf("before %v, during %v, after %v", before, during, w.Alive())
		}
	})
}

func TestTheBacklogIsTheOldestSlotThatHasCome(t *testing.T) {
	eachServer(t, func(t *testing.T, r *rig) {
		w := r.worker(at("14:00:30"), NewRegistry(), WorkerOptions{})
		if oldest, age, err := w.Backlog(t.Context()); err != nil || !oldest.IsZero() || age != 0 {
			t.Errorf("of nothing: %s, %s, %v", oldest, age, err)
		}
		for _, due := range []string{"14:15", "13:30", "13:15"} {
			r.insert(at("13:00"), NewJob{Entity: Entity{"order", due}, JobExec: "check", DueAt: at(due)})
		}
		if n, err := w.Overdue(t.Context()); err != nil || n != 2 {
			t.Errorf("%d slots are overdue, %v; want 2", n, err)
		}
		if oldest, age, err := w.Backlog(t.Context()); err != nil || !oldest.Equal(at("13:15")) || age != 45*time.Minute+30*time.Second {
			t.Errorf("%s, %s, %v", oldest, age, err)
		}
	})
}
