package prescient

import (
	"context"
	"errors"
	"fmt"
	"runtime/debug"
	"slices"
	"time"

	"github.com/jmoiron/sqlx"
)

const (
	// maxGroup is how many rows of a TxFunc share a transaction at most.
	maxGroup = 50
	// maxTxBatch is how many rows a TxBatchFunc gets at most.
	maxTxBatch = 500
	// maxTxTries is how often a row is tried whose transaction comes to nothing for a reason that passes by itself.
	maxTxTries = 10
	// maxTxWait bounds the growing time between two of them.
	maxTxWait = 3 * time.Second
)

// errUnwritten is why a transaction came to nothing after its functions had all answered in time, or before the first was
// called: that is no fault of theirs.
var errUnwritten = errors.New("the answers were not written")

// runTx runs rows of a TxFunc or TxBatchFunc in one transaction, and commits with it what becomes of them. An error means that the
// transaction came to nothing, for the reason it gives.
//
// Other than a commit of answers, which begins with the fence, this ends with it: the ledger's record is not locked
// while the functions run.
func (t *task) runTx(ctx context.Context) ([]answer, error) {
	b, l, rows := t.bucket, t.lane, t.rows
	first := rows[0].row // they are others' to change once the call is abandoned
	answers, err := t.tryTx(ctx)
	all := func(a answer) []answer {
		list := make([]answer, len(rows))
		for i := range list {
			list[i] = a
		}
		return list
	}
	wait := min(time.Duration(first.tries+1)*flushEvery, maxTxWait)
	switch {
	case err == nil:
		return answers, nil
	case errors.Is(err, errLeaseLost):
		b.lease.lose()
		return all(answer{kind: notStarted}), nil
	case errors.Is(err, errUnwritten) && passing(err) && b.calls.Err() == nil &&
		(first.tries < maxTxTries || time.Since(first.triedAt) < b.w.options.Patience):
		b.w.log.Warn().Err(err).Time("slot", b.lease.slot).Int("bucket", b.lease.bucket).Str("job_exec", l.name).
			Msg("a transaction is tried again")
		return all(answer{kind: again, wait: wait}), nil
	case len(rows) > 1:
		if ctx.Err() != nil {
			l.group.Store(max(l.group.Load()/2, 1)) // too many for the time of one
		}
		return all(answer{kind: again}), nil
	case ctx.Err() == nil && passing(err) && first.tries < maxTxTries:
		return all(answer{kind: again, wait: wait}), nil
	}
	return nil, saidBy(err)
}

func unwritten(doing string, err error) error {
	return fmt.Errorf("%w: %s: %w", errUnwritten, doing, err)
}

// tryTx makes one attempt. The functions have the time of a call, which ctx bounds. What is written once they have
// answered has a time of its own, as a commit of answers has: a server that fails over then is no error of theirs.
func (t *task) tryTx(ctx context.Context) (answers []answer, err error) {
	b := t.bucket
	life, end := context.WithCancelCause(b.calls)
	defer end(nil)
	inTime := context.AfterFunc(ctx, func() { end(context.Cause(ctx)) })
	defer inTime()
	tx, err := b.w.db.BeginTxx(life, nil)
	if err != nil {
		return nil, unwritten("beginning", err)
	}
	done := false
	// However it ends, a function that calls runtime.Goexit included.
	defer func() {
		if !done {
			_ = tx.Rollback() // it may be gone already, with its connection or its context
		}
	}()
	batch := make([]*answered, len(t.rows))
	for i, r := range t.rows {
		batch[i] = &answered{row: r.row} // its own: the call may be abandoned, and the row answered without it
	}
	free, taken, err := b.lock(ctx, tx.Tx, batch, true)
	if err != nil {
		return nil, unwritten("locking", err)
	}
	answers = make([]answer, len(t.rows))
	var counts Counts
	var calls []int
	for i, a := range batch {
		switch {
		case taken[a.key]:
			answers[i] = answer{kind: again, wait: time.Second, locked: true}
		case !free[a.key]:
			answers[i] = answer{kind: dropped}
			counts.Dropped++
		default:
			calls = append(calls, i)
		}
	}
	var failure error // of the function that was called last
	for n, part := range t.lane.txCalls(calls) {
		if n > 0 {
			if err := endTx(ctx, tx, failure); err != nil {
				return nil, err
			}
		}
		if failure, err = b.callTx(ctx, t.lane, tx, batch, part, answers); err != nil {
			return nil, err
		}
	}
	if !t.watchdog.Stop() || !inTime() {
		return nil, timeoutError(t.lane.guards.Timeout, saidBy(failure))
	}
	ctx, cancel := context.WithTimeout(life, b.w.statementTimeout())
	defer cancel()
	// Nor do the locks last longer, while others commit.
	defer context.AfterFunc(ctx, func() { end(context.Cause(ctx)) })()
	if len(calls) > 0 {
		if err := endTx(ctx, tx, failure); err != nil {
			return nil, unwritten("after the last call", err)
		}
	}
	var ends, moves []*answered
	for _, i := range calls {
		a := batch[i]
		a.answer = answers[i]
		a.verdict = decide(b.w.grid, t.lane.guards, a.FutureJob, a.answer, a.answer.ended)
		counts.count(a.verdict, called, 1)
		if a.verdict.outcome == "" {
			moves = append(moves, a)
		} else {
			ends = append(ends, a)
		}
		answers[i].kind, answers[i].verdict = committed, &a.verdict
	}
	if err := b.writeTx(ctx, tx, moves, ends, counts); err != nil {
		return nil, unwritten("writing", err)
	}
	done = true
	return answers, nil
}

// writeTx writes what becomes of the rows, and commits.
func (b *bucketRun) writeTx(ctx context.Context, tx *sqlx.Tx, moves, ends []*answered, counts Counts) error {
	// In turn with the other commits of the bucket, from the first write on: a move also locks neighbours in UNIQUE
	// (job_key), and a commit that waits there for this transaction, which waits here for that commit, is a deadlock that
	// the server cannot see.
	b.commits.Lock()
	defer b.commits.Unlock()
	if err := b.writeMoves(ctx, tx.Tx, moves); err != nil {
		return err
	}
	if err := b.writeEnds(ctx, tx.Tx, ends, true); err != nil {
		return err
	}
	return b.commitTx(ctx, tx, counts)
}

// txCalls divides rows into those that are called together.
func (l *lane) txCalls(rows []int) [][]int {
	if l.txBatch != nil && len(rows) > 0 {
		return [][]int{rows}
	}
	return slices.Collect(slices.Chunk(rows, 1))
}

// callTx calls the function for some rows of a transaction, behind a savepoint, and fills in their answers. err means that
// the transaction is lost, or has to be given up; failure is what the function failed with, and is in the answers too.
func (b *bucketRun) callTx(ctx context.Context, l *lane, tx *sqlx.Tx, rows []*answered, part []int, answers []answer) (failure, err error) {
	if err := context.Cause(ctx); err != nil {
		return nil, err
	}
	if _, err := tx.ExecContext(ctx, "SAVEPOINT prescient_row"); err != nil {
		return nil, fmt.Errorf("setting a savepoint: %w", err)
	}
	var said []answer
	started := time.Now()
	if l.txBatch != nil {
		said, failure = callTxBatch(ctx, l.txBatch, tx, rows, part)
	} else {
		said = make([]answer, 1)
		failure = recovered(func() (err error) {
			said[0].next, err = l.tx(ctx, tx, rows[part[0]].own())
			return err
		})
		said[0].err = saidBy(failure)
	}
	ended := time.Now()
	for i, a := range said {
		a.started, a.ended, a.ran = b.clock.when(started), b.clock.when(ended), ended.Sub(started)
		answers[part[i]] = a
	}
	switch err := context.Cause(ctx); {
	case err != nil:
		return failure, errors.Join(err, saidBy(failure))
	case failure != nil && len(part) > 1:
		return failure, saidBy(failure) // each row by itself, so that none answers for another
	}
	return failure, nil
}

// callTxBatch calls a function for some rows. After a failure they all have it for an answer.
func callTxBatch(ctx context.Context, fn TxBatchFunc, tx *sqlx.Tx, rows []*answered, part []int) (said []answer, failure error) {
	some := make([]*answered, len(part))
	for i, row := range part {
		some[i] = rows[row]
	}
	batch := newBatch(some)
	failure = recovered(func() error { return fn(ctx, tx, batch) })
	said = make([]answer, len(part))
	for i := range said {
		if said[i] = batch.answer(i); failure != nil {
			said[i] = answer{err: saidBy(failure)}
		}
	}
	return said, failure
}

// endTx ends the savepoint of a call. Where it is gone, so is what came before it: a deadlock, mostly.
func endTx(ctx context.Context, tx *sqlx.Tx, failure error) error {
	statement := "RELEASE SAVEPOINT prescient_row"
	if failure != nil {
		statement = "ROLLBACK TO SAVEPOINT prescient_row"
	}
	if _, err := tx.ExecContext(ctx, statement); err != nil {
		return fmt.Errorf("the transaction is lost: %w", errors.Join(failure, err))
	}
	return nil
}

// recovered makes an error of a panic.
func recovered(call func() error) (err error) {
	defer func() {
		if p := recover(); p != nil {
			err = fmt.Errorf("%w: %v\n%s", ErrPanic, p, debug.Stack())
		}
	}()
	return call()
}

// commitTx proves the lease and commits. The caller holds b.commits.
func (b *bucketRun) commitTx(ctx context.Context, tx *sqlx.Tx, counts Counts) error {
	if !b.lease.alive(time.Now()) {
		return errLeaseLost
	}
	before := time.Now()
	if err := b.w.fence(ctx, tx.Tx, b.lease, counts); err != nil {
		return err
	}
	if err := tx.Commit(); err != nil {
		if done, lookErr := b.w.wasCommitted(ctx, b.lease); lookErr != nil || !done {
			return errors.Join(fmt.Errorf("committing: %w", err), lookErr)
		}
	}
	b.lease.batchSeq++
	b.lease.renewed(before)
	return nil
}
