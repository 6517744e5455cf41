package orders

import (
	"context"
	"fmt"
	"time"

	"prescient/prescient"
)

// Alert is a row of order_alerts. Times are UTC.
type Alert struct {
	OrderID int64 `db:"order_id" json:"order_id"`
	Level   Level `db:"level" json:"level"`
	// RaisedAt is when the check that raised it looked at the order, by the database's clock.
	RaisedAt time.Time `db:"raised_at" json:"raised_at"`
	// Slot is that of the check that raised it.
	Slot time.Time `db:"slot" json:"slot"`
}

// alertsOfOrder reads the primary key; the order of an ENUM is that of its definition.
const alertsOfOrder = `
SELECT order_id, level, raised_at, slot FROM {prefix}order_alerts WHERE order_id = ? ORDER BY level`

// Alerts returns the alerts of an order, the primary one first.
func (o *Orders) Alerts(ctx context.Context, id int64) ([]Alert, error) {
	if o.options.DB == nil {
		return nil, fmt.Errorf("orders: %w: Alerts needs Options.DB", prescient.ErrInvalid)
	}
	var alerts []Alert
	if err := o.options.DB.SelectContext(ctx, &alerts, o.sql(alertsOfOrder), id); err != nil {
		return nil, fmt.Errorf("reading the alerts of order %d: %w", id, err)
	}
	return alerts, nil
}
