package prescient

import (
	"time"

	"prescient/slots"
)

// Decision is what becomes of a check after an answer of its job_exec.
type Decision struct {
	// Outcome is how it ends; empty where it goes on.
	Outcome Outcome
	// Reason is the text of the error, or why it ended; empty where all went well.
	Reason string
	// Job is the check afterwards: due, next check and counts as they are then. Of one that ended the times are as they
	// were.
	Job FutureJob
}

// Decide applies the rules of a check to an answer of its job_exec, as a worker does: the next time to check or nil, and
// an error. now is the time when the answer came. It is a pure function; zero guards mean their defaults.
func Decide(grid slots.Grid, guards Guards, job FutureJob, next *time.Time, err error, now time.Time) Decision {
	v := decide(grid, guards.or(defaultGuards), job, answer{next: next, err: err}, now)
	job.CheckCount, job.ErrorCount = v.checkCount, v.errorCount
	if v.outcome == "" {
		job.DueAt, job.NextCheckAt, job.PutOffCount, job.LastError = v.dueAt, v.slot, v.putOffCount, v.reason
	}
	return Decision{Outcome: v.outcome, Reason: v.reason, Job: job}
}

// NewPending returns the row that an insert makes of a new job at a time, as a client does. The error wraps ErrInvalid
// or ErrBeyondHorizon. It is a pure function; zero guards mean their defaults.
func NewPending(grid slots.Grid, guards Guards, job NewJob, now time.Time) (FutureJob, error) {
	if err := job.Validate(); err != nil {
		return FutureJob{}, err
	}
	job = job.spread()
	c := Client{tables: tables{grid: grid}, guards: guards.or(defaultGuards)}
	due, slot, err := c.place(job.JobExec, job.DueAt, now)
	if err != nil {
		return FutureJob{}, err
	}
	return FutureJob{EntityName: job.Entity.Name, EntityKey: job.Entity.Key, JobExec: job.JobExec, Tag: job.Tag, DueAt: due,
		FirstCheckAt: slot, NextCheckAt: slot, Payload: job.Payload, Revision: 1, InsertedAt: now}, nil
}
