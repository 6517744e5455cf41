package worker

import (
	"cmp"
	"context"
	"fmt"
	"time"

	"prescient/prescient"
	"prescient/prescient/audit"
	"prescient/prescient/worker/internal/roll"
	"prescient/slots"
)

// Rolled is what RollForward did.
type Rolled struct {
	// Moved is how many rows went to the next slot.
	Moved int `json:"moved"`
	// PassedOver is how many stayed, since somebody else has them locked. The sweeper runs them; or roll forward again.
	PassedOver int `json:"passed_over"`
	// Held is how many buckets of overdue slots stayed as they are, since a live worker runs them, and HeldBy has one of those workers:
	// once it is stopped, they can be rolled forward.
	Held   int    `json:"held"`
	HeldBy string `json:"held_by,omitempty"`
}

func (r *Rolled) add(more Rolled) {
	r.Moved += more.Moved
	r.PassedOver += more.PassedOver
	r.Held += more.Held
	r.HeldBy = cmp.Or(r.HeldBy, more.HeldBy)
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
	said := false
	err = w.look.EachOverdue(ctx, prescient.EarliestDue, w.look.OverdueBefore(now), func(slot time.Time, _ int) error {
		if !said {
			if err := w.sayRolls(ctx, slot); err != nil {
				return err
			}
			said = true
		}
		var here Rolled
		did := func(more Rolled) {
			here.add(more)
			all.add(more)
			if progress != nil {
				progress(all)
			}
		}
		held, err := w.rollSlot(ctx, slot, func(moved, passedOver int) { did(Rolled{Moved: moved, PassedOver: passedOver}) })
		if len(held) > 0 {
			did(Rolled{Held: len(held), HeldBy: held[0]})
		}
		if here.Moved+here.PassedOver > 0 {
			w.log.Info().Time("slot", slot).Int("rows", here.Moved).Int("locked", here.PassedOver).Msg("slot rolled forward")
		}
		return err
	})
	return all, err
}

// sayRolls notes in the audit, before anything is moved, that everything overdue is rolled forward, and which slot is the oldest. By what a
// slot was run stands in the ledger.
func (w *Worker) sayRolls(ctx context.Context, oldest time.Time) error {
	entry := audit.Entry{Kind: audit.Installation, ID: audit.InstallationID, Verb: "roll-forward", After: map[string]string{"oldest": slots.Stamp(oldest)}}
	if err := audit.On(&w.tables).Record(ctx, w.send.DB, entry); err != nil {
		return fmt.Errorf("noting that overdue slots are rolled forward: %w", err)
	}
	return nil
}

func (w *Worker) rollSlot(ctx context.Context, slot time.Time, did func(moved, passedOver int)) (held []string, err error) {
	_, work, cancel := w.scope(ctx)
	defer cancel()
	return w.roller().Slot(ctx, work, slot, did)
}

func (w *Worker) roller() *roll.Roller {
	return &roll.Roller{Send: w.send, Tables: &w.tables, Look: w.look, Ledger: w.ledger, Writer: w.shared.Writer, Batch: w.options.Load.Batch, Log: w.log}
}
