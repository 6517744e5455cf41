package store

import (
	"database/sql"
	"database/sql/driver"
	"errors"
	"fmt"
)

// Rollback returns no error where the transaction is over already, as after a lost connection.
func Rollback(tx *sql.Tx) error {
	if err := tx.Rollback(); err != nil && !errors.Is(err, sql.ErrTxDone) {
		return fmt.Errorf("rolling back: %w", err)
	}
	return nil
}

// Drop closes a connection, which otherwise goes back to its pool.
func Drop(conn *sql.Conn) { _ = conn.Raw(func(any) error { return driver.ErrBadConn }) }
