package handle

import (
	"context"
	"database/sql"
	"database/sql/driver"
	"errors"
	"fmt"

	"github.com/go-sql-driver/mysql"

	"prescient/prescient"
	"prescient/prescient/internal/errno"
	"prescient/prescient/internal/store"
	text "prescient/sql"
)

// MaxTries bounds how often a client tries again: after deadlocks, and after a row that others keep changing.
const MaxTries = 10

// Retried runs do, and again after an error with which the server has rolled everything back: for what is no part of the
// caller's transaction.
func Retried[T any](do func() (T, error)) (T, error) {
	for tries := 1; ; tries++ {
		done, err := do()
		if tries == MaxTries || !errno.RolledBack(err) {
			return done, err
		}
	}
}

// InTx runs do on a transaction: on the caller's own where the handle is one, on a new one where it can begin. After
// an error nothing of it stays behind, though the caller may commit all the same.
func InTx(ctx context.Context, server text.Server, db prescient.DB, do func(db prescient.DB) error) error {
	return InTxWithin(ctx, server, db, "prescient", do)
}

// InTxWithin is InTx where that may be under way on the same handle: a savepoint of another name leaves that one in its place.
func InTxWithin(ctx context.Context, server text.Server, db prescient.DB, savepoint string, do func(db prescient.DB) error) error {
	begin, ok := BeginnerOf(db)
	if !ok {
		return InSavepoint(ctx, db, savepoint, do)
	}
	if IsCallersTx(db) { // begun by hand, it would be committed: Vitess does not refuse to say how the next is isolated, as MySQL does
		if inside, err := isInside(ctx, db); err != nil {
			return err
		} else if inside {
			return inSavepoint(ctx, db, savepoint, do)
		}
	}
	_, err := Retried(func() (struct{}, error) { return struct{}{}, inOwnTx(ctx, server, begin, do) })
	return err
}

func inOwnTx(ctx context.Context, server text.Server, begin Beginner, do func(db prescient.DB) error) error {
	options := sql.TxOptions{Isolation: sql.LevelReadCommitted}
	if server.Placed() { // Vitess has the session keep it
		options.Isolation = sql.LevelDefault
	}
	tx, err := begin.BeginTx(ctx, &options)
	if err != nil {
		return fmt.Errorf("beginning a transaction: %w", err)
	}
	var own prescient.DB = OwnTx{tx}
	if server.Placed() { // it may show rows as they were, as a caller's does
		own = tx
	}
	if err := do(own); err != nil {
		return errors.Join(err, store.Rollback(tx))
	}
	if err := tx.Commit(); err != nil {
		return fmt.Errorf("committing: %w", err)
	}
	return nil
}

// InSavepoint runs do on the caller's transaction, behind a savepoint of a name, to which it rolls back after an error.
func InSavepoint(ctx context.Context, db prescient.DB, name string, do func(db prescient.DB) error) error {
	if err := IsInside(ctx, db); err != nil {
		return err
	}
	return inSavepoint(ctx, db, name, do)
}

func inSavepoint(ctx context.Context, db prescient.DB, name string, do func(db prescient.DB) error) error {
	if _, err := db.ExecContext(ctx, "SAVEPOINT "+name); err != nil {
		return fmt.Errorf("setting a savepoint: %w", err)
	}
	err := do(db)
	if err == nil {
		return nil
	}
	if _, undo := db.ExecContext(context.WithoutCancel(ctx), "ROLLBACK TO SAVEPOINT "+name); undo != nil && !IsOver(undo) {
		err = errors.Join(err, fmt.Errorf("rolling back to the savepoint: %w", undo))
	}
	return err
}

// IsOver says of the error of a statement that its transaction was rolled back before.
func IsOver(err error) bool {
	return errno.Is(err, errno.NoSuchName) || errors.Is(err, sql.ErrTxDone) || errors.Is(err, sql.ErrConnDone) ||
		errors.Is(err, driver.ErrBadConn) || errors.Is(err, mysql.ErrInvalidConn)
}
