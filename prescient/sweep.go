package prescient

import (
	"context"
	"errors"
	"fmt"
	"time"

	"prescient/slots"
)

// sweepPage is how many overdue slots are looked up at a time.
const sweepPage = 100

// Sweep runs what earlier slots left behind, oldest first, each under its own leases: rows whose insert committed after
// their slot had run, slots that nobody served, buckets of dead workers. What a live worker holds it leaves alone. It
// takes slots before the current one that are older than the sweep grace, as many buckets at a time as Run does, and
// gives way to the slot that is now. It returns the figures of each slot that it ran. Where everything is paused it does
// nothing.
func (w *Worker) Sweep(ctx context.Context) ([]Figures, error) {
	var all []Figures
	err := w.sweep(ctx, func(figures Figures) { all = append(all, figures) })
	return all, err
}

// sweep is Sweep, but keeps nothing: after an outage there may be millions of slots.
func (w *Worker) sweep(ctx context.Context, did func(Figures)) error {
	seen, err := w.lookAround(ctx)
	if err != nil || seen.paused.all() {
		return err
	}
	err = w.eachOverdue(ctx, seen.clock.now(), func(slot time.Time) error {
		figures, err := w.runSlot(ctx, slot, manner{parallel: w.buckets(), background: true,
			pace: func(_ context.Context, rows int) error { return w.pace(ctx, rows) }})
		if err != nil {
			if !figures.idle() {
				w.report(figures, nil, "slot swept in part")
			}
			return err
		}
		if figures.Paused {
			return errPaused
		}
		if figures.Buckets > 0 {
			w.report(figures, nil, "slot swept")
			did(figures)
		}
		return nil
	})
	if errors.Is(err, errPaused) {
		err = nil
	}
	return err
}

// eachOverdue calls do for every overdue slot, oldest first. A slot that comes to be overdue meanwhile is for next time.
func (w *Worker) eachOverdue(ctx context.Context, now time.Time, do func(slot time.Time) error) error {
	before := sweepLimit(w.grid, now, w.options.SweepGrace)
	for from := earliestDue; ; {
		page, err := w.overdue(ctx, from, before)
		if err != nil {
			return err
		}
		for _, slot := range page {
			if ctx.Err() != nil {
				return context.Cause(ctx)
			}
			if err := do(slot); err != nil {
				return err
			}
			from = slot.Add(time.Second)
		}
		if len(page) < sweepPage {
			return nil
		}
	}
}

// sweepLimit is the first moment whose slots are not swept yet: those before the current one and older than the grace,
// so that a timer a few seconds late keeps its own slot.
func sweepLimit(grid slots.Grid, now time.Time, grace time.Duration) time.Time {
	if old := now.Add(-grace); old.Before(grid.Floor(now)) {
		return old
	}
	return grid.Floor(now)
}

// overdue lists slots that still hold rows.
func (w *Worker) overdue(ctx context.Context, from, before time.Time) ([]time.Time, error) {
	var page []time.Time
	err := w.query(ctx, func(ctx context.Context) error {
		page = nil
		return w.db.SelectContext(ctx, &page, w.stmt.Get("sweep/overdue"), from, before, sweepPage)
	})
	if err != nil {
		return nil, fmt.Errorf("looking for overdue slots: %w", err)
	}
	return page, nil
}

// pace waits before rows are caught up: for the slot that is now, at most a second, so that the backlog moves at all;
// and for the configured rate.
func (w *Worker) pace(ctx context.Context, rows int) error {
	for waited := time.Duration(0); waited < time.Second && w.current.Load() > 0; waited += flushEvery {
		if sleep(ctx, flushEvery) != nil {
			return errStopped
		}
	}
	if w.sweeps != nil && w.sweeps.WaitN(ctx, rows) != nil {
		return errStopped
	}
	return nil
}
