package transact

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"time"

	"github.com/jmoiron/sqlx"

	"prescient/prescient"
	"prescient/prescient/internal/caught"
	"prescient/prescient/internal/errno"
	"prescient/prescient/internal/store"
	"prescient/prescient/worker/books"
	"prescient/prescient/worker/internal/check"
	"prescient/prescient/worker/internal/commit"
	"prescient/prescient/worker/internal/execute"
	text "prescient/sql"
)

// try makes one attempt. The functions have the time of a call, which ctx bounds. What is written once they have
// answered has a time of its own, as a commit of answers has: a server that fails over then is no error of theirs. kept is why an end was
// refused, which is not written then; nil for not.
func (r *Runner) try(ctx context.Context, c *execute.TxCall, kept error) (answers []check.Answer, err error) {
	life, end := context.WithCancelCause(r.Calls)
	defer end(nil)
	inTime := context.AfterFunc(ctx, func() { end(context.Cause(ctx)) })
	defer inTime()
	batch := make([]*check.Answered, len(c.Rows))
	for i, row := range c.Rows {
		batch[i] = &check.Answered{Row: row.Row} // its own: the call may be abandoned, and the row answered without it
	}
	began := time.Now()
	// While a function runs, its transaction idles.
	idle := max(c.Lane.Guards.Timeout+execute.Overtime, store.IdleInCommit)
	tx, locked, watch, err := r.begin(store.MayIdle(life, idle), ctx, batch)
	if err != nil && ctx.Err() != nil {
		err = errors.Join(errNotBegun, err)
	}
	if r.Tables.Dialect == text.Plain && len(batch) == 1 && errno.Is(err, errno.NoWait, errno.LockWaitTimeout) {
		return []check.Answer{{Fate: check.Again, Locked: true}}, nil // which cannot pass over it
	}
	if err != nil {
		return nil, unwritten("beginning", err)
	}
	calling := &calls{handler: c, clock: r.Clock, tx: tx, watch: watch, began: began, batch: batch, answers: make([]check.Answer, len(batch))}
	done := false
	// However it ends, a function that calls runtime.Goexit included.
	defer func() {
		if !done {
			_ = tx.Rollback() // it may be gone already, with its connection or its context
		}
		for _, after := range calling.after {
			after(done)
		}
	}()
	if c.Lane.Guards.Endless {
		// The library's own functions write beside the rows that this bucket moves; so they have the mutex before they lock any of that. See
		// commit.WriteTx for what comes of a commit that waits for a transaction which waits for the mutex. What starts long runs locks their
		// schedules with its first statement, and the call for a timer waits for such a lock. That could take the mutex later, before it
		// inserts runs: its reads before that are short, and other buckets go on meanwhile.
		r.Commits.Lock()
		defer r.Commits.Unlock()
	}
	var counts books.Counts
	called := calling.divide(locked, &counts)
	failure, err := calling.all(ctx, called)
	switch {
	case err != nil && c.Waits() && ctx.Err() != nil:
		return nil, unwritten("before the first call", errors.Join(errNotBegun, err))
	case err != nil:
		return nil, err
	}
	if !c.Answered(time.Since(began)) || !inTime() {
		return nil, execute.TimeoutError(c.Lane.Guards.Timeout, caught.Quoted(failure))
	}
	ctx, cancel := context.WithTimeout(life, r.Send.Timeout)
	defer cancel()
	// Nor do the locks last longer, while others commit.
	defer context.AfterFunc(ctx, func() { end(context.Cause(ctx)) })()
	if len(called) > 0 {
		if err := calling.endSavepoint(ctx, failure); err != nil {
			return nil, unwritten("after the last call", err)
		}
	}
	if len(calling.left) > 0 {
		called = slices.DeleteFunc(called, func(i int) bool { return slices.Contains(calling.left, i) })
		locked.LeaveOut()
	}
	var moves, ends []*check.Answered
	for _, i := range called {
		a := batch[i]
		r.judge(a, &calling.answers[i], c.Lane.Guards, kept)
		counts.Count(a.Verdict, a.Answer.Cause, 1)
		if a.Verdict.Outcome == "" {
			moves = append(moves, a)
		} else {
			ends = append(ends, a)
		}
	}
	if !c.Lane.Guards.Endless {
		r.Commits.Lock()
		defer r.Commits.Unlock()
	}
	// The library's own functions are called again for what a move meets of the locks of others; a user's are better waited for.
	if err := r.WriteTx(ctx, tx, locked, moves, ends, counts, !c.Lane.Guards.Endless); err != nil {
		// The transaction only knows that it was cancelled, also where its time was over.
		return nil, unwritten("writing", errors.Join(err, context.Cause(ctx)))
	}
	done = true
	return calling.answers, nil
}

// begin begins a transaction, which lives as long as one context and is watched from its beginning, and locks the rows within the time
// of the other.
//
// It does not ask for the entries in UNIQUE (job_key): another function's row that moves would wait for those on MariaDB, for as long as the
// functions of this transaction run.
func (r *Runner) begin(life, ctx context.Context, batch []*check.Answered) (tx *sqlx.Tx, locked commit.Locked, watch *store.TxWatch, err error) {
	how := commit.LockOfTx(batch)
	for {
		watch = new(store.TxWatch)
		if tx, err = r.Send.DB.BeginTxx(watch.With(life), nil); err != nil {
			return nil, locked, nil, err
		}
		if locked, err = r.Lock(ctx, tx.Tx, batch, how); err == nil {
			return tx, locked, watch, nil
		}
		_ = tx.Rollback() // what matters is why it came to that
		next := commit.NextTx(how, commit.RefusalOf(err))
		if next.Then != commit.InNewTx {
			return nil, locked, nil, fmt.Errorf("locking: %w", err)
		}
		how = next.Lock
	}
}

// divide returns the rows that are to be called, and answers for the others.
func (c *calls) divide(locked commit.Locked, counts *books.Counts) (called []int) {
	for i, a := range c.batch {
		switch {
		case locked.Taken(a.JobKey):
			c.answers[i] = check.Answer{Fate: check.Again, Locked: true}
		case !locked.Free(a.JobKey):
			c.answers[i] = check.Answer{Fate: check.Dropped}
			counts.Dropped++
		default:
			called = append(called, i)
		}
	}
	return called
}

// judge decides what becomes of a row that was called: what it answered, or, where that is an end and the server has refused one, that it is kept.
func (r *Runner) judge(a *check.Answered, answer *check.Answer, g prescient.Guards, kept error) {
	a.Answer = *answer
	if a.Answer.Lapsed() {
		a.Answer.Started, a.Answer.Ran = time.Time{}, 0
	}
	a.Verdict = prescient.Decide(r.Tables.Grid, a.Guards.Or(g), a.FutureJob, a.Answer.Given(), a.Answer.Ended)
	if kept != nil && a.Verdict.Outcome != "" {
		answer.Cause, answer.Err = prescient.CauseRefused, kept
		a.Answer, a.Verdict = *answer, prescient.Kept(r.Tables.Grid, a.FutureJob, kept, a.Answer.Ended)
		r.Log.Error().Err(kept).Time("slot", r.Lease.Slot).Str("entity", a.Entity().String()).Str("job_exec", a.JobExec).Str("tag", a.Tag).
			Msg("a row cannot be ended; it is put off, and not called any more")
	}
	answer.Fate, answer.Verdict = check.Committed, &a.Verdict
}
