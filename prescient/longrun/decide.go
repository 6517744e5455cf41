package longrun

import (
	"fmt"
	"slices"
	"time"

	"prescient/prescient"
	"prescient/prescient/internal/reserved"
	"prescient/slots"
)

// met is what a slot run knows of the check of a long run.
type met struct {
	job    prescient.FutureJob
	guards prescient.Guards // of its job_exec
	terms  Terms
	run    *known   // the run of its key; nil for none
	others []*known // those of its schedule that did not end
	room   bool     // this agent has a place for one more
	// elsewhere: it is for the agents of another pool to claim.
	elsewhere bool
	// claimed: an agent claims it that has found it free; else a slot run has met it.
	claimed bool
	now     time.Time
}

// ruling is what a slot run does with a check that it met.
type ruling struct {
	// starts: this agent starts the run, or goes on with it: takesOver where another let it lapse, afresh where it is not the one
	// that stands in long_run.
	starts, takesOver, afresh bool
	// offers: the run is to be offered to the agents of its pool: here it has no place.
	offers bool
	// waits: the run is to be noted as the one that waits; behind which run of its schedule.
	waits  bool
	behind *known
	// soon: an earlier occurrence of its schedule is to be claimed first.
	soon bool
	// answer is what becomes of the check, where it does not start: it waits, or ends.
	answer prescient.Answer
}

// decide says what a slot run does with the check of a long run. It is a pure function.
func decide(grid slots.Grid, m met) ruling {
	run := m.run
	same := run != nil && run.endedAt.IsZero() && run.check == identityOf(m.job)
	if run != nil && run.lives {
		return waitUntil(run.allocatedUntil) // also where the app has changed the check: what runs ends first
	}
	if run.renewedAs(m.job) {
		if run.underWay() {
			return ends(prescient.Superseded, reserved.ErrChanged)
		}
		same = true // one that waits to be started, or to be tried again
	}
	expiry := prescient.Expiry(m.job, m.guards)
	if expired := !expiry.IsZero() && !m.now.Before(expiry); expired {
		return ruling{answer: prescient.Answer{Cause: prescient.CauseEnds, Outcome: prescient.Expired,
			Err: fmt.Errorf("not called: it expired at %s", slots.Stamp(expiry))}}
	}
	if same && !run.startedAt.IsZero() {
		return m.goOn()
	}
	if a, not := reserved.NotCalled(m.guards, m.job, m.now); not {
		return ruling{answer: a}
	}
	return m.begin(grid, same)
}

// goOn is decide for a run that has started before: its agent is gone, has handed it on, or it is tried again after an error.
func (m met) goOn() ruling {
	switch {
	case !m.run.underWay() && !m.terms.Next.IsZero() && !m.now.Before(m.terms.Next):
		return ends(prescient.Failed, fmt.Errorf("%w, at %s", errTooLate, slots.Stamp(m.terms.Next)))
	case m.terms.Quota > 0 && !m.now.Before(m.run.startedAt.Add(m.terms.Quota)):
		return ends(prescient.Quota, quotaError(m.terms.Quota))
	}
	taken := m.run.underWay() && m.run.agent != ""
	if most := max(m.guards.MaxErrors, 0); taken && m.run.takeovers >= most && !m.guards.Endless {
		return ends(prescient.Crashed, fmt.Errorf("%w, %d times", errCrashed, m.run.takeovers+1))
	}
	if other := m.other(); m.terms.apart() && other != nil {
		return ruling{behind: other, answer: prescient.Answer{Cause: prescient.CauseWaits}}
	}
	if m.elsewhere || !m.room {
		return ruling{offers: true, takesOver: taken}
	}
	return ruling{starts: true, takesOver: taken}
}

// begin is decide for a run that has not started.
func (m met) begin(grid slots.Grid, same bool) ruling {
	if m.terms.apart() {
		if other := m.other(); other != nil {
			if m.terms.Overlap != Queue || m.earlier((*known).waits) {
				return ends(prescient.Overlapped, fmt.Errorf("%w: that is %s's until %s", errOverlapped, other.agent, slots.Stamp(other.allocatedUntil)))
			}
			return ruling{waits: !same, behind: other, answer: prescient.Answer{Cause: prescient.CauseWaits}}
		}
	}
	first := m.terms.apart() && m.earlier((*known).offered)
	switch {
	case m.elsewhere || !m.room || first && !m.claimed:
		return ruling{offers: true, afresh: !same}
	case first:
		return ruling{soon: true, answer: prescient.Answer{Cause: prescient.CauseWaits}}
	}
	if m.terms.apart() {
		if last := m.terms.LastStart; !last.IsZero() && m.terms.Interval > 0 {
			if earliest := last.Add(m.terms.Interval - m.terms.Tolerance); m.now.Before(earliest) {
				return ends(prescient.TooSoon, fmt.Errorf("%w, which started at %s: the earliest is %s", errTooSoon, slots.Stamp(last), slots.Stamp(earliest)))
			}
		}
	}
	return ruling{starts: true, afresh: true}
}

// apart says whether runs of its schedule keep apart.
func (t Terms) apart() bool {
	return t.Schedule != "" && t.Overlap != "" && t.Overlap != Allow
}

// other is another run of its schedule that is under way; nil for none.
func (m met) other() *known {
	for _, o := range m.others {
		if o.underWay() && o.key != m.job.Key() {
			return o
		}
	}
	return nil
}

// earlier says whether an earlier occurrence of its schedule waits to be started, in a state.
func (m met) earlier(state func(*known) bool) bool {
	return slices.ContainsFunc(m.others, func(o *known) bool {
		return state(o) && o.waits() && o.pending && o.key != m.job.Key() && o.check.dueAt.Before(m.job.DueAt)
	})
}

func ends(outcome prescient.Outcome, why error) ruling {
	return ruling{answer: prescient.Answer{Cause: prescient.CauseEnds, Outcome: outcome, Err: why}}
}

// waitUntil has the check wait for the first slot after a time.
func waitUntil(t time.Time) ruling {
	after := t.Add(time.Microsecond)
	return ruling{answer: prescient.Answer{Cause: prescient.CauseWaits, Next: &after}}
}
