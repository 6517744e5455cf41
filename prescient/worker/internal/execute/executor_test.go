package execute

import (
	"context"
	"errors"
	"fmt"
	"maps"
	"math/rand/v2"
	"slices"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"

	"prescient/prescient"
	"prescient/prescient/internal/rig"
	"prescient/prescient/internal/store"
	"prescient/prescient/worker/internal/check"
)

// sink is where the rows of a test come from, and their answers go.
type sink struct {
	background bool
	clock      store.Clock
	calls      context.Context
	stop       <-chan struct{}
	lost       atomic.Bool
	runTx      func(c *TxCall) // what a transaction does

	mu      sync.Mutex
	answers []*check.Answered
}

func (s *sink) MayStart() bool {
	select {
	case <-s.stop:
		return false
	default:
		return !s.lost.Load()
	}
}

func (s *sink) Context() context.Context { return s.calls }

func (s *sink) Time() store.Clock { return s.clock }

func (s *sink) CatchesUp() bool { return s.background }

func (s *sink) Deliver(rows ...*check.Answered) {
	s.mu.Lock()
	defer s.mu.Unlock()
	for _, r := range rows {
		if r.Answer.Ended.IsZero() { // it was not called
			r.Answer.Ended = s.clock.Now()
		}
	}
	s.answers = append(s.answers, rows...)
}

func (s *sink) RunTx(_ context.Context, c *TxCall) ([]check.Answer, error) {
	s.runTx(c)
	return nil, errors.New("the transaction came to nothing")
}

// bench is an executor with what it needs around it, in a bubble where time passes at once.
type bench struct {
	t        *testing.T
	executor *Executor
	bucket   *sink // of the current slot
	backlog  *sink // of one that is caught up
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

func newBench(t *testing.T, limit int, registry *prescient.Registry) *bench {
	guards := prescient.Guards{Concurrency: max(limit/2, 1)}.Or(prescient.DefaultGuards())
	x := &bench{t: t, executor: New(limit, registry, guards), stop: make(chan struct{}), slot: rig.At("13:15"),
		began: time.Now(), running: make(map[string]int), most: make(map[string]int)}
	x.executor.Serves.Store(true)
	calls, end := context.WithCancel(t.Context())
	x.end = end
	t.Cleanup(end)
	x.bucket = &sink{clock: store.ClockAt(x.slot), calls: calls, stop: x.stop}
	x.backlog = &sink{clock: store.ClockAt(x.slot), calls: calls, stop: x.stop, background: true}
	return x
}

// noted wraps what a job_exec does: it keeps the books of what runs.
func (x *bench) noted(name string, do prescient.Func) prescient.Func {
	return func(ctx context.Context, job prescient.FutureJob) (*time.Time, error) {
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
func (x *bench) exec(name string, do prescient.Func) { x.each(name).fn = x.noted(name, do) }

// each is what calls a job_exec.
func (x *bench) each(name string) *each {
	return x.executor.Lanes[name].Handler.(*each)
}

func lanes(guards map[string]prescient.Guards) *prescient.Registry {
	r := prescient.NewRegistry()
	for _, name := range slices.Sorted(maps.Keys(guards)) {
		r.MustRegister(name, rig.NothingToDo, guards[name])
	}
	return r
}

// submit hands n rows to the executor.
func (x *bench) submit(b *sink, exec string, n int) {
	var tasks []*Task
	for range n {
		x.keys++
		job := rig.PendingAt(x.slot)
		job.JobExec = exec
		tasks = append(tasks, &Task{Rows: []*check.Answered{{Row: check.Row{FutureJob: job, JobKey: prescient.Key{x.keys}}}}, Lane: x.executor.Lanes[exec], Sink: b})
	}
	x.executor.Submit(tasks)
}

// answers waits until nothing goes on any more, and returns what came of each row.
func (x *bench) answers(b *sink) []*check.Answered {
	synctest.Wait()
	b.mu.Lock()
	defer b.mu.Unlock()
	return slices.Clone(b.answers)
}

// look waits for that, too, and returns what was started, how many run, and how many did at a time.
func (x *bench) look() (started string, running, most map[string]int) {
	synctest.Wait()
	x.mu.Lock()
	defer x.mu.Unlock()
	return strings.Join(x.started, " "), maps.Clone(x.running), maps.Clone(x.most)
}

// places returns how many places are taken, by the executor's own books.
func (x *bench) places() (running, sweeping, abandoned int) {
	synctest.Wait()
	x.executor.mu.Lock()
	defer x.executor.mu.Unlock()
	for _, l := range x.executor.Order {
		abandoned += l.abandoned
	}
	return x.executor.running, x.executor.sweeping, abandoned
}

// takes is a job_exec that takes a time and does not mind its context.
func takes(d time.Duration) prescient.Func {
	return func(context.Context, prescient.FutureJob) (*time.Time, error) {
		time.Sleep(d)
		return nil, nil
	}
}

func TestNoMoreRunThanAreAllowedOverallAndOfEach(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		x := newBench(t, 8, lanes(map[string]prescient.Guards{"a": {Concurrency: 2}, "b": {Concurrency: 3}, "c": {Concurrency: 99}, "d": {}}))
		for name := range x.executor.Lanes {
			x.exec(name, does(0, func() {
				if time.Sleep(rand.N(50 * time.Millisecond)); rand.N(20) == 0 {
					panic("now and then")
				}
			}))
		}
		for range 5 {
			for name := range x.executor.Lanes {
				x.submit(x.bucket, name, 20)
				x.submit(x.backlog, name, 5)
			}
			time.Sleep(rand.N(100 * time.Millisecond))
		}
		time.Sleep(time.Minute)
		if n, m := len(x.answers(x.bucket)), len(x.answers(x.backlog)); n != 400 || m != 100 {
			t.Fatalf("%d and %d answers; want 400 and 100", n, m)
		}
		_, _, most := x.look()
		for name, allowed := range map[string]int{"a": 2, "b": 3, "c": 8, "d": 4, "": 8} {
			if most[name] > allowed {
				t.Errorf("%d of %q ran at a time; %d are allowed", most[name], name, allowed)
			}
		}
		if most["a"] != 2 || most["b"] != 3 || most[""] != 8 {
			t.Errorf("no more ran at a time than %v; the places are not used", most)
		}
		if running, sweeping, _ := x.places(); running != 0 || sweeping != 0 {
			t.Errorf("%d places are still taken, %d of them to catch up", running, sweeping)
		}
	})
}

func TestJobExecsAreServedInTurn(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		x := newBench(t, 1, lanes(map[string]prescient.Guards{"a": {}, "b": {}, "c": {}}))
		for name := range x.executor.Lanes {
			x.exec(name, takes(time.Second))
		}
		x.submit(x.bucket, "a", 4)
		x.submit(x.bucket, "b", 2)
		x.submit(x.bucket, "c", 1)
		time.Sleep(time.Minute)
		if got, _, _ := x.look(); got != "a@0 b@1 c@2 a@3 b@4 a@5 a@6" {
			t.Errorf("started %s; want them in turn", got)
		}
	})
}

func TestASlowJobExecLeavesPlacesForTheOthers(t *testing.T) {
	for limit, guards := range map[int]prescient.Guards{4: {}, 2: {}, 8: {Concurrency: 8}, 5: {Concurrency: 5}} {
		synctest.Test(t, func(t *testing.T) {
			x := newBench(t, limit, lanes(map[string]prescient.Guards{"quick": {}, "slow": guards}))
			x.exec("slow", takes(20*time.Second))
			x.exec("quick", takes(time.Millisecond))
			x.submit(x.bucket, "slow", 100)
			x.submit(x.bucket, "quick", 100)
			time.Sleep(time.Second)
			if n := len(x.answers(x.bucket)); n != 100 {
				t.Errorf("of %d places: %d quick ones are done while the slow ones run; want 100", limit, n)
			}
			if _, _, most := x.look(); most["slow"] >= limit || most["slow"] == 0 {
				t.Errorf("the slow one had %d of %d places", most["slow"], limit)
			}
			time.Sleep(time.Hour)
			if n := len(x.answers(x.bucket)); n != 200 {
				t.Errorf("%d answers in the end; want 200", n)
			}
		})
	}
}

// The same for what is caught up, which has half of the places.
func TestASlowJobExecThatIsCaughtUpLeavesPlacesForTheOthers(t *testing.T) {
	for limit, guards := range map[int]prescient.Guards{4: {}, 8: {Concurrency: 8}, 32: {Concurrency: 32}} {
		synctest.Test(t, func(t *testing.T) {
			x := newBench(t, limit, lanes(map[string]prescient.Guards{"quick": {}, "slow": guards, "slow-too": guards}))
			x.exec("slow", takes(20*time.Second))
			x.exec("slow-too", takes(20*time.Second))
			x.exec("quick", takes(time.Millisecond))
			x.submit(x.backlog, "slow", 100)
			if limit > 4 { // of two places one is left
				x.submit(x.backlog, "slow-too", 100)
			}
			x.submit(x.backlog, "quick", 100)
			time.Sleep(time.Second)
			if n := len(x.answers(x.backlog)); n != 100 {
				t.Errorf("of %d places: %d quick ones are done while the slow ones run; want 100", limit, n)
			}
			if _, _, most := x.look(); most["slow"]+most["slow-too"] >= max(limit/2, 1) || most["slow"] == 0 {
				t.Errorf("the slow ones had %d of %d places", most["slow"]+most["slow-too"], limit)
			}
			time.Sleep(time.Hour)
		})
	}
}

func TestTooManyAbandonedCallsPutOffTheRestOfThatJobExecOnly(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		x := newBench(t, 4, lanes(map[string]prescient.Guards{"stuck": {Timeout: time.Second, Concurrency: 2}, "good": {}}))
		release := make(chan struct{})
		x.exec("stuck", does(0, func() { <-release }))
		x.exec("good", takes(500*time.Millisecond))
		x.submit(x.bucket, "stuck", 7)
		x.submit(x.backlog, "stuck", 2)
		x.submit(x.bucket, "good", 20)
		time.Sleep(time.Hour)
		kinds := func(b *sink) map[string]int {
			n := make(map[string]int)
			for _, a := range x.answers(b) {
				n[fmt.Sprint(a.JobExec, " ", a.Answer.Cause, " ", errors.Is(a.Answer.Err, prescient.ErrTimeout))]++
			}
			return n
		}
		off, timeout := fmt.Sprint("stuck ", prescient.CauseAbandoned, " false"), fmt.Sprint("stuck ", prescient.CauseCalled, " true")
		good := fmt.Sprint("good ", prescient.CauseCalled, " false")
		if got, want := kinds(x.bucket), map[string]int{timeout: 2, off: 5, good: 20}; !maps.Equal(got, want) {
			t.Errorf("answers: %v; want %v", got, want)
		}
		if got, want := kinds(x.backlog), map[string]int{off: 2}; !maps.Equal(got, want) {
			t.Errorf("of the backlog: %v; want %v", got, want)
		}
		for _, a := range x.answers(x.bucket) {
			v := prescient.Decide(rig.Quarter, x.executor.Lanes["stuck"].Guards, a.FutureJob, a.Answer.Given(), a.Answer.Ended)
			if a.Answer.Cause == prescient.CauseAbandoned && (!v.Slot.Equal(rig.At("13:30")) || v.PutOffCount != 1) {
				t.Errorf("put off to %s", v.Slot)
			}
		}

		x.submit(x.bucket, "stuck", 3)
		if n := kinds(x.bucket)[off]; n != 8 {
			t.Errorf("%d are put off at once while two are still stuck; want 8", n)
		}
		close(release)
		synctest.Wait()
		x.submit(x.bucket, "stuck", 4)
		if n := kinds(x.bucket)[fmt.Sprint("stuck ", prescient.CauseCalled, " false")]; n != 4 {
			t.Errorf("%d were called after the stuck ones had come back; want 4", n)
		}
	})
}

func TestOneAbandonedCallOfSeveralLeavesItsJobExecGoingOn(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		x := newBench(t, 4, lanes(map[string]prescient.Guards{"x": {Timeout: time.Second, Concurrency: 2}}))
		var calls atomic.Int32
		x.exec("x", does(time.Millisecond, func() {
			if calls.Add(1) == 1 {
				time.Sleep(time.Hour)
			}
		}))
		x.submit(x.bucket, "x", 50)
		time.Sleep(2 * time.Second)
		if n := len(x.answers(x.bucket)); n != 50 {
			t.Errorf("%d answers; want all 50", n)
		}
		time.Sleep(time.Hour)
	})
}

// A process that sweeps, and runs no slots of its own, keeps no places for these.
func TestWhatOnlyCatchesUpHasAllPlaces(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		x := newBench(t, 8, lanes(map[string]prescient.Guards{"a": {Concurrency: 8}, "b": {Concurrency: 8}, "c": {Concurrency: 2}}))
		x.executor.Serves.Store(false)
		for name := range x.executor.Lanes {
			x.exec(name, takes(time.Second))
		}
		x.submit(x.backlog, "a", 40)
		if _, running, _ := x.look(); running["a"] != 6 {
			t.Errorf("%v run; want 6, and a place for each of the others", running)
		}
		x.submit(x.backlog, "c", 40)
		x.submit(x.backlog, "b", 40)
		time.Sleep(1500 * time.Millisecond)
		if _, running, _ := x.look(); running[""] != 8 || running["c"] != 2 || running["b"] == 0 {
			t.Errorf("%v run; want all places taken, 2 of them by c", running)
		}
		time.Sleep(time.Hour)
	})
}

func TestCatchingUpUsesHalfOfThePlacesAndGivesWay(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		x := newBench(t, 8, lanes(map[string]prescient.Guards{"a": {Concurrency: 8}, "b": {Concurrency: 8}, "c": {Concurrency: 2}}))
		for name := range x.executor.Lanes {
			x.exec(name, takes(time.Second))
		}
		x.submit(x.backlog, "b", 1)
		x.submit(x.backlog, "c", 40)
		x.submit(x.backlog, "a", 40)
		x.submit(x.backlog, "b", 39)
		if _, running, _ := x.look(); running[""] != 4 || running["c"] != 1 {
			t.Errorf("%v run to catch up; want 4, and of c half of its 2", running)
		}
		x.submit(x.bucket, "a", 4)
		if _, running, _ := x.look(); running[""] != 8 {
			t.Errorf("%v run; want what is due now besides", running)
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
