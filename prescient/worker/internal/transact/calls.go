package transact

import (
	"context"
	"errors"
	"fmt"
	"math"
	"slices"
	"time"

	"github.com/jmoiron/sqlx"

	"prescient/prescient/internal/caught"
	"prescient/prescient/internal/errno"
	"prescient/prescient/internal/store"
	"prescient/prescient/worker/internal/check"
	"prescient/prescient/worker/internal/execute"
)

// apartFor is for how many transactions the calls of a job_exec have a savepoint each, after one of them failed in a
// transaction in which they had one together.
const apartFor = 16

// calls are made for rows that share a transaction, and fill in their answers. Rows are named by their places in batch.
type calls struct {
	handler *execute.TxCall
	clock   store.Clock
	tx      *sqlx.Tx
	watch   *store.TxWatch
	began   time.Time // since when the rows are locked
	batch   []*check.Answered
	answers []check.Answer // at the places of batch
	left    []int          // rows that were not called: the transaction took long enough, or they came too late
	after   []func(bool)   // of calls that want to know whether the transaction was committed
}

// all makes the calls for some rows, and leaves the last savepoint open. err means that the transaction is lost, or has to be
// given up; failure is what the last call failed with, and is in the answers too.
func (c *calls) all(ctx context.Context, rows []int) (failure, err error) {
	calls := c.handler.Share(rows)
	if apart := &c.handler.Apart; len(calls) > 1 && c.watch.Quiet() && apart.Load() <= 0 {
		var good bool
		if good, calls, err = c.shareSavepoint(ctx, calls); good || err != nil {
			return nil, err
		}
		apart.Store(apartFor)
		if c.watch.Blind.Load() { // as it will be the next time
			apart.Store(math.MaxInt32)
		}
	} else if apart.Load() > 0 {
		apart.Add(-1)
	}
	for n, part := range calls {
		if n > 0 {
			if c.leave(calls[n:]) {
				break
			}
			if err := c.endSavepoint(ctx, failure); err != nil {
				return nil, err
			}
		}
		if failure, err = c.behindSavepoint(ctx, part); err != nil {
			return nil, err
		}
	}
	return failure, nil
}

// shareSavepoint makes one call after the other behind one savepoint, which saves two statements of three. That is good
// where none fails. Otherwise all that they did is undone, and rest are those to be made one by one: all but the one
// that failed, whose answer stands.
func (c *calls) shareSavepoint(ctx context.Context, calls [][]int) (good bool, rest [][]int, err error) {
	if err := c.savepoint(ctx); err != nil {
		return false, nil, err
	}
	for n, part := range calls {
		if n > 0 && c.leave(calls[n:]) {
			break
		}
		failure, err := c.call(ctx, part)
		switch {
		case err != nil:
			return false, nil, err
		case failure != nil:
			rest = slices.Concat(calls[:n], calls[n+1:])
		case !c.watch.Quiet():
			rest = calls
		default:
			continue
		}
		return false, rest, c.undo(ctx, failure)
	}
	return true, nil, nil
}

// leave says whether the other calls are better made in transactions of their own: those before them took long, and whoever
// cancels one of their rows waits for all.
func (c *calls) leave(calls [][]int) bool {
	if time.Since(c.began) < execute.LongGroup {
		return false
	}
	left := slices.Concat(calls...)
	c.left = append(c.left, left...)
	for _, row := range left {
		c.answers[row] = check.Answer{Fate: check.Again}
	}
	return true
}

// due leaves out the rows that came too late by now, after the calls before theirs: their ends have no part in this transaction.
// They are tried again by themselves, and not called then.
func (c *calls) due(part []int, here time.Time) []int {
	lapses := func(row int) bool {
		_, lapsed := execute.Due(c.handler.Lane.Guards, c.batch[row:row+1], c.clock, here)
		return len(lapsed) > 0
	}
	if !slices.ContainsFunc(part, lapses) {
		return part
	}
	return slices.DeleteFunc(slices.Clone(part), func(row int) bool {
		if !lapses(row) {
			return false
		}
		c.answers[row] = check.Answer{Fate: check.Again}
		c.left = append(c.left, row)
		return true
	})
}

// behindSavepoint makes a call behind a savepoint of its own.
func (c *calls) behindSavepoint(ctx context.Context, part []int) (failure, err error) {
	if err := c.savepoint(ctx); err != nil {
		return nil, err
	}
	return c.call(ctx, part)
}

func (c *calls) savepoint(ctx context.Context) error {
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
func (c *calls) undo(ctx context.Context, failure error) error {
	return c.end(ctx, "ROLLBACK TO SAVEPOINT prescient_row", failure)
}

// endSavepoint ends the savepoint of the last call, as that ended.
func (c *calls) endSavepoint(ctx context.Context, failure error) error {
	if failure != nil {
		return c.undo(ctx, failure)
	}
	return c.end(ctx, "RELEASE SAVEPOINT prescient_row", nil)
}

func (c *calls) end(ctx context.Context, statement string, failure error) error {
	if _, err := c.tx.ExecContext(ctx, statement); err != nil {
		return fmt.Errorf("the transaction is lost: %w", errors.Join(failure, err))
	}
	return nil
}

// call makes one call, and fills in the answers of its rows.
func (c *calls) call(ctx context.Context, part []int) (failure, err error) {
	if err := context.Cause(ctx); err != nil {
		return nil, err
	}
	started := time.Now()
	part = c.due(part, started)
	if len(part) == 0 {
		return nil, nil
	}
	rows := make([]*check.Answered, len(part))
	for i, row := range part {
		rows[i] = c.batch[row]
	}
	c.handler.Calling(rows)
	answers, failure := c.handler.Call(ctx, c.tx, rows, c.clock.When(started))
	ended := time.Now()
	tries := rows[0].Tries
	switch endless := c.handler.Lane.Guards.Endless; {
	case failure != nil && endless && len(part) == 1 && errno.Is(failure, errno.LockWaitTimeout, errno.NoWait):
		answers[0] = check.Answer{Fate: check.Again, Locked: true} // however often: what is locked is no error of theirs
	case failure != nil && endless && errno.Passing(failure) && tries < execute.MaxTxTries:
		// What passes by itself is no error of checks which the library's own functions have met, and begin or move.
		for i := range answers {
			answers[i].Fate, answers[i].Wait = check.Again, execute.TxWait(tries)
		}
	}
	for i, a := range answers {
		if failure == nil && a.Fate == check.Again { // contested: nothing was done for it
			c.left = append(c.left, part[i])
		}
		if a.After != nil {
			c.after = append(c.after, a.After)
		}
		a.Started, a.Ended, a.Ran = c.clock.When(started), c.clock.When(ended), ended.Sub(started)
		c.answers[part[i]] = a
	}
	switch err := context.Cause(ctx); {
	case err == nil && failure != nil && len(part) == 1 && answers[0].Fate == check.Again:
		c.left = append(c.left, part...)
	case err != nil:
		return failure, errors.Join(err, caught.Quoted(failure))
	case failure != nil && len(part) > 1:
		return failure, caught.Quoted(failure) // each row by itself, so that none answers for another
	}
	return failure, nil
}
