package slots

import (
	"errors"
	"fmt"
	"iter"
	"time"
)

// ErrResolution is returned when a resolution cannot make a grid, and when
// something is asked for on the zero Grid.
var ErrResolution = errors.New("resolution not allowed")

const (
	secondsPerHour = 60 * 60
	secondsPerDay  = 24 * secondsPerHour

	// edge bounds the seconds from the epoch that are computed with, so that
	// no sum or product of them overflows.
	edge int64 = 1 << 61
)

// Grid is the set of instants that are a whole number of resolutions away from
// the Unix epoch, in UTC. It is a small comparable value: two grids are equal
// if their resolutions are.
//
// The zero Grid has no slots. [Grid.IsZero], [Grid.Resolution] and
// [Grid.String] may be called on it; every other method panics.
type Grid struct {
	seconds int64
}

// NewGrid returns the grid of a resolution: whole seconds, from 1 second to 24
// hours, dividing a day exactly. Anything else is an error that wraps
// [ErrResolution].
func NewGrid(resolution time.Duration) (Grid, error) {
	const allowed = "allowed are whole seconds from 1s to 24h0m0s that divide a day exactly"
	switch {
	case resolution < time.Second || resolution > 24*time.Hour:
		return Grid{}, fmt.Errorf("%w: %s is out of range; %s", ErrResolution, resolution, allowed)
	case resolution%time.Second != 0:
		return Grid{}, fmt.Errorf("%w: %s is not whole seconds; %s", ErrResolution, resolution, allowed)
	case secondsPerDay%int64(resolution/time.Second) != 0:
		below, above := nearest(resolution)
		return Grid{}, fmt.Errorf("%w: %s does not divide a day; %s, the nearest are %s and %s",
			ErrResolution, resolution, allowed, below, above)
	}
	return Grid{seconds: int64(resolution / time.Second)}, nil
}

// nearest returns the allowed resolutions on either side of one in range that
// does not divide a day.
func nearest(resolution time.Duration) (below, above time.Duration) {
	divides := func(d time.Duration) bool { return (24*time.Hour)%d == 0 }
	for below = resolution; !divides(below); {
		below -= time.Second
	}
	for above = resolution; !divides(above); {
		above += time.Second
	}
	return below, above
}

// IsZero reports whether g is the zero Grid, which no resolution makes.
func (g Grid) IsZero() bool { return g.seconds == 0 }

// Resolution returns the distance between two slots, 0 for the zero Grid.
func (g Grid) Resolution() time.Duration { return time.Duration(g.seconds) * time.Second }

// String returns the resolution, such as "15m0s".
func (g Grid) String() string { return g.Resolution().String() }

// On reports whether t is a slot, to the nanosecond.
func (g Grid) On(t time.Time) bool {
	_, on := g.locate(t)
	return on
}

// Ceil rounds up: it returns the first slot that is not before t.
func (g Grid) Ceil(t time.Time) time.Time { return g.At(g.ceilOrdinal(t)) }

// Floor rounds down: it returns the last slot that is not after t.
func (g Grid) Floor(t time.Time) time.Time { return g.At(g.Ordinal(t)) }

// Next returns the first slot after t, which is never t itself.
func (g Grid) Next(t time.Time) time.Time { return g.At(g.Ordinal(t) + 1) }

// Prev returns the last slot before t, which is never t itself.
func (g Grid) Prev(t time.Time) time.Time { return g.At(g.ceilOrdinal(t) - 1) }

// Between returns the slots of the half-open interval [from, to) in order: from
// is among them if it is a slot, to is not. If to is not after from there are
// none.
func (g Grid) Between(from, to time.Time) iter.Seq[time.Time] {
	first, end := g.ceilOrdinal(from), g.ceilOrdinal(to)
	return func(yield func(time.Time) bool) {
		for ordinal := first; ordinal < end; ordinal++ {
			if !yield(g.At(ordinal)) {
				return
			}
		}
	}
}

// Ordinal returns the number of a slot: the slot at the Unix epoch is 0, the
// one before it -1. A time between two slots has the number of the earlier.
func (g Grid) Ordinal(slot time.Time) int64 {
	ordinal, _ := g.locate(slot)
	return ordinal
}

// At returns the slot with a number, the inverse of [Grid.Ordinal].
func (g Grid) At(ordinal int64) time.Time {
	g.mustHaveSlots()
	last := edge / g.seconds
	return time.Unix(max(-last, min(ordinal, last))*g.seconds, 0).UTC()
}

// Add returns the slot that is n slots after the given one, before it if n is
// negative. A time between two slots counts as the earlier.
func (g Grid) Add(slot time.Time, n int64) time.Time {
	return g.At(g.Ordinal(slot) + max(-2*edge, min(n, 2*edge)))
}

// MinuteOfHour returns the minute of the UTC hour, 0 to 59, in which a slot
// begins. A time between two slots counts as the earlier.
func (g Grid) MinuteOfHour(slot time.Time) int {
	return int(g.secondOfHour(g.Ordinal(slot)) / 60)
}

func (g Grid) secondOfHour(ordinal int64) int64 { return mod(ordinal*g.seconds, secondsPerHour) }

func (g Grid) ceilOrdinal(t time.Time) int64 {
	ordinal, on := g.locate(t)
	if !on {
		ordinal++
	}
	return ordinal
}

// locate returns the number of the last slot that is not after t, and whether
// that slot is t.
func (g Grid) locate(t time.Time) (ordinal int64, on bool) {
	g.mustHaveSlots()
	seconds := unixSeconds(t)
	ordinal = seconds / g.seconds
	rest := seconds % g.seconds
	if rest < 0 {
		ordinal--
	}
	return ordinal, rest == 0 && t.Nanosecond() == 0
}

func (g Grid) mustHaveSlots() {
	if g.seconds == 0 {
		panic("slots: the zero Grid has no slots, make one with NewGrid")
	}
}

// unixSeconds is t.Unix(), rounded down, held within the edges. Unix itself
// wraps around for times near the ends of what time.Time can hold.
func unixSeconds(t time.Time) int64 {
	seconds := t.Unix()
	switch {
	case -edge <= seconds && seconds <= edge:
		return seconds
	case t.Before(time.Unix(0, 0)):
		return -edge
	default:
		return edge
	}
}

// mod is the remainder of a division that rounds down: never negative.
func mod(a, n int64) int64 { return ((a % n) + n) % n }
