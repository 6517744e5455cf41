package worker

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
)

const (
	// firstGroup is how many rows of a TxFunc share a transaction at first; those of a TxBatchFunc start with maxGroup.
	firstGroup = 50
	// maxGroup is how many rows share a transaction at most.
	maxGroup = 500
	// quickGroup and longGroup bound for how long a transaction has its rows locked, which a cancel of one of them waits for:
	// after less than the one the next will have more rows; at the other no more of its rows are called.
	quickGroup, longGroup = 400 * time.Millisecond, 2 * time.Second
	// maxTxTries is how often a row is tried whose transaction comes to nothing for a reason that passes by itself.
	maxTxTries = 10
	// maxTxWait bounds the growing time between two of them.
	maxTxWait = 3 * time.Second
)

// errUnwritten is why a transaction came to nothing after its functions had all answered in time, or before the first was
// called: that is no fault of theirs.
var errUnwritten = errors.New("the answers were not written")

// errNotBegun is why a transaction came to nothing whose time was over before the first call.
var errNotBegun = errors.New("the time of the call was over before it began")

// runTx runs rows of a TxFunc or TxBatchFunc in one transaction, and commits with it what becomes of them. An error means that the
// transaction came to nothing, for the reason it gives.
//
// Other than a commit of answers, which begins with the fence, this ends with it: the ledger's record is not locked
// while the functions run.
func (s *session) runTx(ctx context.Context, t *task) ([]answer, error) {
	l, rows := t.lane, t.rows
	first := rows[0].row // they are others' to change once the call is abandoned
	answers, err := s.tryTx(ctx, t)
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
		s.lease.lose()
		return all(answer{fate: notStarted}), nil
	case errors.Is(err, errUnwritten) && (errno.Passing(err) || errors.Is(err, errNotBegun)) && s.calls.Err() == nil &&
		(first.tries < maxTxTries || time.Since(first.triedAt) < s.send.Patience):
		s.log.Warn().Err(err).Time("slot", s.lease.slot).Int("bucket", s.lease.bucket).Str("job_exec", l.name).
			Msg("a transaction is tried again")
		return all(answer{fate: again, wait: wait}), nil
	case len(rows) > 1:
		if ctx.Err() != nil {
			l.group.Store(max(l.group.Load()/2, 1)) // too many for the time of one
		}
		return all(answer{fate: again}), nil
	case ctx.Err() == nil && errno.Passing(err) && first.tries < maxTxTries:
		return all(answer{fate: again, wait: wait}), nil
	}
	return nil, saidBy(err)
}

// nextGroup is how many rows are to share a transaction after one of some rows had them locked for a time; 0 where it came
// to nothing.
func nextGroup(group, rows int, held time.Duration) int {
	switch {
	case held > longGroup && rows > 1:
		return max(min(group, rows)/2, 1)
	case held > 0 && held < quickGroup && rows >= group:
		return min(2*group, maxGroup)
	}
	return group
}

func unwritten(doing string, err error) error {
	return fmt.Errorf("%w: %s: %w", errUnwritten, doing, err)
}

// tryTx makes one attempt. The functions have the time of a call, which ctx bounds. What is written once they have
// answered has a time of its own, as a commit of answers has: a server that fails over then is no error of theirs.
func (s *session) tryTx(ctx context.Context, t *task) (answers []answer, err error) {
	life, end := context.WithCancelCause(s.calls)
	defer end(nil)
	inTime := context.AfterFunc(ctx, func() { end(context.Cause(ctx)) })
	defer inTime()
	batch := make([]*answered, len(t.rows))
	for i, r := range t.rows {
		batch[i] = &answered{row: r.row} // its own: the call may be abandoned, and the row answered without it
	}
	began := time.Now()
	// While a function runs, its transaction idles.
	idle := max(t.lane.guards.Timeout+patience, store.IdleInCommit)
	tx, locked, err := s.beginTx(store.MayIdle(life, idle), ctx, batch)
	if err != nil && ctx.Err() != nil {
		err = errors.Join(errNotBegun, err)
	}
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
	answers = make([]answer, len(t.rows))
	var counts Counts
	var calls []int
	for i, a := range batch {
		switch {
		case locked.taken[a.key]:
			answers[i] = answer{fate: again, wait: time.Second, locked: true}
		case !locked.free[a.key]:
			answers[i] = answer{fate: dropped}
			counts.Dropped++
		default:
			calls = append(calls, i)
		}
	}
	calling := &txCalls{clock: s.clock, lane: t.lane, tx: tx, watch: locked.watch, began: began, batch: batch, answers: answers}
	failure, err := calling.all(ctx, calls)
	if err != nil {
		return nil, err
	}
	t.held = time.Since(began)
	if !t.watchdog.Stop() || !inTime() {
		return nil, timeoutError(t.lane.guards.Timeout, saidBy(failure))
	}
	ctx, cancel := context.WithTimeout(life, s.send.Timeout)
	defer cancel()
	// Nor do the locks last longer, while others commit.
	defer context.AfterFunc(ctx, func() { end(context.Cause(ctx)) })()
	if len(calls) > 0 {
		if err := calling.endSavepoint(ctx, failure); err != nil {
			return nil, unwritten("after the last call", err)
		}
	}
	var ends, moves []*answered
	for _, i := range calls {
		if slices.Contains(calling.left, i) {
			locked.spans = nil // they have holes now
			continue
		}
		a := batch[i]
		a.answer = answers[i]
		a.verdict = prescient.Decide(s.tables.Grid, t.lane.guards, a.FutureJob, a.answer.given(), a.answer.ended)
		counts.count(a.verdict, prescient.CauseCalled, 1)
		if a.verdict.Outcome == "" {
			moves = append(moves, a)
		} else {
			ends = append(ends, a)
		}
		answers[i].fate, answers[i].verdict = committed, &a.verdict
	}
	if err := s.writeTx(ctx, tx, locked.spans, moves, ends, counts); err != nil {
		return nil, unwritten("writing", err)
	}
	done = true
	return answers, nil
}

// txLocks says which rows a transaction has locked: those of spans, which are all; or free.
type txLocks struct {
	watch       *store.TxWatch // has watched the transaction from its beginning
	free, taken map[prescient.Key]bool
	spans       []span
}

// beginTx begins a transaction, which lives as long as one context, and locks the rows within the time of the other.
func (s *session) beginTx(life, ctx context.Context, batch []*answered) (tx *sqlx.Tx, locked txLocks, err error) {
	spans := spansOf(batch)
	if len(batch) < minRange {
		spans = nil
	}
	for {
		watch := new(store.TxWatch)
		if tx, err = s.send.DB.BeginTxx(watch.With(life), nil); err != nil {
			return nil, locked, err
		}
		if locked, err = s.lockTx(ctx, tx, batch, spans); err == nil {
			locked.watch = watch
			return tx, locked, nil
		}
		_ = tx.Rollback() // what matters is why it came to that
		if spans == nil || !errors.Is(err, errChanged) && !errno.Is(err, errno.LockWaitTimeout, errno.NoWait) {
			return nil, locked, fmt.Errorf("locking: %w", err)
		}
		// In another transaction: this one may have locked rows that came between, which are not to wait for a call.
		spans = nil
	}
}

// lockTx locks the rows of a batch: by their ranges, or, without those, each by itself.
func (s *session) lockTx(ctx context.Context, tx *sqlx.Tx, batch []*answered, spans []span) (locked txLocks, err error) {
	if spans == nil {
		// Not the entries in UNIQUE (job_key): another function's row that moves would wait for those on MariaDB, for as long as the
		// functions of this transaction run.
		locked.free, locked.taken, err = s.lock(ctx, tx.Tx, batch, true, false)
		return locked, err
	}
	same, err := s.lockRanges(ctx, tx.Tx, batch, spans)
	if err == nil && !same {
		err = errChanged
	}
	if err != nil {
		return locked, err
	}
	locked.spans, locked.free = spans, make(map[prescient.Key]bool, len(batch))
	for _, a := range batch {
		locked.free[a.key] = true
	}
	return locked, nil
}

// writeTx writes what becomes of the rows, and commits. A row that came into a range since it was locked is an error
// there, and the rows are called again, by themselves: it can only be one whose insert was under way when its slot began.
func (s *session) writeTx(ctx context.Context, tx *sqlx.Tx, spans []span, moves, ends []*answered, counts Counts) error {
	// In turn with the other commits of the bucket, from the first write on: a move also locks neighbours in UNIQUE
	// (job_key), and a commit that waits there for this transaction, which waits here for that commit, is a deadlock that
	// the server cannot see.
	s.commits.Lock()
	defer s.commits.Unlock()
	if err := s.writeMoves(ctx, tx.Tx, moves, false); err != nil {
		return err
	}
	end := func() error { return s.writeEnds(ctx, tx.Tx, ends, true) }
	if spans != nil && len(ends) > 0 {
		end = func() error { return s.endRanges(ctx, tx.Tx, ends, spansOfEnds(spans, ends)) }
	}
	if err := end(); err != nil {
		return err
	}
	return s.commitTx(ctx, tx, counts)
}

// commitTx proves the lease and commits. The caller holds s.commits.
func (s *session) commitTx(ctx context.Context, tx *sqlx.Tx, counts Counts) error {
	if !s.lease.alive(time.Now()) {
		return errLeaseLost
	}
	before := time.Now()
	if err := s.ledger.fence(ctx, tx.Tx, s.lease, counts); err != nil {
		return err
	}
	return s.ledger.commit(ctx, tx.Commit, s.lease, before)
}
