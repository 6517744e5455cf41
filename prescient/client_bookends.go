package prescient

import (
	"context"
	"fmt"
	"time"
)

// A look under a lock at all rows of an entity goes through a range of UNIQUE (job_key), and InnoDB also locks the row after
// the range, where it finds its end: the row of another entity, which a slot run could not end while the app's transaction
// is open. So the look gets a row of its own to end at. Two bookends, the first and the last key that the entity can have,
// are inserted before it and deleted after it, in the same transaction: nobody else ever sees them. Under REPEATABLE READ the
// gap between them stays locked, so that nobody inserts for the entity until the transaction ends; other entities' gaps do
// not.

// bookend is what stands in both, but for the key.
var bookend = NewJob{Entity: Entity{"prescient", "bookend"}, JobExec: "prescient.bookend"}

// bookendSlot is no slot that is ever run; midnight is on every grid.
var bookendSlot = time.Date(9999, 12, 31, 0, 0, 0, 0, time.UTC)

// findBetweenBookends reads what is pending for an entity as it is now, whatever a snapshot shows, and locks it.
func (c *Client) findBetweenBookends(ctx context.Context, db DB, e Entity) ([]FutureJob, error) {
	first, last := entityRange(e)
	low, high := literal(appendKey, first), literal(appendKey, last)
	times := textOf(bookendSlot, bookendSlot)
	rows := appendRow(nil, &bookend, first, times, false)
	rows = appendRow(append(rows, ','), &bookend, last, times, false)
	_, err := db.ExecContext(ctx, c.insertRows(rows, false))
	if isError(err, errDuplicateKey) {
		// One key in two thousand million is that of a bookend: a check has it, and ends the look as well as it can.
		return c.find(ctx, db, "job.job_key BETWEEN "+low+" AND "+high, true)
	}
	if err != nil {
		return nil, fmt.Errorf("inserting the bookends of %s: %w", e, err)
	}
	found, err := c.find(ctx, db, "job.job_key > "+low+" AND job.job_key < "+high, true)
	if err != nil {
		return nil, err
	}
	n, err := affected(ctx, db, c.fill("client/bookends_away", "{slot}", literal(appendSecond, bookendSlot), "{first}", low, "{last}", high))
	if err == nil && n != 2 {
		err = fmt.Errorf("%d of 2 were there", n)
	}
	if err != nil {
		return nil, fmt.Errorf("deleting the bookends of %s: %w", e, err)
	}
	return found, nil
}
