package delayq

import (
	"context"
	"errors"
	"fmt"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/jmoiron/sqlx"

	"prescient/prescient"
)

// What code that was written for the interface needs.
var _ interface {
	Delay(readyTime time.Time, data []byte) error
	Run(handle func(data []byte) error) error
} = (*DelayQueue)(nil)

// start runs a queue until the test stops it.
func (r *rig) start(run func() error, stop func()) (stopped func() error) {
	r.t.Helper()
	done := make(chan error, 1)
	go func() { done <- run() }()
	r.t.Cleanup(stop)
	return func() error {
		select {
		case err := <-done:
			return err
		case <-time.After(time.Minute):
			return errors.New("Run does not stop")
		}
	}
}

func TestRunCallsHandleOnceDataIsReadyAndNeverBefore(t *testing.T) {
	eachFlavour(t, time.Second, func(t *testing.T, r *rig) {
		const n = 20
		clock := r.pool("owner", time.Time{})
		q := r.queue("worker", time.Time{}, Options{}) // one account that does both
		var mu sync.Mutex
		calls, done := make(map[string]int), make(chan struct{})
		handle := func(data []byte) error {
			var now time.Time
			if err := clock.GetContext(context.Background(), &now, "SELECT UTC_TIMESTAMP(6)"); err != nil {
				return err
			}
			number, stamp, _ := strings.Cut(string(data), " ")
			ready, err := time.Parse(time.RFC3339Nano, stamp)
			if err != nil || now.Before(ready) {
				t.Errorf("%s is called at %s, %v", data, now, err)
			}
			mu.Lock()
			defer mu.Unlock()
			calls[number]++
			if number == "3" && calls[number] == 1 {
				return errors.New("not yet")
			}
			if len(calls) == n && calls["3"] == 2 {
				close(done)
			}
			return nil
		}
		now := r.now()
		for i := range n { // from a second ago to three seconds ahead
			ready := now.Add(time.Duration(i-n/4) * 200 * time.Millisecond)
			r.must(q.Delay(ready, fmt.Appendf(nil, "%d %s", i, ready.Format(time.RFC3339Nano))))
		}
		stopped := r.start(func() error { return q.Run(handle) }, q.Stop)
		select {
		case <-done:
		case <-time.After(2 * time.Minute): // a slot that is over before Run begins is that of the second sweep
			t.Error("not all were called")
		}
		q.Stop()
		r.must(stopped())
		if ended, left := r.ended(), r.pending(); len(ended) != n || len(left) > 0 {
			t.Errorf("%d ended; pending: %+v", len(ended), left)
		}
	})
}

// What is running when Stop comes is brought to its end, and what is ready later is left to others.
func TestStopWaitsForTheCallsThatAreUnderWay(t *testing.T) {
	eachFlavour(t, time.Second, func(t *testing.T, r *rig) {
		q := r.queue("worker", time.Time{}, Options{Name: "mails"})
		r.must(q.Delay(time.Time{}, []byte("now")))
		r.must(q.Delay(r.now().Add(time.Hour), []byte("later")))
		begun, release := make(chan string, 2), make(chan struct{})
		stopped := r.start(func() error {
			return q.Run(func(data []byte) error {
				begun <- string(data)
				<-release
				return nil
			})
		}, q.Stop)
		if data := <-begun; data != "now" {
			t.Errorf("called with %s", data)
		}
		q.Stop()
		close(release)
		r.must(stopped())
		if ended := r.ended(); len(ended) != 1 || ended[0].Outcome != prescient.Done || len(r.pending()) != 1 {
			t.Errorf("ended: %+v, pending: %+v", ended, r.pending())
		}
		// From then on Run returns at once, and Delay works on.
		r.must(q.Run(func([]byte) error { return nil }))
		r.must(q.Delay(time.Time{}, nil))
		if len(r.pending()) != 2 {
			t.Errorf("pending: %+v", r.pending())
		}
	})
}

func TestRunContextEndsWithItsContext(t *testing.T) {
	eachFlavour(t, time.Second, func(t *testing.T, r *rig) {
		q := r.queue("worker", time.Time{}, Options{Name: "mails"})
		id, err := q.DelayContext(t.Context(), time.Time{}, []byte("x"))
		r.must(err)
		ctx, cancel := context.WithCancel(context.WithoutCancel(t.Context()))
		called := make(chan Item, 1)
		stopped := r.start(func() error {
			return q.RunContext(ctx, func(_ context.Context, item Item) error {
				called <- item
				return nil
			})
		}, cancel)
		if item := <-called; item.ID != id || string(item.Data) != "x" || item.Errors != 0 {
			t.Errorf("called with %+v; want %s", item, id)
		}
		cancel()
		r.must(stopped())
		r.must(q.RunContext(ctx, func(context.Context, Item) error { return nil }))
	})
}

func TestHandleIsRetriedWithoutAnEndAtMostAMinuteOrOneSlotApart(t *testing.T) {
	for _, test := range []struct {
		resolution time.Duration
		waits      []time.Duration
	}{
		{time.Second, []time.Duration{1, 2, 4, 8, 16, 32, 60, 60, 60}},
		{15 * time.Minute, []time.Duration{900, 900, 900, 900, 900, 900, 900, 900}},
	} {
		t.Run(test.resolution.String(), func(t *testing.T) {
			eachFlavour(t, test.resolution, func(t *testing.T, r *rig) {
				r.delay("mails", at("12:50"), at("13:00"), "x")
				fails, called := true, 0
				registry := r.handles(func(_ string, item Item) error {
					if item.Errors != called || (item.LastError == "") != (called == 0) || string(item.Data) != "x" || !item.ReadyTime.Equal(at("13:00")) {
						t.Errorf("call %d: %+v", called+1, item)
					}
					called++
					if fails {
						return fmt.Errorf("no luck, %d", called)
					}
					return nil
				}, Options{Name: "mails"})
				slot := at("13:00")
				for i, wait := range test.waits {
					r.run(slot.Add(20*time.Millisecond), registry)
					slot = slot.Add(wait * time.Second)
					job := r.one()
					if !job.NextCheckAt.Equal(slot) || job.ErrorCount != i+1 || job.LastError != fmt.Sprint("no luck, ", i+1) || !job.DueAt.Equal(at("13:00")) {
						t.Fatalf("after error %d: %+v; want slot %s", i+1, job, slot)
					}
				}
				fails = false
				r.run(slot.Add(20*time.Millisecond), registry)
				if ended := r.ended(); len(ended) != 1 || ended[0].Outcome != prescient.Done || called != len(test.waits)+1 {
					t.Errorf("after %d calls: %+v", called, ended)
				}
			})
		})
	}
}

func TestAPanicATimeoutAndAPayloadThatIsNoneAreErrors(t *testing.T) {
	eachFlavour(t, 15*time.Minute, func(t *testing.T, r *rig) {
		hang := make(chan struct{})
		t.Cleanup(func() { close(hang) })
		registry := r.handles(func(name string, _ Item) error {
			if name == "panics" {
				panic("boo")
			}
			<-hang
			return nil
		}, Options{Name: "panics"}, Options{Name: "hangs", Timeout: 50 * time.Millisecond}, Options{Name: "unreadable"})
		for _, name := range []string{"panics", "hangs", "unreadable"} {
			r.delay(name, at("13:07"), at("13:10"), "x")
		}
		r.exec(`UPDATE p_future_job SET payload = '{"data":"not base64"}' WHERE job_exec = 'unreadable'`)
		r.run(at("13:15"), registry)
		want := map[string]string{"panics": "boo", "hangs": "50ms", "unreadable": "illegal base64"}
		for _, job := range r.pending() {
			if says := want[job.JobExec]; !strings.Contains(job.LastError, says) || job.ErrorCount != 1 || !job.NextCheckAt.Equal(at("13:30")) {
				t.Errorf("%s: %+v; want %q", job.JobExec, job, says)
			}
			delete(want, job.JobExec)
		}
		if len(want) > 0 {
			t.Errorf("not pending: %v", want)
		}
	})
}

func TestQueuesDoNotSeeOneAnother(t *testing.T) {
	eachFlavour(t, 15*time.Minute, func(t *testing.T, r *rig) {
		for _, name := range []string{"mails", "news"} {
			for i := range 5 {
				r.delay(name, at("13:07"), at("13:10"), fmt.Sprint(name, i))
			}
		}
		var mu sync.Mutex
		called := make(map[string]int)
		registry := r.handles(func(name string, item Item) error {
			mu.Lock()
			defer mu.Unlock()
			called[name]++
			if !strings.HasPrefix(string(item.Data), name) {
				t.Errorf("%s is called with %s", name, item.Data)
			}
			return nil
		}, Options{Name: "mails"}, Options{Name: "news"})
		r.run(at("13:15"), registry)
		if called["mails"] != 5 || called["news"] != 5 || len(r.ended()) != 10 {
			t.Errorf("called: %v, ended: %d", called, len(r.ended()))
		}
	})
}

// The doc warns of it: a worker that knows one queue puts another's data off, and loses nothing.
func TestAWorkerPutsOffTheDataOfAQueueThatItDoesNotKnow(t *testing.T) {
	eachFlavour(t, 15*time.Minute, func(t *testing.T, r *rig) {
		r.delay("news", at("13:07"), at("13:10"), "x")
		r.run(at("13:15"), r.handles(func(name string, item Item) error {
			t.Errorf("%s is called with %+v", name, item)
			return nil
		}, Options{Name: "mails"}))
		if job := r.one(); job.PutOffCount != 1 || job.ErrorCount != 0 || !strings.Contains(job.LastError, `"news" is not registered`) {
			t.Errorf("pending: %+v", job)
		}
	})
}

func TestWithAConcurrencyOfOneHandleIsCalledOneAfterTheOther(t *testing.T) {
	eachFlavour(t, 15*time.Minute, func(t *testing.T, r *rig) {
		for range 20 {
			r.delay("mails", at("13:07"), at("13:10"), "x")
		}
		var running, called atomic.Int32
		r.run(at("13:15"), r.handles(func(string, Item) error {
			if running.Add(1) != 1 {
				t.Error("two calls at a time")
			}
			time.Sleep(time.Millisecond) // long enough for another to begin
			running.Add(-1)
			called.Add(1)
			return nil
		}, Options{Name: "mails", Concurrency: 1}))
		if called.Load() != 20 {
			t.Errorf("called %d times", called.Load())
		}
	})
}

// What the page says of a TxFunc under the queue's name.
func TestAnEffectInATxFuncIsThereExactlyOnce(t *testing.T) {
	eachFlavour(t, 15*time.Minute, func(t *testing.T, r *rig) {
		r.exec("CREATE TABLE sent (id VARCHAR(36) NOT NULL, data TEXT NOT NULL)") // no unique key that would hide a second
		r.exec("GRANT INSERT ON " + r.d.Name + ".sent TO '" + r.as("worker").User + "'@'%'")
		id := r.delay("mails", at("13:07"), at("13:10"), "hello")
		q, calls, registry := r.queue("worker", time.Time{}, Options{Name: "mails"}), 0, prescient.NewRegistry()
		r.must(registry.RegisterTx(q.Name(), func(ctx context.Context, tx *sqlx.Tx, job prescient.FutureJob) (*time.Time, error) {
			item, err := ItemOf(job)
			if err != nil {
				return nil, err
			}
			if _, err := tx.ExecContext(ctx, "INSERT INTO sent (id, data) VALUES (?, ?)", item.ID, string(item.Data)); err != nil {
				return nil, err
			}
			if calls++; calls == 1 {
				return nil, errors.New("after the effect")
			}
			return nil, nil
		}, q.Guards()))
		for _, now := range []string{"13:15", "13:30", "13:45"} {
			r.run(at(now), registry)
		}
		var got, data string
		var rows int
		r.must(r.root.QueryRow("SELECT COUNT(*), MAX(id), MAX(data) FROM sent").Scan(&rows, &got, &data))
		if rows != 1 || got != id || data != "hello" || calls != 2 {
			t.Errorf("%d rows, of %s with %s, after %d calls", rows, got, data, calls)
		}
	})
}
