package worker

import (
	"context"
	"fmt"
	"testing"
	"time"

	"github.com/rs/zerolog"

	"prescient/prescient"
	"prescient/prescient/internal/rig"
	"prescient/prescient/worker/books"
	"prescient/prescient/worker/internal/bucket"
)

// slowAndFast are two job_execs, one of which does not come back before the test lets it.
type slowAndFast struct {
	rig.Calls
	release chan struct{}
}

func (s *slowAndFast) registry(slow prescient.Guards) *prescient.Registry {
	slow.Timeout = time.Hour
	execs := rig.Registry("slow", func(ctx context.Context, job prescient.FutureJob) (*time.Time, error) {
		select {
		case <-s.release:
			return s.Count(ctx, job)
		case <-ctx.Done():
			return nil, ctx.Err()
		}
	}, slow)
	execs.MustRegister("fast", s.Count, prescient.Guards{})
	return execs
}

// inEachSlot makes so many rows of either kind pending in each of n slots.
func (r *testRig) inEachSlot(from time.Time, n, slow, fast int) {
	r.T.Helper()
	grid := r.Tables().Grid
	var jobs []prescient.NewJob
	for slot := from; n > 0; slot, n = grid.Next(slot), n-1 {
		for i := range slow + fast {
			name := "fast"
			if i < slow {
				name = "slow"
			}
			jobs = append(jobs, prescient.NewJob{Entity: prescient.Entity{Name: "order", Key: fmt.Sprint(slot.Unix(), "-", i)}, JobExec: name, DueAt: slot})
		}
	}
	_, err := r.Client.InsertMany(r.T.Context(), r.AppAt(grid.Prev(from)), jobs)
	r.Must(err)
}

func (r *testRig) endsOf(exec string) int {
	return r.Count("SELECT COUNT(*) FROM p_job_history WHERE job_exec = ?", exec)
}

// soon is a slot that comes in a few seconds.
func (r *testRig) soon(w *Worker) time.Time {
	r.T.Helper()
	now, err := w.Now(r.T.Context())
	r.Must(err)
	return w.tables.Grid.Next(now.Add(2 * time.Second))
}

// One call in each slot does not come back: the other rows of all slots are called in time, whoever of two workers has
// which bucket.
func TestSlowCallsInEverySlotMakeNoOthersLate(t *testing.T) {
	t.Parallel()
	eachFlavourAt(t, time.Second, func(t *testing.T, r *testRig) {
		const slots, fast = 6, 20 // more slots than runs that a worker has under way
		s := slowAndFast{release: make(chan struct{})}
		most := r.lateness(3 * time.Second)
		var stops []func() error
		for i := range 2 {
			w := r.worker(time.Time{}, s.registry(prescient.Guards{}), Options{Sweep: Sweep{Every: -1}, Name: fmt.Sprint("worker-", i)})
			if i == 0 {
				r.inEachSlot(r.soon(w), slots, 1, fast)
			}
			stops = append(stops, r.startWork(w))
		}
		r.Eventually("all fast ones have ended", func() bool { return r.endsOf("fast") == slots*fast })
		if late := r.Count("SELECT MAX(lateness_ms) FROM p_job_history"); late > int(most().Milliseconds()) {
			t.Errorf("a fast row was called %d ms late; want %s at most", late, most())
		}
		if n := r.Count("SELECT COUNT(*) FROM p_slot_run WHERE finished_at IS NULL AND allocated_until IS NOT NULL"); n != slots {
			t.Errorf("%d buckets wait for a slow call; want %d: the test shows nothing", n, slots)
		}
		close(s.release)
		r.Eventually("the slow ones have ended, too", func() bool { return r.endsOf("slow") == slots })
		for _, stop := range stops {
			r.Must(stop())
		}
		s.EachOnce(t, slots*(1+fast))
		r.Balanced()
	})
}

// The same for slots that are swept.
func TestASweepPassesByWhatLingers(t *testing.T) {
	t.Parallel()
	eachServer(t, func(t *testing.T, r *testRig) {
		const slots, fast = 8, 5
		r.inEachSlot(rig.At("13:15"), slots, 1, fast)
		s := slowAndFast{release: make(chan struct{})}
		w := r.worker(rig.At("18:00"), s.registry(prescient.Guards{}), Options{})
		type result struct {
			swept []books.Figures
			err   error
		}
		done := make(chan result, 1)
		go func() {
			swept, err := w.Sweep(t.Context())
			done <- result{swept, err}
		}()
		r.Eventually("all fast ones have ended", func() bool { return r.endsOf("fast") == slots*fast })
		close(s.release)
		got := <-done
		r.Must(got.err)
		rows := 0
		for _, figures := range got.swept {
			rows += figures.Done
		}
		if len(got.swept) != slots || rows != slots*(1+fast) {
			t.Errorf("swept %+v", got.swept)
		}
		s.EachOnce(t, slots*(1+fast))
		r.Balanced()
	})
}

// As many buckets wait for the calls of a dead endpoint as may, and each of them had a row of another job_exec, too: that one is
// called all the same, in the same slots and in those that come after them.
func TestWhoWaitsForADeadEndpointWaitsForNoOthers(t *testing.T) {
	eachFlavourAt(t, time.Second, func(t *testing.T, r *testRig) {
		const before, slots = bucket.MaxLinger - 24, 64 // buckets that wait already, and slots of a bucket each: too many by 40
		s := slowAndFast{release: make(chan struct{})}
		w := r.worker(time.Time{}, s.registry(prescient.Guards{}), Options{Sweep: Sweep{Grace: time.Second}, Log: zerolog.Nop()})
		slow := w.shared.Crowds["slow"]
		slow.Rows, slow.Buckets = before, before
		r.inEachSlot(r.soon(w).Add(-time.Hour), slots, 1, 1)
		swept := make(chan error, 1)
		go func() {
			_, err := w.Sweep(t.Context())
			swept <- err
		}()
		r.Eventually("all fast ones have ended", func() bool { return r.endsOf("fast") == slots })
		fast := w.shared.Crowds["fast"]
		r.Eventually("nobody waits for the fast ones", func() bool {
			fast.Mu.Lock()
			defer fast.Mu.Unlock()
			return fast.Buckets == 0 && fast.Rows == 0
		})
		slow.Mu.Lock()
		if slow.Buckets < bucket.MaxLinger {
			t.Errorf("%d buckets wait for the slow ones; want %d: the test shows nothing", slow.Buckets, bucket.MaxLinger)
		}
		slow.Mu.Unlock()
		if len(w.sweepSoon) > 0 {
			t.Error("the sweeper is to come though there is no room")
		}
		close(s.release)
		r.Must(<-swept)
		if len(w.sweepSoon) == 0 {
			t.Error("nobody has told the sweeper that there is room")
		}
		s.EachOnce(t, r.ends())
	})
}

// All calls of a job_exec hang, as those of a dead endpoint do, and far more of its rows are due than may be in memory. The
// rows of others are called in time: in the same slots, in later ones, and in those that are swept.
func TestADeadEndpointMakesNoOthersLate(t *testing.T) {
	t.Parallel()
	eachFlavourAt(t, time.Second, func(t *testing.T, r *testRig) {
		const before, slots, dead, fast, batch, buckets = 6, 6, 50, 10, 10, 2
		s := slowAndFast{release: make(chan struct{})}
		w := r.worker(time.Time{}, s.registry(prescient.Guards{Concurrency: 4}), Options{Load: Load{Concurrency: 8, Batch: batch, Buckets: buckets},
			Sweep: Sweep{Every: 100 * time.Millisecond, Grace: time.Second}})
		most := r.lateness(3 * time.Second)
		began := time.Now()
		r.inEachSlot(r.soon(w).Add(-100*time.Second), before, dead, fast)
		slot := w.tables.Grid.Next(r.soon(w).Add(2 * time.Since(began))) // the others are there before it, also where inserts take long
		r.inEachSlot(slot, slots, dead, fast)
		stop := r.startWork(w)
		r.Eventually("all fast ones have ended", func() bool { return r.endsOf("fast") == (before+slots)*fast })
		if late := r.Count("SELECT MAX(lateness_ms) FROM p_job_history WHERE slot >= ?", slot.Format(time.DateTime)); late > int(most().Milliseconds()) {
			t.Errorf("a fast row was called %d ms late; want %s at most", late, most())
		}
		crowd := w.shared.Crowds["slow"]
		crowd.Mu.Lock()
		// What may linger, and what the runs under way may have besides.
		if most := buckets*batch + (maxRuns+1)*buckets*batch; crowd.Rows > most || crowd.Rows == 0 || crowd.Buckets > bucket.MaxLinger+4 {
			t.Errorf("%d rows wait in %d buckets; want %d rows at most", crowd.Rows, crowd.Buckets, most)
		}
		crowd.Mu.Unlock()
		close(s.release)
		r.Eventually("all have ended", func() bool { return r.ends() == (before+slots)*(dead+fast) })
		r.Must(stop())
		if crowd.Rows != 0 || crowd.Bytes != 0 || crowd.Buckets != 0 || len(w.bounds.runs) != 0 {
			t.Errorf("in the end %d rows with %d bytes in %d buckets still wait", crowd.Rows, crowd.Bytes, crowd.Buckets)
		}
		s.EachOnce(t, (before+slots)*(dead+fast))
		r.Balanced()
	})
}
