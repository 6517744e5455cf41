package prescient

import (
	"encoding/json"
	"errors"
	"fmt"
	"time"
	"unicode/utf8"

	"prescient/slots"
)

// OnPending says what an insert does when the same check (entity, job_exec and tag) is pending already. A row whose slot
// has begun is not pending in this sense: all but OnPendingError replace it, since its job_exec may be running and
// would otherwise settle the new request along with the old.
type OnPending string

// The ways.
const (
	// Keep leaves the pending check as it is. The default.
	Keep OnPending = "keep"
	// Replace puts the new check in its place: time, payload, counts.
	Replace OnPending = "replace"
	// Earlier keeps whichever of the two is due first.
	Earlier OnPending = "earlier"
	// Later keeps whichever of the two is due last.
	Later OnPending = "later"
	// OnPendingError refuses with ErrPending.
	OnPendingError OnPending = "error"
)

// ParseOnPending reads keep, replace, earlier, later or error; empty is keep. The error wraps ErrInvalid.
func ParseOnPending(text string) (OnPending, error) {
	switch p := OnPending(text); p {
	case "":
		return Keep, nil
	case Keep, Replace, Earlier, Later, OnPendingError:
		return p, nil
	}
	return "", fmt.Errorf("%w: on-pending %q: keep, replace, earlier, later or error are allowed", ErrInvalid, text)
}

// MaxPayload is the longest payload, in bytes. A CHECK of the tables holds inserts by plain SQL to it, by the size that the
// server stores: on MySQL, a list of many small numbers has three times its text.
const MaxPayload = 4 << 20

// NewJob is a check to insert.
type NewJob struct {
	// Entity is what the check is about.
	Entity Entity
	// JobExec is the name under which the check is registered with the workers: an identifier.
	JobExec string
	// Tag tells apart several checks of one job_exec on one entity: at most 64 characters, none of them
	// Unseen; empty by default.
	Tag string
	// DueAt is when to check, in any zone; it is rounded up to a slot. A time that is over goes to the next open slot.
	DueAt time.Time
	// Spread puts the check somewhere between DueAt and so much later, so that not all that is asked for midnight is due
	// at midnight. A stable hash of entity, job_exec and tag says where: the same check always has the same place. due_at is
	// that time from then on; the horizon and OnPending go by it. 0, the default, for DueAt itself.
	Spread time.Duration
	// ExpiresAfter is how long after DueAt, with its Spread, the check expires: from then on it is not called any more, retries
	// included, and ends as expired. A check that must not come late has one. 0, the default, for never; the guards may have an
	// ExpiresAfter all the same.
	ExpiresAfter time.Duration
	// Payload is JSON that the job_exec gets; nil for none. MySQL stores it in a form of its own; MariaDB refuses what
	// is nested deeper than 31, MySQL what is nested deeper than 100.
	Payload json.RawMessage
	// OnPending says what to do when the check is pending already; Keep by default.
	OnPending OnPending
	// Trace is the trace in which it is inserted, as the header traceparent of W3C Trace Context; empty, the default, for that of
	// the context. See InTrace. It goes with the row to its calls, and not into history.
	Trace string
	// RuleVersion and OccasionAt are for the checks of rules, as Client.Happened makes them: an insert of one's own leaves them out.
	RuleVersion uint32
	OccasionAt  time.Time
}

// Ahead is how far ahead of now the check may be, where others may be so far: the check of a rule as far as an occasion may, and what the rule adds.
func (j NewJob) Ahead(others time.Duration) time.Duration {
	if j.RuleVersion == 0 {
		return others
	}
	return MaxHorizon + j.DueAt.Sub(j.OccasionAt)
}

// ValidCheck returns an error that wraps ErrInvalid where no check can have these names.
func ValidCheck(e Entity, jobExec, tag string) error {
	if err := e.Validate(); err != nil {
		return err
	}
	if err := ValidIdentifier("job_exec", jobExec); err != nil {
		return err
	}
	return ValidText("tag", tag, MaxTagLen)
}

// Validate returns an error that wraps ErrInvalid and names what cannot be stored, or is not to be.
func (j NewJob) Validate() error {
	if err := ValidCheck(j.Entity, j.JobExec, j.Tag); err != nil {
		return err
	}
	if err := errors.Join(ValidSeen("entity key", j.Entity.Key), ValidSeen("tag", j.Tag)); err != nil {
		return err
	}
	if j.DueAt.IsZero() {
		return fmt.Errorf("%w: %s of %s has no due time", ErrInvalid, j.JobExec, j.Entity)
	}
	if err := ValidSpread(j.Spread); err != nil {
		return err
	}
	if j.ExpiresAfter < 0 {
		return fmt.Errorf("%w: %s of %s expires %s after it is due: positive times are allowed, and 0 for never", ErrInvalid, j.JobExec, j.Entity, j.ExpiresAfter)
	}
	if len(j.Payload) > MaxPayload {
		return fmt.Errorf("%w: payload of %s has %d bytes; at most %d are allowed", ErrInvalid, j.Entity, len(j.Payload), MaxPayload)
	}
	if j.Payload != nil && !(json.Valid(j.Payload) && utf8.Valid(j.Payload)) {
		return fmt.Errorf("%w: payload of %s is not JSON in UTF-8: %.80q", ErrInvalid, j.Entity, j.Payload)
	}
	if err := CheckTrace(j.Trace, j.Entity.String()); err != nil {
		return err
	}
	if (j.RuleVersion == 0) != j.OccasionAt.IsZero() {
		return fmt.Errorf("%w: %s of %s has a version of a rule, or an occasion, without the other", ErrInvalid, j.JobExec, j.Entity)
	}
	_, err := ParseOnPending(string(j.OnPending))
	return err
}

// NewPending returns the row that an insert makes of a new check at a time, as a client does. The error wraps ErrInvalid
// or ErrBeyondHorizon. It is a pure function; zero guards mean their defaults.
func NewPending(grid slots.Grid, guards Guards, job NewJob, now time.Time) (FutureJob, error) {
	if err := job.Validate(); err != nil {
		return FutureJob{}, err
	}
	job = job.InPlace()
	due, slot, err := Place(grid, job.Ahead(guards.Or(DefaultGuards()).Ahead()), job.JobExec, job.DueAt, now)
	if err != nil {
		return FutureJob{}, err
	}
	var occasion *time.Time
	if job.RuleVersion != 0 {
		occasion = &job.OccasionAt
	}
	return FutureJob{RuleVersion: job.RuleVersion, OccasionAt: occasion, EntityName: job.Entity.Name, EntityKey: job.Entity.Key, JobExec: job.JobExec, Tag: job.Tag, DueAt: due,
		FirstCheckAt: slot, NextCheckAt: slot, Payload: job.Payload, Revision: 1, InsertedAt: now, ExpiresAt: ExpiresAt(due, job.ExpiresAfter), Trace: job.Trace}, nil
}

// Place finds the slot of a check that is asked for at a time: that time rounded up to a slot, or the next open slot where it
// is over. due is the time as the tables hold it, in microseconds. The error wraps ErrBeyondHorizon.
func Place(grid slots.Grid, horizon time.Duration, jobExec string, dueAt, now time.Time) (due, slot time.Time, err error) {
	due = slots.RoundUp(dueAt)
	if limit := now.Add(horizon); due.After(limit) {
		return due, slot, fmt.Errorf("%w: a check of job_exec %s cannot be due at %s: with a horizon of %s (guards.horizon, or that of the job_exec) the latest time is %s",
			ErrBeyondHorizon, jobExec, slots.Stamp(due), slots.Short(horizon), slots.Stamp(limit))
	}
	if due.Before(EarliestDue) {
		due = EarliestDue
	}
	return due, slots.Later(grid.Ceil(due), grid.Next(now)), nil
}
