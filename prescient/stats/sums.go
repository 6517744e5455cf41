package stats

import (
	"time"

	"prescient/prescient/internal/tally"
)

// sums sums up lines, which come the latest first. Those of a slot wait until all of it was read.
type sums struct {
	of    map[string]*sum
	slot  time.Time // that is being read
	lines []named
	ended time.Time // the earliest slot that was read whole
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
			of = &sum{line: tally.NewLine()}
			s.of[l.jobExec] = of
		}
		calls, errors := l.line.Called()
		of.calls, of.errors = of.calls+calls, of.errors+errors
		of.line.Add(l.line)
	}
	for _, of := range s.of {
		of.endSlot(s.slot)
	}
	s.ended, s.lines = s.slot, s.lines[:0]
}

// sum is what the lines of a job_exec come to.
type sum struct {
	line          *tally.Line
	calls, errors uint64 // of the slot
	since, last   time.Time
	over          bool // that calls fail in each slot that has some
}

func (s *sum) endSlot(slot time.Time) {
	if s.errors > 0 && s.last.IsZero() {
		s.last = slot
	}
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
	t := s.line.Total()
	e := Exec{JobExec: name, Calls: t.Calls, Errors: t.Errors, Timeouts: t.Timeouts, Panics: t.Panics, Moved: t.Moved, Dropped: t.Dropped, Ends: t.Ends,
		PutOff:   PutOff{Unregistered: t.Unregistered, Paused: t.Paused, Abandoned: t.Abandoned, Waiting: t.Waiting, Otherwise: t.OtherwisePutOff},
		Run:      spread(t.Runs, t.Calls, t.RunMS, t.LongestRunMS),
		Lateness: spread(t.Lates, t.Calls, t.LatenessMS, t.LongestLatenessMS), Reasons: s.line.Reasons(maxReasons)}
	if !s.since.IsZero() {
		e.FailsSince = &s.since
	}
	if !s.last.IsZero() {
		e.FailedLast = &s.last
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
