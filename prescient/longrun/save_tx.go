package longrun

import (
	"context"
	"fmt"
	"time"

	"github.com/jmoiron/sqlx"

	"prescient/prescient/internal/errno"
	"prescient/prescient/internal/store"
)

// Effect does something in this database, and returns the checkpoint that is to commit with it.
type Effect func(ctx context.Context, tx *sqlx.Tx) (checkpoint []byte, err error)

// SaveTx is Save in a transaction, in which do has effects in this database: they commit with the checkpoint, or not at all, so that
// each is there exactly once. after, which may be nil, is called once the run's row is locked; it should be short, since a renewal waits
// for it.
//
// Where the server refuses the transaction for something that passes by itself, as a deadlock, all of it is done again; so both return
// such errors as they are. An error of the COMMIT is returned, and leaves open whether it was done: whoever goes on from the checkpoint
// sees that. Other errors are those of Save, and those of do and after.
func (r *Run) SaveTx(ctx context.Context, do Effect, after func(ctx context.Context, tx *sqlx.Tx) error) error {
	if r.part != nil {
		return r.saveInWhole(ctx, do, after)
	}
	wait := store.NewBackOff()
	for {
		if !r.alive(time.Now()) {
			return ErrLost
		}
		checkpoint, committing, err := r.trySave(ctx, do, after)
		if err == nil {
			return r.saved(checkpoint)
		}
		if committing || !errno.Passing(err) || ctx.Err() != nil || store.Sleep(ctx, wait.NextBackOff()) != nil {
			return err
		}
	}
}

// trySave is one try of SaveTx. committing says that the error is that of the COMMIT.
func (r *Run) trySave(ctx context.Context, do Effect, after func(ctx context.Context, tx *sqlx.Tx) error) (checkpoint []byte, committing bool, err error) {
	tx, err := r.exec.send.DB.BeginTxx(ctx, nil)
	if err != nil {
		return nil, false, fmt.Errorf("saving a checkpoint: %w", err)
	}
	defer func() { _ = tx.Rollback() }() // does nothing once it is committed
	if checkpoint, err = do(ctx, tx); err == nil {
		checkpoint, err = validCheckpoint(checkpoint)
	}
	if err != nil {
		return nil, false, err
	}
	n, err := store.Affected(ctx, tx, r.exec.tables.Stmt.Get("longrun/save"), checkpoint, r.row.key[:], r.row.token)
	switch {
	case err != nil:
		return nil, false, fmt.Errorf("saving a checkpoint: %w", err)
	case n == 0:
		r.lose(ErrLost)
		return nil, false, ErrLost
	}
	if after != nil {
		if err := after(ctx, tx); err != nil {
			return nil, false, err
		}
	}
	if err := tx.Commit(); err != nil {
		return nil, true, fmt.Errorf("committing a checkpoint: %w", err)
	}
	return checkpoint, false, nil
}
