package slots

import (
	"fmt"
	"time"
)

// maxPeriod bounds the slots that Cover looks at. At the longest resolution it
// is 273 years, which a time.Duration still holds.
const maxPeriod = 100_000

// Coverage says how well a set of assignments serves a grid.
type Coverage struct {
	// Period is the time after which all the assignments repeat together: the
	// least common multiple of an hour, if minutes are among them, and of as
	// many slots as each has shares. Periods are counted from the Unix epoch:
	// one that divides a day begins at midnight UTC, any other need not.
	Period time.Duration
	// Unserved holds the slots that no assignment serves, as offsets from the
	// start of a period, in order.
	Unserved []time.Duration
	// Doubled holds the slots that more than one assignment serves, in order.
	Doubled []Overlap

	assignments []Assignment
}

// Overlap is a slot that more than one assignment serves.
type Overlap struct {
	// Offset is where the slot is, from the start of a period.
	Offset time.Duration
	// Assignments are those that serve it, two or more, numbered from 0 in the
	// order in which they were given to Cover.
	Assignments []int
}

// Cover compares assignments over one full period and tells which slots nobody
// serves and which are served more than once.
//
// There must be at least one assignment, none of them zero, all on the same
// grid, and together they must repeat within 100000 slots. Otherwise the error
// wraps [ErrAssignment].
func Cover(assignments ...Assignment) (Coverage, error) {
	period, err := commonPeriod(assignments)
	if err != nil {
		return Coverage{}, err
	}
	resolution := assignments[0].grid.Resolution()
	coverage := Coverage{
		Period:      time.Duration(period) * resolution,
		assignments: append([]Assignment(nil), assignments...),
	}
	for ordinal := range period {
		offset := time.Duration(ordinal) * resolution
		var serving []int
		for i, assignment := range assignments {
			if assignment.servesOrdinal(ordinal) {
				serving = append(serving, i)
			}
		}
		switch {
		case len(serving) == 0:
			coverage.Unserved = append(coverage.Unserved, offset)
		case len(serving) > 1:
			coverage.Doubled = append(coverage.Doubled, Overlap{Offset: offset, Assignments: serving})
		}
	}
	return coverage, nil
}

// commonPeriod returns after how many slots the assignments repeat together.
func commonPeriod(assignments []Assignment) (int64, error) {
	if len(assignments) == 0 {
		return 0, fmt.Errorf("%w: nothing to compare, at least one assignment is needed", ErrAssignment)
	}
	period := int64(1)
	for i, assignment := range assignments {
		if assignment.choice == chooseNone {
			return 0, fmt.Errorf("%w: assignment %d is the zero Assignment, which serves nothing; allowed are minutes, shares and every slot",
				ErrAssignment, i)
		}
		if first := assignments[0].grid; assignment.grid != first {
			return 0, fmt.Errorf("%w: assignment %d is on a grid of %s, assignment 0 on one of %s; all must share one grid",
				ErrAssignment, i, assignment.grid, first)
		}
		period = lcm(period, assignment.period())
		if period > maxPeriod {
			return 0, fmt.Errorf("%w: with assignment %d (%s) it takes %d slots of %s until all repeat together; allowed are at most %d",
				ErrAssignment, i, assignment, period, assignment.grid, maxPeriod)
		}
	}
	return period, nil
}

func lcm(a, b int64) int64 {
	gcd, rest := a, b
	for rest != 0 {
		gcd, rest = rest, gcd%rest
	}
	return a / gcd * b
}
