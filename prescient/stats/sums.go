package stats

import (
	"time"

	"prescient/prescient/internal/tally"
)

// sums sums up lines, which come the latest first. Those of a slot wait until all of it was read.
type sums struct {
	of    map[string]*sum
	slot  time.Time
	lines []named
}

type named struct {
	jobExec string
	line    *tally.Line
}

// endSlot adds the lines of a slot that was read whole.
func (s *sums) endSlot() {
	for _, l := range s.lines {
		of := s.of[l.jobExec]
		if of == nil {
			of = &sum{Total: tally.NewTotal()}
			s.of[l.jobExec] = of
		}
		calls, errors := l.line.Calls()
		of.calls, of.errors = of.calls+calls, of.errors+errors
		of.Add(l.line)
	}
	for _, of := range s.of {
		of.endSlot(s.slot)
	}
	s.lines = s.lines[:0]
}

// sum is what the lines of a job_exec come to.
type sum struct {
	*tally.Total
	calls, errors uint64 // of the slot
	since         time.Time
	over          bool // that calls fail in each slot that has some
}

func (s *sum) endSlot(slot time.Time) {
	switch {
	case s.over || s.calls == 0:
	case s.errors > 0:
		s.since = slot
	default:
		s.over = true
	}
	s.calls, s.errors = 0, 0
}

func (s *sum) exec(name string) Exec {
	e := Exec{JobExec: name, Calls: s.Calls, Errors: s.Errors, Timeouts: s.Timeouts, Panics: s.Panics, Moved: s.Moved, Dropped: s.Dropped, Ends: s.Ends,
		PutOff:   PutOff{Unregistered: s.Unregistered, Paused: s.Paused, Abandoned: s.Abandoned, Waiting: s.Waiting, Otherwise: s.OtherwisePutOff},
		Run:      spread(s.Runs, s.Calls, s.RunMS, s.LongestRunMS),
		Lateness: spread(s.Lates, s.Calls, s.LatenessMS, s.LongestLatenessMS), Reasons: s.Reasons(maxReasons)}
	if !s.since.IsZero() {
		e.FailsSince = &s.since
	}
	return e
}

func spread(h tally.Histogram, n uint64, sum, longest int64) Spread {
	if n == 0 {
		return Spread{}
	}
	of := func(share float64) int64 { return min(h.Percentile(share), longest) }
	return Spread{MeanMS: float64(sum) / float64(n), P50MS: of(0.5), P95MS: of(0.95), P99MS: of(0.99), LongestMS: longest}
}
