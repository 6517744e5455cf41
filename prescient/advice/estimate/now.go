package estimate

import (
	"math"
	"slices"
	"sort"
	"time"

	"prescient/prescient"
)

// called says whether it was called at least once.
func (c Check) called() bool { return c.Answers > 0 || !c.Started.IsZero() }

// calls are those that it had, but for errors.
func (c Check) calls() int {
	switch {
	case c.Outcome == "", c.Started.IsZero():
		return c.Answers
	}
	return c.Answers + 1
}

// guard counts who ended by max_checks, or was near to it: as far as is seen, the guard is the highest number of answers of those that ended by it.
func (a *Advice) guard(checks []Check) {
	most := math.MaxInt
	for _, c := range checks {
		if c.Outcome == prescient.MaxChecks {
			if a.AtGuard++; most == math.MaxInt || c.Answers > most {
				most = c.Answers
			}
		}
	}
	for _, c := range checks {
		if c.Outcome == "" {
			continue
		}
		if a.Ended++; c.Outcome != prescient.MaxChecks && most < math.MaxInt && c.Answers >= most-1 && c.Answers > 0 {
			a.Near++
		}
	}
}

// usualCalls is how many a check has on average, by Kaplan and Meier's estimator: what is pending has had some, and will have more.
func usualCalls(checks []Check) float64 {
	most := 0
	for _, c := range checks {
		most = max(most, c.calls())
	}
	reached, ended := make([]int, most+1), make([]int, most+1)
	for _, c := range checks {
		reached[c.calls()]++
		if c.Outcome != "" {
			ended[c.calls()]++
		}
	}
	left, goesOn, sum := len(checks), 1.0, 0.0
	for n := range most {
		goesOn *= 1 - float64(ended[n])/float64(left)
		sum, left = sum+goesOn, left-reached[n]
	}
	return sum
}

// lateness is how late checks of punctual workers find what happens, on average, as far as the curve says when it does, how late workers were, and
// how far the two checks are apart between which it happened.
func lateness(c prescient.Curve, all []Seen) (late, workers, apart float64) {
	const steps = 16
	n := 0.0
	for _, s := range all {
		if !s.happened() || s.Reported {
			continue
		}
		from, _ := c.Happened(s.Inserted, duration(s.From))
		before, mean := from, 0.0
		for i := range steps { // the mean of the ages in between, as they are likely
			age := s.From + (s.Until-s.From)*float64(i+1)/steps
			by, _ := c.Happened(s.Inserted, duration(age))
			mean += (by - before) * (age - (s.Until-s.From)/steps/2)
			before = by
		}
		waited := (s.Until - s.From) / 2
		if before > from+unlikely {
			waited = s.Until - mean/(before-from)
		}
		late, workers, apart, n = late+max(waited-s.Delayed, 0), workers+s.Delayed, apart+s.Until-s.From, n+1
	}
	n = max(n, 1)
	return late / n, workers / n, apart / n
}

// guessed is the share of what was found between two checks with several of the advised ages between them.
func guessed(ages []int64, inserted time.Time, c prescient.Curve, all []Seen) float64 {
	// The ages are of one check; of another they pass as the day of the curve has it.
	passed := make([]float64, 0, len(ages))
	for _, age := range ages {
		passed = append(passed, c.Passed(inserted, duration(float64(age))))
	}
	several, n := 0.0, 0.0
	for _, s := range spansOf(c, all) {
		if !s.finite() || s.reported {
			continue
		}
		n++
		if i := sort.SearchFloat64s(passed, s.from); i+2 < len(passed) && passed[i+2] < s.until {
			several++
		}
	}
	return several / max(n, 1)
}

// differ is when the later half of the checks was inserted, where those tell clearly otherwise than the earlier ones when it happens.
func differ(all, firsts []Seen, floorOf int) *time.Time {
	sorted := slices.Clone(all)
	slices.SortStableFunc(sorted, func(x, y Seen) int { return x.Inserted.Compare(y.Inserted) })
	earlier, later := sorted[:len(sorted)/2], sorted[len(sorted)/2:]
	var these, those []Seen
	for i, s := range later {
		if i%2 == 0 {
			these = append(these, s)
		} else {
			those = append(those, s)
		}
	}
	own, other := fitted(nil, these, firsts, floorOf, parts[0]), fitted(nil, earlier, firsts, floorOf, parts[0])
	if more, chance := ahead(likelihoods(own, those), likelihoods(other, those)); more > clearer && more > 4*chance {
		return &later[0].Inserted
	}
	return nil
}
