package look

import (
	"context"
	"fmt"
	"time"

	"prescient/prescient/internal/store"
	"prescient/slots"
)

// Looker looks at the tables.
type Looker struct {
	Send   *store.Sender
	Tables *store.Tables
	// Grace is how old a slot must be until it is overdue.
	Grace time.Duration
}

// State is what slotrun/state reads of a slot.
type State struct {
	Clock  store.Clock
	Due    bool // it holds rows
	Paused store.Pauses
}

// Now asks what time it is, and what is paused.
func (l *Looker) Now(ctx context.Context) (State, error) {
	seen, err := l.read(ctx, time.Unix(0, 0).UTC()) // a slot that has no rows
	if err != nil {
		return State{}, fmt.Errorf("reading the database's clock: %w", err)
	}
	return seen, nil
}

// At reads the state of a slot.
func (l *Looker) At(ctx context.Context, slot time.Time) (State, error) {
	seen, err := l.read(ctx, slot)
	if err != nil {
		return State{}, fmt.Errorf("looking at slot %s: %w", slots.Stamp(slot), err)
	}
	return seen, nil
}

func (l *Looker) read(ctx context.Context, slot time.Time) (seen State, err error) {
	err = l.Send.Query(ctx, func(ctx context.Context) error {
		var now time.Time
		var version uint64
		var paused []byte
		if err := l.Send.DB.QueryRowContext(ctx, l.Tables.Stmt.Get("slotrun/state"), slot).Scan(&now, &seen.Due, &version, &paused); err != nil {
			return err
		}
		seen.Clock = store.ClockAt(now)
		if err := l.Tables.SameVersion(version); err != nil {
			return err
		}
		seen.Paused, err = store.ReadPauses(paused)
		return err
	})
	return seen, err
}
