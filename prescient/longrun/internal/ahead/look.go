package ahead

import (
	"context"
	"time"

	"prescient/prescient"
	"prescient/prescient/internal/literal"
	"prescient/prescient/internal/store"
)

// Check is the check of a run whose lease was renewed just now.
type Check struct {
	Wanted   bool      // it is pending as it was when its run started
	Slot     time.Time // that it waits for
	Revision uint64
	Until    time.Time // of the lease
}

// Tokens is the condition that holds for runs under their tokens, in a table that is named with a dot, or not at all.
func Tokens[T any](table string, some []T, of func(T) (prescient.Key, uint64)) string {
	held := func(b []byte, one T) []byte {
		key, token := of(one)
		b = literal.AppendKey(append(append(b, table...), "job_key = "...), key)
		return literal.AppendUint(append(append(append(b, " AND "...), table...), "token = "...), token)
	}
	return literal.Join(" OR ", held, some)
}

// Look finds out which runs are still those of their tokens, and how their checks are. tokens are conditions on them, for longrun/held.
func Look(ctx context.Context, send *store.Sender, tables *store.Tables, tokens string) (held map[prescient.Key]Check, err error) {
	type row struct {
		Check
		key prescient.Key
	}
	held = make(map[prescient.Key]Check)
	err = send.Query(ctx, func(ctx context.Context) error {
		rows, err := store.Rows(ctx, send.DB, "looking at long runs", tables.Fill("longrun/held", "{runs}", tokens), func(r *row) []any {
			return []any{store.Key(&r.key), &r.Wanted, &r.Until, store.OrZero(&r.Slot), store.OrZero(&r.Revision)}
		})
		for _, r := range rows {
			held[r.key] = r.Check
		}
		return err
	})
	return held, err
}
