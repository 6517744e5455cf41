package worker

import (
	"context"
	"fmt"
	"runtime/debug"
	"time"

	"prescient/prescient"
)

// call calls the job_exec of t and delivers the answer. It returns false where this goroutine has no place any more:
// the call was abandoned meanwhile.
func (e *executor) call(t *task) (placed bool) {
	if t.lane.fn != nil {
		return e.callSeries(t)
	}
	if !t.sink.mayStart() {
		t.settled.Store(true)
		t.deliverAll(answer{fate: notStarted})
		return true
	}
	started := time.Now()
	timeout := t.lane.guards.Timeout
	ctx, cancel := context.WithTimeout(t.sink.context(), timeout)
	defer cancel()
	t.watchdog = time.AfterFunc(timeout+patience, func() { e.abandon(t, started) })
	defer t.watchdog.Stop()

	returned := false
	var answers []answer
	var err error
	// Settles the call however it ends: by its answer, by a panic, or by runtime.Goexit, after which deferred calls
	// are all that this goroutine still does.
	defer func() {
		goexit := false
		if !returned {
			goexit, err = notReturned(recover())
		}
		placed = e.settle(t, started, answers, err)
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
func (t *task) call(ctx context.Context) ([]answer, error) {
	if t.lane.inTx() {
		return t.sink.runTx(ctx, t)
	}
	return t.callBatch(ctx)
}

func (t *task) callBatch(ctx context.Context) ([]answer, error) {
	batch := newBatch(t.rows, t.sink.time().Now())
	if err := t.lane.batch(ctx, batch); err != nil {
		return nil, saidBy(err)
	}
	answers := make([]answer, len(t.rows))
	for i := range answers {
		answers[i] = answerOf(batch, i)
	}
	return answers, nil
}

// deliverAll delivers the same answer for every row.
func (t *task) deliverAll(a answer) {
	for _, r := range t.rows {
		r.answer = a
	}
	t.sink.deliver(t.rows...)
}

// failed is the answer of every row where the call as a whole failed. Rows that shared a transaction are tried again,
// each by itself, so that none answers for another.
func (t *task) failed(a answer) answer {
	if t.lane.inTx() && len(t.rows) > 1 {
		return answer{fate: again}
	}
	return a
}

// settle delivers the answers of a call that came back. It returns false where the call had been abandoned.
func (e *executor) settle(t *task, started time.Time, answers []answer, err error) bool {
	ended := time.Now()
	ran := ended.Sub(started)
	if !t.settled.CompareAndSwap(false, true) {
		e.cameBack(t)
		return false
	}
	clock := t.sink.time()
	timeout := t.lane.guards.Timeout
	whole := answer{started: clock.When(started), ended: clock.When(ended), ran: ran}
	switch {
	case err == nil && t.lane.inTx():
		// What was committed is; for the rest runTx has seen to the timeout.
	case t.sink.context().Err() != nil:
		// The worker's patience was over, or the lease was lost: what the call made of that is not its answer.
		t.deliverAll(answer{fate: notStarted})
		return true
	case ran >= timeout:
		whole.err = timeoutError(timeout, err)
		t.deliverAll(t.failed(whole))
		return true
	case err != nil:
		whole.err = err
		t.deliverAll(t.failed(whole))
		return true
	}
	for i, a := range answers {
		if a.started.IsZero() {
			a.started, a.ended, a.ran = whole.started, whole.ended, whole.ran
		}
		t.rows[i].answer = a
	}
	t.sink.deliver(t.rows...)
	return true
}

// cameBack notes that an abandoned call has returned.
func (e *executor) cameBack(t *task) {
	e.mu.Lock()
	defer e.mu.Unlock()
	t.lane.abandoned--
	e.start()
}

// abandon gives up a call that ignores the end of its context: its place goes to another, its late answer is thrown
// away.
func (e *executor) abandon(t *task, started time.Time) {
	if !t.settled.CompareAndSwap(false, true) {
		return
	}
	e.mu.Lock()
	e.count(t, -1)
	t.lane.abandoned++
	e.start()
	e.mu.Unlock()
	ended := time.Now()
	t.deliverAll(t.failed(answer{
		err:     fmt.Errorf("%w after %s, and ignored it", prescient.ErrTimeout, t.lane.guards.Timeout),
		started: t.sink.time().When(started), ended: t.sink.time().When(ended), ran: ended.Sub(started),
	}))
}

func timeoutError(timeout time.Duration, err error) error {
	if err == nil {
		return fmt.Errorf("%w: it took longer than %s", prescient.ErrTimeout, timeout)
	}
	return fmt.Errorf("%w after %s: %w", prescient.ErrTimeout, timeout, err)
}
