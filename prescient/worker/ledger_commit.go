package worker

import (
	"context"
	"database/sql"
	"errors"
	"fmt"
	"time"

	"prescient/prescient"
	"prescient/prescient/internal/store"
	"prescient/slots"
)

// wasCommitted finds out what became of a COMMIT whose answer was lost: batch_seq tells.
func (g *ledger) wasCommitted(ctx context.Context, l *lease) (bool, error) {
	worker, token, seq, err := g.holder(context.WithoutCancel(ctx), l)
	switch {
	case err != nil:
		return false, fmt.Errorf("finding out whether a commit was done: %w", err)
	case worker != l.worker || token != l.token:
		return false, errLeaseLost
	}
	return seq == l.batchSeq+1, nil
}

// fence proves that the lease is this worker's, and takes the next number.
func (g *ledger) fence(ctx context.Context, tx *sql.Tx, l *lease, counts Counts) error {
	args := append([]any{l.ttl.Microseconds()}, counts.args()...)
	n, err := store.Affected(ctx, tx, g.tables.Stmt.Get("slotrun/fence"), append(args, l.slot, l.bucket, l.worker, l.token, l.batchSeq)...)
	switch {
	case err != nil:
		return fmt.Errorf("fence: %w", err)
	case n == 0:
		return errLeaseLost
	}
	return nil
}

// attempt notes the row that is run by itself, before the call: should it kill the worker, the next one knows.
func (g *ledger) attempt(ctx context.Context, l *lease, key prescient.Key, revision uint64) error {
	n, err := g.send.Exec(ctx, g.tables.Stmt.Get("slotrun/attempt"), key[:], revision, l.slot, l.bucket, l.worker, l.token, l.batchSeq)
	if err != nil {
		return fmt.Errorf("recording an attempt in slot %s: %w", slots.Stamp(l.slot), err)
	}
	if n == 0 {
		l.lose()
		return errLeaseLost
	}
	l.attemptKey, l.attemptRevision = key[:], revision
	return nil
}

// errUndone is returned where a COMMIT failed and the ledger says that nothing was committed.
var errUndone = errors.New("nothing was committed")

// commit commits what was written behind the fence, and finds out what became of it where the answer was lost. The caller
// took the time before it sent the fence.
func (g *ledger) commit(ctx context.Context, commit func() error, l *lease, before time.Time) error {
	if err := commit(); err != nil {
		done, lookErr := g.wasCommitted(ctx, l)
		if lookErr != nil {
			return errors.Join(fmt.Errorf("committing: %w", err), lookErr)
		}
		if !done {
			return fmt.Errorf("%w: committing: %w", errUndone, err)
		}
	}
	l.batchSeq++
	l.renewed(before)
	return nil
}
