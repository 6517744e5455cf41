package occurrences

import (
	"iter"
	"time"

	"prescient/prescient/schedule/timeline"
	"prescient/slots"
)

// Line is a timeline whose occurrences are due a while later.
type Line struct {
	line *timeline.Timeline
	by   time.Duration
}

// Later returns the line of a timeline.
func Later(line *timeline.Timeline, by time.Duration) Line { return Line{line, by} }

// Next is the first time after t at which one is due; false where none is left.
func (l Line) Next(t time.Time) (time.Time, bool) {
	at, ok := l.line.Next(t.Add(-l.by))
	if !ok {
		return time.Time{}, false
	}
	return at.Add(l.by), true
}

// After returns the times after t at which one is due, in order.
func (l Line) After(t time.Time) iter.Seq[time.Time] {
	return func(yield func(time.Time) bool) {
		for at := range l.line.After(t.Add(-l.by)) {
			if !yield(at.Add(l.by)) {
				return
			}
		}
	}
}

// TooFine is that of timeline.Timeline.
func (l Line) TooFine(grid slots.Grid, from time.Time) error { return l.line.TooFine(grid, from, l.by) }

// Following is the first time after an occurrence at which one is due. Of an occurrence that is none by this machine's zones, since another
// machine computed it by others, that may be the same once more: such a one is as far from the next as that from the one behind it.
func (l Line) Following(due time.Time) (time.Time, bool) {
	next, ok := l.Next(due)
	if here, _ := l.Next(due.Add(-time.Second)); !ok || here.Equal(due) {
		return next, ok
	}
	if behind, more := l.Next(next); more {
		return due.Add(behind.Sub(next)), true
	}
	return next, ok
}

// GapBefore is how long before an occurrence the one before it was, up to most: crontabs need not fire at equal distances.
func (l Line) GapBefore(due time.Time, most time.Duration) time.Duration {
	isLast := func(t time.Time) bool { // none is between t and due
		next, ok := l.Next(t)
		return !ok || !next.Before(due)
	}
	earlier, later := due.Add(-most), due
	if isLast(earlier) {
		return most
	}
	for later.Sub(earlier) > time.Second {
		if middle := earlier.Add(later.Sub(earlier) / 2); isLast(middle) {
			later = middle
		} else {
			earlier = middle
		}
	}
	before, _ := l.Next(earlier) // there is one: none is the last
	return due.Sub(before)
}
