package rollup

import (
	"strings"

	"prescient/prescient"
	"prescient/prescient/internal/tally"
)

const (
	// maxReasons are the reasons of an hour that are told apart.
	maxReasons = 100
	// maxMS bounds a duration, some three years: plain SQL may have written any, and sums of a day are to fit their column.
	maxMS = 100_000_000_000
)

// end is one of history, as far as it is summed.
type end struct {
	of                      tally.Of
	outcome                 prescient.Outcome
	checks, errors          uint64
	started                 bool
	runMS, totalMS          uint64
	latenessMS, dueLateness int64
	error                   string
}

// lineOf is what a line of stats is about.
type lineOf struct {
	tally.Of
	outcome prescient.Outcome
}

// line is one of stats.
type line struct{ ends, calls, errors, notYet, waited, started, runMS, totalMS, latenessMS, dueLatenessMS uint64 }

// measure is one of stats_bucket, in the order of the column.
type measure int

const (
	run measure = iota
	lateness
	dueLateness
	checks
	measures
)

var measureNames = [measures]string{"run", "lateness", "due_lateness", "checks"}

type reasonOf struct{ jobExec, text string }

// sums are those of an hour.
type sums struct {
	ends    uint64
	kinds   map[string]int // of entity, by job_exec
	spreads map[tally.Of]*[measures]tally.Histogram
	lines   map[lineOf]*line
	reasons map[reasonOf]uint64
}

func newSums() *sums {
	return &sums{kinds: make(map[string]int), spreads: make(map[tally.Of]*[measures]tally.Histogram), lines: make(map[lineOf]*line), reasons: make(map[reasonOf]uint64)}
}

// known are the outcomes that the column has.
var known = func() map[prescient.Outcome]bool {
	all := make(map[prescient.Outcome]bool)
	for _, o := range prescient.Outcomes() {
		all[o] = true
	}
	return all
}()

// named has no names but identifiers: plain SQL may have written any, and the servers tell some apart that keys do not.
func named(of tally.Of) tally.Of {
	switch {
	case prescient.ValidIdentifier("job_exec", of.JobExec) != nil:
		return tally.Of{JobExec: tally.Other, EntityName: tally.Other}
	case prescient.ValidIdentifier("entity_name", of.EntityName) != nil:
		of.EntityName = tally.Other
	}
	return of
}

// add counts an end. An outcome that is none, which plain SQL may have written, counts as failed.
func (s *sums) add(e end) {
	s.ends++
	if !known[e.outcome] {
		e.outcome = prescient.Failed
	}
	of := s.place(named(e.of))
	l := s.lines[lineOf{of, e.outcome}]
	if l == nil {
		l = &line{}
		s.lines[lineOf{of, e.outcome}] = l
	}
	spread := s.spreads[of]
	if !e.outcome.ByApp() {
		spread[checks][tally.BucketOf(int64(e.checks))]++
	}
	l.ends++
	l.calls += e.checks + e.errors
	l.errors += e.errors
	l.notYet += e.checks
	if e.outcome == prescient.MaxChecks {
		l.notYet++
	}
	if e.checks > 0 || e.outcome == prescient.MaxChecks {
		l.waited++
	}
	l.totalMS += min(e.totalMS, maxMS)
	if e.started {
		ran, late, dueLate := int64(min(e.runMS, maxMS)), within(e.latenessMS), within(e.dueLateness)
		if e.errors == 0 { // else the last call is among the errors
			l.calls++
		}
		l.started++
		l.runMS += uint64(ran)
		l.latenessMS += uint64(late)
		l.dueLatenessMS += uint64(dueLate)
		spread[run][tally.BucketOf(ran)]++
		spread[lateness][tally.BucketOf(late)]++
		spread[dueLateness][tally.BucketOf(dueLate)]++
	}
	if e.outcome != prescient.Done {
		s.addReason(of.JobExec, e)
	}
}

func within(ms int64) int64 { return min(max(ms, 0), maxMS) }

func (s *sums) addReason(jobExec string, e end) {
	text := e.error
	if text == "" {
		text = string(e.outcome)
	}
	of := reasonOf{jobExec, strings.TrimRight(tally.ReasonOf(text), " ")} // by which the servers tell no two apart
	if _, has := s.reasons[of]; !has && len(s.reasons) >= maxReasons {
		of = reasonOf{tally.Other, tally.Other}
	}
	s.reasons[of]++
}

// place is what the line is about in which an end is counted: names of its own, while there are few.
func (s *sums) place(of tally.Of) tally.Of {
	if s.spreads[of] != nil {
		return of
	}
	kinds, has := s.kinds[of.JobExec]
	switch {
	case !has && len(s.kinds) >= tally.MaxExecs:
		of = tally.Of{JobExec: tally.Other, EntityName: tally.Other}
	case kinds >= tally.MaxKinds, len(s.spreads) >= tally.MaxLines:
		of.EntityName = tally.Other
	}
	if s.spreads[of] == nil {
		s.kinds[of.JobExec]++
		s.spreads[of] = &[measures]tally.Histogram{{}, {}, {}, {}}
	}
	return of
}
