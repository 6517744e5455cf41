package execute

import (
	"context"
	"errors"
	"fmt"
	"maps"
	"runtime"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/jmoiron/sqlx"

	"prescient/prescient"
	"prescient/prescient/internal/rig"
	"prescient/prescient/worker/internal/check"
)

// answering makes a job_exec of what it returns.
func answering(next *time.Time, err error) prescient.Func {
	return func(context.Context, prescient.FutureJob) (*time.Time, error) { return next, err }
}

// does makes a job_exec that waits, does something and then answers nil.
func does(wait time.Duration, do func()) prescient.Func {
	return func(context.Context, prescient.FutureJob) (*time.Time, error) {
		time.Sleep(wait)
		do()
		return nil, nil
	}
}

// failing makes a job_exec that waits, and then answers with an error.
func failing(wait time.Duration, err error) prescient.Func {
	return func(context.Context, prescient.FutureJob) (*time.Time, error) {
		time.Sleep(wait)
		return nil, err
	}
}

// cutOff waits for the end of its context.
func cutOff(ctx context.Context, _ prescient.FutureJob) (*time.Time, error) {
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
		do    prescient.Func
		ran   time.Duration
		says  string // of the error
		is    error
		in    time.Duration // that it is to be tried again
		still time.Duration // the time that it goes on after its answer
	}{
		{name: "nil", do: takes(time.Second), ran: time.Second},
		{name: "a time", do: answering(prescient.At(rig.At("14:01")), nil)},
		{name: "an error", do: answering(prescient.At(rig.At("14:01")), errors.New("no")), says: "no"},
		{name: "a panic", do: does(0, boo), says: "panicked: boo\n", is: prescient.ErrPanic},
		{name: "panic(nil)", do: does(0, func() { panic(nil) }), says: "panicked: panic called with nil", is: prescient.ErrPanic},
		{name: "panic(error)", do: does(0, func() { panic(prescient.ErrTimeout) }), says: "panicked: timed out", is: prescient.ErrPanic},
		{name: "a nil pointer", do: does(0, func() { _ = *(*prescient.FutureJob)(nil) }), says: "nil pointer", is: prescient.ErrPanic},
		{name: "Goexit", do: does(0, runtime.Goexit), says: "runtime.Goexit", is: prescient.ErrPanic},
		{name: "an error that panics", do: answering(nil, nilError{}), says: "nil pointer", is: prescient.ErrPanic},
		{name: "a final error", do: answering(nil, prescient.Final(errors.New("no"))), says: "no", is: prescient.ErrFinal},
		{name: "a final error too late", do: failing(guard, prescient.Final(errors.New("no"))), ran: guard, says: "timed out after 10s: no", is: prescient.ErrTimeout},
		{name: "a retry", do: failing(guard-1, prescient.Retry(time.Hour)), ran: guard - 1, says: "try again in 1h", in: time.Hour},
		{name: "a retry too late", do: failing(guard, prescient.Retry(time.Hour)), ran: guard, says: "timed out after 10s: try again in 1h", is: prescient.ErrTimeout},
		{name: "the end of its context", do: cutOff, ran: guard, says: "timed out after 10s: context deadline exceeded", is: prescient.ErrTimeout},
		{name: "a panic too late", do: does(guard, boo), ran: guard, says: "timed out after 10s: panicked: boo", is: prescient.ErrTimeout},
		{name: "an answer too late", do: takes(guard + 1), ran: guard + 1, says: "timed out: it took longer than 10s", is: prescient.ErrTimeout},
		{name: "an answer just in time", do: takes(guard - 1), ran: guard - 1},
		{name: "an answer within patience", do: takes(guard + Overtime - 1), ran: guard + Overtime - 1, says: "timed out", is: prescient.ErrTimeout},
		{name: "nothing", do: takes(time.Minute), ran: guard + Overtime, says: "timed out after 10s, and ignored it", is: prescient.ErrTimeout, still: time.Minute},
		{name: "a panic long after", do: does(time.Minute, boo), ran: guard + Overtime, says: "ignored it", is: prescient.ErrTimeout, still: time.Minute},
		{name: "Goexit long after", do: does(time.Minute, runtime.Goexit), ran: guard + Overtime, says: "ignored it", is: prescient.ErrTimeout, still: time.Minute},
	} {
		t.Run(test.name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				x := newBench(t, 1, lanes(map[string]prescient.Guards{"x": {Timeout: 10 * time.Second, Concurrency: 2}, "y": {}}))
				x.exec("x", test.do)
				x.exec("y", takes(0))
				time.Sleep(3 * time.Second)
				x.submit(x.bucket, "x", 1)
				x.submit(x.bucket, "y", 1)
				time.Sleep(10*time.Second + Overtime)
				all := x.answers(x.bucket)
				if len(all) != 2 {
					t.Fatalf("%d answers; want that of x, and of y, which had its place after it", len(all))
				}
				a := all[0].Answer
				if all[0].JobExec == "y" {
					a = all[1].Answer
				}
				if !a.Called() || (a.Err == nil) != (test.says == "") || a.Err != nil && !strings.Contains(a.Err.Error(), test.says) ||
					test.is != nil && !errors.Is(a.Err, test.is) || test.is != prescient.ErrTimeout && errors.Is(a.Err, prescient.ErrTimeout) ||
					test.is != prescient.ErrFinal && errors.Is(a.Err, prescient.ErrFinal) {
					t.Errorf("answer: %+v; want an error with %q", a, test.says)
				}
				if in, stated := prescient.RetryIn(a.Err); in != test.in || stated != (in != 0) {
					t.Errorf("to be tried again in %s; want %s", in, test.in)
				}
				if a.Ran != test.ran || !a.Started.Equal(rig.At("13:15:03")) || !a.Ended.Equal(a.Started.Add(test.ran)) {
					t.Errorf("ran %s from %s to %s; want %s from 13:15:03", a.Ran, a.Started, a.Ended, test.ran)
				}
				if got, _, _ := x.look(); got != fmt.Sprintf("x@3 y@%g", (3*time.Second+test.ran).Seconds()) {
					t.Errorf("started %s; want y when x has given its place back", got)
				}
				time.Sleep(test.still)
				running, _, abandoned := x.places()
				if n := len(x.answers(x.bucket)); n != 2 || running != 0 || abandoned != 0 {
					t.Errorf("in the end %d answers, %d places taken, %d abandoned; want the late answer thrown away", n, running, abandoned)
				}
			})
		})
	}
}

// A server that does not answer before the function of a transaction is called, and does not notice that the time is over
// either, makes no error of that function.
func TestATransactionThatIsGivenUpIsAnErrorOnlyOfAFunctionThatWasCalled(t *testing.T) {
	const guard = 10 * time.Second
	for name, c := range map[string]struct {
		runTx func(*TxCall)
		fate  check.Fate
		err   error
	}{
		"before the call": {func(*TxCall) { time.Sleep(time.Minute) }, check.Again, nil},
		"in the call":     {func(c *TxCall) { c.Calling(nil); time.Sleep(time.Minute) }, check.Answers, prescient.ErrTimeout},
	} {
		t.Run(name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				registry := prescient.NewRegistry()
				nothing := func(context.Context, *sqlx.Tx, prescient.FutureJob) (*time.Time, error) { return nil, nil }
				if err := registry.RegisterTx("x", nothing, prescient.Guards{Timeout: guard}); err != nil {
					t.Fatal(err)
				}
				x := newBench(t, 1, registry)
				x.bucket.runTx = c.runTx
				x.submit(x.bucket, "x", 1)
				time.Sleep(guard + Overtime)
				all := x.answers(x.bucket)
				if len(all) != 1 || all[0].Answer.Fate != c.fate || !errors.Is(all[0].Answer.Err, c.err) {
					t.Fatalf("%+v; want fate %d, error %v", all, c.fate, c.err)
				}
				time.Sleep(time.Minute)
				if running, _, abandoned := x.places(); len(x.answers(x.bucket)) != 1 || running != 0 || abandoned != 0 {
					t.Errorf("%d answers, %d places taken, %d abandoned; want the late answer thrown away", len(x.answers(x.bucket)), running, abandoned)
				}
			})
		})
	}
}

func TestAfterAStopOrALostLeaseNothingNewIsStarted(t *testing.T) {
	for name, stop := range map[string]func(*bench){
		"stop":  func(x *bench) { close(x.stop) },
		"lease": func(x *bench) { x.bucket.lost.Store(true) },
	} {
		t.Run(name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				x := newBench(t, 2, lanes(map[string]prescient.Guards{"a": {Concurrency: 2}}))
				x.exec("a", takes(time.Second))
				x.submit(x.bucket, "a", 10)
				time.Sleep(time.Second / 2)
				stop(x)
				time.Sleep(time.Minute)
				kinds := make(map[check.Fate]int)
				for _, a := range x.answers(x.bucket) {
					kinds[a.Answer.Fate]++
				}
				if want := map[check.Fate]int{check.Answers: 2, check.NotStarted: 8}; !maps.Equal(kinds, want) {
					t.Errorf("answers by kind: %v; want those that ran, and the rest not started: %v", kinds, want)
				}
			})
		})
	}
}

func TestACallThatIsCutOffByTheEndOfTheWorkerHasNoAnswer(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		x := newBench(t, 2, lanes(map[string]prescient.Guards{"a": {}}))
		x.exec("a", func(ctx context.Context, _ prescient.FutureJob) (*time.Time, error) {
			<-ctx.Done()
			return nil, ctx.Err()
		})
		x.submit(x.bucket, "a", 1)
		time.Sleep(time.Second)
		x.end()
		if all := x.answers(x.bucket); len(all) != 1 || all[0].Answer.Fate != check.NotStarted {
			t.Errorf("answers: %+v; want it not started, so that it runs again", all)
		}
	})
}

func TestAJobExecGetsTheRowAndADeadline(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		x := newBench(t, 1, lanes(map[string]prescient.Guards{"a": {Timeout: 7 * time.Second}}))
		x.exec("a", func(ctx context.Context, job prescient.FutureJob) (*time.Time, error) {
			if deadline, ok := ctx.Deadline(); !ok || time.Until(deadline) != 7*time.Second {
				t.Errorf("deadline %s, %v; want 7 s from now", deadline, ok)
			}
			if job.JobExec != "a" || !job.NextCheckAt.Equal(x.slot) || string(job.Payload) != `{"n":1}` {
				t.Errorf("job: %+v", job)
			}
			job.Payload[5] = '9' // its own copy
			return nil, nil
		})
		r := &check.Answered{Row: check.Row{FutureJob: rig.PendingAt(x.slot)}}
		r.JobExec, r.Payload = "a", []byte(`{"n":1}`)
		x.executor.Submit([]*Task{{Rows: []*check.Answered{r}, Lane: x.executor.Lanes["a"], Sink: x.bucket}})
		if all := x.answers(x.bucket); len(all) != 1 || string(all[0].Payload) != `{"n":1}` {
			t.Errorf("answers: %+v; want the payload as it was", all)
		}
	})
}
