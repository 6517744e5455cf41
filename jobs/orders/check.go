package orders

import (
	"context"
	"database/sql"
	"errors"
	"fmt"
	"strconv"
	"time"

	"prescient/prescient"
	"prescient/prescient/client"
)

const (
	// selectOrder reads three rows by primary key and locks none: most orders are shipped when their check comes.
	selectOrder = `
SELECT UTC_TIMESTAMP(6) AS looked_at, o.placed_at, o.shipped_at IS NOT NULL AS shipped, p.slot AS primary_slot, e.slot AS escalated_slot
FROM {prefix}orders AS o
LEFT JOIN {prefix}order_alerts AS p ON p.order_id = o.id AND p.level = 'primary'
LEFT JOIN {prefix}order_alerts AS e ON e.order_id = o.id AND e.level = 'escalated'
WHERE o.id = ?`

	// raiseAlert locks the order by primary key and inserts the alert unless the order is shipped or has one of that
	// level. It waits for a transaction that is about to ship the order.
	raiseAlert = `
INSERT IGNORE INTO {prefix}order_alerts (order_id, level, raised_at, slot)
SELECT id, ?, ?, ? FROM {prefix}orders WHERE id = ? AND shipped_at IS NULL FOR UPDATE`
)

// tries bounds how often a check looks again when the order or its alerts change under it.
const tries = 3

// Check is the job_exec: it raises the alert that is due for an order and returns when to look again, in UTC, or nil
// when nothing is left to do. It is a prescient.Func. An order that is being shipped in a transaction that stays open
// is an error after a few waits, and left to a later slot.
func (o *Orders) Check(ctx context.Context, job prescient.FutureJob) (*time.Time, error) {
	if o.options.DB == nil {
		return nil, fmt.Errorf("orders: %w: Check needs Options.DB", prescient.ErrInvalid)
	}
	id, err := orderOf(job)
	if err != nil {
		return nil, err
	}
	for range tries {
		var s situation
		err = o.options.DB.GetContext(ctx, &s, o.sql(selectOrder), id)
		switch {
		case errors.Is(err, sql.ErrNoRows):
			return nil, nil // gone, like shipped
		case err != nil:
			return nil, fmt.Errorf("checking order %d: %w", id, err)
		}
		level, next := o.options.decide(s, job.NextCheckAt)
		if level == "" {
			return next, nil
		}
		alert := Alert{OrderID: id, Level: level, RaisedAt: s.LookedAt, Slot: job.NextCheckAt}
		var raised bool
		switch raised, err = o.raise(ctx, alert); {
		case raised:
			if o.options.OnAlert != nil {
				o.options.OnAlert(ctx, alert)
			}
			return next, nil
		case err != nil && !client.BeginAgain(err):
			return nil, fmt.Errorf("checking order %d: raising the %s alert: %w", id, level, err)
		}
		// It was shipped or alerted about since the look, or another transaction has it.
	}
	if err != nil {
		return nil, fmt.Errorf("checking order %d: tried %d times: %w", id, tries, err)
	}
	return nil, fmt.Errorf("checking order %d: it changed %d times under the check", id, tries)
}

// orderOf returns the order that a check is of.
func orderOf(job prescient.FutureJob) (int64, error) {
	id, err := strconv.ParseInt(job.EntityKey, 10, 64)
	if err != nil || job.EntityName != EntityName {
		return 0, fmt.Errorf("checking %s: want %s and a number", job.Entity(), EntityName)
	}
	return id, nil
}

// raise inserts an alert, and reports whether it did.
func (o *Orders) raise(ctx context.Context, alert Alert) (bool, error) {
	result, err := o.options.DB.ExecContext(ctx, o.sql(raiseAlert),
		string(alert.Level), utcText(alert.RaisedAt), utcText(alert.Slot), alert.OrderID)
	if err != nil {
		return false, err
	}
	inserted, err := result.RowsAffected()
	return inserted == 1, err
}

// Register adds Check to a registry under the name that Place uses. The zero Guards take the worker's.
func (o *Orders) Register(registry *prescient.Registry, guards prescient.Guards) error {
	if o.options.DB == nil {
		return fmt.Errorf("orders: %w: Check needs Options.DB", prescient.ErrInvalid)
	}
	return registry.Register(o.options.JobExec, o.Check, guards)
}
