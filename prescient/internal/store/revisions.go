package store

import (
	"context"
	"database/sql"

	"prescient/prescient"
)

// EachRevision runs one of the statements that select job_key and revision, and calls do for each row. All that locks rows, or
// looks which are still as they were read, reads its answer here.
func EachRevision(ctx context.Context, db prescient.DB, query string, args []any, do func(key prescient.Key, revision uint64)) error {
	rows, err := db.QueryContext(ctx, query, args...)
	if err != nil {
		return err
	}
	defer rows.Close()
	for rows.Next() {
		var raw sql.RawBytes
		var revision uint64
		if err := rows.Scan(&raw, &revision); err != nil {
			return err
		}
		do(prescient.Key(raw), revision)
	}
	return rows.Err()
}
