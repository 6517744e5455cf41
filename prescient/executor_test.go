package prescient

import (
	"context"
	"errors"
	"fmt"
	"maps"
	"math/rand/v2"
	"runtime"
	"slices"
	"strings"
	"sync"
	"testing"
	"testing/synctest"
	"time"
)

// bench is an executor with what it needs around it, in a bubble where time passes at once.
type bench struct {
	t        *testing.T
	executor *executor
	bucket   *bucketRun // of the current slot
	backlog  *bucketRun // of one that is caught up
	stop     chan struct{}
	end      context.CancelFunc // of the calls
	slot     time.Time
	began    time.Time
	keys     byte

	mu      sync.Mutex
	started []string // "exec@seconds" since the beginning
	running map[string]int
	most    map[string]int // at a time, of each and of all ("")
}

func newBench(t *testing.T, limit int, registry *Registry) *bench {
	guards := Guards{Concurrency: half(limit)}.or(defaultGuards)
	x := &bench{t: t, executor: newExecutor(limit, registry, guards), stop: make(chan struct{}), slot: at("13:15"),
		began: time.Now(), running: make(map[string]int), most: make(map[string]int)}
	w := &Worker{tables: tables{grid: quarter}, executor: x.executor, unknown: guards, guards: make(map[string]Guards)}
	for name, lane := range x.executor.lanes {
		w.guards[name] = lane.guards
	}
	calls, end := context.WithCancel(t.Context())
	x.end = end
	t.Cleanup(end)
	bucket := func(background bool) *bucketRun {
		return &bucketRun{w: w, clock: clockAt(x.slot), lease: &lease{slot: x.slot, until: time.Now().Add(24 * time.Hour)}, calls: calls,
			stop: x.stop, batch: 1000, background: background, wake: make(chan struct{}, 1)}
	}
	x.bucket, x.backlog = bucket(false), bucket(true)
	return x
}

// noted wraps what a job_exec does: it keeps the books of what runs.
func (x *bench) noted(name string, do Func) Func {
	return func(ctx context.Context, job FutureJob) (*time.Time, error) {
		x.mu.Lock()
		x.started = append(x.started, fmt.Sprintf("%s@%g", name, time.Since(x.began).Seconds()))
		for _, who := range []string{name, ""} {
			x.running[who]++
			x.most[who] = max(x.most[who], x.running[who])
		}
		x.mu.Unlock()
		defer func() {
			x.mu.Lock()
			defer x.mu.Unlock()
			x.running[name]--
			x.running[""]--
		}()
		return do(ctx, job)
	}
}

// exec puts a job_exec into a bench; before that it does nothing but exist.
func (x *bench) exec(name string, do Func) { x.executor.lanes[name].fn = x.noted(name, do) }

func lanes(guards map[string]Guards) *Registry {
	r := NewRegistry()
	for _, name := range slices.Sorted(maps.Keys(guards)) {
		r.MustRegister(name, settled, guards[name])
	}
	return r
}

// submit hands n rows to the executor.
func (x *bench) submit(b *bucketRun, exec string, n int) {
	var tasks []*task
	for range n {
		x.keys++
		job := pendingAt(x.slot)
		job.JobExec = exec
		tasks = append(tasks, &task{rows: []row{{FutureJob: job, key: Key{x.keys}}}, lane: x.executor.lanes[exec], bucket: b})
	}
	b.mu.Lock()
	b.flying += n
	b.mu.Unlock()
	x.executor.submit(tasks)
}

// answers waits until nothing goes on any more, and returns what came of each row.
func (x *bench) answers(b *bucketRun) []answered {
	synctest.Wait()
	b.mu.Lock()
	defer b.mu.Unlock()
	return slices.Clone(b.answers)
}

func (x *bench) starts() string {
	synctest.Wait()
	x.mu.Lock()
	defer x.mu.Unlock()
	return strings.Join(x.started, " ")
}

// takes is a job_exec that takes a time and does not mind its context.
func takes(d time.Duration) Func {
	return func(context.Context, FutureJob) (*time.Time, error) {
		time.Sleep(d)
		return nil, nil
	}
}

func TestNoMoreRunThanAreAllowedOverallAndOfEach(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		x := newBench(t, 8, lanes(map[string]Guards{"a": {Concurrency: 2}, "b": {Concurrency: 3}, "c": {Concurrency: 99}, "d": {}}))
		for name := range x.executor.lanes {
			x.exec(name, func(context.Context, FutureJob) (*time.Time, error) {
				time.Sleep(rand.N(50 * time.Millisecond))
				if rand.N(20) == 0 {
					panic("now and then")
				}
				return nil, nil
			})
		}
		for range 5 {
			for name := range x.executor.lanes {
				x.submit(x.bucket, name, 20)
				x.submit(x.backlog, name, 5)
			}
			time.Sleep(rand.N(100 * time.Millisecond))
		}
		time.Sleep(time.Minute)
		if n, m := len(x.answers(x.bucket)), len(x.answers(x.backlog)); n != 400 || m != 100 {
			t.Fatalf("%d and %d answers; want 400 and 100", n, m)
		}
		want := map[string]int{"a": 2, "b": 3, "c": 8, "d": 4, "": 8}
		for name, most := range want {
			if x.most[name] > most {
				t.Errorf("%d of %q ran at a time; %d are allowed", x.most[name], name, most)
			}
		}
		if x.most["a"] != 2 || x.most["b"] != 3 || x.most[""] != 8 {
			t.Errorf("no more ran at a time than %v; the places are not used", x.most)
		}
		if x.executor.running != 0 || x.executor.sweeping != 0 {
			t.Errorf("%d places are still taken, %d of them to catch up", x.executor.running, x.executor.sweeping)
		}
	})
}

func TestJobExecsAreServedInTurn(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		x := newBench(t, 1, lanes(map[string]Guards{"a": {}, "b": {}, "c": {}}))
		for name := range x.executor.lanes {
			x.exec(name, takes(time.Second))
		}
		x.submit(x.bucket, "a", 4)
		x.submit(x.bucket, "b", 2)
		x.submit(x.bucket, "c", 1)
		time.Sleep(time.Minute)
		if got, want := x.starts(), "a@0 b@1 c@2 a@3 b@4 a@5 a@6"; got != want {
			t.Errorf("started %s; want %s", got, want)
		}
	})
}

func TestASlowJobExecLeavesPlacesForTheOthers(t *testing.T) {
	for limit, guards := range map[int]Guards{4: {}, 2: {}, 8: {Concurrency: 8}, 5: {Concurrency: 5}} {
		synctest.Test(t, func(t *testing.T) {
			x := newBench(t, limit, lanes(map[string]Guards{"quick": {}, "slow": guards}))
			x.exec("slow", takes(20*time.Second))
			x.exec("quick", takes(time.Millisecond))
			x.submit(x.bucket, "slow", 100)
			synctest.Wait()
			x.submit(x.bucket, "quick", 100)
			time.Sleep(time.Second)
			if n := len(x.answers(x.bucket)); n != 100 {
				t.Errorf("of %d places: %d quick ones are done while the slow ones run; want 100", limit, n)
			}
			if x.most["slow"] >= limit || x.most["slow"] == 0 {
				t.Errorf("the slow one had %d of %d places", x.most["slow"], limit)
			}
			time.Sleep(time.Hour)
			if n := len(x.answers(x.bucket)); n != 200 {
				t.Errorf("%d answers in the end; want 200", n)
			}
		})
	}
}

// answering makes a job_exec of what it returns.
func answering(next *time.Time, err error) Func {
	return func(context.Context, FutureJob) (*time.Time, error) { return next, err }
}

// does makes a job_exec that waits, does something and then answers nil.
func does(wait time.Duration, do func()) Func {
	return func(context.Context, FutureJob) (*time.Time, error) {
		time.Sleep(wait)
		do()
		return nil, nil
	}
}

// cutOff waits for the end of its context.
func cutOff(ctx context.Context, _ FutureJob) (*time.Time, error) {
	<-ctx.Done()
	return nil, ctx.Err()
}

// What a call can do, and what the row gets for it. The guard is 10 s.
func TestHoweverACallEndsItIsAnswered(t *testing.T) {
	type nilError struct{ error }
	const guard = 10 * time.Second
	boo := func() { panic("boo") }
	for _, test := range []struct {
		name  string
		do    Func
		ran   time.Duration
		says  string // of the error
		is    error
		still time.Duration // the time that it goes on after its answer
	}{
		{name: "nil", do: takes(time.Second), ran: time.Second},
		{name: "a time", do: answering(At(at("14:01")), nil)},
		{name: "an error", do: answering(At(at("14:01")), errors.New("no")), says: "no"},
		{name: "a panic", do: does(0, boo), says: "panicked: boo\n", is: ErrPanic},
		{name: "panic(nil)", do: does(0, func() { panic(nil) }), says: "panicked: panic called with nil", is: ErrPanic},
		{name: "panic(error)", do: does(0, func() { panic(ErrTimeout) }), says: "panicked: timed out", is: ErrPanic},
		{name: "a nil pointer", do: does(0, func() { _ = *(*FutureJob)(nil) }), says: "nil pointer", is: ErrPanic},
		{name: "Goexit", do: does(0, runtime.Goexit), says: "runtime.Goexit", is: ErrPanic},
		{name: "an error that panics", do: answering(nil, nilError{}), says: "nil pointer", is: ErrPanic},
		{name: "the end of its context", do: cutOff, ran: guard, says: "timed out after 10s: context deadline exceeded", is: ErrTimeout},
		{name: "a panic too late", do: does(guard, boo), ran: guard, says: "timed out after 10s: panicked: boo", is: ErrTimeout},
		{name: "an answer too late", do: takes(guard + 1), ran: guard + 1, says: "timed out: it took longer than 10s", is: ErrTimeout},
		{name: "an answer just in time", do: takes(guard - 1), ran: guard - 1},
		{name: "an answer within patience", do: takes(guard + patience - 1), ran: guard + patience - 1, says: "timed out", is: ErrTimeout},
		{name: "nothing", do: takes(time.Minute), ran: guard + patience, says: "timed out after 10s, and ignored it", is: ErrTimeout, still: time.Minute},
		{name: "a panic long after", do: does(time.Minute, boo), ran: guard + patience, says: "ignored it", is: ErrTimeout, still: time.Minute},
		{name: "Goexit long after", do: does(time.Minute, runtime.Goexit), ran: guard + patience, says: "ignored it", is: ErrTimeout, still: time.Minute},
	} {
		t.Run(test.name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				x := newBench(t, 1, lanes(map[string]Guards{"x": {Timeout: 10 * time.Second, Concurrency: 2}, "y": {}}))
				x.exec("x", test.do)
				x.exec("y", takes(0))
				time.Sleep(3 * time.Second)
				x.submit(x.bucket, "x", 1)
				x.submit(x.bucket, "y", 1)
				time.Sleep(10*time.Second + patience)
				all := x.answers(x.bucket)
				if len(all) != 2 {
					t.Fatalf("%d answers; want that of x, and of y, which had its place after it", len(all))
				}
				a := all[0].answer
				if a.kind != called || (a.err == nil) != (test.says == "") || a.err != nil && !strings.Contains(a.err.Error(), test.says) ||
					test.is != nil && !errors.Is(a.err, test.is) || test.is != ErrTimeout && errors.Is(a.err, ErrTimeout) {
					t.Errorf("answer: %+v; want an error with %q", a, test.says)
				}
				if a.ran != test.ran || !a.started.Equal(at("13:15:03")) || !a.ended.Equal(a.started.Add(test.ran)) {
					t.Errorf("ran %s from %s to %s; want %s from 13:15:03", a.ran, a.started, a.ended, test.ran)
				}
				if got, want := x.starts(), fmt.Sprintf("x@3 y@%g", (3*time.Second+test.ran).Seconds()); got != want {
					t.Errorf("started %s; want %s", got, want)
				}
				time.Sleep(test.still)
				if n := len(x.answers(x.bucket)); n != 2 || x.executor.running != 0 || x.executor.lanes["x"].abandoned != 0 {
					t.Errorf("in the end %d answers, %d places taken, %d abandoned; want the late answer thrown away",
						n, x.executor.running, x.executor.lanes["x"].abandoned)
				}
			})
		})
	}
}

func TestTooManyAbandonedCallsPutOffTheRestOfThatJobExecOnly(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		x := newBench(t, 4, lanes(map[string]Guards{"stuck": {Timeout: time.Second, Concurrency: 2}, "good": {}}))
		release := make(chan struct{})
		x.exec("stuck", func(context.Context, FutureJob) (*time.Time, error) { <-release; return nil, nil })
		x.exec("good", takes(500*time.Millisecond))
		x.submit(x.bucket, "stuck", 7)
		x.submit(x.backlog, "stuck", 2)
		x.submit(x.bucket, "good", 20)
		time.Sleep(time.Hour)
		kinds := func(b *bucketRun) map[string]int {
			n := make(map[string]int)
			for _, a := range x.answers(b) {
				n[fmt.Sprint(a.JobExec, " ", a.answer.kind, " ", errors.Is(a.answer.err, ErrTimeout))]++
			}
			return n
		}
		off, timeout := fmt.Sprint("stuck ", abandoned, " false"), fmt.Sprint("stuck ", called, " true")
		good := fmt.Sprint("good ", called, " false")
		if got, want := kinds(x.bucket), map[string]int{timeout: 2, off: 5, good: 20}; !maps.Equal(got, want) {
			t.Errorf("answers: %v; want %v", got, want)
		}
		if got, want := kinds(x.backlog), map[string]int{off: 2}; !maps.Equal(got, want) {
			t.Errorf("of the backlog: %v; want %v", got, want)
		}
		for _, a := range x.answers(x.bucket) {
			if a.answer.kind == abandoned && (!a.verdict.slot.Equal(at("13:30")) || a.verdict.putOffCount != 1) {
				t.Errorf("put off to %s", a.verdict.slot)
			}
		}

		x.submit(x.bucket, "stuck", 3)
		if n := kinds(x.bucket)[off]; n != 8 {
			t.Errorf("%d are put off at once while two are still stuck; want 8", n)
		}
		close(release)
		synctest.Wait()
		x.submit(x.bucket, "stuck", 4)
		if n := kinds(x.bucket)[fmt.Sprint("stuck ", called, " false")]; n != 4 {
			t.Errorf("%d were called after the stuck ones had come back; want 4", n)
		}
	})
}

func TestOneAbandonedCallOfSeveralLeavesItsJobExecGoingOn(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		x := newBench(t, 4, lanes(map[string]Guards{"x": {Timeout: time.Second, Concurrency: 2}}))
		var first sync.Once
		x.exec("x", does(time.Millisecond, func() { first.Do(func() { time.Sleep(time.Hour) }) }))
		x.submit(x.bucket, "x", 50)
		time.Sleep(2 * time.Second)
		if n := len(x.answers(x.bucket)); n != 50 {
			t.Errorf("%d answers; want all 50", n)
		}
		time.Sleep(time.Hour)
	})
}

func TestCatchingUpUsesHalfOfThePlacesAndGivesWay(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		x := newBench(t, 8, lanes(map[string]Guards{"a": {Concurrency: 8}, "b": {Concurrency: 8}, "c": {Concurrency: 2}}))
		for name := range x.executor.lanes {
			x.exec(name, takes(time.Second))
		}
		x.submit(x.backlog, "b", 1)
		x.submit(x.backlog, "c", 40)
		x.submit(x.backlog, "a", 40)
		x.submit(x.backlog, "b", 39)
		synctest.Wait()
		if x.running[""] != 4 || x.running["c"] > 1 {
			t.Errorf("%v run to catch up; want 4, and of c half of its 2", x.running)
		}
		x.submit(x.bucket, "a", 4)
		synctest.Wait()
		if x.running[""] != 8 {
			t.Errorf("%v run; want what is due now besides", x.running)
		}
		// What is due now takes every place that comes free, its lane's places permitting.
		x.submit(x.bucket, "a", 60)
		x.submit(x.bucket, "b", 60)
		time.Sleep(1100 * time.Millisecond)
		if caughtUp, due := len(x.answers(x.backlog)), len(x.answers(x.bucket)); caughtUp != 4 || due != 4 {
			t.Errorf("after a second %d are caught up and %d due ones done; want 4 and 4", caughtUp, due)
		}
		time.Sleep(10 * time.Second)
		if caughtUp, due := len(x.answers(x.backlog)), len(x.answers(x.bucket)); caughtUp > 4+10 || due < 4+60 {
			t.Errorf("after eleven seconds %d are caught up and %d due ones done", caughtUp, due)
		}
		time.Sleep(time.Hour)
		if caughtUp, due := len(x.answers(x.backlog)), len(x.answers(x.bucket)); caughtUp != 120 || due != 124 {
			t.Errorf("in the end %d and %d; want 120 and 124", caughtUp, due)
		}
	})
}

func TestAfterAStopOrALostLeaseNothingNewIsStarted(t *testing.T) {
	for name, stop := range map[string]func(*bench){
		"stop":  func(x *bench) { close(x.stop) },
		"lease": func(x *bench) { x.bucket.lease.lose() },
	} {
		t.Run(name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				x := newBench(t, 2, lanes(map[string]Guards{"a": {Concurrency: 2}}))
				x.exec("a", takes(time.Second))
				x.submit(x.bucket, "a", 10)
				time.Sleep(time.Second / 2)
				stop(x)
				time.Sleep(time.Minute)
				kinds := make(map[answerKind]int)
				for _, a := range x.answers(x.bucket) {
					kinds[a.answer.kind]++
				}
				if want := map[answerKind]int{called: 2, notStarted: 8}; !maps.Equal(kinds, want) {
					t.Errorf("answers by kind: %v; want those that ran, and the rest not started: %v", kinds, want)
				}
			})
		})
	}
}

func TestACallThatIsCutOffByTheEndOfTheWorkerHasNoAnswer(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		x := newBench(t, 2, lanes(map[string]Guards{"a": {}}))
		x.exec("a", func(ctx context.Context, _ FutureJob) (*time.Time, error) { <-ctx.Done(); return nil, ctx.Err() })
		x.submit(x.bucket, "a", 1)
		time.Sleep(time.Second)
		x.end()
		if all := x.answers(x.bucket); len(all) != 1 || all[0].answer.kind != notStarted {
			t.Errorf("answers: %+v; want it not started, so that it runs again", all)
		}
	})
}

func TestAJobExecGetsTheRowAndADeadline(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		x := newBench(t, 1, lanes(map[string]Guards{"a": {Timeout: 7 * time.Second}}))
		x.exec("a", func(ctx context.Context, job FutureJob) (*time.Time, error) {
			if deadline, ok := ctx.Deadline(); !ok || time.Until(deadline) != 7*time.Second {
				t.Errorf("deadline %s, %v; want 7 s from now", deadline, ok)
			}
			if job.JobExec != "a" || !job.NextCheckAt.Equal(x.slot) || string(job.Payload) != `{"n":1}` {
				t.Errorf("job: %+v", job)
			}
			job.Payload[5] = '9' // its own copy
			return nil, nil
		})
		r := row{FutureJob: pendingAt(x.slot)}
		r.JobExec, r.Payload = "a", []byte(`{"n":1}`)
		x.executor.submit([]*task{{rows: []row{r}, lane: x.executor.lanes["a"], bucket: x.bucket}})
		if all := x.answers(x.bucket); len(all) != 1 || string(all[0].Payload) != `{"n":1}` {
			t.Errorf("answers: %+v; want the payload as it was", all)
		}
	})
}
