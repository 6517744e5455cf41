package timeline

import (
	"fmt"
	"math/bits"
	"time"

	"prescient/prescient"
	"prescient/slots"
)

// firstMany is how many occurrences [Timeline.TooFine] looks at.
const firstMany = 1000

// TooFine returns an error that wraps [prescient.ErrInvalid] where two of the first 1,000 occurrences strictly after from are
// rounded up to the same slot of the grid, where each is due a while later than the crontabs say: by a jitter, in whole seconds. It
// names the two. It panics on the zero Grid.
func (l *Timeline) TooFine(grid slots.Grid, from time.Time, later time.Duration) error {
	from = from.Add(-later)
	if l.fineFor(grid, from, later) {
		return nil
	}
	var last, lastSlot time.Time
	seen := 0
	for at := range l.After(from) {
		at = at.Add(later)
		slot := grid.Ceil(at)
		if seen > 0 && slot.Equal(lastSlot) {
			return fmt.Errorf("%w: it is too fine for slots of %s: %s and %s are in the same slot, %s; one occurrence in a slot is allowed",
				prescient.ErrInvalid, grid, last.Format(time.RFC3339Nano), at.Format(time.RFC3339Nano), slot.Format(time.RFC3339))
		}
		last, lastSlot = at, slot
		if seen++; seen == firstMany {
			break
		}
	}
	return nil
}

// fineFor says that no two of the first occurrences after from are in one slot, where that shows without looking at each: making a
// schedule takes a quarter of the time (scripts/bench/run schedules). Where it is false, they may be or not.
//
// Between two changes of the clocks a rule fires at times that its fields match, which are at least so far apart as those are. So
// two that are closer have a change between them, or at one of them.
func (l *Timeline) fineFor(grid slots.Grid, from time.Time, later time.Duration) bool {
	if len(l.rules) != 1 {
		return false
	}
	var c *calendar
	length := int64(grid.Resolution() / time.Second)
	switch r := l.rules[0].(type) {
	case every:
		return r.interval >= length
	case at:
		return true
	case *fixed:
		c = &r.calendar
	case *hourly:
		c = &r.calendar
	default:
		return false
	}
	days := c.everyDays()
	if days == 0 || c.apart() < length {
		return false
	}
	// Ten more, for days that are left out when a zone changes sides of the date line.
	end := from.Unix() + (firstMany+10)*days*secondsOfDay + 2*widest
	for p := periodOf(l.zone, from.Unix()); p.end < end; p = periodOf(l.zone, p.end) {
		if !l.fineAround(grid, time.Unix(p.end, 0), later) {
			return false
		}
	}
	return true
}

// fineAround says whether each occurrence around a change of the clocks has a slot of its own.
func (l *Timeline) fineAround(grid slots.Grid, change time.Time, later time.Duration) bool {
	var last time.Time
	for at, ok := l.Next(change.Add(-grid.Resolution() - time.Second)); ok && !at.After(change.Add(grid.Resolution())); at, ok = l.Next(at) {
		slot := grid.Ceil(at.Add(later))
		if slot.Equal(last) {
			return false
		}
		last = slot
	}
	return true
}

// apart is how far apart two times that match are at least, in seconds.
func (c *calendar) apart() int64 {
	for _, field := range []struct {
		set     uint64
		n, unit int64
	}{{c.seconds, 60, 1}, {c.minutes, 60, 60}, {c.hours, 24, 3600}} {
		if bits.OnesCount64(field.set) > 1 {
			return leastGap(field.set, field.n) * field.unit
		}
	}
	return secondsOfDay
}

// leastGap is the least distance between two numbers of a set, on a dial that has n.
func leastGap(set uint64, n int64) int64 {
	first := int64(bits.TrailingZeros64(set))
	gap, last := n, first
	for set &= set - 1; set != 0; set &= set - 1 {
		number := int64(bits.TrailingZeros64(set))
		gap, last = min(gap, number-last), number
	}
	return min(gap, first+n-last)
}

// everyDays is in how many days at most there is one that matches: 1, 7 where only weekdays restrict, 31 where only dates do that each
// month has, and 0 for others.
func (c *calendar) everyDays() int64 {
	const allDates, ofEachMonth = 1<<32 - 2, 1<<29 - 2
	anyDate, anyWeekday := c.monthDays&allDates == allDates, c.weekdays == allWeekdays && len(c.ofWeek) == 0
	switch {
	case c.months != allMonths:
		return 0
	case anyDate && anyWeekday:
		return 1
	case anyDate && len(c.ofWeek) == 0 && c.weekdays != 0:
		return 7
	case anyWeekday && c.monthDays&ofEachMonth != 0:
		return 31
	}
	return 0
}
