package attest

import (
	"time"

	"prescient/slots"
)

// era is a time of one resolution.
type era struct {
	from time.Time // zero for the first
	grid slots.Grid
	// settled is when the change to it was done: nobody claimed before. The audit has no entry of that.
	settled   time.Time
	unsettled bool // it is not known yet
}

// changing says whether the resolution was being changed at a slot.
func (e era) changing(slot time.Time) bool { return slot.Before(e.settled) }

// change is an entry of the audit: from its time on nobody claims, or, where a change was withdrawn, all go on.
type change struct {
	at        time.Time
	from, to  slots.Grid
	withdrawn bool
}

// erasOf makes eras of the changes since a time, the earliest first, and the resolution that there is since changedAt. agrees is false
// where the changes do not lead to it: before changedAt nothing is known then.
func erasOf(changes []change, is slots.Grid, changedAt time.Time) (all []era, agrees bool) {
	if len(changes) == 0 {
		return []era{{grid: is}}, true
	}
	all = []era{{grid: changes[0].from}}
	if changes[0].withdrawn { // what it takes back came before the span
		all[0].grid = changes[0].to
	}
	for _, c := range changes {
		last := &all[len(all)-1]
		switch {
		case c.withdrawn && last.unsettled:
			last.grid, last.unsettled, last.settled = c.to, false, c.at
		case c.withdrawn: // so did its announcement
			last.settled = c.at
		case last.unsettled && last.grid != c.from: // it was broken off, and this run goes on
			last.grid, last.unsettled, last.settled = c.from, false, c.at
			fallthrough
		default:
			all = append(all, era{from: c.at, grid: c.to, unsettled: true})
		}
	}
	last := &all[len(all)-1]
	if last.unsettled && !changedAt.Before(last.from) {
		last.unsettled, last.settled = false, changedAt
	}
	agrees = last.grid == is
	last.grid = is
	return all, agrees
}

// eraAt returns the place of the era of a time.
func eraAt(all []era, at time.Time) int {
	for i := len(all) - 1; i > 0; i-- {
		if !at.Before(all[i].from) {
			return i
		}
	}
	return 0
}
