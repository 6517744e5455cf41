package client

import (
	"context"
	"time"

	"prescient/prescient"
	"prescient/prescient/client/internal/rowtext"
	"prescient/prescient/internal/errno"
	"prescient/prescient/internal/literal"
	"prescient/slots"
)

// A check that nothing is pending for is inserted by one statement, without a look before it: a direct insert. The statement
// itself makes sure that the slot is yet to come and that the horizon is not passed.
//
// It must not meet a pending row too often. The server keeps the entry of that row in UNIQUE (job_key) locked for the caller's
// transaction then, and the gap before it, in which an insert of another entity has to wait. To go on from there to the row itself,
// while a slot run ends that, is a deadlock. A row of the same slot is met in the primary key, without a gap. Apps insert the checks of
// one job_exec with one policy in one way, mostly. So after a direct insert that came to nothing, and after a pending row, a client
// looks first for a while.

// insertDirectly inserts a row if nothing is pending for its key and its slot is yet to come. It returns false where somebody
// has to look why not.
func (c *Client) insertDirectly(ctx context.Context, db prescient.DB, job prescient.NewJob, key prescient.Key) (did Inserted, done bool, err error) {
	due := slots.RoundUp(job.DueAt)
	slot := c.tables.Grid.Ceil(due)
	if due.Before(prescient.EarliestDue) || slot.After(prescient.LatestSlot) {
		return Inserted{}, false, nil
	}
	_, err = db.ExecContext(ctx, c.directInsertOf(job, key, due, slot))
	if errno.Is(err, errno.DuplicateKey, errno.BadNull) {
		return Inserted{}, false, nil
	}
	if err != nil {
		return Inserted{}, false, c.explain(ctx, db, job, err)
	}
	return Inserted{Did: DidInsert, DueAt: due, Slot: slot}, true, nil
}

// directInsertOf inserts one row. Where its slot is over, or its horizon is passed, by the database's clock, next_check_at comes
// to NULL, which MySQL and MariaDB refuse for a single row under every sql_mode.
func (c *Client) directInsertOf(job prescient.NewJob, key prescient.Key, due, slot time.Time) string {
	horizon := due.Add(-job.Ahead(c.registry.GuardsOf(job.JobExec, c.guards).Ahead()))
	if horizon.Before(prescient.EarliestDue) {
		horizon = prescient.EarliestDue
	}
	times := rowtext.TimesOf(c.tables.Dialect, due, slot, job.ExpiresAfter)
	times.Slots = literal.AppendNumber(nil, slot)
	times.Slots = append(times.Slots, ",IF(UTC_TIMESTAMP(6)>=TIMESTAMP"...)
	times.Slots = append(literal.AppendMicro(times.Slots, horizon), " AND UTC_TIMESTAMP(6)<TIMESTAMP"...)
	times.Slots = append(literal.AppendSecond(times.Slots, slot), ',')
	times.Slots = append(literal.AppendNumber(times.Slots, slot), ",NULL)"...)
	m := rowtext.MoreOf(&job)
	return c.insertRows(rowtext.Append(nil, &job, key, times, m), m)
}
