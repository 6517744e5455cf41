package worker

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"testing"
	"time"

	"prescient/prescient"
	"prescient/prescient/internal/rig"
	"prescient/prescient/worker/internal/ledger"
)

// The servers were down over several slots.
func TestTheSweeperCatchesUpOldestFirst(t *testing.T) {
	t.Parallel()
	eachServer(t, func(t *testing.T, r *testRig) {
		for _, clock := range []string{"14:00", "13:15", "13:45", "13:30"} {
			for i := range 3 {
				r.Insert(rig.At("13:00"), prescient.NewJob{Entity: prescient.Entity{Name: "order", Key: fmt.Sprint(clock, "/", i)}, JobExec: "check", DueAt: rig.At(clock)})
			}
		}
		var order []string
		execs := rig.Registry("check", func(_ context.Context, job prescient.FutureJob) (*time.Time, error) {
			order = append(order, job.NextCheckAt.Format("15:04"))
			return nil, nil
		}, prescient.Guards{Concurrency: 1})
		swept, err := r.worker(rig.At("14:05"), execs, Options{Sweep: Sweep{Grace: 6 * time.Minute}}).Sweep(t.Context())
		r.Must(err)
		if len(swept) != 3 || !slices.IsSorted(order) || len(order) != 9 || order[0] != "13:15" {
			t.Errorf("swept %d slots, called in the order %q; want 13:15 to 13:45, and 14:00 left to its own worker", len(swept), order)
		}
		if left := r.Pending(); len(left) != 3 || !left[0].NextCheckAt.Equal(rig.At("14:00")) {
			t.Errorf("pending: %+v", left)
		}
		for _, end := range r.History() {
			if *end.LatenessMS < (20 * time.Minute).Milliseconds() {
				t.Errorf("%s: lateness %d ms", end.EntityKey, *end.LatenessMS)
			}
		}
		r.Balanced()
	})
}

func TestASlotIsLeftToItsOwnWorkerForTheGrace(t *testing.T) {
	t.Parallel()
	eachServer(t, func(t *testing.T, r *testRig) {
		for _, clock := range []string{"13:15", "13:30"} {
			r.Insert(rig.At("13:00"), prescient.NewJob{Entity: prescient.Entity{Name: "order", Key: clock}, JobExec: "check", DueAt: rig.At(clock)})
		}
		var c rig.Calls
		execs := rig.Registry("check", c.Count, prescient.Guards{})
		for _, step := range []struct {
			now   string
			slots int
		}{
			{"13:15:09", 0},               // it is the slot that is now, and its worker may be a few seconds late
			{"13:15:11", 1},               // nobody runs it
			{"13:15:30", 0},               // nothing of it is left
			{"13:30:09", 0},               // the same of the next
			{"13:45:09", 1},               // it is before the current one, and old enough
			{"13:45:11", 0}, {"23:59", 0}, // nothing is left
		} {
			swept, err := r.worker(rig.At(step.now), execs, Options{}).Sweep(t.Context())
			r.Must(err)
			if len(swept) != step.slots {
				t.Errorf("at %s: swept %+v; want %d slots", step.now, swept, step.slots)
			}
		}
		c.EachOnce(t, 2)
	})
}

// Somebody works on a bucket of the slot that is now: the sweeper leaves him the others, too.
func TestTheSlotThatIsNowIsSweptOnlyWhereNobodyRunsIt(t *testing.T) {
	t.Parallel()
	eachServer(t, func(t *testing.T, r *testRig) {
		r.ManyDue(rig.At("13:15"), "check", 0, 40)
		const buckets = 4
		// A run that failed: it opened the slot, and has left a bucket to none but itself.
		owner := r.worker(rig.At("13:15"), prescient.NewRegistry(), Options{})
		r.divided(rig.At("13:15"), buckets)
		list, err := owner.ledger.Rows(t.Context(), rig.At("13:15"))
		r.Must(err)
		l, err := owner.ledger.Claim(t.Context(), rig.At("13:15"), list[1], ledger.Work)
		r.Must(err)
		var c rig.Calls
		sweeper := r.worker(rig.At("13:16"), rig.Registry("check", c.Count, prescient.Guards{}), Options{})
		_, err = r.Root.Exec("UPDATE p_slot_run SET allocated_until = ? WHERE bucket = 1", rig.At("13:17"))
		r.Must(err)
		swept, err := sweeper.Sweep(t.Context())
		if err != nil || len(swept) != 0 {
			t.Errorf("while it is run: %+v, %v", swept, err)
		}
		r.Must(owner.ledger.Release(t.Context(), l, false))
		swept, err = sweeper.Sweep(t.Context())
		if err != nil || len(swept) != 1 || swept[0].Done != 40 || swept[0].Buckets != buckets {
			t.Errorf("after its run has failed: %+v, %v", swept, err)
		}
		c.EachOnce(t, 40)
		r.Balanced()
	})
}

// What is left to the sweeper need not wait for the next sweep that would be.
func TestTheSweeperComesSoonToWhatWasLeftToIt(t *testing.T) {
	t.Parallel()
	eachServerAt(t, time.Second, func(t *testing.T, r *testRig) {
		var c rig.Calls
		w := r.worker(time.Time{}, rig.Registry("check", c.Count, prescient.Guards{}), Options{Sweep: Sweep{Every: time.Hour, Grace: time.Millisecond}})
		r.InsertDue(1)
		stop := r.startWork(w)
		r.Eventually("the first sweep has come", func() bool { return r.ends() == 1 })
		slot := r.InsertDue(0)
		r.Insert(slot.Add(-10*time.Second), prescient.NewJob{Entity: prescient.Entity{Name: "order", Key: "left"}, JobExec: "check", DueAt: slot.Add(-5 * time.Second)})
		w.leaveToSweeper()
		r.Eventually("it has been swept", func() bool { return r.ends() == 2 })
		r.Must(stop())
	})
}

// Many small slots: the next one is opened, and called, while one is being committed.
func TestASweepGoesOnWhileASlotIsCommitted(t *testing.T) {
	t.Parallel()
	eachServer(t, func(t *testing.T, r *testRig) {
		for _, clock := range []string{"13:15", "13:30", "13:45"} {
			r.Insert(rig.At("13:00"), prescient.NewJob{Entity: prescient.Entity{Name: "order", Key: clock}, JobExec: "check", DueAt: rig.At(clock)})
		}
		var c rig.Calls
		var h rig.Hooks
		last := make(chan struct{})
		h.Once("INTO p_job_history", func() { <-last })
		w := r.hookedWorker(rig.At("14:05"), &h, rig.Registry("check", func(ctx context.Context, job prescient.FutureJob) (*time.Time, error) {
			if job.EntityKey == "13:45" {
				close(last)
			}
			return c.Count(ctx, job)
		}, prescient.Guards{}), Options{})
		ctx, cancel := context.WithTimeout(t.Context(), 40*time.Second)
		defer cancel()
		swept, err := w.Sweep(ctx)
		if err != nil || len(swept) != 3 {
			t.Errorf("swept %+v, %v", swept, err)
		}
		c.EachOnce(t, 3)
		r.Balanced()
	})
}

// A slot whose run fails for what is in it holds up none of those after it.
func TestASlotThatFailsDoesNotEndTheSweep(t *testing.T) {
	t.Parallel()
	eachServer(t, func(t *testing.T, r *testRig) {
		for _, clock := range []string{"13:15", "13:30", "13:45"} {
			r.Insert(rig.At("13:00"), prescient.NewJob{Entity: prescient.Entity{Name: "order", Key: clock}, JobExec: "check", DueAt: rig.At(clock)})
		}
		var c rig.Calls
		var h rig.Hooks
		broken := errors.New("this slot is broken")
		h.OnStatement(rig.FirstTime("SELECT entity_name", broken))
		w := r.hookedWorker(rig.At("14:05"), &h, rig.Registry("check", c.Count, prescient.Guards{}), Options{})
		swept, err := w.Sweep(t.Context())
		if !errors.Is(err, broken) || len(swept) != 2 || len(r.Pending()) != 1 {
			t.Errorf("swept %+v, %v", swept, err)
		}
		swept, err = w.Sweep(t.Context())
		if err != nil || len(swept) != 1 {
			t.Errorf("then swept %+v, %v", swept, err)
		}
		c.EachOnce(t, 3)
	})
}

// An insert may commit after its slot ran.
func TestARowThatCommitsAfterItsSlotRanIsSwept(t *testing.T) {
	t.Parallel()
	eachServer(t, func(t *testing.T, r *testRig) {
		r.Insert(rig.At("13:00"), prescient.NewJob{Entity: prescient.Entity{Name: "order", Key: "early"}, JobExec: "check", DueAt: rig.At("13:15")})
		tx, err := r.AppAt(rig.At("13:14:59")).Begin()
		r.Must(err)
		_, err = r.Client.Insert(t.Context(), tx, prescient.NewJob{Entity: prescient.Entity{Name: "order", Key: "late"}, JobExec: "check", DueAt: rig.At("13:15")})
		r.Must(err)
		var c rig.Calls
		execs := rig.Registry("check", c.Count, prescient.Guards{})
		if f := r.runAt(rig.At("13:15"), execs, Options{}); f.Done != 1 {
			t.Fatalf("figures: %+v", f)
		}
		const ledger = "FROM p_slot_run WHERE slot = '2026-11-20 13:15:00' AND finished_at IS NOT NULL"
		token := r.Count("SELECT token " + ledger)
		r.Must(tx.Commit())
		swept, err := r.worker(rig.At("13:30:11"), execs, Options{}).Sweep(t.Context())
		r.Must(err)
		if len(swept) != 1 || swept[0].Done != 1 {
			t.Fatalf("swept: %+v", swept)
		}
		c.EachOnce(t, 2)
		// The ledger goes on where it was: the token was raised, the counts add up.
		if n := r.Count("SELECT done "+ledger+" AND token > ?", token); n != 2 {
			t.Errorf("the ledger has %d done", n)
		}
		r.Balanced()
	})
}

func TestRollForwardMovesEverythingOverdueToTheNextSlot(t *testing.T) {
	t.Parallel()
	eachServer(t, func(t *testing.T, r *testRig) {
		var jobs []prescient.NewJob
		for _, clock := range []string{"13:15", "13:30", "13:45", "15:00"} {
			for i := range 100 {
				jobs = append(jobs, prescient.NewJob{Entity: prescient.Entity{Name: "order", Key: fmt.Sprint(clock, "/", i)}, JobExec: "check", DueAt: rig.At(clock)})
			}
		}
		_, err := r.Client.InsertMany(t.Context(), r.AppAt(rig.At("13:00")), jobs)
		r.Must(err)
		progress := 0
		moved, err := r.worker(rig.At("14:05"), prescient.NewRegistry(), Options{Load: Load{Batch: 40}}).RollForward(t.Context(), func(so Rolled) {
			if so.Moved < progress {
				t.Errorf("progress went from %d to %d", progress, so.Moved)
			}
			progress = so.Moved
		})
		r.Must(err)
		if moved != (Rolled{Moved: 300}) || progress != 300 {
			t.Errorf("moved %+v, progress %d; want 300", moved, progress)
		}
		slots := map[string]int{}
		for _, job := range r.Pending() {
			slots[job.NextCheckAt.Format("15:04")]++
			if job.NextCheckAt.Equal(rig.At("14:15")) && (job.DueAt.After(rig.At("13:45")) || job.CheckCount != 0) {
				t.Errorf("due_at and the counts stay: %+v", job)
			}
		}
		if fmt.Sprint(slots) != "map[14:15:300 15:00:100]" {
			t.Errorf("slots: %v", slots)
		}
		if n := r.Count("SELECT SUM(put_off) FROM p_slot_run"); n != 300 {
			t.Errorf("the ledger has %d put off", n)
		}
		var c rig.Calls
		if f := r.runAt(rig.At("14:15"), rig.Registry("check", c.Count, prescient.Guards{}), Options{}); f.Done != 300 {
			t.Errorf("figures: %+v", f)
		}
		c.EachOnce(t, 300)
		r.Balanced()
	})
}

func TestNeitherSweepNorRollForwardTouchesWhatALiveWorkerHolds(t *testing.T) {
	t.Parallel()
	eachServer(t, func(t *testing.T, r *testRig) {
		r.Insert(rig.At("13:00"), prescient.NewJob{Entity: prescient.Entity{Name: "order", Key: "1"}, JobExec: "check", DueAt: rig.At("13:15")})
		started, release := make(chan struct{}), make(chan struct{})
		slow := rig.Registry("check", func(context.Context, prescient.FutureJob) (*time.Time, error) {
			close(started)
			<-release
			return nil, nil
		}, prescient.Guards{})
		owner := r.worker(rig.At("13:15"), slow, Options{Times: Times{Lease: time.Hour}})
		done := make(chan error)
		go func() {
			_, err := owner.Run(t.Context())
			done <- err
		}()
		<-started
		var c rig.Calls
		other := r.worker(rig.At("13:31"), rig.Registry("check", c.Count, prescient.Guards{}), Options{})
		swept, err := other.Sweep(t.Context())
		r.Must(err)
		moved, err := other.RollForward(t.Context(), nil)
		r.Must(err)
		if want := (Rolled{Held: 1, HeldBy: owner.options.Name}); len(swept) != 0 || moved != want {
			t.Errorf("swept %+v, moved %+v; want nothing", swept, moved)
		}
		close(release)
		r.Must(<-done)
		c.EachOnce(t, 0)
		if ends := r.History(); len(ends) != 1 || ends[0].Outcome != prescient.Done {
			t.Errorf("ends: %+v", ends)
		}
	})
}
