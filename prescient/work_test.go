package prescient

import (
	"context"
	"errors"
	"fmt"
	"sync/atomic"
	"testing"
	"time"

	"prescient/slots"
)

// startWork runs Work until the test stops it; the function returned does that and returns its error.
func (r *rig) startWork(w *Worker) (stop func() error) {
	ctx, cancel := context.WithCancel(context.WithoutCancel(r.t.Context()))
	done := make(chan error, 1)
	go func() { done <- w.Work(ctx) }()
	r.t.Cleanup(cancel)
	return func() error {
		cancel()
		select {
		case err := <-done:
			return err
		case <-time.After(30 * time.Second):
			return errors.New("Work does not stop")
		}
	}
}

func TestWorkFiresAtEachSlotAndNeverEarly(t *testing.T) {
	eachServerAt(t, time.Second, func(t *testing.T, r *rig) {
		var early, ran atomic.Int32
		clock := r.pool(time.Time{})
		execs := registry("check", func(ctx context.Context, job FutureJob) (*time.Time, error) {
			var now time.Time
			if err := clock.GetContext(ctx, &now, "SELECT UTC_TIMESTAMP(6)"); err != nil {
				return nil, err
			}
			if now.Before(job.NextCheckAt) || job.NextCheckAt.Before(job.DueAt) {
				early.Add(1)
			}
			ran.Add(1)
			return nil, nil
		}, Guards{})
		w := r.worker(time.Time{}, execs, WorkerOptions{})
		now, err := w.Now(t.Context())
		r.must(err)
		const n = 60
		for i := range n {
			_, err := r.client.Insert(t.Context(), r.app, NewJob{Entity: Entity{"order", fmt.Sprint(i)}, JobExec: "check",
				DueAt: now.Add(time.Duration(i) * 50 * time.Millisecond)})
			r.must(err)
		}
		stop := r.startWork(w)
		r.eventually("all have run", func() bool { return ran.Load() == n && len(r.history()) == n })
		r.must(stop())
		if early.Load() > 0 {
			t.Errorf("%d ran early", early.Load())
		}
		for _, end := range r.history() {
			if *end.LatenessMS < 0 || *end.LatenessMS > 3000 {
				t.Errorf("lateness %d ms", *end.LatenessMS)
			}
		}
		r.balanced()
	})
}

func TestARunThatOutlastsItsSlotDoesNotDelayTheNext(t *testing.T) {
	eachServerAt(t, time.Second, func(t *testing.T, r *rig) {
		release, started, next := make(chan struct{}), make(chan struct{}), make(chan struct{})
		execs := NewRegistry()
		execs.MustRegister("slow", func(context.Context, FutureJob) (*time.Time, error) {
			close(started)
			<-release
			return nil, nil
		}, Guards{})
		execs.MustRegister("next", func(context.Context, FutureJob) (*time.Time, error) {
			close(next)
			return nil, nil
		}, Guards{})
		w := r.worker(time.Time{}, execs, WorkerOptions{})
		_, err := r.client.Insert(t.Context(), r.app, NewJob{Entity: Entity{"order", "1"}, JobExec: "slow", DueAt: time.Now()})
		r.must(err)
		stop := r.startWork(w)
		<-started
		_, err = r.client.Insert(t.Context(), r.app, NewJob{Entity: Entity{"order", "1"}, JobExec: "next", DueAt: time.Now()})
		r.must(err)
		select {
		case <-next:
		case <-time.After(20 * time.Second):
			t.Error("the next slot waits for the slow one")
		}
		close(release)
		r.eventually("both have ended", func() bool { return len(r.history()) == 2 })
		r.must(stop())
	})
}

// A stop lets what runs come to its end, commits it, leaves the rest, and gives the leases back.
func TestAStopIsGraceful(t *testing.T) {
	eachServerAt(t, time.Second, func(t *testing.T, r *rig) {
		slot := r.insertDue(50)
		started := make(chan struct{}, 50)
		release := make(chan struct{})
		execs := registry("check", func(context.Context, FutureJob) (*time.Time, error) {
			started <- struct{}{}
			<-release
			return nil, nil
		}, Guards{Concurrency: 5})
		w := r.worker(time.Time{}, execs, WorkerOptions{Lease: time.Hour})
		ctx, cancel := context.WithCancel(context.WithoutCancel(t.Context()))
		done := make(chan Figures)
		go func() {
			figures, err := w.runSlot(ctx, slot, manner{parallel: 1})
			if err != nil {
				t.Error(err)
			}
			done <- figures
		}()
		for range 5 {
			<-started
		}
		cancel()
		close(release)
		if figures := <-done; figures.Done != 5 {
			t.Errorf("figures: %+v; want the five that were running", figures)
		}
		if len(r.history()) != 5 || len(r.pending()) != 45 || len(started) != 0 {
			t.Errorf("%d ended, %d pending, %d more started", len(r.history()), len(r.pending()), len(started))
		}
		if n := r.count("SELECT COUNT(*) FROM p_slot_run WHERE allocated_until IS NULL AND finished_at IS NULL"); n != 1 {
			t.Error("the lease was not given back")
		}
		// Nothing of that was a crash: the next worker goes on at once.
		var c calls
		figures, err := r.worker(time.Time{}, registry("check", c.count, Guards{}), WorkerOptions{}).runSlot(t.Context(), slot, manner{parallel: 1})
		r.must(err)
		if figures.Done != 45 || figures.Takeovers != 0 {
			t.Errorf("the next worker: %+v", figures)
		}
		r.balanced()
	})
}

func TestCallsThatOutlastTheStopGraceAreLeftPending(t *testing.T) {
	eachServerAt(t, time.Second, func(t *testing.T, r *rig) {
		slot := r.insertDue(3)
		started := make(chan struct{}, 3)
		execs := registry("check", func(ctx context.Context, _ FutureJob) (*time.Time, error) {
			started <- struct{}{}
			<-ctx.Done()
			return nil, ctx.Err()
		}, Guards{})
		w := r.worker(time.Time{}, execs, WorkerOptions{StopGrace: 50 * time.Millisecond})
		ctx, cancel := context.WithCancel(context.WithoutCancel(t.Context()))
		done := make(chan error)
		go func() {
			_, err := w.runSlot(ctx, slot, manner{parallel: 1})
			done <- err
		}()
		for range 3 {
			<-started
		}
		cancel()
		r.must(<-done)
		for _, job := range r.pending() {
			if job.ErrorCount != 0 || !job.NextCheckAt.Equal(slot) {
				t.Errorf("changed: %+v", job)
			}
		}
		if len(r.pending()) != 3 || len(r.history()) != 0 {
			t.Errorf("%d pending, %d ended", len(r.pending()), len(r.history()))
		}
	})
}

func TestAnIdleWorkerSendsAHandfulOfStatementsASlot(t *testing.T) {
	eachServerAt(t, time.Second, func(t *testing.T, r *rig) {
		var h hooks
		w := r.hookedWorker(time.Time{}, &h, NewRegistry(), WorkerOptions{SweepEvery: -1})
		stop := r.startWork(w)
		r.eventually("five slots are in the ledger", func() bool { return r.count("SELECT COUNT(*) FROM p_slot_run") >= 5 })
		r.must(stop())
		served := r.count("SELECT COUNT(*) FROM p_slot_run")
		h.mu.Lock()
		defer h.mu.Unlock()
		if perSlot := float64(len(h.log)) / float64(served); perSlot > 5 {
			t.Errorf("%.1f statements a slot; at most 5 are wanted: %q", perSlot, h.log)
		}
	})
}

func TestAWorkerThatIsConfiguredOtherwiseRefusesToStart(t *testing.T) {
	eachServer(t, func(t *testing.T, r *rig) {
		_, err := NewWorker(t.Context(), r.pool(time.Time{}), WorkerOptions{Prefix: "p_", Resolution: time.Minute})
		if !errors.Is(err, ErrResolution) || !contains(err, "1m0s", "15m0s") {
			t.Errorf("resolution: %v", err)
		}
		hourly, err := slots.NewGrid(time.Hour)
		r.must(err)
		_, err = NewWorker(t.Context(), r.pool(time.Time{}), WorkerOptions{Prefix: "p_", Assignment: slots.All(hourly)})
		if !errors.Is(err, ErrResolution) || !contains(err, "1h0m0s", "15m0s") {
			t.Errorf("assignment: %v", err)
		}
		_, err = NewWorker(t.Context(), r.pool(time.Time{}), WorkerOptions{Prefix: "other_"})
		if !errors.Is(err, ErrNotMigrated) || !contains(err, "other_slot_config") {
			t.Errorf("tables: %v", err)
		}
	})
}

// When slot_config changes under it, a worker stops and says so, and runs nothing more.
func TestAWorkerStopsWhenSlotConfigChanges(t *testing.T) {
	eachServerAt(t, time.Second, func(t *testing.T, r *rig) {
		w := r.worker(time.Time{}, NewRegistry(), WorkerOptions{})
		done := make(chan error, 1)
		go func() { done <- w.Work(t.Context()) }()
		r.eventually("it has served a slot", func() bool { return r.count("SELECT COUNT(*) FROM p_slot_run") > 0 })
		_, err := r.root.Exec("UPDATE p_slot_config SET version = version + 1")
		r.must(err)
		select {
		case err := <-done:
			if !errors.Is(err, ErrConfigChanged) {
				t.Errorf("error: %v", err)
			}
		case <-time.After(20 * time.Second):
			t.Error("it goes on")
		}
	})
}

// All the rows that were read come back unstarted, between two looks at whether to go on: the bucket is not finished.
func TestABucketWhoseRowsWereNotStartedIsNotFinished(t *testing.T) {
	eachServerAt(t, time.Second, func(t *testing.T, r *rig) {
		slot := r.insertDue(3)
		stop := make(chan struct{})
		var c calls
		w := r.worker(time.Time{}, registry("check", c.count, Guards{}), WorkerOptions{})
		list, err := w.openSlotRun(t.Context(), slot)
		r.must(err)
		l, err := w.claim(t.Context(), slot, list[0])
		r.must(err)
		run := &slotRun{w: w, slot: slot, clock: clockAt(slot), stop: stop, calls: t.Context(), work: t.Context()}
		b := run.newBucketRun(l, list[0].buckets)
		b.calls = t.Context()
		r.eventually("the rows are read", func() bool {
			read, err := b.read(t.Context())
			r.must(err)
			return read
		})
		close(stop)
		r.eventually("the rows have come back", func() bool { return !b.stillFlying() })
		b.mu.Lock()
		for i := range b.answers {
			b.answers[i].answer = answer{kind: notStarted}
		}
		b.mu.Unlock()
		_, err = b.commitReady(t.Context(), true)
		r.must(err)
		if !b.finished() || !errors.Is(b.outcome(), errStopped) {
			t.Errorf("finished %v, outcome %v; want it stopped, with rows left behind", b.finished(), b.outcome())
		}
		if len(r.pending()) != 3 {
			t.Errorf("%d pending; want 3", len(r.pending()))
		}
	})
}
