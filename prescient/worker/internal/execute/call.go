package execute

import (
	"context"
	"fmt"
	"sync/atomic"
	"time"

	"prescient/prescient"
	"prescient/prescient/internal/caught"
	"prescient/prescient/worker/internal/check"
)

// call is one call for all rows of a task.
type call struct {
	Task
	executor *Executor
	do       func(ctx context.Context) ([]check.Answer, error) // without an error there is an answer for each row
	started  time.Time
	waits    atomic.Bool // for its transaction: no function was called yet
	closed   atomic.Bool // the answer was delivered, or the call was abandoned
	watchdog *time.Timer // abandons the call once its time is over
}

func (c *call) learn() {}

func (c *call) run() (placed bool) {
	if !c.Sink.MayStart() {
		c.closed.Store(true)
		c.deliverAll(check.Answer{Fate: check.NotStarted})
		return true
	}
	c.started = time.Now()
	if c.answerLapsed(); len(c.Rows) == 0 {
		c.closed.Store(true)
		return true
	}
	timeout := c.Lane.Guards.Timeout
	ctx, cancel := context.WithTimeout(c.Sink.Context(), timeout)
	defer cancel()
	c.watchdog = time.AfterFunc(timeout+Overtime, c.abandon)
	defer c.watchdog.Stop()

	returned := false
	var answers []check.Answer
	var err error
	// Closes the call however it ends: by its answer, by a panic, or by runtime.Goexit, after which deferred calls
	// are all that this goroutine still does.
	defer func() {
		goexit := false
		if !returned {
			goexit, err = notReturned(recover())
		}
		placed = c.deliver(answers, err)
		if placed && goexit {
			if another := c.executor.finish(c); another != nil {
				go c.executor.work(another)
			}
		}
	}()
	answers, err = c.do(ctx)
	returned = true
	return true
}

// answerLapsed answers for the rows of a call that came too late, and leaves it the others. What a function does in the
// transaction of its rows has no part in their ends.
func (c *call) answerLapsed() {
	due, lapsed := Due(c.Lane.Guards, c.Rows, c.Sink.Time(), c.started)
	if c.Rows = due; len(lapsed) > 0 {
		c.Sink.Deliver(lapsed...)
	}
}

// notReturned is what came of a call that did not return, by what was recovered of it: a panic, or runtime.Goexit.
func notReturned(recovered any) (goexit bool, err error) {
	return recovered == nil, caught.Error(recovered)
}

// failed is the answer of every row where the call as a whole failed. Rows that shared a transaction are tried again,
// each by itself, so that none answers for another.
func (c *call) failed(a check.Answer) check.Answer {
	if c.Lane.InTx() && len(c.Rows) > 1 {
		return check.Answer{Fate: check.Again}
	}
	return a
}

// deliver delivers the answers of a call that came back. It returns false where the call had been abandoned.
func (c *call) deliver(answers []check.Answer, err error) bool {
	ended := time.Now()
	ran := ended.Sub(c.started)
	if !c.closed.CompareAndSwap(false, true) {
		c.executor.cameBack(c.Lane)
		return false
	}
	clock := c.Sink.Time()
	timeout := c.Lane.Guards.Timeout
	whole := check.Answer{Started: clock.When(c.started), Ended: clock.When(ended), Ran: ran}
	switch {
	case err == nil && c.Lane.InTx():
		// What was committed is; for the rest RunTx has seen to the timeout.
	case c.Sink.Context().Err() != nil:
		// The grace of a worker that stops was over, or the lease was lost: what the call made of that is not its answer.
		c.deliverAll(check.Answer{Fate: check.NotStarted})
		return true
	case ran >= timeout:
		whole.Err = TimeoutError(timeout, err)
		c.deliverAll(c.failed(whole))
		return true
	case err != nil:
		whole.Err = err
		c.deliverAll(c.failed(whole))
		return true
	}
	for i, a := range answers {
		if a.Started.IsZero() {
			a.Started, a.Ended, a.Ran = whole.Started, whole.Ended, whole.Ran
		}
		c.Rows[i].Answer = a
	}
	c.Sink.Deliver(c.Rows...)
	return true
}

// cameBack notes that an abandoned call has returned.
func (e *Executor) cameBack(l *Lane) {
	e.mu.Lock()
	defer e.mu.Unlock()
	l.abandoned--
	e.start()
}

// abandon gives up a call that ignores the end of its context: its place goes to another, its late answer is thrown
// away.
func (c *call) abandon() {
	if !c.closed.CompareAndSwap(false, true) {
		return
	}
	e := c.executor
	e.mu.Lock()
	e.count(&c.Task, -1)
	c.Lane.abandoned++
	e.start()
	e.mu.Unlock()
	if c.waits.Load() && c.Rows[0].Tries < MaxTxTries { // for a server that does not answer, which is no error of a function
		c.deliverAll(check.Answer{Fate: check.Again, Wait: Overtime})
		return
	}
	ended := time.Now()
	c.deliverAll(c.failed(check.Answer{
		Err:     abandonedError(c.Lane.Guards.Timeout),
		Started: c.Sink.Time().When(c.started), Ended: c.Sink.Time().When(ended), Ran: ended.Sub(c.started),
	}))
}

// TimeoutError is the error of a call that came back after its timeout. What that said of another try, in time or never, does not count.
func TimeoutError(timeout time.Duration, err error) error {
	if err == nil {
		return fmt.Errorf("%w: it took longer than %s", prescient.ErrTimeout, timeout)
	}
	return fmt.Errorf("%w after %s: %s", prescient.ErrTimeout, timeout, err)
}

func abandonedError(timeout time.Duration) error {
	return fmt.Errorf("%w after %s, and ignored it", prescient.ErrTimeout, timeout)
}
