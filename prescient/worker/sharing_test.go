package worker

import (
	"context"
	"fmt"
	"sync"
	"testing"
	"time"

	"prescient/prescient"
	"prescient/prescient/internal/rig"
	"prescient/prescient/worker/books"
	"prescient/slots"
)

func TestEverySlotIsServedOnceByTheWorkerItIsAssignedTo(t *testing.T) {
	t.Parallel()
	eachServer(t, func(t *testing.T, r *testRig) {
		for _, clock := range []string{"13:00", "13:15", "13:30", "13:45"} {
			r.Insert(rig.At("12:50"), prescient.NewJob{Entity: prescient.Entity{Name: "order", Key: clock}, JobExec: "check", DueAt: rig.At(clock)})
		}
		var c rig.Calls
		execs := rig.Registry("check", c.Count, prescient.Guards{})
		grid := r.Tables().Grid
		halves, err := slots.ParseMinutes(grid, "0,30")
		r.Must(err)
		quarters, err := slots.ParseMinutes(grid, "15,45")
		r.Must(err)
		served := map[string]string{}
		for _, clock := range []string{"13:00:01", "13:15:01", "13:30:01", "13:45:01"} {
			for name, assignment := range map[string]slots.Assignment{"halves": halves, "quarters": quarters} {
				figures, err := r.worker(rig.At(clock), execs, Options{Assignment: assignment, Name: name}).Run(t.Context())
				if err == nil && figures.Done == 1 {
					served[clock[:5]] += name
				}
			}
		}
		want := map[string]string{"13:00": "halves", "13:15": "quarters", "13:30": "halves", "13:45": "quarters"}
		if fmt.Sprint(served) != fmt.Sprint(want) {
			t.Errorf("served by %v; want %v", served, want)
		}
		c.EachOnce(t, 4)
		if n := r.Count("SELECT COUNT(*) FROM p_slot_run"); n != 4 {
			t.Errorf("%d ledger rows; want 4", n)
		}
	})
}

// Workers with the same minutes, by plan or by mistake, share the rows of the slot.
func TestWorkersOnTheSameSlotShareItsRowsAndRunNoneTwice(t *testing.T) {
	t.Parallel()
	eachServer(t, func(t *testing.T, r *testRig) {
		const rows = 900
		jobs := make([]prescient.NewJob, rows)
		for i := range jobs {
			jobs[i] = prescient.NewJob{Entity: prescient.Entity{Name: "order", Key: fmt.Sprint(i)}, JobExec: "check", DueAt: rig.At("13:15")}
		}
		_, err := r.Client.InsertMany(t.Context(), r.AppAt(rig.At("13:00")), jobs)
		r.Must(err)
		var c rig.Calls
		execs := rig.Registry("check", c.Count, prescient.Guards{})
		var total books.Figures
		var mu sync.Mutex
		var workers sync.WaitGroup
		for i := range 4 {
			w := r.worker(rig.At("13:15:01"), execs, Options{Name: fmt.Sprint("worker-", i), Load: Load{Batch: 15}})
			workers.Go(func() {
				figures, err := w.Run(t.Context())
				if err != nil {
					t.Error(err)
				}
				mu.Lock()
				defer mu.Unlock()
				total.Add(figures)
			})
		}
		workers.Wait()
		if total.Done != rows || total.Takeovers != 0 || total.LeasesLost != 0 {
			t.Errorf("together: %+v", total)
		}
		c.EachOnce(t, rows)
		if n := r.Count("SELECT COUNT(DISTINCT worker) FROM p_slot_run"); n < 2 {
			t.Errorf("%d workers took part", n)
		}
		r.Balanced()
	})
}

// A worker that died left its lease behind: until that ends nobody touches the bucket, then it is taken over.
func TestADeadWorkersBucketIsTakenOverWhenItsLeaseEnds(t *testing.T) {
	t.Parallel()
	eachServerAt(t, time.Second, func(t *testing.T, r *testRig) {
		slot := r.InsertDue(20)
		dead := r.worker(time.Time{}, prescient.NewRegistry(), Options{Times: Times{Lease: 2 * time.Second}, Name: "dead"})
		l := r.claimed(dead, slot)
		claimed := time.Now()
		var c rig.Calls
		heir := r.worker(time.Time{}, rig.Registry("check", c.Count, prescient.Guards{}), Options{Times: Times{Lease: 2 * time.Second}, Name: "heir"})

		swept, err := heir.runSlot(t.Context(), slot, runOptions{parallel: 1})
		r.Must(err)
		if swept.Rows() != 0 || swept.Held != 1 {
			t.Fatalf("while the lease lives: %+v; want it left alone", swept)
		}
		figures, err := heir.runSlot(t.Context(), slot, runOptions{parallel: 1, stay: true})
		r.Must(err)
		if figures.Done != 20 || figures.Takeovers != 1 {
			t.Fatalf("figures: %+v", figures)
		}
		if waited := time.Since(claimed); waited < 1900*time.Millisecond {
			t.Errorf("taken over after %s; the lease was for 2 s", waited)
		}
		c.EachOnce(t, 20)
		// Its late return is refused.
		if err := dead.ledger.Renew(t.Context(), l); err == nil {
			t.Error("the dead worker renewed its lease")
		}
		r.Balanced()
	})
}

// A row that kills its worker every time ends as crashed; the rest of its bucket runs.
func TestARowThatKillsItsWorkerEndsAsCrashed(t *testing.T) {
	t.Parallel()
	eachServerAt(t, time.Second, func(t *testing.T, r *testRig) {
		slot := r.InsertDue(6)
		poison := "3"
		// A worker that dies at the poison row: what it had answered before is committed or not, and the lease stays.
		die := func(name string) {
			var h rig.Hooks
			died := make(chan struct{})
			ctx, cancel := context.WithCancel(context.WithoutCancel(t.Context()))
			defer cancel()
			execs := rig.Registry("check", func(ctx context.Context, job prescient.FutureJob) (*time.Time, error) {
				if job.EntityKey == poison {
					// From here on nothing reaches the server any more, as from a process that is gone.
					h.OnStatement(func(string) error { <-ctx.Done(); return ctx.Err() })
					close(died)
					<-ctx.Done()
				}
				return nil, nil
			}, prescient.Guards{})
			w := r.hookedWorker(time.Time{}, &h, execs, Options{Name: name, Times: Times{Lease: 2 * time.Second, StopGrace: time.Millisecond}, Load: Load{Concurrency: 1}})
			gone := make(chan struct{})
			go func() {
				defer close(gone)
				_, _ = w.runSlot(ctx, slot, runOptions{parallel: 1, stay: true})
			}()
			<-died
			cancel()
			<-gone
		}
		die("first")
		die("second")
		die("third")
		var c rig.Calls
		heir := r.worker(time.Time{}, rig.Registry("check", c.Count, prescient.Guards{}), Options{Times: Times{Lease: 2 * time.Second}, Name: "heir"})
		_, err := heir.runSlot(t.Context(), slot, runOptions{parallel: 1, stay: true})
		r.Must(err)
		if c.Of[poison] != 0 {
			t.Error("the row was called once more")
		}
		got := map[prescient.Outcome]int{}
		for _, end := range r.History() {
			got[end.Outcome]++
			if (end.EntityKey == poison) != (end.Outcome == prescient.Crashed) {
				t.Errorf("%s ended as %s", end.EntityKey, end.Outcome)
			}
		}
		if got[prescient.Done] != 5 || got[prescient.Crashed] != 1 || len(r.Pending()) != 0 {
			t.Errorf("ends: %v, pending: %d; want 5 done, 1 crashed, none pending", got, len(r.Pending()))
		}
		r.Balanced()
	})
}

func TestTheWaitForOthersIsNotMuchLongerThanTheyTake(t *testing.T) {
	for _, c := range []struct{ waited, lapses, want time.Duration }{
		{0, time.Minute, 50 * time.Millisecond},
		{800 * time.Millisecond, time.Minute, 100 * time.Millisecond},
		{8 * time.Second, time.Minute, time.Second},
		{8 * time.Second, 300 * time.Millisecond, 300 * time.Millisecond}, // then there is something to be had
		{8 * time.Second, 0, 50 * time.Millisecond},
		{10 * time.Minute, time.Minute, time.Second}, // what is given back meanwhile is to be had
	} {
		if got := napFor(c.waited, c.lapses); got != c.want {
			t.Errorf("after %v, with a lease that lapses in %v: %v; want %v", c.waited, c.lapses, got, c.want)
		}
	}
}
