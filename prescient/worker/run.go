package worker

import (
	"context"
	"fmt"
	"time"

	"prescient/prescient"
	"prescient/prescient/worker/books"
	"prescient/prescient/worker/internal/ledger"
	"prescient/slots"
)

// Run runs the slot that is now, by the database's clock, and returns its figures: for cron and systemd timers. Started
// a moment too early it waits for the boundary instead of running the slot before. It returns once nothing is left of
// the slot that this worker may do; buckets that a dead worker left are taken over when its lease ends.
//
// The error wraps ErrNotAssigned where the slot is not among those assigned; the figures name the slot in any case.
// Ending ctx stops it gracefully: nothing new is started, what runs has the stop grace, what is done is committed.
func (w *Worker) Run(ctx context.Context) (books.Figures, error) {
	w.shared.Executor.Serves.Store(true)
	now, err := w.Now(ctx)
	if err != nil {
		return books.Figures{}, err
	}
	slot := slotNow(w.tables.Grid, now)
	if !w.options.Assignment.Serves(slot) {
		return books.Figures{Slot: slot}, fmt.Errorf("%w: %s is not in %s", prescient.ErrNotAssigned, slots.Stamp(slot), w.options.Assignment)
	}
	figures, err := w.runSlot(ctx, slot, runOptions{by: ledger.Run, parallel: w.buckets(), stay: true})
	if !figures.Paused {
		w.tellKnown(ctx)
	}
	switch {
	case err == nil:
		w.report(figures, nil, "slot run")
	case !figures.Idle():
		w.report(figures, nil, "slot run in part")
	}
	return figures, err
}

// slotNow is the slot that a timer means that fires now: the next one where its boundary is within 2 s or a tenth of
// the resolution, whichever is less, since timers and clocks are not that exact.
func slotNow(grid slots.Grid, now time.Time) time.Time {
	if next := grid.Next(now); next.Sub(now) <= inexact(grid) {
		return next
	}
	return grid.Floor(now)
}
