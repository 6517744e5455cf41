package worker

import (
	"context"
	"fmt"
	"time"

	"prescient/prescient"
)

// Alive says whether Work goes on as it should: an error where it does not run, or has not come back from a wait by the
// time at which it wanted to. It asks no database, and one that is away is no reason to start a worker again: Work waits
// for it. It is what a watchdog should go by.
func (w *Worker) Alive() error { return w.pulse.check() }

// slack is how long the statements between two waits of Work may take.
func (w *Worker) slack() time.Duration {
	return w.options.Times.Patience + w.send.Timeout + time.Minute
}

// Backlog looks for the oldest slot that has come and still holds rows, and returns it and its age by the database's
// clock; the zero time and no age where everything is done. It is one look at the primary key, tried once.
func (w *Worker) Backlog(ctx context.Context) (oldest time.Time, age time.Duration, err error) {
	ctx, cancel := context.WithTimeout(ctx, w.send.Timeout)
	defer cancel()
	now, err := w.tables.ReadClock(ctx, w.send.DB)
	if err != nil {
		return oldest, 0, err
	}
	var slots []time.Time
	if err := w.send.DB.SelectContext(ctx, &slots, w.tables.Stmt.Get("sweep/overdue"), prescient.EarliestDue, now, 1); err != nil {
		return oldest, 0, fmt.Errorf("looking for overdue slots: %w", err)
	}
	if len(slots) == 0 {
		return oldest, 0, nil
	}
	return slots[0], now.Sub(slots[0]), nil
}

// Overdue counts the slots that Sweep and RollForward would take now. It looks at each slot once, not at its rows.
func (w *Worker) Overdue(ctx context.Context) (slots int, err error) {
	now, err := w.Now(ctx)
	if err != nil {
		return 0, err
	}
	err = w.look.EachOverdue(ctx, prescient.EarliestDue, w.look.OverdueBefore(now), func(time.Time, int) error {
		slots++
		return nil
	})
	return slots, err
}
