package checker

import (
	"maps"
	"slices"
	"time"

	"prescient/scripts/chaos/checker/evidence"
)

// Judge decides whether the promises were kept.
func Judge(rules Rules, events []Event, tables evidence.Tables) Report {
	j := &judgement{rules: rules, tables: tables, stories: make(map[int64]*story), made: make(map[string]int), plans: make(map[string]*plan), ledger: make(map[time.Time][]evidence.Run),
		claims: make(map[time.Time][]evidence.Claim), starts: make(map[string][]evidence.Start), jobs: make(map[evidence.RunOf][]called), report: Report{Ended: make(map[string]int), Faults: make(map[string]int)}}
	j.gather(events)
	j.orderByKey()
	for _, id := range slices.Sorted(maps.Keys(j.stories)) {
		s := j.stories[id]
		if id < 0 {
			j.fenced(s)
			continue
		}
		j.ends(s)
		j.times(s)
		j.cancels(s)
		j.counts(s)
		j.outcome(s)
		j.effects(s)
		j.fenced(s)
		j.expiry(s)
	}
	j.longRuns()
	j.planned()
	j.jobsOfSteps()
	j.changes()
	j.repeats()
	j.books()
	j.sums()
	return j.report
}

// planned decides whether each schedule fired as it says.
func (j *judgement) planned() {
	for _, id := range slices.Sorted(maps.Keys(j.plans)) {
		p := j.plans[id]
		j.settle(p)
		if j.spans(p) {
			j.fired(p)
			j.runs(p)
			j.keptApart(p)
		}
	}
}

// ends decides I2 and I3: every committed insert is pending or has one end.
func (j *judgement) ends(s *story) {
	there := len(s.pending) + len(s.ended)
	replaced := s.replacedBy != nil && s.replacedBy.Result == Committed
	perhaps := s.replacedBy != nil && s.replacedBy.Result == Unknown
	if there > 1 {
		j.find("ended-twice", s.id, "%d pending, ended as %v", len(s.pending), s.ended)
	}
	switch result := s.insert.Result; {
	case result == "":
		j.find("phantom", s.id, "nobody inserted it: %d pending, ended as %v, %d calls", len(s.pending), s.ended, len(s.calls))
	case result == RolledBack && (there > 0 || len(s.calls) > 0):
		j.find("phantom", s.id, "its insert was rolled back: %d pending, ended as %v, %d calls", len(s.pending), s.ended, len(s.calls))
	case result == Committed || result == Unknown && len(s.calls) > 0:
		j.report.Rows++
		if there == 0 && !replaced && !perhaps {
			j.find("lost", s.id, "%s, due at %s, called %d times", s.insert.Exec, s.insert.Due.Format(time.RFC3339Nano), len(s.calls))
		}
		if there > 0 && replaced {
			j.find("ended-twice", s.id, "it was replaced by %d, and yet: %d pending, ended as %v", s.replacedBy.ID, len(s.pending), s.ended)
		}
	case result == Unknown && there > 0:
		j.report.Rows++
	}
	for _, p := range s.pending {
		if _, now := j.clock.at(j.last); now.Sub(p.Next) > 0 {
			j.find("waits", s.id, "%s is still pending for %s, %s ago", s.insert.Exec, p.Next.Format(time.TimeOnly), now.Sub(p.Next))
		}
	}
}

// outcome decides whether a row ended as its job_exec answers.
func (j *judgement) outcome(s *story) {
	for _, e := range s.ended {
		want := j.rules.Outcomes[s.insert.Exec]
		if j.rules.Tx[s.insert.Exec] && s.failedThroughout(e, j.rules.MaxErrors) {
			want = "failed"
		}
		switch {
		case e.Outcome == want:
		case e.Outcome == "cancelled":
			// Somebody has to have asked for it.
			if !slices.ContainsFunc(s.cancels, func(c Event) bool { return c.Result == Committed || c.Result == Unknown }) {
				j.find("outcome", s.id, "%s ended as cancelled, and nobody did that", s.insert.Exec)
			}
		case e.Outcome == "expired": // see expiry
		case e.Outcome == "crashed" && j.rules.Crashes:
		case j.isLong(s) && j.mayEndAs(s, e):
		default:
			j.find("outcome", s.id, "%s ended as %s; want %s", s.insert.Exec, e.Outcome, want)
		}
	}
}

// effects decides whether what a TxFunc wrote is there once for each outcome that was committed.
func (j *judgement) effects(s *story) {
	if !j.rules.Tx[s.insert.Exec] {
		return
	}
	committed := 0 // outcomes
	for _, e := range s.ended {
		committed = e.Checks
		if e.Outcome != "cancelled" && e.Outcome != "crashed" && e.Outcome != "failed" && e.Outcome != "expired" {
			committed++
		}
	}
	for _, p := range s.pending {
		committed = p.Checks
	}
	if len(s.ended)+len(s.pending) == 0 {
		// It was replaced: at most what was called.
		for check, n := range s.effects {
			if n != 1 {
				j.find("effect", s.id, "check %d left %d effects", check, n)
			}
		}
		return
	}
	for check := range max(committed, len(s.effects)) {
		if want := 1; s.effects[check] != want && check < committed {
			j.find("effect", s.id, "check %d of %d left %d effects", check, committed, s.effects[check])
		} else if check >= committed && s.effects[check] != 0 {
			j.find("effect", s.id, "check %d left %d effects, and only %d were committed", check, s.effects[check], committed)
		}
	}
}
