package prescient

import (
	"context"
	"errors"
	"fmt"
	"runtime/debug"
	"time"

	"github.com/jmoiron/sqlx"
)

const (
	// maxGroup is how many rows of a TxFunc share a transaction at most.
	maxGroup = 50
	// maxTxTries is how often a row is tried whose transaction comes to nothing for a reason that passes by itself.
	maxTxTries = 10
)

// runTx runs rows of a TxFunc in one transaction, and commits with it what becomes of them. An error means that the
// transaction came to nothing, for the reason it gives.
//
// Other than a commit of answers, which begins with the fence, this ends with it: the ledger's record is not locked
// while the functions run.
func (b *bucketRun) runTx(ctx context.Context, l *lane, rows []*answered) ([]answer, error) {
	answers, err := b.tryTx(ctx, l, rows)
	all := func(a answer) []answer {
		list := make([]answer, len(rows))
		for i := range list {
			list[i] = a
		}
		return list
	}
	switch {
	case err == nil:
		return answers, nil
	case errors.Is(err, errLeaseLost):
		b.lease.lose()
		return all(answer{kind: notStarted}), nil
	case len(rows) > 1:
		if ctx.Err() != nil {
			l.group.Store(max(l.group.Load()/2, 1)) // too many for the time of one
		}
		return all(answer{kind: again}), nil
	case ctx.Err() == nil && passing(err) && rows[0].tries < maxTxTries:
		return all(answer{kind: again, wait: time.Duration(rows[0].tries+1) * flushEvery}), nil
	}
	return nil, saidBy(err)
}

func (b *bucketRun) tryTx(ctx context.Context, l *lane, rows []*answered) (answers []answer, err error) {
	tx, err := b.w.db.BeginTxx(ctx, nil)
	if err != nil {
		return nil, fmt.Errorf("beginning: %w", err)
	}
	done := false
	// However it ends, a function that calls runtime.Goexit included.
	defer func() {
		if !done {
			_ = tx.Rollback() // it may be gone already, with its connection or its context
		}
	}()
	batch := make([]*answered, len(rows))
	for i, r := range rows {
		batch[i] = &answered{row: r.row} // its own: the call may be abandoned, and the row answered without it
	}
	free, taken, err := b.lock(ctx, tx.Tx, batch, true)
	if err != nil {
		return nil, err
	}
	answers = make([]answer, len(rows))
	var counts Counts
	var ends, moves []*answered
	for i := range batch {
		a := batch[i]
		switch {
		case taken[a.key]:
			answers[i] = answer{kind: again, wait: time.Second, locked: true}
			continue
		case !free[a.key]:
			answers[i] = answer{kind: dropped}
			counts.Dropped++
			continue
		}
		if answers[i], err = b.callTx(ctx, l, tx, &a.row); err != nil {
			return nil, err
		}
		a.answer = answers[i]
		a.verdict = decide(b.w.grid, l.guards, a.FutureJob, a.answer, a.answer.ended)
		counts.count(a.verdict, called, 1)
		if a.verdict.outcome == "" {
			moves = append(moves, a)
		} else {
			ends = append(ends, a)
		}
		answers[i].kind, answers[i].verdict = committed, &a.verdict
	}
	// In turn with the other commits of the bucket, from the first write on: a move also locks neighbours in UNIQUE
	// (job_key), and a commit that waits there for this transaction, which waits here for that commit, is a deadlock that
	// the server cannot see.
	b.commits.Lock()
	defer b.commits.Unlock()
	if err := b.writeMoves(ctx, tx.Tx, moves); err != nil {
		return nil, err
	}
	if err := b.writeEnds(ctx, tx.Tx, ends, true); err != nil {
		return nil, err
	}
	if err := b.commitTx(ctx, tx, counts); err != nil {
		return nil, err
	}
	done = true
	return answers, nil
}

// callTx calls the function for one row, behind a savepoint. An error means that the transaction is lost; one of the
// function is in the answer.
func (b *bucketRun) callTx(ctx context.Context, l *lane, tx *sqlx.Tx, r *row) (a answer, err error) {
	if err := context.Cause(ctx); err != nil {
		return a, err
	}
	if _, err := tx.ExecContext(ctx, "SAVEPOINT prescient_row"); err != nil {
		return a, fmt.Errorf("setting a savepoint: %w", err)
	}
	started := time.Now()
	next, failure := callRecovered(ctx, l.tx, tx, r.own())
	ended := time.Now()
	a = answer{next: next, err: saidBy(failure), started: b.clock.when(started), ended: b.clock.when(ended), ran: ended.Sub(started)}
	if err := context.Cause(ctx); err != nil {
		return a, errors.Join(err, a.err)
	}
	statement := "RELEASE SAVEPOINT prescient_row"
	if failure != nil {
		statement = "ROLLBACK TO SAVEPOINT prescient_row"
	}
	if _, err := tx.ExecContext(ctx, statement); err != nil {
		// The savepoint is gone, and so is what came before it: a deadlock, mostly.
		return a, fmt.Errorf("the transaction is lost: %w", errors.Join(failure, err))
	}
	return a, nil
}

// callRecovered makes an error of a panic.
func callRecovered(ctx context.Context, fn TxFunc, tx *sqlx.Tx, job FutureJob) (next *time.Time, err error) {
	defer func() {
		if p := recover(); p != nil {
			err = fmt.Errorf("%w: %v\n%s", ErrPanic, p, debug.Stack())
		}
	}()
	return fn(ctx, tx, job)
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
