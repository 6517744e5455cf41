package catchup

import (
	"time"

	"prescient/slots"
)

// Max is how many missed occurrences fire at most, where all of them are to.
const Max = 1000

// Rules are what a schedule says of its occurrences.
type Rules struct {
	// Runs says that each occurrence is a run; else it is an event.
	Runs bool
	// MostMissed is how many of the missed occurrences fire, the earliest first: 0 to Max.
	MostMissed int
	// Within is how late an occurrence may be and still fires as usual; zero for a minute or two slots, whichever is longer.
	Within time.Duration
	// ExpiresAfter is how long after its time an event is of use; zero for ever.
	ExpiresAfter time.Duration
	// MayCoalesce says that the occurrences of one slot are one.
	MayCoalesce bool
}

// Missed says whether what was due at a time is missed in a slot: it is late by more than it may be, and its own slot is over.
func (r Rules) Missed(grid slots.Grid, due, slot time.Time) bool {
	return !due.After(r.lastMissed(grid, slot))
}

// lastMissed is the last time at which something can be due that is missed in a slot.
func (r Rules) lastMissed(grid slots.Grid, slot time.Time) time.Time {
	last, over := slot.Add(-r.within(grid)-1), slot.Add(-grid.Resolution())
	if over.Before(last) {
		return over
	}
	return last
}

// within is how late an occurrence may be and still fires as usual, to the beginning of the slot in which that is.
func (r Rules) within(grid slots.Grid) time.Duration {
	if r.Within != 0 {
		return r.Within
	}
	return max(time.Minute, 2*grid.Resolution())
}

// Until is the last moment at which a run that is due at a time is called and not missed: to the end of a slot.
func (r Rules) Until(grid slots.Grid, due time.Time) time.Time {
	end := slots.Later(grid.Next(due.Add(r.within(grid))), grid.Next(grid.Ceil(due)))
	return end.Add(-time.Microsecond)
}
