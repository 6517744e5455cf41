package program

import (
	"context"
	"database/sql"
	"errors"
	"time"

	"github.com/cenkalti/backoff/v5"

	"prescient/prescient/client"
)

// triedFor is how long a transaction is begun again while others get in its way.
const triedFor = 10 * time.Second

// InTx runs do in a transaction, of which nothing is left after an error. While others get in its way it is begun again, for some seconds:
// do may be called several times.
func (s *Session) InTx(ctx context.Context, do func(tx *sql.Tx) error) error {
	_, err := backoff.Retry(ctx, func() (struct{}, error) {
		err := s.tryTx(ctx, do)
		if err != nil && !client.BeginAgain(err) {
			err = backoff.Permanent(err)
		}
		return struct{}{}, err
	}, backoff.WithMaxElapsedTime(triedFor))
	return err
}

func (s *Session) tryTx(ctx context.Context, do func(tx *sql.Tx) error) error {
	tx, err := s.Begin(ctx)
	if err != nil {
		return err
	}
	if err := do(tx); err != nil {
		s.Undo(tx)
		if ctx.Err() != nil { // what else is said follows from that
			return ctx.Err()
		}
		return err
	}
	return tx.Commit()
}

// Begin begins a transaction as [Session.InTx] does, for who has to know whether its COMMIT failed.
func (s *Session) Begin(ctx context.Context) (*sql.Tx, error) {
	return s.DB.BeginTx(ctx, &sql.TxOptions{Isolation: sql.LevelReadCommitted})
}

// Undo rolls a transaction back. Where its connection is gone the server does.
func (s *Session) Undo(tx *sql.Tx) {
	if err := tx.Rollback(); err != nil && !errors.Is(err, sql.ErrTxDone) {
		s.Log.Debug().Err(err).Msg("rolling back")
	}
}
