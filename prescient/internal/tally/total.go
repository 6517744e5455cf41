package tally

import (
	"cmp"
	"slices"
	"strings"

	"prescient/prescient"
)

// maxSummed are the reasons that a sum of lines tells apart.
const maxSummed = 400

// Total is what a line comes to, or the sum of some.
type Total struct {
	Calls, Errors, Timeouts, Panics, Moved, Dropped           uint64
	Unregistered, Paused, Abandoned, Waiting, OtherwisePutOff uint64
	Ends                                                      map[prescient.Outcome]uint64
	Runs, Lates                                               Histogram
	RunMS, LongestRunMS, LatenessMS, LongestLatenessMS        int64
}

// Reason is why something went wrong with checks.
type Reason struct {
	// Text is what their errors have in common: … stands for what differs.
	Text string `json:"text"`
	// Checks is how many have it; of the less common ones in a bucket nobody knows.
	Checks  uint64  `json:"checks"`
	Example Example `json:"example"`
}

// NewLine returns one in which nothing is counted.
func NewLine() *Line {
	return &Line{runs: make(Histogram), lates: make(Histogram), reasons: make(map[string]*reason)}
}

// Add adds another line.
func (l *Line) Add(other *Line) {
	for at, n := range other.counts {
		l.counts[at] += n
	}
	l.runs.Add(other.runs)
	l.lates.Add(other.lates)
	l.runMS, l.maxRunMS = l.runMS+other.runMS, max(l.maxRunMS, other.maxRunMS)
	l.lateMS, l.maxLateMS = l.lateMS+other.lateMS, max(l.maxLateMS, other.maxLateMS)
	for text, r := range other.reasons {
		known := l.reasons[text]
		if known == nil {
			if len(l.reasons) >= maxSummed {
				continue
			}
			known = &reason{example: r.example}
			l.reasons[text] = known
		}
		known.n += r.n
	}
}

// Called is how many calls it counts, and how many of them failed.
func (l *Line) Called() (n, failed uint64) { return l.counts[calls], l.counts[failures] }

// Total is what it comes to.
func (l *Line) Total() Total {
	c := &l.counts
	t := Total{Calls: c[calls], Errors: c[failures], Timeouts: c[timeouts], Panics: c[panics], Moved: c[moved], Dropped: c[dropped],
		Unregistered: c[unregistered], Paused: c[paused], Abandoned: c[abandoned], Waiting: c[waiting], OtherwisePutOff: c[otherwise],
		Ends: make(map[prescient.Outcome]uint64), Runs: l.runs, Lates: l.lates,
		RunMS: l.runMS, LongestRunMS: l.maxRunMS, LatenessMS: l.lateMS, LongestLatenessMS: l.maxLateMS}
	for outcome, at := range ends {
		if c[at] > 0 {
			t.Ends[outcome] = c[at]
		}
	}
	return t
}

// Reasons are the commonest ones, the most common first.
func (l *Line) Reasons(most int) []Reason {
	list := make([]Reason, 0, len(l.reasons))
	for text, r := range l.reasons {
		list = append(list, Reason{Text: text, Checks: r.n, Example: r.example})
	}
	slices.SortFunc(list, func(x, y Reason) int { return cmp.Or(cmp.Compare(y.Checks, x.Checks), strings.Compare(x.Text, y.Text)) })
	return list[:min(most, len(list))]
}
