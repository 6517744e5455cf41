package ahead

import (
	"context"
	"database/sql"
	"time"

	"prescient/prescient"
	"prescient/prescient/internal/store"
)

// Check is the check of a run whose lease was renewed just now.
type Check struct {
	Wanted   bool      // it is pending as it was when its run started
	Slot     time.Time // that it waits for
	Revision uint64
	Until    time.Time // of the lease
}

// Look finds out which runs are still those of their tokens, and how their checks are. tokens are conditions on them, for longrun/held.
func Look(ctx context.Context, send *store.Sender, tables *store.Tables, tokens string) (held map[prescient.Key]Check, err error) {
	held = make(map[prescient.Key]Check)
	err = send.Query(ctx, func(ctx context.Context) error {
		clear(held)
		rows, err := send.DB.QueryContext(ctx, tables.Fill("longrun/held", "{runs}", tokens))
		if err != nil {
			return err
		}
		defer rows.Close()
		for rows.Next() {
			var key []byte
			var slot sql.NullTime
			var revision sql.Null[uint64]
			var c Check
			if err := rows.Scan(&key, &c.Wanted, &c.Until, &slot, &revision); err != nil {
				return err
			}
			c.Slot, c.Revision = slot.Time, revision.V
			held[prescient.Key(key)] = c
		}
		return rows.Err()
	})
	return held, err
}
