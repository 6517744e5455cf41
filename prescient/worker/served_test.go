package worker

import (
	"context"
	"errors"
	"fmt"
	"net/http"
	"net/http/httptest"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"prescient/prescient"
	"prescient/prescient/heartbeat"
	"prescient/prescient/internal/rig"
	"prescient/prescient/worker/books"
)

// beats are the slots that observers were told of as served.
type beats struct {
	mu    sync.Mutex
	slots []time.Time
	on    func()
}

func (b *beats) observer() *Observer {
	return &Observer{Served: func(slot time.Time) {
		b.mu.Lock()
		defer b.mu.Unlock()
		b.slots = append(b.slots, slot)
		if b.on != nil {
			b.on()
		}
	}}
}

// wants wants to have been told so often of a slot since it was asked last, and of no other.
func (b *beats) wants(t *testing.T, when string, slot time.Time, least, most int) {
	t.Helper()
	b.mu.Lock()
	defer b.mu.Unlock()
	for _, told := range b.slots {
		if !told.Equal(slot) {
			t.Errorf("%s: told of %s", when, told)
		}
	}
	if n := len(b.slots); n < least || n > most {
		t.Errorf("%s: told %d times; want %d to %d", when, n, least, most)
	}
	b.slots = nil
}

// unfinished is how many buckets of the ledger are not.
func (r *testRig) unfinished() int {
	return r.Count("SELECT COUNT(*) FROM p_slot_run WHERE finished_at IS NULL")
}

func (r *testRig) insertMany(rows int, due time.Time) {
	r.T.Helper()
	jobs := make([]prescient.NewJob, rows)
	for i := range jobs {
		jobs[i] = prescient.NewJob{Entity: prescient.Entity{Name: "order", Key: fmt.Sprint(i)}, JobExec: "check", DueAt: due}
	}
	_, err := r.Client.InsertMany(r.T.Context(), r.AppAt(due.Add(-time.Minute)), jobs)
	r.Must(err)
}

func TestASlotOfTwoWorkersIsServedAfterItsLastBucket(t *testing.T) {
	t.Parallel()
	eachServer(t, func(t *testing.T, r *testRig) {
		slot := rig.At("13:15")
		r.insertMany(60, slot)
		r.divided(slot, 6)
		called, release := make(chan struct{}), make(chan struct{})
		var once sync.Once
		check := func(context.Context, prescient.FutureJob) (*time.Time, error) {
			first := false
			once.Do(func() { first = true })
			if first {
				close(called)
				<-release
			}
			return nil, nil
		}
		heard := beats{on: func() {
			if n := r.unfinished(); n > 0 {
				t.Errorf("told while %d buckets are unfinished", n)
			}
		}}
		var workers sync.WaitGroup
		for _, name := range []string{"a", "b"} {
			w := r.worker(slot.Add(time.Second), rig.Registry("check", check, prescient.Guards{}), Options{Name: name, Load: Load{Buckets: 1}, Observer: heard.observer()})
			workers.Go(func() {
				if _, err := w.Run(t.Context()); err != nil {
					t.Error(err)
				}
			})
		}
		<-called
		r.Eventually("all other buckets are finished", func() bool { return r.unfinished() == 1 })
		heard.wants(t, "while one has a bucket", slot, 0, 0)
		close(release)
		workers.Wait()
		heard.wants(t, "at the end", slot, 1, 2)
		// Another run of it finishes nothing for the first time.
		_, err := r.worker(slot.Add(2*time.Second), rig.Registry("check", check, prescient.Guards{}), Options{Observer: heard.observer()}).Run(t.Context())
		r.Must(err)
		heard.wants(t, "once it was served", slot, 0, 0)
	})
}

func TestASlotOfADeadWorkerIsServedByTheSweep(t *testing.T) {
	t.Parallel()
	eachServer(t, func(t *testing.T, r *testRig) {
		slot := rig.At("13:15")
		r.insertMany(40, slot)
		r.divided(slot, 2)
		r.Exec("UPDATE p_slot_run SET worker = 'dead', token = 1, started_at = ?, allocated_until = ? WHERE bucket = 1", slot, rig.At("13:16"))
		var heard beats
		execs := rig.Registry("check", rig.NothingToDo, prescient.Guards{})
		figures, err := r.worker(slot.Add(time.Second), execs, Options{Observer: heard.observer()}).runSlot(t.Context(), slot, runOptions{parallel: 1})
		r.Must(err)
		if figures.Held != 1 {
			t.Errorf("%+v; want a bucket held", figures)
		}
		heard.wants(t, "while a dead worker has a bucket", slot, 0, 0)
		_, err = r.worker(rig.At("13:20"), execs, Options{Observer: heard.observer()}).Sweep(t.Context())
		r.Must(err)
		heard.wants(t, "once it is swept", slot, 1, 1)
		r.Balanced()
	})
}

func TestASlotIsServedThoughItHoldsNothing(t *testing.T) {
	t.Parallel()
	eachServer(t, func(t *testing.T, r *testRig) {
		var heard beats
		run := func() {
			r.runAt(rig.At("13:15:01"), prescient.NewRegistry(), Options{Observer: heard.observer()})
		}
		r.Must(r.Client.Pause(t.Context(), r.Pool(time.Time{}), prescient.Paused{JobExec: prescient.AllExecs, By: "me", Reason: "a move"}))
		run()
		heard.wants(t, "while all is paused", rig.At("13:15"), 0, 0)
		_, err := r.Client.Resume(t.Context(), r.Pool(time.Time{}), prescient.AllExecs)
		r.Must(err)
		run()
		heard.wants(t, "once it is not", rig.At("13:15"), 1, 1)
		run()
		heard.wants(t, "the second time", rig.At("13:15"), 0, 0)
	})
}

// A worker that is told to stop once it has finished the last bucket has served the slot all the same.
func TestAStopAtTheEndOfASlotLeavesItServed(t *testing.T) {
	t.Parallel()
	eachServer(t, func(t *testing.T, r *testRig) {
		slot := rig.At("13:15")
		r.insertMany(1, slot)
		ctx, stop := context.WithCancel(t.Context())
		var h rig.Hooks
		h.OnAnswer(func(statement string) error {
			if strings.Contains(statement, "SET finished_at = IF(") {
				stop()
			}
			return nil
		})
		var heard beats
		w := r.hookedWorker(slot.Add(time.Second), &h, rig.Registry("check", rig.NothingToDo, prescient.Guards{}), Options{Observer: heard.observer()})
		_, err := w.Run(ctx)
		r.Must(err)
		if ctx.Err() == nil || r.unfinished() > 0 {
			t.Fatalf("stopped: %v; %d buckets are unfinished", ctx.Err(), r.unfinished())
		}
		heard.wants(t, "at the end", slot, 1, 1)
	})
}

// A slot whose last answer was lost, or which could not be looked at, is served by the next try.
func TestASlotIsServedByTheTryAfterTheOneThatFailed(t *testing.T) {
	t.Parallel()
	eachServer(t, func(t *testing.T, r *testRig) {
		lost := errors.New("lost")
		trip := func(text string) func(string) error {
			return func(statement string) error {
				if strings.Contains(statement, text) {
					return lost
				}
				return nil
			}
		}
		slot := rig.At("13:15")
		for _, c := range []struct {
			name string
			rows int
			fail func(*rig.Hooks)
		}{
			{"the answer of the release is lost", 1, func(h *rig.Hooks) { h.OnAnswer(trip("SET finished_at = IF(")) }},
			{"the look at an empty slot fails", 0, func(h *rig.Hooks) { h.OnStatement(trip("AS held_us")) }},
		} {
			r.insertMany(c.rows, slot)
			var h rig.Hooks
			c.fail(&h)
			var heard beats
			w := r.hookedWorker(slot.Add(time.Second), &h, rig.Registry("check", rig.NothingToDo, prescient.Guards{}), Options{Observer: heard.observer()})
			how := runOptions{parallel: 1, finished: new(atomic.Bool)}
			if _, err := w.tryRun(t.Context(), slot, how); !errors.Is(err, lost) {
				t.Errorf("%s: %v", c.name, err)
			}
			heard.wants(t, c.name, slot, 0, 0)
			h.OnStatement(nil)
			h.OnAnswer(nil)
			_, err := w.tryRun(t.Context(), slot, how)
			r.Must(err)
			heard.wants(t, c.name+", at the next try", slot, 1, 1)
			slot = slot.Add(15 * time.Minute)
		}
	})
}

// A service outside that does not answer holds up no slot.
func TestASilentServiceHoldsUpNoSlot(t *testing.T) {
	t.Parallel()
	eachServerAt(t, time.Second, func(t *testing.T, r *testRig) {
		asked, release := make(chan struct{}, 100), make(chan struct{})
		service := httptest.NewServer(http.HandlerFunc(func(_ http.ResponseWriter, request *http.Request) {
			asked <- struct{}{}
			select {
			case <-release:
			case <-request.Context().Done():
			}
		}))
		t.Cleanup(service.Close)
		sender, err := heartbeat.New(heartbeat.Options{Heartbeats: map[string]heartbeat.URLs{"slots": {Success: service.URL}}, Slots: "slots"})
		r.Must(err)
		ran := make(chan time.Time, 100)
		w := r.worker(time.Time{}, prescient.NewRegistry(), Options{Observer: &Observer{Served: sender.Served, SlotRun: func(f books.Figures, err error) {
			if err == nil {
				ran <- f.Slot
			}
		}}})
		ctx, stop := context.WithCancel(t.Context())
		ended := make(chan error, 1)
		go func() { ended <- w.Work(ctx) }()
		<-asked
		for range 3 {
			select {
			case <-ran:
			case <-time.After(20 * time.Second):
				t.Error("no slot is run while the service is silent")
			}
		}
		if len(asked) > 0 {
			t.Errorf("it was asked %d times more within some seconds", len(asked))
		}
		stop()
		r.Must(<-ended)
		close(release)
		sender.Close(t.Context())
	})
}
