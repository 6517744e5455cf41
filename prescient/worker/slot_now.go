package worker

import (
	"time"

	"prescient/slots"
)

// slotNow is the slot that a timer means that fires now: the next one where its boundary is within 2 s or a tenth of
// the resolution, whichever is less, since timers and clocks are not that exact.
func slotNow(grid slots.Grid, now time.Time) time.Time {
	if next := grid.Next(now); next.Sub(now) <= inexact(grid) {
		return next
	}
	return grid.Floor(now)
}

// inexact is by how much a timer may be early.
func inexact(grid slots.Grid) time.Duration { return min(2*time.Second, grid.Resolution()/10) }
