package attest

import (
	"context"
	"fmt"
	"time"

	"prescient/slots"
)

// window looks at some slots from a time on, all of one resolution, and returns the time behind them.
func (a *attest) window(ctx context.Context, from time.Time) (time.Time, error) {
	i := eraAt(a.eras, from)
	in := a.eras[i]
	before := slots.Earlier(in.grid.Add(in.grid.Ceil(from), window), a.report.Before)
	if i+1 < len(a.eras) {
		before = slots.Earlier(before, a.eras[i+1].from)
	}
	waiting, err := a.waiting(ctx, from, before)
	if err != nil {
		return before, err
	}
	next := in.grid.Ceil(from)
	judge := func(slot time.Time, r *row) {
		state, reason := a.is.judge(in, slot, r, waiting[slot.Unix()])
		a.spans.add(in, slot, r, waiting[slot.Unix()], state, reason)
		if r != nil && state != NotKnown && a.report.Ends.Whole {
			a.balance.book(slot, r.Ended, r.open() == 0 || state == Late)
		}
	}
	for at := from; ; {
		page, err := a.ledger(ctx, at, before, ledgerPage)
		if err != nil {
			return before, err
		}
		for i := range page {
			for ; next.Before(page[i].Slot); next = in.grid.Next(next) {
				judge(next, nil)
			}
			judge(page[i].Slot, &page[i])
			if next.Equal(page[i].Slot) {
				next = in.grid.Next(next)
			}
			at = page[i].Slot.Add(time.Second)
		}
		if len(page) < ledgerPage {
			break
		}
	}
	for ; next.Before(before); next = in.grid.Next(next) {
		judge(next, nil)
	}
	return before, a.readEnds(ctx, before)
}

// readEnds reads history as far as the ledger was read.
func (a *attest) readEnds(ctx context.Context, before time.Time) (err error) {
	ends := &a.report.Ends
	if !ends.Whole || !before.After(a.balance.from) {
		return nil
	}
	if ends.Whole, err = a.history.until(ctx, before, a.end); err != nil {
		return err
	}
	if a.balance.full() {
		ends.Whole = false
	}
	return nil
}

// ledger reads a page of the ledger.
func (a *attest) ledger(ctx context.Context, from, before time.Time, limit int) (page []row, err error) {
	if err := a.db.SelectContext(ctx, &page, a.tables.Stmt.Get("attest/ledger"), from, before, limit); err != nil {
		return nil, fmt.Errorf("reading the ledger: %w", err)
	}
	for i := range page {
		page[i].Slot = page[i].Slot.UTC()
	}
	return page, nil
}

// waiting are the slots of a window for which checks still wait.
func (a *attest) waiting(ctx context.Context, from, before time.Time) (map[int64]bool, error) {
	found := make(map[int64]bool)
	for at := from; ; {
		var page []time.Time
		if err := a.db.SelectContext(ctx, &page, a.tables.Stmt.Get("sweep/overdue"), at, before, ledgerPage); err != nil {
			return nil, fmt.Errorf("looking for checks that wait: %w", err)
		}
		for _, slot := range page {
			found[slot.Unix()] = true
			at = slot.UTC().Add(time.Second)
		}
		if len(page) < ledgerPage {
			return found, nil
		}
	}
}

// restsOn says what was read.
func (a *attest) restsOn() []string {
	list := []string{
		fmt.Sprintf("the ledger: each slot that is served leaves a row in it, also where it was empty; it is known since %s", stamp(a.is.known.since)),
		"the audit: resolutions, pauses of everything, prunes",
		"pending checks: whether some wait for these slots",
	}
	if n := a.report.Unread; n > 0 {
		list[1] += fmt.Sprintf("; %s of its entries cannot be read", many(int64(n)))
	}
	ends := a.report.Ends
	switch {
	case !ends.Compared:
		return list
	case !ends.Whole:
		why := "as many as may be"
		if a.balance.full() {
			why = fmt.Sprintf("until more than %s slots waited for theirs", many(mostOutstanding))
		}
		return append(list, fmt.Sprintf("history in part: %s ends were read, %s; the last is of %s", many(int64(ends.Read)), why, stamp(ends.Until)))
	}
	return append(list, fmt.Sprintf("history: %s ends of these slots, among %s that were read, until %s", many(ends.Of), many(int64(ends.Read)), stamp(ends.Until)))
}

// cannotSee says what nothing tells.
func (a *attest) cannotSee() []string {
	list := []string{
		"what somebody wrote or deleted by plain SQL in ledger and history alike, or in the audit",
		"checks that nobody inserted, and what the app cancelled or changed itself",
		"ends that are dated before their slot, and a prune that is under way",
	}
	if !a.report.Ends.Compared {
		return append(list, "whether each end stands in history, and once: it was not read")
	}
	return append(list, "an end that history lacks where another of its slot stands twice: ends are compared by their number")
}
