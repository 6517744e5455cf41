package sql

import (
	"context"
	"database/sql"
)

// Lock keeps migrations, and all else that alters the tables, away until unlock is called. It takes a connection of
// the pool, which must not be closed for being idle as long. The error wraps ErrLocked where another holds it.
func (s Schema) Lock(ctx context.Context, db *sql.DB) (unlock func(), err error) {
	return s.lock(ctx, db)
}
