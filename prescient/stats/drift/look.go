package drift

import (
	"math"
	"slices"
	"time"

	"prescient/prescient/internal/tally"
)

// The rule; the package comment has the reasons.
const (
	// Span is how many days Look sees.
	Span = 35
	// Calls is how many a day counts with, of checks; StepCalls of a step, which may be called but once a day.
	Calls     = 50
	StepCalls = 1

	week     = 7
	minSpan  = 3 * week
	minDays  = 2 * week
	looks    = 2
	minGrows = 2 * week
	rise     = 0.25
	scatters = 6
	minRise  = 5 // ms
)

var leastRise = math.Log1p(rise) // of logarithms

// Day is the run times of a UTC day, in milliseconds.
type Day struct {
	Start time.Time
	Runs  tally.Histogram
}

// Kind is how run times rose.
type Kind string

// The kinds.
const (
	// Sudden: from one day to the next.
	Sudden Kind = "sudden"
	// Gradual: day by day.
	Gradual Kind = "gradual"
)

// Rise is how run times became longer: the median of a day, in milliseconds, freed of its weekly rhythm.
type Rise struct {
	Kind  Kind      `json:"kind"`
	Since time.Time `json:"since"` // the first day
	// From is what it was before Since, To what it is now.
	FromMS int64 `json:"from_ms"`
	ToMS   int64 `json:"to_ms"`
}

// Times is how many times as long calls take.
func (r Rise) Times() float64 { return float64(r.ToMS) / float64(max(r.FromMS, 1)) }

// Look says whether run times have risen, by the days before today that have some calls at least, in any order. Days before Span are left out.
func Look(days []Day, today time.Time, calls int) (Rise, bool) {
	return judge(levels(days, dayOf(today), calls), dayOf(today))
}

// judge judges the levels of the days before today.
func judge(all []level, today int) (Rise, bool) {
	if len(all) < minDays || all[len(all)-1].day < today-week || all[len(all)-1].day-all[0].day < minSpan {
		return Rise{}, false
	}
	above := rhythm(all)
	f := nearest(without(all, above))
	if f.to-f.from <= max(leastRise, scatters*f.scatter()) {
		return Rise{}, false
	}
	for _, l := range all[len(all)-looks:] {
		ordinary := above[l.day%week] + f.from
		if l.surely <= ordinary || f.kind == Sudden && l.median <= ordinary+leastRise {
			return Rise{}, false
		}
	}
	r := Rise{Kind: f.kind, Since: time.Unix(int64(f.since)*24*60*60, 0).UTC(), FromMS: millis(f.from), ToMS: millis(f.to)}
	return r, r.ToMS-r.FromMS >= minRise
}

func millis(level float64) int64 { return int64(math.Round(math.Exp(level))) }

// level is what a day with enough calls shows, in logarithms of milliseconds.
type level struct {
	day    int     // since 1970
	median float64 // of its run times
	surely float64 // two standard errors below
}

func dayOf(t time.Time) int { return int(math.Floor(float64(t.Unix()) / (24 * 60 * 60))) }

// levels are those of the days before today that have one, in order.
func levels(days []Day, today, calls int) (all []level) {
	for _, d := range days {
		if day := dayOf(d.Start); day >= today || day < max(today-Span, 0) {
			continue
		}
		if l, known := levelOf(d, calls); known {
			all = append(all, l)
		}
	}
	slices.SortFunc(all, func(x, y level) int { return x.day - y.day })
	return all
}

func levelOf(d Day, least int) (level, bool) {
	var calls uint64
	for _, n := range d.Runs {
		calls += n
	}
	of := func(share float64) float64 { return math.Log(max(float64(d.Runs.Percentile(share)), 1)) }
	// The rank of the median of n has a standard deviation of √n/2.
	surely := of(max(0.5-1/math.Sqrt(float64(calls)), 0))
	return level{day: dayOf(d.Start), median: of(0.5), surely: surely}, calls >= uint64(least)
}

func median(of []float64) float64 {
	sorted := slices.Sorted(slices.Values(of))
	n := len(sorted)
	return (sorted[(n-1)/2] + sorted[n/2]) / 2
}
