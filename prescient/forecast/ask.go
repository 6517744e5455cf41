package forecast

import (
	"slices"
	"strings"

	"prescient/prescient/internal/store"
)

// atOnce is how many looks one statement has at most. The server opens the table for each, and plans each.
const atOnce = 32

// ask sends looks of one kind, each with the same number of arguments, as few statements as may be: how long a forecast takes where the server is
// far away goes by their number.
func ask[T any](r *reader, statement string, looks int, columns func(*T) []any, args ...any) (all []T, err error) {
	each := len(args) / looks
	for some := range slices.Chunk(args, each*atOnce) {
		rows, err := store.Rows(r.ctx, r.db, statement, together(r.tables.Stmt.Get(statement), len(some)/each), columns, some...)
		if err != nil {
			return nil, err
		}
		r.read += int64(len(rows))
		all = append(all, rows...)
	}
	return all, nil
}

// together is a statement of several looks. UNION ALL needs no temporary table.
func together(look string, n int) string {
	return strings.Join(slices.Repeat([]string{"(" + look + ")"}, n), " UNION ALL ")
}

// explained is the EXPLAIN of several looks.
func explained(explain string, n int) string {
	const explains = "EXPLAIN FORMAT=TRADITIONAL "
	return explains + together(strings.TrimPrefix(explain, explains), n)
}

// slotted are the columns of a row with its slot.
func slotted(row *keyed) []any { return []any{&row.slot, store.Key(&row.key), &row.jobExec} }
