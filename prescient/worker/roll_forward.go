package worker

import (
	"context"
	"time"

	"prescient/prescient"
	"prescient/prescient/worker/internal/roll"
)

// Rolled is what RollForward did.
type Rolled struct {
	// Moved is how many rows went to the next slot.
	Moved int `json:"moved"`
	// PassedOver is how many stayed, since somebody else has them locked. The sweeper runs them; or roll forward again.
	PassedOver int `json:"passed_over"`
}

func (r *Rolled) add(more Rolled) {
	r.Moved += more.Moved
	r.PassedOver += more.PassedOver
}

// RollForward is the other way to catch up: it moves every overdue row to the next slot, in batches, and says how many.
// Nothing is run; due_at and the counts stay. It works under the leases of the slots, so that what a live worker holds is
// left alone, and passes over rows that others have locked; progress, where given, is called after each batch with what was
// done so far.
func (w *Worker) RollForward(ctx context.Context, progress func(Rolled)) (all Rolled, err error) {
	now, err := w.Now(ctx)
	if err != nil {
		return all, err
	}
	err = w.look.EachOverdue(ctx, prescient.EarliestDue, w.look.OverdueBefore(now), func(slot time.Time) error {
		var here Rolled
		err := w.rollSlot(ctx, slot, func(moved, passedOver int) {
			more := Rolled{Moved: moved, PassedOver: passedOver}
			here.add(more)
			all.add(more)
			if progress != nil {
				progress(all)
			}
		})
		if here != (Rolled{}) {
			w.log.Info().Time("slot", slot).Int("rows", here.Moved).Int("locked", here.PassedOver).Msg("slot rolled forward")
		}
		return err
	})
	return all, err
}

func (w *Worker) rollSlot(ctx context.Context, slot time.Time, did func(moved, passedOver int)) error {
	_, work, cancel := w.scope(ctx)
	defer cancel()
	return w.roller().Slot(ctx, work, slot, did)
}

func (w *Worker) roller() *roll.Roller {
	return &roll.Roller{Send: w.send, Tables: &w.tables, Look: w.look, Ledger: w.ledger, Writer: w.shared.Writer, Batch: w.options.Batch, Log: w.log}
}
