package bulk

import (
	"errors"
	"fmt"
	"slices"
	"strings"
	"time"

	"prescient/prescient"
	"prescient/prescient/client"
)

// Deed is what is done to each check.
type Deed string

// The deeds.
const (
	// Cancel ends pending checks as cancelled.
	Cancel Deed = "cancel"
	// Reschedule moves pending checks to Asked.DueAt.
	Reschedule Deed = "reschedule"
	// Retry moves pending checks whose last call failed to the next open slot.
	Retry Deed = "retry"
	// Requeue makes checks that ended pending again.
	Requeue Deed = "requeue"
	// Pause pauses the job_execs of pending checks.
	Pause Deed = "pause"
)

// Deeds are all of them.
var Deeds = []Deed{Cancel, Reschedule, Retry, Requeue, Pause}

// Filter says which checks. What is not given does not narrow it; something has to be. Times are UTC.
type Filter struct {
	JobExec string `json:"job_exec,omitempty" doc:"Only of this job_exec."`
	// EntityName is the kind of entity, as in order.
	EntityName string `json:"entity_name,omitempty" doc:"Only of this kind of entity, as in order."`
	// Slot keeps to one slot. From (inclusive) and Before bound the slot of pending checks, and the end of ended ones.
	Slot   *time.Time `json:"slot,omitempty" doc:"Only of this slot."`
	From   *time.Time `json:"from,omitempty" doc:"Only from this time on: of the slot of a pending check, of the end of an ended one."`
	Before *time.Time `json:"before,omitempty" doc:"Only before this time."`
	// Outcome is that of ended checks.
	Outcome prescient.Outcome `json:"outcome,omitempty" doc:"Only with this outcome, of checks that have ended."`
	// Reason is a text that the error of the check has in it.
	Reason string `json:"reason,omitempty" doc:"Only where the error has this text in it."`
}

// String says it for people: job_exec=ship slot=2026-11-20T13:15:00Z.
func (f Filter) String() string {
	var parts []string
	say := func(name, value string) {
		if value != "" {
			parts = append(parts, name+"="+value)
		}
	}
	say("job_exec", f.JobExec)
	say("entity", f.EntityName)
	for _, at := range []struct {
		name string
		time *time.Time
	}{{"slot", f.Slot}, {"from", f.From}, {"before", f.Before}} {
		if at.time != nil {
			say(at.name, at.time.UTC().Format(time.RFC3339))
		}
	}
	say("outcome", string(f.Outcome))
	say("error", f.Reason)
	return strings.Join(parts, " ")
}

// Asked is a deed and to which checks.
type Asked struct {
	Deed   Deed   `json:"deed" enum:"cancel,reschedule,retry,requeue,pause" doc:"What to do to each check."`
	Filter Filter `json:"filter" doc:"Which checks."`
	// DueAt is when the checks of a Reschedule or a Requeue are to be due. A requeue without one is due when the deed begins.
	DueAt *time.Time `json:"due_at,omitempty" doc:"When rescheduled or requeued checks are to be due; requeued ones at once where there is none."`
	// SpreadMS puts the checks of a Reschedule, a Retry or a Requeue evenly into so many milliseconds after that, each always at the same place.
	SpreadMS int64 `json:"spread_ms,omitempty" minimum:"0" maximum:"316224000000" doc:"Put rescheduled, retried or requeued checks evenly into so many milliseconds after that, each always at the same place."`
}

// Spread is SpreadMS.
func (a Asked) Spread() time.Duration { return time.Duration(a.SpreadMS) * time.Millisecond }

// dueOf is when a check is to be due where those without a spread are due at a time.
func (a Asked) dueOf(row prescient.FutureJob, due time.Time) time.Time {
	return prescient.NewJob{Entity: row.Entity(), JobExec: row.JobExec, Tag: row.Tag, DueAt: due, Spread: a.Spread()}.InPlace().DueAt
}

// last is when the last check may be due of a deed that is begun now.
func (a Asked) last(now time.Time) time.Time {
	if a.DueAt != nil {
		now = *a.DueAt
	}
	return now.Add(a.Spread())
}

// Validate returns an error that wraps prescient.ErrInvalid, and says what is allowed.
func (a Asked) Validate() error {
	f := a.Filter
	switch {
	case !slices.Contains(Deeds, a.Deed):
		return fmt.Errorf("%w: deed %.40q: cancel, reschedule, retry, requeue and pause are allowed", prescient.ErrInvalid, a.Deed)
	case a.Deed != Requeue && f.JobExec == "" && f.EntityName == "" && f.Slot == nil && f.Reason == "":
		return fmt.Errorf("%w: the filter would take everything; name a job_exec, a kind of entity, a slot or a reason", prescient.ErrInvalid)
	case f.Slot != nil && (f.From != nil || f.Before != nil):
		return fmt.Errorf("%w: the filter has a slot and a span; give one of them", prescient.ErrInvalid)
	case f.Outcome != "" && a.Deed != Requeue:
		return fmt.Errorf("%w: outcome %q: a pending check has none yet", prescient.ErrInvalid, f.Outcome)
	case a.Deed == Requeue && (f.Outcome == "" || f.From == nil):
		return fmt.Errorf("%w: a requeue wants an outcome, and since when the checks ended: history is long", prescient.ErrInvalid)
	case a.Deed == Requeue && f.Slot != nil:
		return fmt.Errorf("%w: a requeue goes by when checks ended; give from and before in place of a slot", prescient.ErrInvalid)
	case a.Deed == Reschedule && a.DueAt == nil:
		return fmt.Errorf("%w: a reschedule wants to know when the checks are to be due", prescient.ErrInvalid)
	case a.DueAt != nil && a.Deed != Reschedule && a.Deed != Requeue:
		return fmt.Errorf("%w: a due time is for reschedule and requeue", prescient.ErrInvalid)
	case a.SpreadMS < 0 || a.SpreadMS > prescient.MaxHorizon.Milliseconds():
		return fmt.Errorf("%w: spread_ms %d: 0 to %d are allowed", prescient.ErrInvalid, a.SpreadMS, prescient.MaxHorizon.Milliseconds())
	case a.SpreadMS > 0 && (a.Deed == Cancel || a.Deed == Pause):
		return fmt.Errorf("%w: a spread is for reschedule, retry and requeue", prescient.ErrInvalid)
	}
	err := errors.Join(validTime("slot", f.Slot), validTime("from", f.From), validTime("before", f.Before), validTime("due_at", a.DueAt))
	if f.JobExec != "" {
		err = errors.Join(err, prescient.ValidIdentifier("job_exec", f.JobExec))
	}
	if f.EntityName == prescient.ScheduleEntity {
		err = errors.Join(err, fmt.Errorf("%w: entity %s: checks of schedules are not done in bulk", prescient.ErrInvalid, f.EntityName))
	} else if f.EntityName != "" {
		err = errors.Join(err, prescient.ValidIdentifier("entity name", f.EntityName))
	}
	if f.Outcome != "" {
		_, bad := prescient.ParseOutcome(string(f.Outcome))
		err = errors.Join(err, bad)
	}
	return errors.Join(err, prescient.ValidText("reason of the filter", f.Reason, 1000))
}

// validTime refuses a time that is given and none that a column can hold, such as the zero time, which would narrow nothing.
func validTime(what string, at *time.Time) error {
	if at == nil || !at.Before(prescient.EarliestDue) && !at.After(prescient.LatestSlot) {
		return nil
	}
	return fmt.Errorf("%w: %s %s: times from the year 1000 to 9999 are allowed; leave it out for none", prescient.ErrInvalid, what, at.Format(time.RFC3339))
}

// list is the filter as the client lists by it.
func (a Asked) list(cutoff time.Time) client.ListFilter {
	f := a.Filter
	l := client.ListFilter{JobExec: f.JobExec, Outcome: f.Outcome, Reason: f.Reason, NotSchedules: true, Failing: a.Deed == Retry}
	l.Entity.Name = f.EntityName
	for to, from := range map[*time.Time]*time.Time{&l.Slot: f.Slot, &l.From: f.From, &l.Before: f.Before} {
		if from != nil {
			*to = *from
		}
	}
	if a.Deed != Requeue {
		l.InsertedUntil, l.Bare = cutoff, true
	} else if next := cutoff.Add(time.Microsecond); l.Before.IsZero() || l.Before.After(next) {
		l.Before = next // what ends later was not there at the preview
	}
	return l
}
