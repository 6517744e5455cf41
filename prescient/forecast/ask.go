package forecast

import (
	"slices"
	"strings"

	"prescient/prescient/internal/store"
)

// ask sends looks of one kind, each with the same number of arguments, as few statements as may be: how long a forecast takes where the server is
// far away goes by their number.
func ask[T any](r *reader, statement string, looks int, columns func(*T) []any, args ...any) (all []T, err error) {
	each := len(args) / looks
	for some := range slices.Chunk(args, each*store.AtOnce) {
		rows, err := store.Rows(r.ctx, r.db, statement, store.Together(r.tables.Stmt.Get(statement), len(some)/each), columns, some...)
		if err != nil {
			return nil, err
		}
		r.read += int64(len(rows))
		all = append(all, rows...)
	}
	return all, nil
}

// explained is the EXPLAIN of several looks.
func explained(explain string, n int) string {
	const explains = "EXPLAIN FORMAT=TRADITIONAL "
	return explains + store.Together(strings.TrimPrefix(explain, explains), n)
}

// slotted are the columns of a row with its slot.
func slotted(row *keyed) []any { return []any{&row.slot, store.Key(&row.key), &row.jobExec} }
