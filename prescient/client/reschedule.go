package client

import (
	"context"
	"errors"
	"fmt"
	"time"

	"prescient/prescient"
	"prescient/prescient/audit"
	"prescient/prescient/client/internal/handle"
	"prescient/prescient/client/internal/rowtext"
	"prescient/prescient/internal/literal"
	"prescient/prescient/internal/reserved"
	"prescient/prescient/internal/store"
)

// Reschedule moves a pending check to another time; its counts and payload stay, and it expires as long after it is due as before. A time that is over goes to the next
// open slot. Errors: prescient.ErrNotFound, prescient.ErrBeyondHorizon, prescient.ErrInvalid and prescient.ErrConfigChanged,
// with nothing written; others come from the server.
//
// A reschedule that commits while the job_exec runs wins: the answer of that call is dropped. That of an operator (audit.By) leaves an
// entry in the audit.
func (c *Client) Reschedule(ctx context.Context, db prescient.DB, e prescient.Entity, jobExec, tag string, dueAt time.Time) (Inserted, error) {
	if err := errors.Join(validMove(e, jobExec, tag, dueAt), reserved.Refuse(e)); err != nil {
		return Inserted{}, err
	}
	if audit.Of(ctx).Operator {
		var did Inserted
		err := handle.InTx(ctx, c.tables.Server, db, func(db prescient.DB) (err error) {
			did, err = c.reschedule(ctx, db, e, jobExec, tag, dueAt)
			return err
		})
		return did, err
	}
	do := func() (Inserted, error) { return c.reschedule(ctx, db, e, jobExec, tag, dueAt) }
	if handle.CommitsByItself(db) {
		return handle.Retried(do)
	}
	return do()
}

// validMove refuses what names no check, and no time.
func validMove(e prescient.Entity, jobExec, tag string, dueAt time.Time) error {
	if err := prescient.ValidCheck(e, jobExec, tag); err != nil {
		return err
	}
	if dueAt.IsZero() {
		return fmt.Errorf("%w: %s of %s has no due time", prescient.ErrInvalid, jobExec, e)
	}
	return nil
}

func (c *Client) reschedule(ctx context.Context, db prescient.DB, e prescient.Entity, jobExec, tag string, dueAt time.Time) (Inserted, error) {
	now, job, err := c.readPending(ctx, db, prescient.KeyOf(e, jobExec, tag))
	if err != nil {
		return Inserted{}, err
	}
	// A plain read in the caller's transaction may not see the latest row.
	latest := !handle.IsCallersTx(db)
	for range handle.MaxTries {
		due, slot, err := c.place(jobExec, dueAt, now)
		if err != nil {
			return Inserted{}, err
		}
		if job != nil && job.Entity() == e && job.JobExec == jobExec && job.Tag == tag {
			n, err := store.Affected(ctx, db, c.tables.Fill("client/reschedule", append(rowtext.Identity(*job),
				"{due_at}", literal.Of(literal.AppendMicro, due), "{next_check_at}", literal.Of(literal.AppendSecond, slot),
				"{expires_at}", rowtext.SetExpiry(*job, prescient.MovedExpiry(*job, due)),
				"{new_revision}", literal.Of(literal.AppendUint, rowtext.NewRevision()))...))
			if err != nil {
				return Inserted{}, fmt.Errorf("rescheduling %s of %s: %w", jobExec, e, err)
			}
			if n == 1 {
				did := Inserted{Did: DidReschedule, DueAt: due, Slot: slot}
				return did, c.recordRescheduled(ctx, db, []prescient.FutureJob{*job}, []Inserted{did})
			}
		} else {
			absent := latest
			if !latest && job == nil {
				if absent, err = c.isAbsent(ctx, db, prescient.KeyOf(e, jobExec, tag)); err != nil {
					return Inserted{}, fmt.Errorf("rescheduling %s of %s: %w", jobExec, e, err)
				}
			}
			if absent {
				return Inserted{}, fmt.Errorf("%w: %s of %s", prescient.ErrNotFound, jobExec, e)
			}
		}
		if now, job, err = c.readLatest(ctx, db, prescient.KeyOf(e, jobExec, tag)); err != nil {
			return Inserted{}, err
		}
		latest = true
	}
	return Inserted{}, fmt.Errorf("rescheduling %s of %s: others changed the pending row meanwhile, %d times", jobExec, e, handle.MaxTries)
}
