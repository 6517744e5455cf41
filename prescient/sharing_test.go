package prescient

import (
	"context"
	"fmt"
	"sync"
	"testing"
	"time"

	"prescient/slots"
)

// calls counts how often each entity's job_exec was called, by whichever worker.
type calls struct {
	mu sync.Mutex
	of map[string]int
}

func (c *calls) count(_ context.Context, job FutureJob) (*time.Time, error) {
	c.mu.Lock()
	defer c.mu.Unlock()
	if c.of == nil {
		c.of = make(map[string]int)
	}
	c.of[job.EntityKey]++
	return nil, nil
}

func (c *calls) eachOnce(t *testing.T, n int) {
	t.Helper()
	c.mu.Lock()
	defer c.mu.Unlock()
	if len(c.of) != n {
		t.Errorf("%d rows were called; want %d", len(c.of), n)
	}
	for key, times := range c.of {
		if times != 1 {
			t.Errorf("row %s was called %d times", key, times)
		}
	}
}

func TestEverySlotIsServedOnceByTheWorkerItIsAssignedTo(t *testing.T) {
	eachServer(t, func(t *testing.T, r *rig) {
		for _, clock := range []string{"13:00", "13:15", "13:30", "13:45"} {
			r.insert(at("12:50"), NewJob{Entity: Entity{"order", clock}, JobExec: "check", DueAt: at(clock)})
		}
		var c calls
		execs := registry("check", c.count, Guards{})
		grid := r.client.grid
		halves, err := slots.ParseMinutes(grid, "0,30")
		r.must(err)
		quarters, err := slots.ParseMinutes(grid, "15,45")
		r.must(err)
		served := map[string]string{}
		for _, clock := range []string{"13:00:01", "13:15:01", "13:30:01", "13:45:01"} {
			for name, assignment := range map[string]slots.Assignment{"halves": halves, "quarters": quarters} {
				figures, err := r.worker(at(clock), execs, WorkerOptions{Assignment: assignment, Name: name}).Run(t.Context())
				if err == nil && figures.Done == 1 {
					served[clock[:5]] += name
				}
			}
		}
		want := map[string]string{"13:00": "halves", "13:15": "quarters", "13:30": "halves", "13:45": "quarters"}
		if fmt.Sprint(served) != fmt.Sprint(want) {
			t.Errorf("served by %v; want %v", served, want)
		}
		c.eachOnce(t, 4)
		if n := r.count("SELECT COUNT(*) FROM p_slot_run"); n != 4 {
			t.Errorf("%d ledger rows; want 4", n)
		}
	})
}

// Workers with the same minutes, by plan or by mistake, share the rows of the slot.
func TestWorkersOnTheSameSlotShareItsRowsAndRunNoneTwice(t *testing.T) {
	eachServer(t, func(t *testing.T, r *rig) {
		const rows = 3000
		jobs := make([]NewJob, rows)
		for i := range jobs {
			jobs[i] = NewJob{Entity: Entity{"order", fmt.Sprint(i)}, JobExec: "check", DueAt: at("13:15")}
		}
		_, err := r.client.InsertMany(t.Context(), r.appAt(at("13:00")), jobs)
		r.must(err)
		var c calls
		execs := registry("check", c.count, Guards{})
		var total Figures
		var mu sync.Mutex
		var workers sync.WaitGroup
		for i := range 4 {
			w := r.worker(at("13:15:01"), execs, WorkerOptions{Name: fmt.Sprint("worker-", i), Batch: 50})
			workers.Go(func() {
				figures, err := w.Run(t.Context())
				if err != nil {
					t.Error(err)
				}
				mu.Lock()
				defer mu.Unlock()
				total.add(figures)
			})
		}
		workers.Wait()
		if total.Done != rows || total.Takeovers != 0 || total.LeasesLost != 0 {
			t.Errorf("together: %+v", total)
		}
		c.eachOnce(t, rows)
		if n := r.count("SELECT COUNT(DISTINCT worker) FROM p_slot_run"); n < 2 {
			t.Errorf("%d workers took part", n)
		}
		r.balanced()
	})
}

// A worker that died left its lease behind: until that ends nobody touches the bucket, then it is taken over.
func TestADeadWorkersBucketIsTakenOverWhenItsLeaseEnds(t *testing.T) {
	eachServerAt(t, time.Second, func(t *testing.T, r *rig) {
		slot := r.insertDue(20)
		dead := r.worker(time.Time{}, NewRegistry(), WorkerOptions{Lease: 2 * time.Second, Name: "dead"})
		list, err := dead.openSlotRun(t.Context(), slot)
		r.must(err)
		l, err := dead.claim(t.Context(), slot, list[0])
		r.must(err)
		if l == nil {
			t.Fatal("no lease")
		}
		claimed := time.Now()
		var c calls
		heir := r.worker(time.Time{}, registry("check", c.count, Guards{}), WorkerOptions{Lease: 2 * time.Second, Name: "heir"})

		swept, err := heir.runSlot(t.Context(), slot, manner{parallel: 1})
		r.must(err)
		if swept.Rows() != 0 || swept.Held != 1 {
			t.Fatalf("while the lease lives: %+v; want it left alone", swept)
		}
		figures, err := heir.runSlot(t.Context(), slot, manner{parallel: 1, stay: true})
		r.must(err)
		if figures.Done != 20 || figures.Takeovers != 1 {
			t.Fatalf("figures: %+v", figures)
		}
		if waited := time.Since(claimed); waited < 1900*time.Millisecond {
			t.Errorf("taken over after %s; the lease was for 2 s", waited)
		}
		c.eachOnce(t, 20)
		// Its late return is refused.
		if err := dead.renew(t.Context(), l); err == nil {
			t.Error("the dead worker renewed its lease")
		}
		r.balanced()
	})
}

// A row that kills its worker every time ends as crashed; the rest of its bucket runs.
func TestARowThatKillsItsWorkerEndsAsCrashed(t *testing.T) {
	eachServerAt(t, time.Second, func(t *testing.T, r *rig) {
		slot := r.insertDue(6)
		poison := "3"
		// A worker that dies at the poison row: what it had answered before is committed or not, and the lease stays.
		die := func(name string) {
			var h hooks
			died := make(chan struct{})
			ctx, cancel := context.WithCancel(context.WithoutCancel(t.Context()))
			defer cancel()
			execs := registry("check", func(ctx context.Context, job FutureJob) (*time.Time, error) {
				if job.EntityKey == poison {
					// From here on nothing reaches the server any more, as from a process that is gone.
					h.onStatement(func(string) error { <-ctx.Done(); return ctx.Err() })
					close(died)
					<-ctx.Done()
				}
				return nil, nil
			}, Guards{})
			w := r.hookedWorker(time.Time{}, &h, execs, WorkerOptions{Name: name, Lease: 2 * time.Second, StopGrace: time.Millisecond, Concurrency: 1})
			gone := make(chan struct{})
			go func() {
				defer close(gone)
				_, _ = w.runSlot(ctx, slot, manner{parallel: 1, stay: true})
			}()
			<-died
			cancel()
			<-gone
		}
		die("first")
		die("second")
		die("third")
		var c calls
		heir := r.worker(time.Time{}, registry("check", c.count, Guards{}), WorkerOptions{Lease: 2 * time.Second, Name: "heir"})
		_, err := heir.runSlot(t.Context(), slot, manner{parallel: 1, stay: true})
		r.must(err)
		if c.of[poison] != 0 {
			t.Error("the row was called once more")
		}
		got := map[Outcome]int{}
		for _, end := range r.history() {
			got[end.Outcome]++
			if (end.EntityKey == poison) != (end.Outcome == Crashed) {
				t.Errorf("%s ended as %s", end.EntityKey, end.Outcome)
			}
		}
		if got[Done] != 5 || got[Crashed] != 1 || len(r.pending()) != 0 {
			t.Errorf("ends: %v, pending: %d; want 5 done, 1 crashed, none pending", got, len(r.pending()))
		}
		r.balanced()
	})
}

func TestTheWaitForOthersIsNotMuchLongerThanTheyTake(t *testing.T) {
	for _, c := range []struct{ waited, lapses, lease, want time.Duration }{
		{0, time.Minute, time.Minute, 50 * time.Millisecond},
		{800 * time.Millisecond, time.Minute, time.Minute, 100 * time.Millisecond},
		{8 * time.Second, time.Minute, time.Minute, time.Second},
		{8 * time.Second, 300 * time.Millisecond, time.Minute, 300 * time.Millisecond}, // then there is something to be had
		{8 * time.Second, 0, time.Minute, 50 * time.Millisecond},
		{10 * time.Minute, time.Minute, time.Minute, 20 * time.Second},
	} {
		if got := napFor(c.waited, c.lapses, c.lease); got != c.want {
			t.Errorf("after %v, with a lease of %v that lapses in %v: %v; want %v", c.waited, c.lease, c.lapses, got, c.want)
		}
	}
}
