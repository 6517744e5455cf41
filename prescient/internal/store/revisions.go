package store

import (
	"context"
	"database/sql"

	"prescient/prescient"
)

// EachRevision runs one of the statements that select job_key and revision, and calls do for each row. All that locks rows, or
// looks which are still as they were read, reads its answer here.
func EachRevision(ctx context.Context, db prescient.DB, query string, args []any, do func(key prescient.Key, revision uint64)) error {
	return EachRow(ctx, db, func(scan Scan) error {
		var raw sql.RawBytes
		var revision uint64
		if err := scan(&raw, &revision); err != nil {
			return err
		}
		do(prescient.Key(raw), revision)
		return nil
	}, query, args...)
}
