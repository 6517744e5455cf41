package prune

import (
	"context"
	"errors"
	"fmt"
	"time"

	"prescient/slots"
)

// ErrClockDoubtful is returned by Run where the clock of the database may have jumped ahead: ledger and history show
// nothing for a large part of what is to be kept, up to a time by which much would go that is not old. Nothing was done.
var ErrClockDoubtful = errors.New("the clock of the database may be wrong")

// mostMissed is the least time without a trace that makes a clock doubtful: slots may be a day apart.
const mostMissed = 48 * time.Hour

// hole is a stretch of time of which neither ledger nor history have anything, though they have something before it.
type hole struct{ from, to time.Time }

// isDoubtful says whether a stretch is out of proportion to what is to be kept.
func (h hole) isDoubtful(keep time.Duration) bool {
	return h.to.Sub(h.from) > max(keep/3*2, mostMissed)
}

// checkClock refuses a clock that jumped ahead: by it all that there is might be old. Where workers ran, they left a row in
// the ledger for each slot. A stretch without any that is longer than two thirds of what is to be kept has the cutoff in it,
// or now, or the middle between them.
func (p *pruner) checkClock(ctx context.Context, now, cutoff time.Time) error {
	if p.options.TrustClock {
		return nil
	}
	for _, at := range []time.Time{cutoff, cutoff.Add(now.Sub(cutoff) / 2), now} {
		h, err := p.holeAt(ctx, at, now)
		if err != nil {
			return err
		}
		if h.isDoubtful(p.options.Keep) {
			return fmt.Errorf("%w: it says %s, and neither ledger nor history have anything between %s and %s; nothing was dropped: set the clock right, or, if nothing ran in that time, say that the clock is to be trusted",
				ErrClockDoubtful, slots.Stamp(now), slots.Stamp(h.from), slots.Stamp(h.to))
		}
	}
	return nil
}

// holeAt is the stretch around a time; none where nothing came before it.
func (p *pruner) holeAt(ctx context.Context, at, now time.Time) (h hole, err error) {
	var slotBefore, endBefore, slotAfter, endAfter *time.Time
	err = p.retry(ctx, "looking for the latest slots", func(ctx context.Context) error {
		return p.conn.QueryRowxContext(ctx, p.tables.Stmt.Get("prune/kept"), at, at, at, now, at, now).
			Scan(&slotBefore, &endBefore, &slotAfter, &endAfter)
	})
	if err != nil {
		return h, fmt.Errorf("looking for the latest slots and ends: %w", err)
	}
	h.to = now
	for _, before := range []*time.Time{slotBefore, endBefore} {
		if before != nil && before.After(h.from) {
			h.from = *before
		}
	}
	for _, after := range []*time.Time{slotAfter, endAfter} {
		if after != nil && after.Before(h.to) {
			h.to = *after
		}
	}
	if h.from.IsZero() {
		h.from = h.to
	}
	return h, nil
}
