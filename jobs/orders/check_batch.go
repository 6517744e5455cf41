package orders

import (
	"context"
	"fmt"
	"slices"
	"strconv"
	"strings"
	"time"

	"prescient/prescient"
	"prescient/prescient/client"
)

const (
	// selectOrders finds those of a list of orders that are not shipped: most are, and nothing is sent for them. Without the
	// hint MySQL reads a whole table of orders for a list that is long.
	selectOrders = `
SELECT o.id, UTC_TIMESTAMP(6) AS looked_at, o.placed_at, p.slot AS primary_slot, e.slot AS escalated_slot
FROM {prefix}orders AS o FORCE INDEX (PRIMARY)
LEFT JOIN {prefix}order_alerts AS p ON p.order_id = o.id AND p.level = 'primary'
LEFT JOIN {prefix}order_alerts AS e ON e.order_id = o.id AND e.level = 'escalated'
WHERE o.id IN ({ids}) AND o.shipped_at IS NULL`

	// raiseAlerts is raiseAlert for a list of orders.
	raiseAlerts = `
INSERT IGNORE INTO {prefix}order_alerts (order_id, level, raised_at, slot)
SELECT id, ?, ?, ? FROM {prefix}orders FORCE INDEX (PRIMARY) WHERE id IN ({ids}) AND shipped_at IS NULL ORDER BY id FOR UPDATE`
)

// CheckBatch is Check for many orders: one query finds those that are not shipped, and one statement raises all alerts of a
// level. It is a prescient.BatchFunc. Where an order is shipped in between, or locked, each is checked by itself.
func (o *Orders) CheckBatch(ctx context.Context, batch *prescient.Batch) error {
	if o.options.DB == nil {
		return fmt.Errorf("orders: %w: CheckBatch needs Options.DB", prescient.ErrInvalid)
	}
	jobs := batch.Jobs()
	ids := make([]int64, 0, len(jobs))
	rows := make(map[int64][]int, len(jobs)) // an order may have several checks, with tags
	for i, job := range jobs {
		id, err := orderOf(job)
		if err != nil {
			batch.Fail(i, err)
			continue
		}
		if rows[id] = append(rows[id], i); len(rows[id]) == 1 {
			ids = append(ids, id)
		}
		batch.Settle(i) // unless it is found: it is gone, or shipped
	}
	slices.Sort(ids) // in the order of the table
	found, err := o.unshipped(ctx, ids)
	if err != nil {
		return fmt.Errorf("checking %d orders: %w", len(ids), err)
	}
	alerts := make(map[Alert][]raised)
	for _, s := range found {
		for _, i := range rows[s.ID] {
			level, next := o.options.decide(s.situation, jobs[i].NextCheckAt)
			if level == "" {
				answer(batch, i, next)
				continue
			}
			alike := Alert{Level: level, RaisedAt: s.LookedAt, Slot: jobs[i].NextCheckAt}
			alerts[alike] = append(alerts[alike], raised{i, s.ID, next})
		}
	}
	for alike, list := range alerts {
		o.raiseTogether(ctx, batch, alike, list)
	}
	return nil
}

// found is an order that is not shipped.
type found struct {
	ID int64 `db:"id"`
	situation
}

// raised is what to answer for a row of a batch once the alert of its order is raised.
type raised struct {
	row   int
	order int64
	next  *time.Time
}

func answer(batch *prescient.Batch, row int, next *time.Time) {
	if next == nil {
		batch.Settle(row)
	} else {
		batch.Next(row, *next)
	}
}

// unshipped finds those of a list of orders that are there and not shipped.
func (o *Orders) unshipped(ctx context.Context, ids []int64) (list []found, err error) {
	if len(ids) == 0 {
		return nil, nil
	}
	err = o.options.DB.SelectContext(ctx, &list, o.sqlFor(selectOrders, ids))
	return list, err
}

// raiseTogether raises the same alert for many orders, and answers for their rows.
func (o *Orders) raiseTogether(ctx context.Context, batch *prescient.Batch, alike Alert, list []raised) {
	all, err := o.raiseAll(ctx, alike, list)
	for _, r := range list {
		next, err := r.next, err
		switch {
		case err != nil:
			err = fmt.Errorf("checking order %d: raising the %s alert: %w", r.order, alike.Level, err)
		case !all:
			next, err = o.Check(ctx, batch.Jobs()[r.row])
		case o.options.OnAlert != nil:
			alert := alike
			alert.OrderID = r.order
			o.options.OnAlert(ctx, alert)
		}
		if err != nil {
			batch.Fail(r.row, err)
			continue
		}
		answer(batch, r.row, next)
	}
}

// raiseAll inserts the same alert for many orders, and reports whether it did: for all of them, or for none.
func (o *Orders) raiseAll(ctx context.Context, alike Alert, list []raised) (all bool, err error) {
	ids := make([]int64, len(list))
	for i, r := range list {
		ids[i] = r.order
	}
	tx, err := o.options.DB.BeginTx(ctx, nil)
	if err != nil {
		return false, err
	}
	defer func() { _ = tx.Rollback() }()
	result, err := tx.ExecContext(ctx, o.sqlFor(raiseAlerts, ids), string(alike.Level), utcText(alike.RaisedAt), utcText(alike.Slot))
	if client.BeginAgain(err) {
		return false, nil
	}
	if err != nil {
		return false, err
	}
	if n, err := result.RowsAffected(); err != nil || n != int64(len(list)) {
		return false, err // some are shipped by now, or have that alert
	}
	return true, tx.Commit()
}

// sqlFor puts the names of the tables and a list of orders into a statement.
func (o *Orders) sqlFor(statement string, ids []int64) string {
	list := make([]byte, 0, 8*len(ids))
	for i, id := range ids {
		if i > 0 {
			list = append(list, ',')
		}
		list = strconv.AppendInt(list, id, 10)
	}
	return strings.Replace(o.sql(statement), "{ids}", string(list), 1)
}

// RegisterBatch adds CheckBatch instead: the same for many orders in one call, which an OnAlert that takes long would hold up.
func (o *Orders) RegisterBatch(registry *prescient.Registry, guards prescient.Guards) error {
	if o.options.DB == nil {
		return fmt.Errorf("orders: %w: CheckBatch needs Options.DB", prescient.ErrInvalid)
	}
	return registry.RegisterBatch(o.options.JobExec, o.CheckBatch, guards)
}
