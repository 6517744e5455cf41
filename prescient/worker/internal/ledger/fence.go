package ledger

import (
	"context"
	"database/sql"
	"errors"
	"fmt"
	"time"

	"prescient/prescient"
	"prescient/prescient/internal/store"
	"prescient/prescient/worker/books"
	"prescient/slots"
)

// wasCommitted finds out what became of a COMMIT whose answer was lost: batch_seq tells.
func (g *Ledger) wasCommitted(ctx context.Context, l *Lease) (bool, error) {
	worker, token, seq, err := g.holder(context.WithoutCancel(ctx), l)
	switch {
	case err != nil:
		return false, fmt.Errorf("finding out whether a commit was done: %w", err)
	case worker != l.Worker || token != l.Token:
		// Nobody takes the bucket of a lease that lives, but after the commit that ends it.
		if l.finishing.Load() && l.Alive(time.Now()) && seq > l.BatchSeq {
			return true, nil
		}
		return false, ErrLost
	}
	return seq == l.BatchSeq+1, nil
}

// Fence proves that the lease is this worker's, and takes the next number.
func (g *Ledger) Fence(ctx context.Context, tx *sql.Tx, l *Lease, counts books.Counts) error {
	l.finishing.Store(false)
	args := append([]any{l.TTL().Microseconds()}, counts.Args()...)
	n, err := store.Affected(ctx, tx, g.Tables.Stmt.Get("slotrun/fence"), append(args, l.Slot, l.Bucket, l.Worker, l.Token, l.BatchSeq)...)
	switch {
	case err != nil:
		return fmt.Errorf("fence: %w", err)
	case n == 0:
		return ErrLost
	}
	return nil
}

// Attempt notes the row that is run by itself, before the call: should it kill the worker, the next one knows.
func (g *Ledger) Attempt(ctx context.Context, l *Lease, key prescient.Key, revision uint64) error {
	n, err := g.Send.Exec(ctx, g.Tables.Stmt.Get("slotrun/attempt"), key[:], revision, l.Slot, l.Bucket, l.Worker, l.Token, l.BatchSeq)
	if err != nil {
		return fmt.Errorf("recording an attempt in slot %s: %w", slots.Stamp(l.Slot), err)
	}
	if n == 0 {
		l.Lose()
		return ErrLost
	}
	l.AttemptKey, l.AttemptRevision = key[:], revision
	return nil
}

// ErrUndone is returned where a COMMIT failed and the ledger says that nothing was committed.
var ErrUndone = errors.New("nothing was committed")

// Commit commits what was written behind the fence, and finds out what became of it where the answer was lost. The caller
// took the time before it sent the fence.
func (g *Ledger) Commit(ctx context.Context, commit func() error, l *Lease, before time.Time) (err error) {
	if g.Committed != nil {
		defer func() { g.Committed(l.Slot, l.Bucket, before, err) }()
	}
	if err := commit(); err != nil {
		done, unknown := g.wasCommitted(ctx, l)
		if unknown != nil {
			return errors.Join(fmt.Errorf("committing: %w", err), unknown)
		}
		if !done {
			return fmt.Errorf("%w: committing: %w", ErrUndone, err)
		}
	}
	l.BatchSeq++
	l.Renewed(before)
	return nil
}
