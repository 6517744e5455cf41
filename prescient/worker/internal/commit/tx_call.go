package commit

import (
	"context"
	"errors"
	"fmt"
	"math"
	"runtime/debug"
	"slices"
	"time"

	"github.com/jmoiron/sqlx"

	"prescient/prescient"
	"prescient/prescient/internal/store"
	"prescient/prescient/worker/internal/check"
	"prescient/prescient/worker/internal/execute"
)

// apartFor is for how many transactions the calls of a job_exec have a savepoint each, after one of them failed in a
// transaction in which they had one together.
const apartFor = 16

// txCalls calls the function of a lane for rows that share a transaction, and fills in their answers.
type txCalls struct {
	clock   store.Clock
	lane    *execute.Lane
	tx      *sqlx.Tx
	watch   *store.TxWatch
	began   time.Time // since when the rows are locked
	batch   []*check.Answered
	answers []check.Answer // at the places of batch
	left    []int          // places that were not called: the transaction took long enough
}

// all calls the function for some rows, by their places, and leaves the last savepoint open. err means that the transaction
// is lost, or has to be given up; failure is what the function failed with that was called last, and is in the answers too.
func (c *txCalls) all(ctx context.Context, rows []int) (failure, err error) {
	if c.lane.TxBatch != nil {
		if len(rows) == 0 {
			return nil, nil
		}
		return c.behindSavepoint(ctx, rows)
	}
	if len(rows) > 1 && c.watch.Quiet() && c.lane.Apart.Load() <= 0 {
		var good bool
		if good, rows, err = c.shareSavepoint(ctx, rows); good || err != nil {
			return nil, err
		}
		c.lane.Apart.Store(apartFor)
		if c.watch.Blind.Load() { // as it will be the next time
			c.lane.Apart.Store(math.MaxInt32)
		}
	} else if c.lane.Apart.Load() > 0 {
		c.lane.Apart.Add(-1)
	}
	for n, row := range rows {
		if n > 0 {
			if c.leave(rows[n:]) {
				break
			}
			if err := c.endSavepoint(ctx, failure); err != nil {
				return nil, err
			}
		}
		if failure, err = c.behindSavepoint(ctx, []int{row}); err != nil {
			return nil, err
		}
	}
	return failure, nil
}

// shareSavepoint calls the function for row after row behind one savepoint, which saves two statements of three. That is good
// where none fails. Otherwise all that they did is undone, and rest are those to be called one by one: all but the one
// that failed, whose answer stands.
func (c *txCalls) shareSavepoint(ctx context.Context, rows []int) (good bool, rest []int, err error) {
	if err := c.savepoint(ctx); err != nil {
		return false, nil, err
	}
	for n, row := range rows {
		if n > 0 && c.leave(rows[n:]) {
			break
		}
		failure, err := c.call(ctx, []int{row})
		switch {
		case err != nil:
			return false, nil, err
		case failure != nil:
			rest = slices.Concat(rows[:n], rows[n+1:])
		case !c.watch.Quiet():
			rest = rows
		default:
			continue
		}
		return false, rest, c.undo(ctx, failure)
	}
	return true, nil, nil
}

// leave says whether the other rows are better called in transactions of their own: those before them took long, and whoever
// cancels one of them waits for all.
func (c *txCalls) leave(rows []int) bool {
	if time.Since(c.began) < execute.LongGroup {
		return false
	}
	c.left = rows
	for _, row := range rows {
		c.answers[row] = check.Answer{Fate: check.Again}
	}
	return true
}

// behindSavepoint calls the function behind a savepoint of its own.
func (c *txCalls) behindSavepoint(ctx context.Context, rows []int) (failure, err error) {
	if err := c.savepoint(ctx); err != nil {
		return nil, err
	}
	return c.call(ctx, rows)
}

func (c *txCalls) savepoint(ctx context.Context) error {
	if err := context.Cause(ctx); err != nil {
		return err
	}
	if _, err := c.tx.ExecContext(ctx, "SAVEPOINT prescient_row"); err != nil {
		return fmt.Errorf("setting a savepoint: %w", err)
	}
	return nil
}

// undo undoes what was done since the savepoint, which stays. Where it is gone, so is what came before it: a deadlock,
// mostly.
func (c *txCalls) undo(ctx context.Context, failure error) error {
	return c.end(ctx, "ROLLBACK TO SAVEPOINT prescient_row", failure)
}

// endSavepoint ends the savepoint of the last call, as that ended.
func (c *txCalls) endSavepoint(ctx context.Context, failure error) error {
	if failure != nil {
		return c.undo(ctx, failure)
	}
	return c.end(ctx, "RELEASE SAVEPOINT prescient_row", nil)
}

func (c *txCalls) end(ctx context.Context, statement string, failure error) error {
	if _, err := c.tx.ExecContext(ctx, statement); err != nil {
		return fmt.Errorf("the transaction is lost: %w", errors.Join(failure, err))
	}
	return nil
}

// call calls the function for some rows, and fills in their answers.
func (c *txCalls) call(ctx context.Context, part []int) (failure, err error) {
	if err := context.Cause(ctx); err != nil {
		return nil, err
	}
	var said []check.Answer
	started := time.Now()
	if c.lane.TxBatch != nil {
		said, failure = c.callBatch(ctx, part, c.clock.When(started))
	} else {
		said = make([]check.Answer, 1)
		failure = recovered(func() (err error) {
			said[0].Next, err = c.lane.Tx(ctx, c.tx, c.batch[part[0]].Own(c.clock.When(started)))
			return err
		})
		said[0].Err = check.Quoted(failure)
	}
	ended := time.Now()
	for i, a := range said {
		a.Started, a.Ended, a.Ran = c.clock.When(started), c.clock.When(ended), ended.Sub(started)
		c.answers[part[i]] = a
	}
	switch err := context.Cause(ctx); {
	case err != nil:
		return failure, errors.Join(err, check.Quoted(failure))
	case failure != nil && len(part) > 1:
		return failure, check.Quoted(failure) // each row by itself, so that none answers for another
	}
	return failure, nil
}

// callBatch calls a TxBatchFunc. After a failure all rows have it for an answer.
func (c *txCalls) callBatch(ctx context.Context, part []int, called time.Time) (said []check.Answer, failure error) {
	some := make([]*check.Answered, len(part))
	for i, row := range part {
		some[i] = c.batch[row]
	}
	batch := check.NewBatch(some, called)
	failure = recovered(func() error { return c.lane.TxBatch(ctx, c.tx, batch) })
	said = make([]check.Answer, len(part))
	for i := range said {
		if said[i] = check.AnswerOf(batch, i); failure != nil {
			said[i] = check.Answer{Err: check.Quoted(failure)}
		}
	}
	return said, failure
}

// recovered makes an error of a panic.
func recovered(call func() error) (err error) {
	defer func() {
		if p := recover(); p != nil {
			err = fmt.Errorf("%w: %v\n%s", prescient.ErrPanic, p, debug.Stack())
		}
	}()
	return call()
}
