package execute

import (
	"context"
	"errors"
	"fmt"
	"maps"
	"runtime"
	"testing"
	"testing/synctest"
	"time"

	"prescient/prescient"
	"prescient/prescient/internal/rig"
	"prescient/prescient/worker/internal/check"
)

// submitAll hands n rows to the executor in one task, with keys from 0.
func (x *bench) submitAll(exec string, n int) {
	rows := make([]*check.Answered, n)
	for i := range rows {
		job := rig.PendingAt(x.slot)
		job.JobExec, job.EntityKey = exec, fmt.Sprint(i)
		rows[i] = &check.Answered{Row: check.Row{FutureJob: job, JobKey: prescient.Key{byte(i >> 8), byte(i)}}}
	}
	x.executor.Submit([]*Task{{Rows: rows, Lane: x.executor.Lanes[exec], Sink: x.bucket}})
}

// byKind counts answers, and checks that each row has one.
func (x *bench) byKind() map[string]int {
	kinds, seen := make(map[string]int), make(map[string]bool)
	for _, a := range x.answers(x.bucket) {
		if seen[a.EntityKey] {
			x.t.Errorf("row %s is answered twice", a.EntityKey)
		}
		seen[a.EntityKey] = true
		switch {
		case !a.Answer.Called():
			kinds[fmt.Sprint("fate ", a.Answer.Fate)]++
		case a.Answer.Err == nil:
			kinds["done"]++
		case errors.Is(a.Answer.Err, prescient.ErrTimeout):
			kinds["timeout"]++
		case errors.Is(a.Answer.Err, prescient.ErrPanic):
			kinds["panic"]++
		}
	}
	return kinds
}

func TestQuickCallsAreMadeInSeries(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		x := newBench(t, 4, lanes(map[string]prescient.Guards{"a": {}}))
		x.exec("a", rig.NothingToDo)
		x.submitAll("a", 3000)
		if got := x.byKind(); !maps.Equal(got, map[string]int{"done": 3000}) {
			t.Errorf("answers: %v", got)
		}
		length := func() int {
			x.executor.mu.Lock()
			defer x.executor.mu.Unlock()
			return x.each("a").length
		}
		if length := length(); length < 100 {
			t.Errorf("series of %d at the end of 3000 calls that took no time", length)
		}
		x.exec("a", takes(3*time.Millisecond))
		x.submitAll("a", 2000)
		time.Sleep(2000 / 2 * 3 * time.Millisecond * 11 / 10)
		if n := len(x.answers(x.bucket)); n != 5000 || length() != 1 {
			t.Errorf("series of %d, %d answers after 2000 calls of 3 ms each, two at a time; want them one by one", length(), n-3000)
		}
	})
}

// Whatever a call in the middle of a series does, the rows before and after it are answered as if it stood alone.
func TestOneCallOfASeriesLeavesTheOthersAlone(t *testing.T) {
	const n = 500
	for name, test := range map[string]struct {
		do     func()
		within time.Duration // the others are answered
		wants  map[string]int
		later  map[string]int
	}{
		"a panic": {do: func() { panic("boo") }, wants: map[string]int{"done": n - 1, "panic": 1}},
		"Goexit":  {do: runtime.Goexit, wants: map[string]int{"done": n - 1, "panic": 1}},
		"a slow one": {do: func() { time.Sleep(8 * time.Second) }, within: 2 * slowSeries, wants: map[string]int{"done": n - 1},
			later: map[string]int{"done": n}},
		"one that ignores its timeout": {do: func() { time.Sleep(time.Minute) }, within: 2 * slowSeries, wants: map[string]int{"done": n - 1},
			later: map[string]int{"done": n - 1, "timeout": 1}},
		"one that panics long after": {do: func() { time.Sleep(time.Minute); panic("boo") }, within: 2 * slowSeries,
			wants: map[string]int{"done": n - 1}, later: map[string]int{"done": n - 1, "timeout": 1}},
	} {
		t.Run(name, func(t *testing.T) {
			for _, row := range []int{0, 1, 100, n - 1} {
				synctest.Test(t, func(t *testing.T) {
					x := newBench(t, 2, lanes(map[string]prescient.Guards{"a": {Timeout: 10 * time.Second, Concurrency: 2}}))
					x.each("a").length = longestSeries
					x.exec("a", func(_ context.Context, job prescient.FutureJob) (*time.Time, error) {
						if job.EntityKey == fmt.Sprint(row) {
							test.do()
						}
						return nil, nil
					})
					x.submitAll("a", n)
					time.Sleep(test.within)
					if got := x.byKind(); !maps.Equal(got, test.wants) {
						t.Errorf("row %d: answers after %s: %v; want %v", row, test.within, got, test.wants)
					}
					time.Sleep(2 * time.Minute)
					if got := x.byKind(); test.later != nil && !maps.Equal(got, test.later) {
						t.Errorf("row %d: answers in the end: %v; want %v", row, got, test.later)
					}
					if running, _, abandoned := x.places(); running != 0 || abandoned != 0 {
						t.Errorf("row %d: %d places are taken, %d abandoned", row, running, abandoned)
					}
				})
			}
		})
	}
}

func TestAStopInTheMiddleOfASeriesLeavesTheRestUnstarted(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		x := newBench(t, 1, lanes(map[string]prescient.Guards{"a": {}}))
		x.each("a").length = longestSeries
		x.exec("a", func(_ context.Context, job prescient.FutureJob) (*time.Time, error) {
			if job.EntityKey == "39" {
				close(x.stop)
			}
			return nil, nil
		})
		x.submitAll("a", 100)
		if got, want := x.byKind(), map[string]int{"done": 40, fmt.Sprint("fate ", check.NotStarted): 60}; !maps.Equal(got, want) {
			t.Errorf("answers: %v; want %v", got, want)
		}
		for _, a := range x.answers(x.bucket) {
			if a.Answer.Called() && !a.Answer.Ended.Equal(rig.At("13:15")) {
				t.Errorf("row %s ended at %s", a.EntityKey, a.Answer.Ended)
			}
		}
	})
}

// Calls of a series that follow one another within a millisecond have the same times in history; others their own.
func TestCallsWithinAMomentShareTheirTimes(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		x := newBench(t, 1, lanes(map[string]prescient.Guards{"a": {}}))
		x.each("a").length = longestSeries
		x.exec("a", takes(moment/4))
		x.submitAll("a", 9)
		time.Sleep(time.Second)
		times := make(map[string]int)
		for _, a := range x.answers(x.bucket) {
			times[fmt.Sprint(a.Answer.Started.Sub(rig.At("13:15")), "+", a.Answer.Ended.Sub(a.Answer.Started))]++
			if a.Answer.Ran != moment/4 {
				t.Errorf("ran %s", a.Answer.Ran)
			}
		}
		if want := map[string]int{"0s+750µs": 3, "750µs+750µs": 3, "1.5ms+750µs": 3}; !maps.Equal(times, want) {
			t.Errorf("times: %v; want %v", times, want)
		}
	})
}

// The context of a call is a whole one, though it is made when it is asked for.
func TestTheContextOfACallEndsWithIt(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		x := newBench(t, 1, lanes(map[string]prescient.Guards{"a": {Timeout: time.Second}}))
		var kept, child context.Context
		x.exec("a", func(ctx context.Context, _ prescient.FutureJob) (*time.Time, error) {
			var cancel context.CancelFunc
			child, cancel = context.WithCancel(ctx)
			_ = cancel
			kept = ctx
			if ctx.Err() != nil || context.Cause(ctx) != nil {
				t.Error("it is over before the call")
			}
			return nil, nil
		})
		x.submitAll("a", 1)
		synctest.Wait()
		if !errors.Is(kept.Err(), context.Canceled) || !errors.Is(child.Err(), context.Canceled) {
			t.Errorf("after the call: %v, %v", kept.Err(), child.Err())
		}
		late := &callContext{parent: t.Context(), until: time.Now().Add(time.Second)}
		late.end()
		if !errors.Is(late.Err(), context.Canceled) {
			t.Errorf("first asked after its end: %v", late.Err())
		}
	})
}
