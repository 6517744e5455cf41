package longrun

import (
	"context"
	"errors"
	"fmt"
	"time"

	"github.com/jmoiron/sqlx"

	"prescient/prescient"
	"prescient/prescient/internal/errno"
	"prescient/prescient/internal/store"
)

// Save keeps a checkpoint, of MaxCheckpoint bytes at most: whoever goes on with the run gets it. Errors: ErrCheckpoint, ErrLost,
// ErrHandOn, once it is saved, where the agent stops, and what the server says. A function returns any of the last three.
func (r *Run) Save(ctx context.Context, checkpoint []byte) error {
	checkpoint, err := validCheckpoint(checkpoint)
	if err != nil {
		return err
	}
	if r.part != nil {
		return r.saveInWhole(ctx, func(context.Context, *sqlx.Tx) ([]byte, error) { return checkpoint, nil }, nil)
	}
	if !r.alive(time.Now()) {
		return ErrLost
	}
	n, err := r.exec.send.Exec(ctx, r.exec.tables.Stmt.Get("longrun/save"), checkpoint, r.row.key[:], r.row.token)
	if err := r.wrote(n, err); err != nil {
		return err
	}
	return r.saved(checkpoint)
}

// validCheckpoint returns a checkpoint as it is stored, where it is not too long.
func validCheckpoint(checkpoint []byte) ([]byte, error) {
	if len(checkpoint) > MaxCheckpoint {
		return nil, fmt.Errorf("%w: %d bytes; at most %d are allowed", ErrCheckpoint, len(checkpoint), MaxCheckpoint)
	}
	if checkpoint == nil {
		checkpoint = []byte{}
	}
	return checkpoint, nil
}

// wrote is what came of longrun/save: the run is lost where no row has its token.
func (r *Run) wrote(n int, err error) error {
	switch {
	case err != nil:
		return fmt.Errorf("saving a checkpoint: %w", err)
	case n == 0:
		r.lose(ErrLost)
		return ErrLost
	}
	return nil
}

// saved takes note of a checkpoint that was committed, and says whether the call is to end.
func (r *Run) saved(checkpoint []byte) error {
	r.mu.Lock()
	r.checkpoint = checkpoint
	r.mu.Unlock()
	switch {
	case r.exec.isDraining():
		return ErrHandOn
	case !r.alive(time.Now()): // the answer took that long
		return ErrLost
	}
	return nil
}

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
	if err := r.wrote(n, err); err != nil {
		return nil, false, err
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

// Part returns a run of another check that lives as long as this one does, for a function that is called within it: as the steps of a
// job are. It has a checkpoint of its own, which is saved as what wrap makes of it: that is the checkpoint of this run then.
func (r *Run) Part(job prescient.FutureJob, checkpoint []byte, wrap func(checkpoint []byte) ([]byte, error)) *Run {
	return &Run{exec: r.exec, job: job, terms: r.terms, row: r.row, slot: r.slot, clock: r.clock, cancel: r.cancel, checkpoint: checkpoint,
		part: &part{of: r, wrap: wrap}}
}

// saveInWhole saves the checkpoint of a part in that of its run.
func (r *Run) saveInWhole(ctx context.Context, do Effect, after func(ctx context.Context, tx *sqlx.Tx) error) error {
	var own []byte
	err := r.part.of.SaveTx(ctx, func(ctx context.Context, tx *sqlx.Tx) ([]byte, error) {
		checkpoint, err := do(ctx, tx)
		if err != nil {
			return nil, err
		}
		own = checkpoint
		return r.part.wrap(checkpoint)
	}, after)
	if err == nil || errors.Is(err, ErrHandOn) {
		r.mu.Lock()
		defer r.mu.Unlock()
		r.checkpoint = own
	}
	return err
}
