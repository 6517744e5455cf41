package prescient

import (
	"context"
	"database/sql"
)

// DB is what *sql.DB, *sql.Tx, *sql.Conn, *sqlx.DB and *sqlx.Tx have in common: the caller's handle, on which a client
// works so that what it does commits with the domain event. A handle of your own is taken for a transaction of yours unless it
// can lend a connection (Conn, as *sql.DB has it) or is one (Raw), and has neither Commit nor Rollback: only then does a client
// begin transactions of its own on it.
type DB interface {
	ExecContext(ctx context.Context, query string, args ...any) (sql.Result, error)
	QueryContext(ctx context.Context, query string, args ...any) (*sql.Rows, error)
}
