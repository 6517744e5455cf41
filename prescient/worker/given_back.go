package worker

import (
	"context"
	"time"

	"prescient/prescient/worker/internal/watched"
)

// watchGivenBack goes on with slots of which others give buckets back, until ctx ends.
func (w *Worker) watchGivenBack(ctx context.Context) {
	for {
		select {
		case <-ctx.Done():
			return
		case <-w.watched.Some():
		}
		for all := w.watched.Slots(time.Now()); len(all) > 0; all = w.watched.Slots(time.Now()) {
			select {
			case <-ctx.Done():
				return
			case <-time.After(watched.Every):
			}
			if all, err := w.watched.Free(ctx, all); err == nil { // else the next look will tell
				for _, slot := range all {
					w.goOn(ctx, slot)
				}
			}
		}
	}
}

// goOn runs what is free of a slot, where there is a place for that: that of a slot of its own, or of the sweeper where it is past.
func (w *Worker) goOn(ctx context.Context, slot time.Time) {
	now, err := w.Now(ctx)
	if err != nil {
		return
	}
	how, places := runOptions{parallel: w.buckets()}, w.bounds.runs
	if w.tables.Grid.Floor(now).After(slot) {
		how.background, places = true, w.bounds.sweepers
		how.beforeRead = func(_ context.Context, rows int) error { return w.beforeCatchUp(ctx, rows) }
	}
	place, free := places.try()
	if !free {
		return
	}
	how.place = place
	figures, err := w.runSlot(ctx, slot, how)
	switch {
	case err != nil && ctx.Err() == nil:
		w.watched.Forget(slot)
		w.log.Error().Err(err).Time("slot", slot).Msg("what another worker gave back could not be run; the sweeper has it")
		w.leaveToSweeper()
	case !figures.Idle():
		w.report(figures, nil, "slot run on, for a worker that gave it back")
	}
}
