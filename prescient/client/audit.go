package client

import (
	"context"
	"time"

	"prescient/prescient"
	"prescient/prescient/audit"
)

// The verbs of checks.
const (
	verbCancel     = "cancel"
	verbReschedule = "reschedule"
	verbRequeue    = "requeue"
)

func (c *Client) log() audit.Log { return audit.On(&c.tables) }

// waits is a pending check as it stands in the audit.
type waits struct {
	DueAt      time.Time `json:"due_at"`
	Slot       time.Time `json:"slot"`
	CheckCount int       `json:"check_count,omitempty"`
	ErrorCount int       `json:"error_count,omitempty"`
}

func waitsOf(job prescient.FutureJob) waits {
	return waits{job.DueAt, job.NextCheckAt, job.CheckCount, job.ErrorCount}
}

// endState is the end of a check as it stands in the audit.
type endState struct {
	Outcome prescient.Outcome `json:"outcome"`
	EndedAt *time.Time        `json:"ended_at,omitempty"`
}

// recordCancelled writes the audit of checks that an operator cancelled.
func (c *Client) recordCancelled(ctx context.Context, db prescient.DB, jobs []prescient.FutureJob) error {
	entries := make([]audit.Entry, len(jobs))
	for i, job := range jobs {
		entries[i] = audit.Entry{Kind: audit.Check, ID: audit.CheckID(job.Entity(), job.JobExec, job.Tag), Entity: job.Entity(), Verb: verbCancel,
			Before: waitsOf(job), After: endState{Outcome: prescient.Cancelled}}
	}
	return c.log().Record(ctx, db, entries...)
}

// recordRescheduled writes the audit of checks that were moved, as they were and what was done of each, where an operator did that.
func (c *Client) recordRescheduled(ctx context.Context, db prescient.DB, jobs []prescient.FutureJob, did []Inserted) error {
	if !audit.Of(ctx).Operator {
		return nil
	}
	entries := make([]audit.Entry, len(jobs))
	for i, job := range jobs {
		after := waitsOf(job)
		after.DueAt, after.Slot = did[i].DueAt, did[i].Slot
		entries[i] = audit.Entry{Kind: audit.Check, ID: audit.CheckID(job.Entity(), job.JobExec, job.Tag), Entity: job.Entity(), Verb: verbReschedule,
			Before: waitsOf(job), After: after}
	}
	return c.log().Record(ctx, db, entries...)
}

// recordRequeued writes the audit of checks that are pending again.
func (c *Client) recordRequeued(ctx context.Context, db prescient.DB, jobs []RequeuedJob, inserted []Inserted) error {
	entries := make([]audit.Entry, 0, len(inserted))
	for _, job := range jobs {
		if job.Did != DidRequeue {
			continue
		}
		now := inserted[len(entries)]
		e := prescient.Entity{Name: job.EntityName, Key: job.EntityKey}
		entries = append(entries, audit.Entry{Kind: audit.Check, ID: audit.CheckID(e, job.JobExec, job.Tag), Entity: e,
			Verb: verbRequeue, Before: endState{job.Outcome, &job.EndedAt}, After: waits{DueAt: now.DueAt, Slot: now.Slot}})
	}
	return c.log().Record(ctx, db, entries...)
}

// paused is a pause as it stands in the audit.
type paused struct {
	By     string `json:"by,omitempty"`
	Reason string `json:"reason,omitempty"`
}

// recordPauses writes the audit of job_execs that were paused or resumed.
func (c *Client) recordPauses(ctx context.Context, db prescient.DB, verb string, jobExecs []string, before map[string]paused, after any) error {
	entries := make([]audit.Entry, len(jobExecs))
	for i, name := range jobExecs {
		entries[i] = audit.Entry{Kind: audit.JobExec, ID: name, Verb: verb, After: after}
		if was, is := before[name]; is {
			entries[i].Before = was
		}
	}
	return c.log().Record(ctx, db, entries...)
}
