package prescient

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"testing"
	"time"
)

// The servers were down over several slots.
func TestTheSweeperCatchesUpOldestFirst(t *testing.T) {
	eachServer(t, func(t *testing.T, r *rig) {
		for _, clock := range []string{"14:00", "13:15", "13:45", "13:30"} {
			for i := range 3 {
				r.insert(at("13:00"), NewJob{Entity: Entity{"order", fmt.Sprint(clock, "/", i)}, JobExec: "check", DueAt: at(clock)})
			}
		}
		var order []string
		execs := registry("check", func(_ context.Context, job FutureJob) (*time.Time, error) {
			order = append(order, job.NextCheckAt.Format("15:04"))
			return nil, nil
		}, Guards{Concurrency: 1})
		swept, err := r.worker(at("14:05"), execs, WorkerOptions{SweepGrace: 6 * time.Minute}).Sweep(t.Context())
		r.must(err)
		if len(swept) != 3 || !slices.IsSorted(order) || len(order) != 9 || order[0] != "13:15" {
			t.Errorf("swept %d slots, called in the order %q; want 13:15 to 13:45, and 14:00 left to its own worker", len(swept), order)
		}
		if left := r.pending(); len(left) != 3 || !left[0].NextCheckAt.Equal(at("14:00")) {
			t.Errorf("pending: %+v", left)
		}
		for _, end := range r.history() {
			if *end.LatenessMS < (20 * time.Minute).Milliseconds() {
				t.Errorf("%s: lateness %d ms", end.EntityKey, *end.LatenessMS)
			}
		}
		r.balanced()
	})
}

func TestASlotIsLeftToItsOwnWorkerForTheGrace(t *testing.T) {
	eachServer(t, func(t *testing.T, r *rig) {
		for _, clock := range []string{"13:15", "13:30"} {
			r.insert(at("13:00"), NewJob{Entity: Entity{"order", clock}, JobExec: "check", DueAt: at(clock)})
		}
		var c calls
		execs := registry("check", c.count, Guards{})
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
			swept, err := r.worker(at(step.now), execs, WorkerOptions{}).Sweep(t.Context())
			r.must(err)
			if len(swept) != step.slots {
				t.Errorf("at %s: swept %+v; want %d slots", step.now, swept, step.slots)
			}
		}
		c.eachOnce(t, 2)
	})
}

// Somebody works on a bucket of the slot that is now: the sweeper leaves him the others, too.
func TestTheSlotThatIsNowIsSweptOnlyWhereNobodyRunsIt(t *testing.T) {
	eachServer(t, func(t *testing.T, r *rig) {
		r.manyDue(at("13:15"), "check", 0, 40)
		const buckets = 4
		// A run that failed: it opened the slot, and has left a bucket to none but itself.
		owner := r.worker(at("13:15"), NewRegistry(), WorkerOptions{})
		_, err := owner.openBuckets(t.Context(), "slotrun/open", at("13:15"), buckets, upTo(buckets))
		r.must(err)
		list, err := owner.ledger(t.Context(), at("13:15"))
		r.must(err)
		l, err := owner.claim(t.Context(), at("13:15"), list[1])
		r.must(err)
		var c calls
		sweeper := r.worker(at("13:16"), registry("check", c.count, Guards{}), WorkerOptions{})
		_, err = r.root.Exec("UPDATE p_slot_run SET allocated_until = ? WHERE bucket = 1", at("13:17"))
		r.must(err)
		swept, err := sweeper.Sweep(t.Context())
		if err != nil || len(swept) != 0 {
			t.Errorf("while it is run: %+v, %v", swept, err)
		}
		r.must(owner.release(t.Context(), l, false))
		swept, err = sweeper.Sweep(t.Context())
		if err != nil || len(swept) != 1 || swept[0].Done != 40 || swept[0].Buckets != buckets {
			t.Errorf("after its run has failed: %+v, %v", swept, err)
		}
		c.eachOnce(t, 40)
		r.balanced()
	})
}

// What is left to the sweeper need not wait for the next sweep that would be.
func TestTheSweeperComesSoonToWhatWasLeftToIt(t *testing.T) {
	eachServerAt(t, time.Second, func(t *testing.T, r *rig) {
		var c calls
		w := r.worker(time.Time{}, registry("check", c.count, Guards{}), WorkerOptions{SweepEvery: time.Hour, SweepGrace: time.Millisecond})
		r.insertDue(1)
		stop := r.startWork(w)
		r.eventually("the first sweep has come", func() bool { return r.ends() == 1 })
		slot := r.insertDue(0)
		r.insert(slot.Add(-10*time.Second), NewJob{Entity: Entity{"order", "left"}, JobExec: "check", DueAt: slot.Add(-5 * time.Second)})
		w.leaveToSweeper()
		r.eventually("it has been swept", func() bool { return r.ends() == 2 })
		r.must(stop())
	})
}

// Many small slots: the next one is opened, and called, while one is being committed.
func TestASweepGoesOnWhileASlotIsCommitted(t *testing.T) {
	eachServer(t, func(t *testing.T, r *rig) {
		for _, clock := range []string{"13:15", "13:30", "13:45"} {
			r.insert(at("13:00"), NewJob{Entity: Entity{"order", clock}, JobExec: "check", DueAt: at(clock)})
		}
		var c calls
		var h hooks
		last := make(chan struct{})
		h.once("INTO p_job_history", func() { <-last })
		w := r.hookedWorker(at("14:05"), &h, registry("check", func(ctx context.Context, job FutureJob) (*time.Time, error) {
			if job.EntityKey == "13:45" {
				close(last)
			}
			return c.count(ctx, job)
		}, Guards{}), WorkerOptions{})
		ctx, cancel := context.WithTimeout(t.Context(), 20*time.Second)
		defer cancel()
		swept, err := w.Sweep(ctx)
		if err != nil || len(swept) != 3 {
			t.Errorf("swept %+v, %v", swept, err)
		}
		c.eachOnce(t, 3)
		r.balanced()
	})
}

// A slot whose run fails for what is in it holds up none of those after it.
func TestASlotThatFailsDoesNotEndTheSweep(t *testing.T) {
	eachServer(t, func(t *testing.T, r *rig) {
		for _, clock := range []string{"13:15", "13:30", "13:45"} {
			r.insert(at("13:00"), NewJob{Entity: Entity{"order", clock}, JobExec: "check", DueAt: at(clock)})
		}
		var c calls
		var h hooks
		broken := errors.New("this slot is broken")
		h.onStatement(firstTime("SELECT entity_name", broken))
		w := r.hookedWorker(at("14:05"), &h, registry("check", c.count, Guards{}), WorkerOptions{})
		swept, err := w.Sweep(t.Context())
		if !errors.Is(err, broken) || len(swept) != 2 || len(r.pending()) != 1 {
			t.Errorf("swept %+v, %v", swept, err)
		}
		swept, err = w.Sweep(t.Context())
		if err != nil || len(swept) != 1 {
			t.Errorf("then swept %+v, %v", swept, err)
		}
		c.eachOnce(t, 3)
	})
}

// An insert may commit after its slot ran.
func TestARowThatCommitsAfterItsSlotRanIsSwept(t *testing.T) {
	eachServer(t, func(t *testing.T, r *rig) {
		r.insert(at("13:00"), NewJob{Entity: Entity{"order", "early"}, JobExec: "check", DueAt: at("13:15")})
		tx, err := r.appAt(at("13:14:59")).Begin()
		r.must(err)
		_, err = r.client.Insert(t.Context(), tx, NewJob{Entity: Entity{"order", "late"}, JobExec: "check", DueAt: at("13:15")})
		r.must(err)
		var c calls
		execs := registry("check", c.count, Guards{})
		if f := r.runAt(at("13:15"), execs, WorkerOptions{}); f.Done != 1 {
			t.Fatalf("figures: %+v", f)
		}
		const ledger = "FROM p_slot_run WHERE slot = '2026-11-20 13:15:00' AND finished_at IS NOT NULL"
		token := r.count("SELECT token " + ledger)
		r.must(tx.Commit())
		swept, err := r.worker(at("13:30:11"), execs, WorkerOptions{}).Sweep(t.Context())
		r.must(err)
		if len(swept) != 1 || swept[0].Done != 1 {
			t.Fatalf("swept: %+v", swept)
		}
		c.eachOnce(t, 2)
		// The ledger goes on where it was: the token was raised, the counts add up.
		if n := r.count("SELECT done "+ledger+" AND token > ?", token); n != 2 {
			t.Errorf("the ledger has %d done", n)
		}
		r.balanced()
	})
}

func TestRollForwardMovesEverythingOverdueToTheNextSlot(t *testing.T) {
	eachServer(t, func(t *testing.T, r *rig) {
		var jobs []NewJob
		for _, clock := range []string{"13:15", "13:30", "13:45", "15:00"} {
			for i := range 250 {
				jobs = append(jobs, NewJob{Entity: Entity{"order", fmt.Sprint(clock, "/", i)}, JobExec: "check", DueAt: at(clock)})
			}
		}
		_, err := r.client.InsertMany(t.Context(), r.appAt(at("13:00")), jobs)
		r.must(err)
		progress := 0
		moved, err := r.worker(at("14:05"), NewRegistry(), WorkerOptions{Batch: 100}).RollForward(t.Context(), func(so Rolled) {
			if so.Moved < progress {
				t.Errorf("progress went from %d to %d", progress, so.Moved)
			}
			progress = so.Moved
		})
		r.must(err)
		if moved != (Rolled{Moved: 750}) || progress != 750 {
			t.Errorf("moved %+v, progress %d; want 750", moved, progress)
		}
		slots := map[string]int{}
		for _, job := range r.pending() {
			slots[job.NextCheckAt.Format("15:04")]++
			if job.NextCheckAt.Equal(at("14:15")) && (job.DueAt.After(at("13:45")) || job.CheckCount != 0) {
				t.Errorf("due_at and the counts stay: %+v", job)
			}
		}
		if fmt.Sprint(slots) != "map[14:15:750 15:00:250]" {
			t.Errorf("slots: %v", slots)
		}
		if n := r.count("SELECT SUM(put_off) FROM p_slot_run"); n != 750 {
			t.Errorf("the ledger has %d put off", n)
		}
		var c calls
		if f := r.runAt(at("14:15"), registry("check", c.count, Guards{}), WorkerOptions{}); f.Done != 750 {
			t.Errorf("figures: %+v", f)
		}
		c.eachOnce(t, 750)
		r.balanced()
	})
}

func TestNeitherSweepNorRollForwardTouchesWhatALiveWorkerHolds(t *testing.T) {
	eachServer(t, func(t *testing.T, r *rig) {
		r.insert(at("13:00"), NewJob{Entity: Entity{"order", "1"}, JobExec: "check", DueAt: at("13:15")})
		started, release := make(chan struct{}), make(chan struct{})
		slow := registry("check", func(context.Context, FutureJob) (*time.Time, error) {
			close(started)
			<-release
			return nil, nil
		}, Guards{})
		owner := r.worker(at("13:15"), slow, WorkerOptions{Lease: time.Hour})
		done := make(chan error)
		go func() {
			_, err := owner.Run(t.Context())
			done <- err
		}()
		<-started
		var c calls
		other := r.worker(at("13:31"), registry("check", c.count, Guards{}), WorkerOptions{})
		swept, err := other.Sweep(t.Context())
		r.must(err)
		moved, err := other.RollForward(t.Context(), nil)
		r.must(err)
		if len(swept) != 0 || moved != (Rolled{}) {
			t.Errorf("swept %+v, moved %+v; want nothing", swept, moved)
		}
		close(release)
		r.must(<-done)
		c.eachOnce(t, 0)
		if ends := r.history(); len(ends) != 1 || ends[0].Outcome != Done {
			t.Errorf("ends: %+v", ends)
		}
	})
}
