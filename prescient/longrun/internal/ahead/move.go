package ahead

import (
	"context"
	"errors"
	"fmt"
	"time"

	"github.com/jmoiron/sqlx"

	"prescient/prescient"
	"prescient/prescient/internal/literal"
	"prescient/prescient/internal/store"
	text "prescient/sql"
)

// isDue says whether its slot may come before the lease is renewed again, which is when a third of it is over. Where it has come, a slot
// run has met the check.
func (c Check) isDue(lease time.Duration) bool {
	now := c.Until.Add(-lease)
	return c.Wanted && c.Slot.After(now) && c.Slot.Before(now.Add(lease/2))
}

// way is from which slot to which checks move.
type way struct{ from, to time.Time }

// Move moves those of some checks on whose slots come before their leases of a term are renewed again.
func Move(ctx context.Context, db *sqlx.DB, tables *store.Tables, lease time.Duration, checks map[prescient.Key]Check) error {
	ways := make(map[way][]prescient.Key) // one mostly: runs that began together are renewed together
	for key, c := range checks {
		if c.isDue(lease) {
			w := way{c.Slot, tables.Grid.Ceil(c.Until.Add(time.Microsecond))}
			ways[w] = append(ways[w], key)
		}
	}
	var errs []error
	for w, keys := range ways {
		errs = append(errs, w.move(ctx, db, tables, keys, checks))
	}
	return errors.Join(errs...)
}

// move moves checks, in a transaction of its own. All are locked by the primary key first: a move also locks neighbours in UNIQUE
// (job_key), from where to go on to the primary key of another check would deadlock with a cancel of that.
func (w way) move(ctx context.Context, db *sqlx.DB, tables *store.Tables, keys []prescient.Key, checks map[prescient.Key]Check) error {
	tx, err := db.BeginTxx(ctx, nil)
	if err != nil {
		return err
	}
	defer func() { _ = tx.Rollback() }() // does nothing once it is committed
	var same []prescient.Key
	lock := tables.Fill("slotrun/lock_free", "{keys}", literal.KeysOf(keys))
	err = store.EachRevision(ctx, tx, lock, []any{w.from}, func(key prescient.Key, revision uint64) {
		if checks[key].Revision == revision {
			same = append(same, key)
		}
	})
	if err != nil {
		return fmt.Errorf("locking the checks of long runs: %w", err)
	}
	if len(same) == 0 {
		return nil
	}
	move := Statement(tables, same, w.from, w.to)
	if tables.Server == text.MariaDB { // where a move also waits for an insert beside it that is not committed
		move = "SET STATEMENT innodb_lock_wait_timeout = 0 FOR " + move
	}
	if _, err := tx.ExecContext(ctx, move); err != nil {
		return fmt.Errorf("moving the checks of long runs: %w", err)
	}
	return tx.Commit()
}

// Statement moves checks that are locked from one slot to another, where that has not begun.
func Statement(tables *store.Tables, keys []prescient.Key, from, to time.Time) string {
	return tables.Fill("longrun/ahead", "{checks}", List(keys), "{slot}", literal.Of(literal.AppendSecond, from), "{to}", literal.Of(literal.AppendSecond, to))
}

// List is the list of checks for longrun/ahead.
func List(keys []prescient.Key) string {
	var b []byte
	for i, key := range keys {
		if i > 0 {
			b = append(b, " UNION ALL "...)
		}
		b = literal.AppendKey(append(b, "SELECT "...), key)
		if i == 0 {
			b = append(b, " AS job_key"...)
		}
	}
	return string(b)
}
