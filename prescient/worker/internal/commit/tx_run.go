package commit

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"time"

	"github.com/jmoiron/sqlx"

	"prescient/prescient"
	"prescient/prescient/internal/errno"
	"prescient/prescient/internal/store"
	"prescient/prescient/worker/books"
	"prescient/prescient/worker/internal/check"
	"prescient/prescient/worker/internal/execute"
	"prescient/prescient/worker/internal/ledger"
	text "prescient/sql"
)

// errUnwritten is why a transaction came to nothing after its functions had all answered in time, or before the first was
// called: that is no fault of theirs.
var errUnwritten = errors.New("the answers were not written")

// errNotBegun is why a transaction came to nothing whose time was over before the first call.
var errNotBegun = errors.New("the time of the call was over before it began")

// RunTx runs rows of a TxFunc or TxBatchFunc in one transaction, and commits with it what becomes of them. An error means that the
// transaction came to nothing, for the reason it gives.
//
// Other than a commit of answers, which begins with the fence, this ends with it: the ledger's record is not locked
// while the functions run.
func (s *Session) RunTx(ctx context.Context, c *execute.TxCall) ([]check.Answer, error) {
	rows := c.Rows
	first := rows[0].Row // they are others' to change once the call is abandoned
	answers, err := s.tryTx(ctx, c, first.Kept)
	all := func(a check.Answer) []check.Answer {
		list := make([]check.Answer, len(rows))
		for i := range list {
			list[i] = a
		}
		return list
	}
	wait := execute.TxWait(first.Tries)
	switch {
	case err == nil:
		return answers, nil
	case errors.Is(err, ledger.ErrLost):
		s.Lease.Lose()
		return all(check.Answer{Fate: check.NotStarted}), nil
	case errors.Is(err, errUnwritten) && len(rows) == 1 && errno.Is(err, errno.LockWaitTimeout, errno.NoWait) && s.Calls.Err() == nil:
		return all(check.Answer{Fate: check.Again, Locked: true}), nil // its move meets what somebody else has locked
	case errors.Is(err, errUnwritten) && (errno.Passing(err) || errors.Is(err, errNotBegun)) && s.Calls.Err() == nil &&
		(first.Tries < execute.MaxTxTries || time.Since(first.TriedAt) < s.Send.Patience):
		s.Log.Warn().Err(err).Time("slot", s.Lease.Slot).Int("bucket", s.Lease.Bucket).Str("job_exec", c.Lane.Name).
			Msg("a transaction is tried again")
		return all(check.Answer{Fate: check.Again, Wait: wait}), nil
	case first.Kept == nil && keptAtEnd(c, err):
		return all(check.Answer{Fate: check.Again, Kept: check.Quoted(err)}), nil
	case len(rows) > 1:
		if ctx.Err() != nil {
			c.TooMany()
		}
		return all(check.Answer{Fate: check.Again}), nil
	case ctx.Err() == nil && errno.Passing(err) && first.Tries < execute.MaxTxTries:
		return all(check.Answer{Fate: check.Again, Wait: wait}), nil
	}
	return nil, check.Quoted(err)
}

// keptAtEnd says whether what the library's own function writes cannot be committed, since the server refuses to end or to move its row: then it is
// called again, and where it ends the row, that is put off in place of it. A user's function has failed, with what it did.
func keptAtEnd(c *execute.TxCall, err error) bool {
	return len(c.Rows) == 1 && c.Lane.Guards.Endless && errors.Is(err, errUnwritten) && errno.KeepsRow(err)
}

func unwritten(doing string, err error) error {
	return fmt.Errorf("%w: %s: %w", errUnwritten, doing, err)
}

// tryTx makes one attempt. The functions have the time of a call, which ctx bounds. What is written once they have
// answered has a time of its own, as a commit of answers has: a server that fails over then is no error of theirs. kept is why an end was
// refused, which is not written then; nil for not.
func (s *Session) tryTx(ctx context.Context, c *execute.TxCall, kept error) (answers []check.Answer, err error) {
	life, end := context.WithCancelCause(s.Calls)
	defer end(nil)
	inTime := context.AfterFunc(ctx, func() { end(context.Cause(ctx)) })
	defer inTime()
	batch := make([]*check.Answered, len(c.Rows))
	for i, r := range c.Rows {
		batch[i] = &check.Answered{Row: r.Row} // its own: the call may be abandoned, and the row answered without it
	}
	began := time.Now()
	// While a function runs, its transaction idles.
	idle := max(c.Lane.Guards.Timeout+execute.Overtime, store.IdleInCommit)
	tx, locked, watch, err := s.beginTx(store.MayIdle(life, idle), ctx, batch)
	if err != nil && ctx.Err() != nil {
		err = errors.Join(errNotBegun, err)
	}
	if s.Tables.Dialect == text.Plain && len(batch) == 1 && errno.Is(err, errno.NoWait, errno.LockWaitTimeout) {
		return []check.Answer{{Fate: check.Again, Locked: true}}, nil // which cannot pass over it
	}
	if err != nil {
		return nil, unwritten("beginning", err)
	}
	answers = make([]check.Answer, len(c.Rows))
	calling := &txCalls{handler: c, clock: s.Clock, tx: tx, watch: watch, began: began, batch: batch, answers: answers}
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
	var counts books.Counts
	if c.Lane.Guards.Endless {
		// The library's own functions write beside the rows that this bucket moves; so they have the mutex before they lock any of that. See
		// writeTx for what comes of a commit that waits for a transaction which waits for the mutex. What starts long runs locks their
		// schedules with its first statement, and the call for a timer waits for such a lock. That could take the mutex later, before it
		// inserts runs: its reads before that are short, and other buckets go on meanwhile.
		s.commits.Lock()
		defer s.commits.Unlock()
	}
	var calls []int
	for i, a := range batch {
		switch {
		case locked.Taken(a.JobKey):
			answers[i] = check.Answer{Fate: check.Again, Locked: true}
		case !locked.Free(a.JobKey):
			answers[i] = check.Answer{Fate: check.Dropped}
			counts.Dropped++
		default:
			calls = append(calls, i)
		}
	}
	failure, err := calling.all(ctx, calls)
	switch {
	case err != nil && c.Waits() && ctx.Err() != nil:
		return nil, unwritten("before the first call", errors.Join(errNotBegun, err))
	case err != nil:
		return nil, err
	}
	if !c.Answered(time.Since(began)) || !inTime() {
		return nil, execute.TimeoutError(c.Lane.Guards.Timeout, check.Quoted(failure))
	}
	ctx, cancel := context.WithTimeout(life, s.Send.Timeout)
	defer cancel()
	// Nor do the locks last longer, while others commit.
	defer context.AfterFunc(ctx, func() { end(context.Cause(ctx)) })()
	if len(calls) > 0 {
		if err := calling.endSavepoint(ctx, failure); err != nil {
			return nil, unwritten("after the last call", err)
		}
	}
	var ends, moves []*check.Answered
	for _, i := range calls {
		if slices.Contains(calling.left, i) {
			locked.LeaveOut()
			continue
		}
		a := batch[i]
		a.Answer = answers[i]
		if a.Answer.Lapsed() {
			a.Answer.Started, a.Answer.Ran = time.Time{}, 0
		}
		a.Verdict = prescient.Decide(s.Tables.Grid, c.Lane.Guards, a.FutureJob, a.Answer.Given(), a.Answer.Ended)
		if kept != nil && a.Verdict.Outcome != "" {
			answers[i].Cause, answers[i].Err = prescient.CauseRefused, kept
			a.Answer = answers[i]
			a.Verdict = prescient.Decide(s.Tables.Grid, c.Lane.Guards, a.FutureJob, a.Answer.Given(), a.Answer.Ended)
			s.Log.Error().Err(kept).Time("slot", s.Lease.Slot).Str("entity", a.Entity().String()).Str("job_exec", a.JobExec).Str("tag", a.Tag).
				Msg("a row cannot be ended; it is put off, and not called any more")
		}
		counts.Count(a.Verdict, a.Answer.Cause, 1)
		if a.Verdict.Outcome == "" {
			moves = append(moves, a)
		} else {
			ends = append(ends, a)
		}
		answers[i].Fate, answers[i].Verdict = check.Committed, &a.Verdict
	}
	if !c.Lane.Guards.Endless {
		s.commits.Lock()
		defer s.commits.Unlock()
	}
	if err := s.writeTx(ctx, tx, locked, moves, ends, counts, movesOf(s.Tables, !c.Lane.Guards.Endless)); err != nil {
		// The transaction only knows that it was cancelled, also where its time was over.
		return nil, unwritten("writing", errors.Join(err, context.Cause(ctx)))
	}
	done = true
	return answers, nil
}

// beginTx begins a transaction, which lives as long as one context and is watched from its beginning, and locks the rows within the time
// of the other.
//
// It does not ask for the entries in UNIQUE (job_key): another function's row that moves would wait for those on MariaDB, for as long as the
// functions of this transaction run.
func (s *Session) beginTx(life, ctx context.Context, batch []*check.Answered) (tx *sqlx.Tx, locked Locked, watch *store.TxWatch, err error) {
	how := LockOfTx(batch)
	for {
		watch = new(store.TxWatch)
		if tx, err = s.Send.DB.BeginTxx(watch.With(life), nil); err != nil {
			return nil, locked, nil, err
		}
		if locked, err = s.Lock(ctx, tx.Tx, batch, how); err == nil {
			return tx, locked, watch, nil
		}
		_ = tx.Rollback() // what matters is why it came to that
		next := NextTx(how, RefusalOf(err))
		if next.Then != InNewTx {
			return nil, locked, nil, fmt.Errorf("locking: %w", err)
		}
		how = next.Lock
	}
}

// writeTx writes what becomes of the rows, and commits. A row that came into a range since it was locked is an error
// there, and the rows are called again, by themselves: it can only be one whose insert was under way when its slot began.
//
// The caller holds the mutex of the bucket's commits, from the first write on: a move also locks neighbours in UNIQUE (job_key),
// and a commit that waits there for this transaction, which waits here for that commit, is a deadlock that the server cannot see.
//
// Where moves are to be made at once, the library's own functions are called again for what meets a lock of others; a user's are better
// waited for.
func (s *Session) writeTx(ctx context.Context, tx *sqlx.Tx, locked Locked, moves, ends []*check.Answered, counts books.Counts, how moveBy) error {
	if err := s.writeLocked(ctx, tx.Tx, locked, moves, ends, how); err != nil {
		return err
	}
	return s.commitTx(ctx, tx, counts)
}

// commitTx proves the lease and commits. The caller holds s.commits.
func (s *Session) commitTx(ctx context.Context, tx *sqlx.Tx, counts books.Counts) error {
	if !s.Lease.Alive(time.Now()) {
		return ledger.ErrLost
	}
	before := time.Now()
	if err := s.Ledger.Fence(ctx, tx.Tx, s.Lease, counts); err != nil {
		return err
	}
	return s.Ledger.Commit(ctx, tx.Commit, s.Lease, before)
}
