package rule

import (
	"time"

	"prescient/prescient"
	"prescient/slots"
)

// State is whether a rule makes checks.
type State string

// The states.
const (
	On      State = "on"
	Off     State = "off"
	Deleted State = "deleted"
)

// Standing is how a rule stands: what becomes of checks of its older versions.
type Standing struct {
	Name    string
	Version uint32
	State   State
	// Since is when it was made or switched on: what happened before makes no check.
	Since time.Time
	// MovedTo and EndedTo are versions: checks of those before go to the one, and end by the other. 0 for none.
	MovedTo, EndedTo uint32
}

// Next is the standing after one more change. Older says what becomes of pending checks of older versions.
func (s Standing) Next(state State, older Older, now time.Time) Standing {
	if state == On && s.State != On {
		s.Since = now
	}
	s.Version, s.State = s.Version+1, state
	switch older {
	case Move:
		s.MovedTo = s.Version
	case End:
		s.EndedTo = s.Version
	}
	return s
}

// Older is what a change does to pending checks of older versions.
type Older string

// The ways.
const (
	// Move puts them to the time that the new version gives them: for changes of a rule that is on.
	Move Older = "move"
	// Leave leaves them as they are.
	Leave Older = "leave"
	// End ends them as cancelled.
	End Older = "end"
)

// Reaches says whether something that happened at a time makes a check.
func (s Standing) Reaches(at time.Time) bool {
	return s.State == On && !slots.RoundUp(at).Before(s.Since)
}

// Fate is what becomes of a check of a version of the rule, and to which version it goes where that is Move.
func (s Standing) Fate(version uint32) (of Older, to uint32) {
	switch {
	case version < s.EndedTo:
		return End, 0
	case version < s.MovedTo:
		return Move, s.MovedTo
	}
	return Leave, 0
}

// Check is what is made of an occasion.
func (r Rule) Check(version uint32, e prescient.Entity, at time.Time, payload []byte) prescient.NewJob {
	at = slots.RoundUp(at)
	return prescient.NewJob{Entity: e, JobExec: r.JobExec, Tag: TagOf(r.Name), DueAt: at.Add(r.Delay), Spread: r.Spread, ExpiresAfter: r.ExpiresAfter,
		Payload: payload, OnPending: r.OnPending, RuleVersion: version, OccasionAt: at}.InPlace()
}

// Due is when a check of the rule is due, by what the rule says: the occasion, its delay, and its place in the spread.
func (r Rule) Due(e prescient.Entity, at time.Time) time.Time { return r.Check(0, e, at, nil).DueAt }

// Holds says whether a check is the rule's still: it was never called, and is due when the version that it bears says. Any other is that of whoever moved
// it.
func (r Rule) Holds(job prescient.FutureJob) bool {
	return job.CheckCount == 0 && job.ErrorCount == 0 && job.OccasionAt != nil && job.JobExec == r.JobExec && job.DueAt.Equal(r.Due(job.Entity(), *job.OccasionAt))
}

// Moved is a check as another version has it: due at that version's time, and expiring by it. It has the slot that it had. It is not ok where the occasion
// is farther ahead of now than any that is reported: plain SQL has written it, and what comes after it may have no place in a table.
func (r Rule) Moved(job prescient.FutureJob, version uint32, now time.Time) (moved prescient.FutureJob, ok bool) {
	if job.OccasionAt == nil || job.OccasionAt.After(now.Add(prescient.MaxHorizon)) {
		return job, false
	}
	job.DueAt, job.RuleVersion = r.Due(job.Entity(), *job.OccasionAt), version
	job.ExpiresAt = prescient.ExpiresAt(job.DueAt, r.ExpiresAfter)
	return job, true
}
