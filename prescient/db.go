package prescient

import (
	"context"
	"database/sql"
)

// DB is what *sql.DB, *sql.Tx, *sql.Conn, *sqlx.DB and *sqlx.Tx have in common: the caller's handle. A client works
// on it, so that what the client does commits with the domain event. A client takes a handle of another type for a transaction
// of the caller, unless it can lend a connection (Conn, as *sql.DB has it) or is one (Raw), and has neither Commit nor Rollback:
// only then does it begin transactions of its own on it. On a single connection on which one was begun by hand, or that does not commit by
// itself (autocommit=0), the caller commits.
type DB interface {
	ExecContext(ctx context.Context, query string, args ...any) (sql.Result, error)
	QueryContext(ctx context.Context, query string, args ...any) (*sql.Rows, error)
}
