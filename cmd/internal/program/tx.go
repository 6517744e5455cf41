package program

import (
	"context"
	"database/sql"
	"errors"
	"fmt"
	"time"

	"github.com/cenkalti/backoff/v5"
	"github.com/go-sql-driver/mysql"

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
	return Commit(ctx, tx, "nothing was done", "whether it was done is not known, look before it is done again")
}

// Begin begins a transaction as [Session.InTx] does, for what is not to be begun again. [Commit] or [Session.Undo] ends it.
func (s *Session) Begin(ctx context.Context) (*sql.Tx, error) {
	return s.DB.BeginTx(ctx, &sql.TxOptions{Isolation: sql.LevelReadCommitted})
}

// Commit commits a transaction. Its error begins with one of the texts: undone where nothing is left of the transaction, unknown where the
// connection broke off in the COMMIT.
func Commit(ctx context.Context, tx *sql.Tx, undone, unknown string) error {
	err := tx.Commit()
	switch {
	case err == nil:
		return nil
	case Answered(err) || ctx.Err() != nil:
		return fmt.Errorf("%s: %w", undone, err)
	}
	return fmt.Errorf("%s: %w", unknown, err)
}

// Answered says whether an error is the server's answer: what it refuses it has not done.
func Answered(err error) bool {
	var server *mysql.MySQLError
	return errors.As(err, &server)
}

// Undo rolls a transaction back. Where its connection is gone the server does.
func (s *Session) Undo(tx *sql.Tx) {
	if err := tx.Rollback(); err != nil && !errors.Is(err, sql.ErrTxDone) {
		s.Log.Debug().Err(err).Msg("rolling back")
	}
}
