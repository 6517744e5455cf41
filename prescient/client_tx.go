package prescient

import (
	"context"
	"database/sql"
	"database/sql/driver"
	"errors"
	"fmt"

	"github.com/go-sql-driver/mysql"
)

// maxTries bounds how often a client tries again: after deadlocks, and after a row that others keep changing.
const maxTries = 10

// retried runs do, and again after an error with which the server has rolled everything back: for what is no part of the
// caller's transaction.
func retried[T any](do func() (T, error)) (T, error) {
	for tries := 1; ; tries++ {
		done, err := do()
		if tries == maxTries || !rolledBack(err) {
			return done, err
		}
	}
}

// inTx runs do on a transaction: on the caller's own where the handle is one, on a new one where it can begin. After
// an error nothing of it stays behind, though the caller may commit all the same.
func inTx(ctx context.Context, db DB, do func(db DB) error) error {
	begin, ok := beginnerOf(db)
	if !ok {
		return inSavepoint(ctx, db, "prescient", do)
	}
	_, err := retried(func() (struct{}, error) { return struct{}{}, inOwnTx(ctx, begin, do) })
	if isError(err, errInTransaction) && isCallersTx(db) {
		return inSavepoint(ctx, db, "prescient", do)
	}
	return err
}

func inOwnTx(ctx context.Context, begin beginner, do func(db DB) error) error {
	tx, err := begin.BeginTx(ctx, &sql.TxOptions{Isolation: sql.LevelReadCommitted})
	if err != nil {
		return fmt.Errorf("beginning a transaction: %w", err)
	}
	if err := do(ownTx{tx}); err != nil {
		return errors.Join(err, rollback(tx))
	}
	if err := tx.Commit(); err != nil {
		return fmt.Errorf("committing: %w", err)
	}
	return nil
}

func inSavepoint(ctx context.Context, db DB, name string, do func(db DB) error) error {
	if err := isInside(ctx, db); err != nil {
		return err
	}
	if _, err := db.ExecContext(ctx, "SAVEPOINT "+name); err != nil {
		return fmt.Errorf("setting a savepoint: %w", err)
	}
	err := do(db)
	if err == nil {
		return nil
	}
	if _, undo := db.ExecContext(context.WithoutCancel(ctx), "ROLLBACK TO SAVEPOINT "+name); undo != nil && !isOver(undo) {
		err = errors.Join(err, fmt.Errorf("rolling back to the savepoint: %w", undo))
	}
	return err
}

const (
	errNoSavepoint   = 1305 // after a deadlock: the server has rolled back the whole transaction, and the savepoint with it
	errInTransaction = 1568 // somebody has begun a transaction by hand
)

// isOver says of the error of a statement that its transaction was rolled back before.
func isOver(err error) bool {
	return isError(err, errNoSavepoint) || errors.Is(err, sql.ErrTxDone) || errors.Is(err, sql.ErrConnDone) ||
		errors.Is(err, driver.ErrBadConn) || errors.Is(err, mysql.ErrInvalidConn)
}

// rollback returns no error where the transaction is over already, as after a lost connection.
func rollback(tx *sql.Tx) error {
	if err := tx.Rollback(); err != nil && !errors.Is(err, sql.ErrTxDone) {
		return fmt.Errorf("rolling back: %w", err)
	}
	return nil
}
