package worker

import (
	"context"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/rs/zerolog"

	"prescient/prescient"
	"prescient/prescient/internal/rig"
	"prescient/prescient/worker/books"
	"prescient/prescient/worker/internal/bucket"
	"prescient/prescient/worker/internal/look"
)

// An endpoint is dead for hours: as many buckets as may wait for it already, and each slot since has rows of it. A sweep costs
// those slots nothing but a look, and finds the rows of others among them.
func TestASweepPassesOverSlotsWhoseRowsAreCrowdedOut(t *testing.T) {
	eachServer(t, func(t *testing.T, r *testRig) {
		const slots, dead = 20, 3
		at := rig.At("13:15")
		r.inEachSlot(at, slots, dead, 0)
		s := slowAndFast{release: make(chan struct{})}
		close(s.release)
		var log lines
		w := r.worker(rig.At("20:00"), s.registry(prescient.Guards{}), Options{Log: zerolog.New(&log).Level(zerolog.WarnLevel)})
		crowd := w.shared.Crowds["slow"]
		wait := func(rows, buckets int) {
			crowd.Mu.Lock()
			defer crowd.Mu.Unlock()
			crowd.Rows += rows
			crowd.Buckets += buckets
		}
		sweep := func() []books.Figures {
			t.Helper()
			swept, err := w.Sweep(t.Context())
			r.Must(err)
			return swept
		}
		opened := func() int { return r.Count("SELECT COUNT(*) FROM p_slot_run") }

		wait(1000, bucket.MaxLinger)
		if swept := sweep(); len(swept) != 0 || opened() != 0 || r.ends() != 0 {
			t.Errorf("swept %+v, opened %d slots", swept, opened())
		}
		if line := log.all(); !strings.Contains(line, `"slots":20`) || !strings.Contains(line, `"job_execs":["slow"]`) {
			t.Errorf("the log does not say what was passed over: %s", line)
		}
		among := at.Add(5 * 15 * time.Minute)
		r.Insert(at, prescient.NewJob{Entity: prescient.Entity{Name: "order", Key: "late"}, JobExec: "fast", DueAt: among})
		if swept := sweep(); len(swept) != 1 || !swept[0].Slot.Equal(among) || swept[0].Done != 1 || opened() != 1 || r.endsOf("fast") != 1 {
			t.Errorf("swept %+v, opened %d slots; want the one with a row of another job_exec", swept, opened())
		}
		wait(-1000, -bucket.MaxLinger)
		if swept := sweep(); len(swept) != slots || r.endsOf("slow") != slots*dead {
			t.Errorf("swept %d slots once there was room, and %d rows ended; want %d, %d", len(swept), r.endsOf("slow"), slots, slots*dead)
		}
		s.EachOnce(t, slots*dead+1)
		r.Balanced()
	})
}

// Their job_exec is paused: rows are put off, however many wait for it.
func TestASweepPutsOffPausedRowsThatAreCrowdedOut(t *testing.T) {
	eachServer(t, func(t *testing.T, r *testRig) {
		r.inEachSlot(rig.At("13:15"), 2, 1, 0)
		s := slowAndFast{release: make(chan struct{})}
		w := r.worker(rig.At("20:00"), s.registry(prescient.Guards{}), Options{})
		crowd := w.shared.Crowds["slow"]
		crowd.Rows, crowd.Buckets = 1000, bucket.MaxLinger
		r.Must(r.Client.Pause(t.Context(), r.Pool(time.Time{}), prescient.Paused{JobExec: "slow"}))
		swept, err := w.Sweep(t.Context())
		r.Must(err)
		if len(swept) != 2 || swept[0].PutOff != 1 || swept[1].PutOff != 1 {
			t.Errorf("swept %+v; want a row put off in each of 2 slots", swept)
		}
	})
}

// What came to be overdue since the sweep before comes before the backlog that it had not got to, each oldest first.
func TestASweepTakesWhatIsNewlyOverdueFirst(t *testing.T) {
	eachServer(t, func(t *testing.T, r *testRig) {
		r.inEachSlot(rig.At("13:15"), 8, 0, 2) // to 15:00
		var order []string
		execs := rig.Registry("fast", func(_ context.Context, job prescient.FutureJob) (*time.Time, error) {
			order = append(order, job.NextCheckAt.Format("15:04"))
			return nil, nil
		}, prescient.Guards{Concurrency: 1})
		var running sync.WaitGroup
		s := &sweeping{w: r.worker(rig.At("18:00"), execs, Options{}), running: &running, did: func(books.Figures) {}, known: rig.At("14:15")}
		r.Must(s.sweep(t.Context()))
		running.Wait()
		want := []string{"14:15", "14:30", "14:45", "15:00", "13:15", "13:30", "13:45", "14:00"}
		if got := slices.Compact(order); !slices.Equal(got, want) {
			t.Errorf("called in the order %q; want %q", got, want)
		}
		if s.known.Truncate(time.Minute) != rig.At("17:59") {
			t.Errorf("the next sweep's backlog is what was overdue before %s", s.known)
		}
	})
}

// The clock was hours ahead when the sweeper looked, and is set back, between two sweeps or in one: slots that have not come
// by it hold up nothing.
func TestASweepDoesNotWaitForSlotsThatTheClockWasSetBackBefore(t *testing.T) {
	eachServer(t, func(t *testing.T, r *testRig) {
		r.inEachSlot(rig.At("13:15"), 2, 0, 2)
		r.inEachSlot(rig.At("22:00"), 2, 0, 2)
		var c rig.Calls
		var running sync.WaitGroup
		s := &sweeping{w: r.worker(rig.At("18:00"), rig.Registry("fast", c.Count, prescient.Guards{}), Options{}), running: &running,
			did: func(books.Figures) {}, known: rig.At("23:59")}
		r.Must(s.start(t.Context(), rig.At("22:00"), 0))
		running.Wait()
		r.Must(s.outcome())
		r.Must(s.sweep(t.Context()))
		running.Wait()
		if left := r.Pending(); len(left) != 4 || !left[0].NextCheckAt.Equal(rig.At("22:00")) {
			t.Errorf("pending: %+v", left)
		}
		c.EachOnce(t, 4)
	})
}

// A backlog takes its time, and a slot comes to be overdue meanwhile: it does not wait for the rest of the backlog.
func TestASlotThatComesToBeOverdueDoesNotWaitForTheBacklog(t *testing.T) {
	t.Parallel()
	eachFlavourAt(t, time.Second, func(t *testing.T, r *testRig) {
		const backlog = look.Page + look.Page/2
		var mu sync.Mutex
		var order []time.Time
		execs := rig.Registry("fast", func(_ context.Context, job prescient.FutureJob) (*time.Time, error) {
			mu.Lock()
			defer mu.Unlock()
			order = append(order, job.NextCheckAt)
			return nil, nil
		}, prescient.Guards{})
		h := &rig.Hooks{}
		w := r.hookedWorker(time.Time{}, h, execs, Options{Sweep: Sweep{Grace: time.Second}})
		slot := r.soon(w)
		r.inEachSlot(slot.Add(-time.Hour), backlog, 0, 1)
		r.inEachSlot(slot, 1, 0, 1)
		// The first of the backlog takes until then.
		h.Once("SET takeovers", func() {
			r.Eventually("the slot is overdue", func() bool {
				return r.Count("SELECT UTC_TIMESTAMP(6) > ? + INTERVAL 3 SECOND", slot.Format(time.DateTime)) == 1
			})
		})
		_, err := w.Sweep(t.Context())
		r.Must(err)
		at := slices.IndexFunc(order, slot.Equal)
		if len(order) != backlog+1 || at < 0 || at > look.Page+look.Page/10 {
			t.Errorf("it was called after %d of %d others; want %d at most", at, len(order)-1, look.Page+look.Page/10)
		}
	})
}
