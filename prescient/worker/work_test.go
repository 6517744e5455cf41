package worker

import (
	"context"
	"errors"
	"fmt"
	"sync/atomic"
	"testing"
	"time"

	"prescient/prescient"
	"prescient/prescient/internal/rig"
	"prescient/prescient/worker/books"
	"prescient/slots"
)

// startWork runs Work until the test stops it; the function returned does that and returns its error.
func (r *testRig) startWork(w *Worker) (stop func() error) {
	ctx, cancel := context.WithCancel(context.WithoutCancel(r.T.Context()))
	done := make(chan error, 1)
	go func() { done <- w.Work(ctx) }()
	r.T.Cleanup(cancel)
	return func() error {
		cancel()
		select {
		case err := <-done:
			return err
		case <-time.After(time.Minute):
			return errors.New("Work does not stop")
		}
	}
}

func TestWorkFiresAtEachSlotAndNeverEarly(t *testing.T) {
	t.Parallel()
	eachServerAt(t, time.Second, func(t *testing.T, r *testRig) {
		var early, ran atomic.Int32
		clock := r.Pool(time.Time{})
		execs := rig.Registry("check", func(ctx context.Context, job prescient.FutureJob) (*time.Time, error) {
			var now time.Time
			if err := clock.GetContext(ctx, &now, "SELECT UTC_TIMESTAMP(6)"); err != nil {
				return nil, err
			}
			if now.Before(job.NextCheckAt) || job.NextCheckAt.Before(job.DueAt) {
				early.Add(1)
			}
			ran.Add(1)
			return nil, nil
		}, prescient.Guards{})
		w := r.worker(time.Time{}, execs, Options{})
		most := r.lateness(3 * time.Second)
		now, err := w.Now(t.Context())
		r.Must(err)
		const n = 60
		jobs := make([]prescient.NewJob, n)
		for i := range jobs { // all are there before the first of their slots
			jobs[i] = prescient.NewJob{Entity: prescient.Entity{Name: "order", Key: fmt.Sprint(i)}, JobExec: "check",
				DueAt: now.Add(time.Second + time.Duration(i)*50*time.Millisecond)}
		}
		_, err = r.Client.InsertMany(t.Context(), r.App, jobs)
		r.Must(err)
		stop := r.startWork(w)
		r.Eventually("all have run", func() bool { return ran.Load() == n && r.Count(rig.CountEnded) == n })
		r.Must(stop())
		if early.Load() > 0 {
			t.Errorf("%d ran early", early.Load())
		}
		for _, end := range r.History() {
			if *end.LatenessMS < 0 || *end.LatenessMS > most().Milliseconds() {
				t.Errorf("lateness %d ms; want %s at most", *end.LatenessMS, most())
			}
		}
		r.Balanced()
	})
}

func TestARunThatOutlastsItsSlotDoesNotDelayTheNext(t *testing.T) {
	t.Parallel()
	eachServerAt(t, time.Second, func(t *testing.T, r *testRig) {
		release, started, next := make(chan struct{}), make(chan struct{}), make(chan struct{})
		execs := prescient.NewRegistry()
		execs.MustRegister("slow", func(context.Context, prescient.FutureJob) (*time.Time, error) {
			close(started)
			<-release
			return nil, nil
		}, prescient.Guards{})
		execs.MustRegister("next", func(context.Context, prescient.FutureJob) (*time.Time, error) {
			close(next)
			return nil, nil
		}, prescient.Guards{})
		w := r.worker(time.Time{}, execs, Options{})
		_, err := r.Client.Insert(t.Context(), r.App, prescient.NewJob{Entity: prescient.Entity{Name: "order", Key: "1"}, JobExec: "slow", DueAt: time.Now()})
		r.Must(err)
		stop := r.startWork(w)
		<-started
		_, err = r.Client.Insert(t.Context(), r.App, prescient.NewJob{Entity: prescient.Entity{Name: "order", Key: "1"}, JobExec: "next", DueAt: time.Now()})
		r.Must(err)
		select {
		case <-next:
		case <-time.After(time.Minute):
			t.Error("the next slot waits for the slow one")
		}
		close(release)
		r.Eventually("both have ended", func() bool { return r.Count(rig.CountEnded) == 2 })
		r.Must(stop())
	})
}

// A stop lets what runs come to its end, commits it, leaves the rest, and gives the leases back.
func TestAStopIsGraceful(t *testing.T) {
	t.Parallel()
	eachServerAt(t, time.Second, func(t *testing.T, r *testRig) {
		slot := r.InsertDue(50)
		started := make(chan struct{}, 50)
		release := make(chan struct{})
		execs := rig.Registry("check", func(context.Context, prescient.FutureJob) (*time.Time, error) {
			started <- struct{}{}
			<-release
			return nil, nil
		}, prescient.Guards{Concurrency: 5})
		w := r.worker(time.Time{}, execs, Options{Times: Times{Lease: time.Hour}})
		ctx, cancel := context.WithCancel(context.WithoutCancel(t.Context()))
		done := make(chan books.Figures)
		go func() {
			figures, err := w.runSlot(ctx, slot, runOptions{parallel: 1})
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
		if len(r.History()) != 5 || len(r.Pending()) != 45 || len(started) != 0 {
			t.Errorf("%d ended, %d pending, %d more started", len(r.History()), len(r.Pending()), len(started))
		}
		if n := r.Count("SELECT COUNT(*) FROM p_slot_run WHERE allocated_until IS NULL AND finished_at IS NULL"); n != 1 {
			t.Error("the lease was not given back")
		}
		// Nothing of that was a crash: the next worker goes on at once.
		var c rig.Calls
		figures, err := r.worker(time.Time{}, rig.Registry("check", c.Count, prescient.Guards{}), Options{}).runSlot(t.Context(), slot, runOptions{parallel: 1})
		r.Must(err)
		if figures.Done != 45 || figures.Takeovers != 0 {
			t.Errorf("the next worker: %+v", figures)
		}
		r.Balanced()
	})
}

func TestCallsThatOutlastTheStopGraceAreLeftPending(t *testing.T) {
	t.Parallel()
	eachServerAt(t, time.Second, func(t *testing.T, r *testRig) {
		slot := r.InsertDue(3)
		started := make(chan struct{}, 3)
		execs := rig.Registry("check", func(ctx context.Context, _ prescient.FutureJob) (*time.Time, error) {
			started <- struct{}{}
			<-ctx.Done()
			return nil, ctx.Err()
		}, prescient.Guards{})
		w := r.worker(time.Time{}, execs, Options{Times: Times{StopGrace: 50 * time.Millisecond}})
		ctx, cancel := context.WithCancel(context.WithoutCancel(t.Context()))
		done := make(chan error)
		go func() {
			_, err := w.runSlot(ctx, slot, runOptions{parallel: 1})
			done <- err
		}()
		for range 3 {
			<-started
		}
		cancel()
		r.Must(<-done)
		for _, job := range r.Pending() {
			if job.ErrorCount != 0 || !job.NextCheckAt.Equal(slot) {
				t.Errorf("changed: %+v", job)
			}
		}
		if len(r.Pending()) != 3 || len(r.History()) != 0 {
			t.Errorf("%d pending, %d ended", len(r.Pending()), len(r.History()))
		}
	})
}

func TestAnIdleWorkerSendsAHandfulOfStatementsASlot(t *testing.T) {
	t.Parallel()
	eachServerAt(t, time.Second, func(t *testing.T, r *testRig) {
		var h rig.Hooks
		w := r.hookedWorker(time.Time{}, &h, prescient.NewRegistry(), Options{Sweep: Sweep{Every: -1}})
		stop := r.startWork(w)
		r.Eventually("five slots are in the ledger", func() bool { return r.Count("SELECT COUNT(*) FROM p_slot_run") >= 5 })
		r.Must(stop())
		served := r.Count("SELECT COUNT(*) FROM p_slot_run")
		h.Mu.Lock()
		defer h.Mu.Unlock()
		if perSlot := float64(len(h.Log)) / float64(served); perSlot > 5 {
			t.Errorf("%.1f statements a slot; at most 5 are wanted: %q", perSlot, h.Log)
		}
	})
}

func TestAWorkerThatIsConfiguredOtherwiseRefusesToStart(t *testing.T) {
	t.Parallel()
	eachServer(t, func(t *testing.T, r *testRig) {
		_, err := New(t.Context(), r.Pool(time.Time{}), Options{Prefix: "p_", Resolution: time.Minute})
		if !errors.Is(err, prescient.ErrResolution) || !rig.Contains(err, "1m", "15m") {
			t.Errorf("resolution: %v", err)
		}
		hourly, err := slots.NewGrid(time.Hour)
		r.Must(err)
		_, err = New(t.Context(), r.Pool(time.Time{}), Options{Prefix: "p_", Assignment: slots.All(hourly)})
		if !errors.Is(err, prescient.ErrResolution) || !rig.Contains(err, "1h0m0s", "15m0s") {
			t.Errorf("assignment: %v", err)
		}
		_, err = New(t.Context(), r.Pool(time.Time{}), Options{Prefix: "other_"})
		if !errors.Is(err, prescient.ErrNotMigrated) || !rig.Contains(err, "other_slot_config") {
			t.Errorf("tables: %v", err)
		}
	})
}

// When slot_config changes under it, a worker stops and says so, and runs nothing more.
func TestAWorkerStopsWhenSlotConfigChanges(t *testing.T) {
	t.Parallel()
	eachServerAt(t, time.Second, func(t *testing.T, r *testRig) {
		w := r.worker(time.Time{}, prescient.NewRegistry(), Options{})
		done := make(chan error, 1)
		go func() { done <- w.Work(t.Context()) }()
		r.Eventually("it has served a slot", func() bool { return r.Count("SELECT COUNT(*) FROM p_slot_run") > 0 })
		_, err := r.Root.Exec("UPDATE p_slot_config SET version = version + 1")
		r.Must(err)
		select {
		case err := <-done:
			if !errors.Is(err, prescient.ErrConfigChanged) {
				t.Errorf("error: %v", err)
			}
		case <-time.After(time.Minute):
			t.Error("it goes on")
		}
	})
}
