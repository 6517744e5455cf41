package execute

import (
	"context"
	"fmt"
	"runtime/debug"
	"time"

	"prescient/prescient"
	"prescient/prescient/worker/internal/check"
)

// call calls the job_exec of t and delivers the answer. It returns false where this goroutine has no place any more:
// the call was abandoned meanwhile.
func (e *Executor) call(t *Task) (placed bool) {
	if t.Lane.Fn != nil {
		return e.callSeries(t)
	}
	if !t.Sink.MayStart() {
		t.settled.Store(true)
		t.deliverAll(check.Answer{Fate: check.NotStarted})
		return true
	}
	started := time.Now()
	timeout := t.Lane.Guards.Timeout
	ctx, cancel := context.WithTimeout(t.Sink.Context(), timeout)
	defer cancel()
	t.Watchdog = time.AfterFunc(timeout+Overtime, func() { e.abandon(t, started) })
	defer t.Watchdog.Stop()

	returned := false
	var answers []check.Answer
	var err error
	// Settles the call however it ends: by its answer, by a panic, or by runtime.Goexit, after which deferred calls
	// are all that this goroutine still does.
	defer func() {
		goexit := false
		if !returned {
			goexit, err = notReturned(recover())
		}
		placed = e.deliverCall(t, started, answers, err)
		if placed && goexit {
			if another := e.finish(t); another != nil {
				go e.work(another)
			}
		}
	}()
	answers, err = t.call(ctx)
	returned = true
	return true
}

// notReturned is what came of a call that did not return, by what was recovered of it: a panic, or runtime.Goexit.
func notReturned(recovered any) (goexit bool, err error) {
	if recovered == nil {
		return true, fmt.Errorf("%w: it called runtime.Goexit", prescient.ErrPanic)
	}
	return false, fmt.Errorf("%w: %v\n%s", prescient.ErrPanic, recovered, debug.Stack())
}

// call calls the function of the task's lane. Without an error there is an answer for each row.
func (t *Task) call(ctx context.Context) ([]check.Answer, error) {
	if t.Lane.InTx() {
		return t.Sink.RunTx(ctx, t)
	}
	return t.callBatch(ctx)
}

func (t *Task) callBatch(ctx context.Context) ([]check.Answer, error) {
	batch := check.NewBatch(t.Rows, t.Sink.Time().Now())
	if err := t.Lane.batch(ctx, batch); err != nil {
		return nil, check.Quoted(err)
	}
	answers := make([]check.Answer, len(t.Rows))
	for i := range answers {
		answers[i] = check.AnswerOf(batch, i)
	}
	return answers, nil
}

// deliverAll delivers the same answer for every row.
func (t *Task) deliverAll(a check.Answer) {
	for _, r := range t.Rows {
		r.Answer = a
	}
	t.Sink.Deliver(t.Rows...)
}

// failed is the answer of every row where the call as a whole failed. Rows that shared a transaction are tried again,
// each by itself, so that none answers for another.
func (t *Task) failed(a check.Answer) check.Answer {
	if t.Lane.InTx() && len(t.Rows) > 1 {
		return check.Answer{Fate: check.Again}
	}
	return a
}

// deliverCall delivers the answers of a call that came back. It returns false where the call had been abandoned.
func (e *Executor) deliverCall(t *Task, started time.Time, answers []check.Answer, err error) bool {
	ended := time.Now()
	ran := ended.Sub(started)
	if !t.settled.CompareAndSwap(false, true) {
		e.cameBack(t)
		return false
	}
	clock := t.Sink.Time()
	timeout := t.Lane.Guards.Timeout
	whole := check.Answer{Started: clock.When(started), Ended: clock.When(ended), Ran: ran}
	switch {
	case err == nil && t.Lane.InTx():
		// What was committed is; for the rest runTx has seen to the timeout.
	case t.Sink.Context().Err() != nil:
		// The worker's patience was over, or the lease was lost: what the call made of that is not its answer.
		t.deliverAll(check.Answer{Fate: check.NotStarted})
		return true
	case ran >= timeout:
		whole.Err = TimeoutError(timeout, err)
		t.deliverAll(t.failed(whole))
		return true
	case err != nil:
		whole.Err = err
		t.deliverAll(t.failed(whole))
		return true
	}
	for i, a := range answers {
		if a.Started.IsZero() {
			a.Started, a.Ended, a.Ran = whole.Started, whole.Ended, whole.Ran
		}
		t.Rows[i].Answer = a
	}
	t.Sink.Deliver(t.Rows...)
	return true
}

// cameBack notes that an abandoned call has returned.
func (e *Executor) cameBack(t *Task) {
	e.Mu.Lock()
	defer e.Mu.Unlock()
	t.Lane.Abandoned--
	e.start()
}

// abandon gives up a call that ignores the end of its context: its place goes to another, its late answer is thrown
// away.
func (e *Executor) abandon(t *Task, started time.Time) {
	if !t.settled.CompareAndSwap(false, true) {
		return
	}
	e.Mu.Lock()
	e.count(t, -1)
	t.Lane.Abandoned++
	e.start()
	e.Mu.Unlock()
	ended := time.Now()
	t.deliverAll(t.failed(check.Answer{
		Err:     fmt.Errorf("%w after %s, and ignored it", prescient.ErrTimeout, t.Lane.Guards.Timeout),
		Started: t.Sink.Time().When(started), Ended: t.Sink.Time().When(ended), Ran: ended.Sub(started),
	}))
}

func TimeoutError(timeout time.Duration, err error) error {
	if err == nil {
		return fmt.Errorf("%w: it took longer than %s", prescient.ErrTimeout, timeout)
	}
	return fmt.Errorf("%w after %s: %w", prescient.ErrTimeout, timeout, err)
}
