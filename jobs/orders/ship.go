package orders

import (
	"context"
	"errors"
	"fmt"

	"prescient/prescient"
)

// ErrNoOrder is returned when there is no order with the id that was given.
var ErrNoOrder = errors.New("no such order")

const (
	// shipOrder locks the order, by primary key, until the transaction ends. It hits none that is shipped already.
	shipOrder = "UPDATE {prefix}orders SET shipped_at = UTC_TIMESTAMP(6) WHERE id = ? AND shipped_at IS NULL"
	// lockOrder tells whether the order is there at all, even where the transaction's snapshot is older than the order.
	lockOrder = "SELECT id FROM {prefix}orders WHERE id = ? FOR UPDATE"
)

// Ship marks an order as shipped, now, by the database's clock. No alert is raised once tx, the caller's transaction,
// has committed; with CancelOnShip the check is cancelled in the same transaction. Shipping it once more changes
// nothing. The error wraps ErrNoOrder; others come from the server, and client.BeginAgain knows those after which to
// begin the transaction again.
func (o *Orders) Ship(ctx context.Context, tx prescient.DB, id int64) error {
	if o.options.CancelOnShip && o.options.Client == nil {
		return fmt.Errorf("orders: %w: CancelOnShip needs Options.Client", prescient.ErrInvalid)
	}
	result, err := tx.ExecContext(ctx, o.sql(shipOrder), id)
	if err != nil {
		return fmt.Errorf("shipping order %d: %w", id, err)
	}
	switch hit, err := result.RowsAffected(); {
	case err != nil:
		return fmt.Errorf("shipping order %d: %w", id, err)
	case hit == 0:
		if err := o.mustExist(ctx, tx, id); err != nil {
			return fmt.Errorf("shipping order %d: %w", id, err)
		}
	}
	if !o.options.CancelOnShip {
		return nil
	}
	if _, err := o.options.Client.Cancel(ctx, tx, entity(id), o.options.JobExec); err != nil {
		return fmt.Errorf("shipping order %d: %w", id, err)
	}
	return nil
}

func (o *Orders) mustExist(ctx context.Context, tx prescient.DB, id int64) error {
	rows, err := tx.QueryContext(ctx, o.sql(lockOrder), id)
	if err != nil {
		return err
	}
	defer rows.Close()
	if !rows.Next() {
		return errors.Join(rows.Err(), ErrNoOrder)
	}
	return rows.Close()
}
