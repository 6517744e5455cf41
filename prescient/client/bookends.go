package client

import (
	"context"
	"fmt"
	"time"

	"prescient/prescient"
	"prescient/prescient/client/internal/rowtext"
	"prescient/prescient/internal/errno"
	"prescient/prescient/internal/literal"
	"prescient/prescient/internal/store"
)

// A locking read of all rows of an entity goes through a range of UNIQUE (job_key), and InnoDB also locks the row after
// the range, where it finds its end: the row of another entity, which a slot run could not end while the app's transaction
// is open. So the read gets a row of its own to end at. Two bookends, the first and the last key that the entity can have,
// are inserted before it and deleted after it, in the same transaction: nobody else ever sees them. Under REPEATABLE READ the
// gap between them stays locked, so that nobody inserts for the entity until the transaction ends; other entities' gaps do
// not.

// bookend is what stands in both, but for the key.
var bookend = prescient.NewJob{Entity: prescient.Entity{Name: "prescient", Key: "bookend"}, JobExec: "prescient.bookend"}

// bookendSlot is no slot that is ever run; midnight is on every grid.
var bookendSlot = time.Date(9999, 12, 31, 0, 0, 0, 0, time.UTC)

// findBetweenBookends reads what is pending for entities as it is now, whatever a snapshot shows, and locks it.
func (c *Client) findBetweenBookends(ctx context.Context, db prescient.DB, entities []prescient.Entity) (found []prescient.FutureJob, err error) {
	keys := make([]prescient.Key, 0, 2*len(entities))
	for _, e := range entities {
		first, last := e.KeyRange()
		keys = append(keys, first, last)
	}
	placed, err := c.withBookends(ctx, db, keys, func() error {
		found, err = c.find(ctx, db, rowtext.BareColumns, rowtext.Inside(c.tables.Dialect, entities), true)
		return err
	})
	if err == nil && !placed {
		// One key in two thousand million is that of a bookend: a check has it, and ends the read as well as it can.
		found, err = c.find(ctx, db, rowtext.BareColumns, rowtext.Between(entities), true)
	}
	return found, err
}

// isAbsent says whether nothing has a key now, whatever a snapshot shows. A locking read that finds nothing would lock
// the gap; here a bookend takes the key itself, and keeps it from others until the transaction ends.
func (c *Client) isAbsent(ctx context.Context, db prescient.DB, key prescient.Key) (bool, error) {
	return c.withBookends(ctx, db, []prescient.Key{key}, func() error { return nil })
}

// withBookends does something while bookends stand at some keys. Where one of those is taken it does nothing.
func (c *Client) withBookends(ctx context.Context, db prescient.DB, keys []prescient.Key, do func() error) (placed bool, err error) {
	times := rowtext.TimesOf(c.tables.Dialect, bookendSlot, bookendSlot, 0)
	row := func(b []byte, key prescient.Key) []byte {
		return rowtext.Append(b, &bookend, key, times, rowtext.More{})
	}
	_, err = db.ExecContext(ctx, c.insertRows([]byte(literal.List(row, keys)), rowtext.More{}))
	if errno.Is(err, errno.DuplicateKey) {
		return false, nil
	}
	if err != nil {
		return false, fmt.Errorf("inserting bookends: %w", err)
	}
	if err := do(); err != nil {
		return false, err
	}
	n, err := store.Affected(ctx, db, c.tables.Fill("client/bookends_away", "{slot}", literal.Of(literal.AppendSecond, bookendSlot),
		"{keys}", literal.KeysOf(keys)))
	if err == nil && n != len(keys) {
		err = fmt.Errorf("%d of %d were there", n, len(keys))
	}
	if err != nil {
		return false, fmt.Errorf("deleting bookends: %w", err)
	}
	return true, nil
}
