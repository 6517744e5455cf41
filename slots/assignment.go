package slots

import (
	"errors"
	"math/bits"
	"strconv"
	"strings"
	"time"
)

// ErrAssignment is returned when a text is no choice of slots on its grid, and
// when assignments cannot be compared with each other.
var ErrAssignment = errors.New("assignment not allowed")

type choice uint8

const (
	chooseNone choice = iota
	chooseAll
	chooseMinutes
	chooseShare
)

// Assignment says which slots of a grid a worker serves. It is a comparable
// value, made by [All], [ParseMinutes] or [ParseShare]. Every one of these
// serves at least one slot; the zero Assignment serves none.
type Assignment struct {
	grid    Grid
	choice  choice
	minutes uint64 // bit m is set if the slots in minute m of the hour are served
	share   int64  // which of the shares, from 0
	shares  int64
}

// All returns the assignment that serves every slot of a grid. On the zero Grid
// that is the zero Assignment.
func All(g Grid) Assignment {
	if g.IsZero() {
		return Assignment{}
	}
	return Assignment{grid: g, choice: chooseAll}
}

// Grid returns the grid whose slots are served; the zero Grid for the zero
// Assignment.
func (a Assignment) Grid() Grid { return a.grid }

// Serves reports whether a slot is served. A time that is not on the grid never
// is.
func (a Assignment) Serves(slot time.Time) bool {
	if a.choice == chooseNone {
		return false
	}
	ordinal, on := a.grid.locate(slot)
	return on && a.servesOrdinal(ordinal)
}

func (a Assignment) servesOrdinal(ordinal int64) bool {
	switch a.choice {
	case chooseAll:
		return true
	case chooseMinutes:
		return a.minutes&(1<<(a.grid.secondOfHour(ordinal)/60)) != 0
	case chooseShare:
		return mod(ordinal, a.shares) == a.share
	default:
		return false
	}
}

// Next returns the first served slot after t, which is never t itself. The zero
// Assignment has none and returns the zero time.
func (a Assignment) Next(t time.Time) time.Time {
	if a.choice == chooseNone {
		return time.Time{}
	}
	next := a.grid.Ordinal(t) + 1
	switch a.choice {
	case chooseMinutes:
		return a.firstInMinutes(next)
	case chooseShare:
		return a.grid.At(next + mod(a.share-next, a.shares))
	default:
		return a.grid.At(next)
	}
}

// firstInMinutes returns the first slot from an ordinal on that lies in a
// chosen minute. A chosen minute always has a slot in it.
func (a Assignment) firstInMinutes(ordinal int64) time.Time {
	if a.servesOrdinal(ordinal) {
		return a.grid.At(ordinal)
	}
	second := a.grid.secondOfHour(ordinal)
	hour := ordinal*a.grid.seconds - second
	left := a.minutes &^ (1<<(second/60+1) - 1)
	if left == 0 {
		hour += secondsPerHour
		left = a.minutes
	}
	minute := int64(bits.TrailingZeros64(left))
	return a.grid.Ceil(time.Unix(hour+minute*60, 0))
}

// period returns after how many slots the choice repeats.
func (a Assignment) period() int64 {
	switch a.choice {
	case chooseMinutes:
		return secondsPerHour / a.grid.seconds
	case chooseShare:
		return a.shares
	default:
		return 1
	}
}

// String says what is served, in one form for equal assignments: "every slot",
// "minutes 0,30", "share 1/2", or "no slot" for the zero Assignment.
func (a Assignment) String() string {
	switch a.choice {
	case chooseAll:
		return "every slot"
	case chooseMinutes:
		return "minutes " + listMinutes(a.minutes, ",")
	case chooseShare:
		return "share " + strconv.FormatInt(a.share+1, 10) + "/" + strconv.FormatInt(a.shares, 10)
	default:
		return "no slot"
	}
}

func listMinutes(minutes uint64, separator string) string {
	var list []string
	for ; minutes != 0; minutes &= minutes - 1 {
		list = append(list, strconv.Itoa(bits.TrailingZeros64(minutes)))
	}
	return strings.Join(list, separator)
}
