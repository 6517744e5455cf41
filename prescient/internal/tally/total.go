package tally

import (
	"cmp"
	"database/sql"
	"slices"
	"strings"
	"time"

	"prescient/prescient"
)

// Total is what lines come to.
type Total struct {
	Calls, Errors, Timeouts, Panics, Moved, Dropped           uint64
	Unregistered, Paused, Abandoned, Waiting, OtherwisePutOff uint64
	Ends                                                      map[prescient.Outcome]uint64
	Runs, Lates                                               Histogram
	RunMS, LongestRunMS, LatenessMS, LongestLatenessMS        int64
	reasons                                                   map[string]*reason
}

// Reason is why something went wrong with checks.
type Reason struct {
	// Text is what their errors have in common: … stands for what differs.
	Text string `json:"text"`
	// Checks is how many have it; of the less common ones in a bucket nobody knows.
	Checks  uint64  `json:"checks"`
	Example Example `json:"example"`
}

// NewTotal returns that of no lines.
func NewTotal() *Total {
	return &Total{Ends: make(map[prescient.Outcome]uint64), Runs: make(Histogram), Lates: make(Histogram), reasons: make(map[string]*reason)}
}

// Add adds a line.
func (t *Total) Add(l *Line) {
	for at, to := range map[count]*uint64{calls: &t.Calls, failures: &t.Errors, timeouts: &t.Timeouts, panics: &t.Panics, moved: &t.Moved, dropped: &t.Dropped,
		unregistered: &t.Unregistered, paused: &t.Paused, abandoned: &t.Abandoned, waiting: &t.Waiting, otherwise: &t.OtherwisePutOff} {
		*to += l.counts[at]
	}
	for outcome, at := range ends {
		if n := l.counts[at]; n > 0 {
			t.Ends[outcome] += n
		}
	}
	t.Runs.Add(l.runs)
	t.Lates.Add(l.lates)
	t.RunMS, t.LongestRunMS = t.RunMS+l.runMS, max(t.LongestRunMS, l.maxRunMS)
	t.LatenessMS, t.LongestLatenessMS = t.LatenessMS+l.lateMS, max(t.LongestLatenessMS, l.maxLateMS)
	for text, r := range l.reasons {
		known := t.reasons[text]
		if known == nil {
			if len(t.reasons) >= maxReasons*maxReasons {
				continue
			}
			known = &reason{example: r.example}
			t.reasons[text] = known
		}
		known.n += r.n
	}
}

// Reasons are the commonest ones, the most common first.
func (t *Total) Reasons(most int) []Reason {
	list := make([]Reason, 0, len(t.reasons))
	for text, r := range t.reasons {
		list = append(list, Reason{Text: text, Checks: r.n, Example: r.example})
	}
	slices.SortFunc(list, func(x, y Reason) int { return cmp.Or(cmp.Compare(y.Checks, x.Checks), strings.Compare(x.Text, y.Text)) })
	return list[:min(most, len(list))]
}

// Scan reads a line, with its slot before it.
func Scan(rows *sql.Rows) (slot time.Time, of Of, line *Line, err error) {
	of, line, err = scan(rows, &slot)
	return slot, of, line, err
}

// Calls and errors of a line.
func (l *Line) Calls() (calls, errors uint64) { return l.counts[0], l.counts[failures] }
