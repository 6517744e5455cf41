package orders

import (
	"context"
	"fmt"
	"time"

	"prescient/prescient"
	"prescient/prescient/client"
)

// NewOrder is an order to place.
type NewOrder struct {
	// ID is its number, from 1; 0 takes the next one.
	ID int64
	// PlacedAt is when it was placed, in any zone; rounded up to the microsecond. The zero time is now, by the database's
	// clock, as the slots are.
	PlacedAt time.Time
}

// Placed is an order that was placed.
type Placed struct {
	ID       int64
	PlacedAt time.Time // UTC
	// Check is its first check.
	Check client.Inserted
}

// insertOrder takes the next id for NULL, whatever sql_mode makes of 0.
const insertOrder = "INSERT INTO {prefix}orders (id, placed_at) VALUES (?, ?)"

// Place inserts an order and its check. tx is the caller's transaction: with it, both are there or neither is. Errors
// are those of client.Client.Insert; others, such as for an id that is taken, come from the server.
func (o *Orders) Place(ctx context.Context, tx prescient.DB, order NewOrder) (Placed, error) {
	switch {
	case o.options.Client == nil:
		return Placed{}, fmt.Errorf("orders: %w: Place needs Options.Client", prescient.ErrInvalid)
	case order.ID < 0:
		return Placed{}, fmt.Errorf("orders: %w: order %d: the id must be positive, or 0 for the next one", prescient.ErrInvalid, order.ID)
	}
	if order.PlacedAt.IsZero() {
		now, err := o.options.Client.Now(ctx, tx)
		if err != nil {
			return Placed{}, fmt.Errorf("placing an order: %w", err)
		}
		order.PlacedAt = now
	}
	placed := Placed{ID: order.ID, PlacedAt: roundUp(order.PlacedAt)}
	var id any
	if order.ID != 0 {
		id = order.ID
	}
	result, err := tx.ExecContext(ctx, o.sql(insertOrder), id, utcText(placed.PlacedAt))
	if err != nil {
		return Placed{}, fmt.Errorf("placing an order: %w", err)
	}
	if placed.ID == 0 {
		if placed.ID, err = result.LastInsertId(); err != nil {
			return Placed{}, fmt.Errorf("placing an order: %w", err)
		}
	}
	placed.Check, err = o.options.Client.Insert(ctx, tx, prescient.NewJob{
		Entity:    entity(placed.ID),
		JobExec:   o.options.JobExec,
		DueAt:     placed.PlacedAt.Add(o.options.PrimaryAfter),
		OnPending: prescient.Replace, // what an earlier order with this id left behind is not about this one
	})
	if err != nil {
		return Placed{}, fmt.Errorf("placing order %d: %w", placed.ID, err)
	}
	return placed, nil
}
