package client

import (
	"context"
	"fmt"
	"slices"
	"time"

	"prescient/prescient"
	"prescient/prescient/internal/errno"
	"prescient/prescient/internal/literal"
	"prescient/prescient/internal/store"
	text "prescient/sql"
)

// Cancel ends what is pending for an entity as cancelled: all of it, or only what the job_execs named do. It returns
// how many it ended; none is no error. On a handle that is no transaction it takes one of its own.
//
// In the caller's transaction it reads twice, the second time under a lock. That read finds what a snapshot does not, and under
// REPEATABLE READ also keeps others from inserting for the entity until the transaction ends. Rows of other entities stay
// free. The account needs INSERT on future_job for that.
//
// A cancel that commits before a slot run read the row is never followed by a run of it; one that commits while the
// job_exec runs wins: the answer of that call is dropped.
func (c *Client) Cancel(ctx context.Context, db prescient.DB, e prescient.Entity, jobExecs ...string) (cancelled int, err error) {
	if err := e.Validate(); err != nil {
		return 0, err
	}
	for _, name := range jobExecs {
		if err := prescient.ValidIdentifier("job_exec", name); err != nil {
			return 0, err
		}
	}
	if c.tables.Dialect == text.Full {
		cancelled, err = c.callCancel(ctx, db, e, jobExecs)
		if !errno.Is(err, errno.RoutineDenied, errno.NoSuchName) {
			return cancelled, err
		}
		// An account that may not call the procedure may do all the same what it does.
	}
	return c.cancelByStatements(ctx, db, e, jobExecs)
}

// callCancel cancels by the procedure, which does what Cancel does, and begins a transaction of its own where there is none:
// one round trip for each job_exec that is named, or for all.
func (c *Client) callCancel(ctx context.Context, db prescient.DB, e prescient.Entity, jobExecs []string) (cancelled int, err error) {
	call := func(db prescient.DB, jobExec string) error {
		var n int
		err := store.QueryRow(ctx, db, []any{&n}, c.tables.Fill("client/cancel", "{entity_name}", literal.Of(literal.AppendText, e.Name),
			"{entity_key}", literal.Of(literal.AppendText, e.Key), "{job_exec}", literal.Of(literal.AppendTextOrNull, jobExec)))
		if err != nil {
			return fmt.Errorf("cancelling for %s: %w", e, err)
		}
		cancelled += n
		return nil
	}
	if _, begins := beginnerOf(db); !begins {
		if err := isInside(ctx, db); err != nil {
			return 0, err
		}
	}
	switch len(jobExecs) {
	case 0:
		err = call(db, "")
	case 1:
		err = call(db, jobExecs[0])
	default:
		err = inTx(ctx, db, func(db prescient.DB) error {
			cancelled = 0
			for _, name := range jobExecs {
				if err := call(db, name); err != nil {
					return err
				}
			}
			return nil
		})
	}
	if err != nil {
		return 0, err
	}
	return cancelled, nil
}

// cancelByStatements does what the procedure does.
func (c *Client) cancelByStatements(ctx context.Context, db prescient.DB, e prescient.Entity, jobExecs []string) (cancelled int, err error) {
	err = inTx(ctx, db, func(db prescient.DB) error {
		cancelled = 0
		callers := isCallersTx(db)
		lock := false
		for range maxTries {
			found, err := c.findEntity(ctx, db, e, jobExecs, lock)
			if err != nil {
				return err
			}
			missed := 0
			for _, job := range found {
				ended, err := c.cancel(ctx, db, job)
				if err != nil {
					return fmt.Errorf("cancelling %s of %s: %w", job.JobExec, e, err)
				}
				if ended {
					cancelled++
				} else {
					missed++
				}
			}
			// In the caller's transaction a plain read may not see the latest rows; a locking one does.
			if missed == 0 && lock == callers {
				return nil
			}
			lock = callers
		}
		return fmt.Errorf("cancelling for %s: its rows changed %d times under it", e, maxTries)
	})
	if err != nil {
		return 0, err
	}
	return cancelled, nil
}

// findEntity reads what is pending for an entity. Its rows are neighbours in the unique key.
func (c *Client) findEntity(ctx context.Context, db prescient.DB, e prescient.Entity, jobExecs []string, lock bool) ([]prescient.FutureJob, error) {
	var found []prescient.FutureJob
	var err error
	if lock {
		found, err = c.findBetweenBookends(ctx, db, e)
	} else {
		first, last := e.KeyRange()
		found, err = c.find(ctx, db, "job.job_key BETWEEN "+literal.Of(literal.AppendKey, first)+" AND "+literal.Of(literal.AppendKey, last), false)
	}
	return slices.DeleteFunc(found, func(job prescient.FutureJob) bool {
		return job.Entity() != e || len(jobExecs) > 0 && !slices.Contains(jobExecs, job.JobExec)
	}), err
}

// cancel ends one row if it is still as it was read. The server copies it into history: a payload need not travel, whatever
// its size.
func (c *Client) cancel(ctx context.Context, db prescient.DB, job prescient.FutureJob) (ended bool, err error) {
	n, err := store.Affected(ctx, db, c.tables.CopyEnd(store.End{Job: job, Key: job.Key(), Outcome: prescient.Cancelled}))
	if err != nil || n == 0 {
		return false, err
	}
	_, err = db.ExecContext(ctx, c.tables.Fill("client/delete", c.identity(job)...))
	return true, err
}

// Reschedule moves a pending check to another time; its counts and payload stay. A time that is over goes to the next
// open slot. Errors: prescient.ErrNotFound, prescient.ErrBeyondHorizon, prescient.ErrInvalid and prescient.ErrConfigChanged,
// with nothing written; others come from the server.
//
// A reschedule that commits while the job_exec runs wins: the answer of that call is dropped.
func (c *Client) Reschedule(ctx context.Context, db prescient.DB, e prescient.Entity, jobExec, tag string, dueAt time.Time) (Inserted, error) {
	if err := (prescient.NewJob{Entity: e, JobExec: jobExec, Tag: tag, DueAt: dueAt}).Validate(); err != nil {
		return Inserted{}, err
	}
	do := func() (Inserted, error) { return c.reschedule(ctx, db, e, jobExec, tag, dueAt) }
	if commitsByItself(db) {
		return retried(do)
	}
	return do()
}

func (c *Client) reschedule(ctx context.Context, db prescient.DB, e prescient.Entity, jobExec, tag string, dueAt time.Time) (Inserted, error) {
	now, job, err := c.readPending(ctx, db, prescient.KeyOf(e, jobExec, tag))
	if err != nil {
		return Inserted{}, err
	}
	// A plain read in the caller's transaction may not see the latest row.
	latest := !isCallersTx(db)
	for range maxTries {
		due, slot, err := c.place(jobExec, dueAt, now)
		if err != nil {
			return Inserted{}, err
		}
		if job != nil && job.Entity() == e && job.JobExec == jobExec && job.Tag == tag {
			n, err := store.Affected(ctx, db, c.tables.Fill("client/reschedule", append(c.identity(*job),
				"{due_at}", literal.Of(literal.AppendMicro, due), "{next_check_at}", literal.Of(literal.AppendSecond, slot),
				"{new_revision}", literal.Of(literal.AppendUint, newRevision()))...))
			if err != nil {
				return Inserted{}, fmt.Errorf("rescheduling %s of %s: %w", jobExec, e, err)
			}
			if n == 1 {
				return Inserted{Did: DidReschedule, DueAt: due, Slot: slot}, nil
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
	return Inserted{}, fmt.Errorf("rescheduling %s of %s: the pending row changed %d times under it", jobExec, e, maxTries)
}

// Get returns the pending check of an entity, job_exec and tag, or an error that wraps prescient.ErrNotFound.
func (c *Client) Get(ctx context.Context, db prescient.DB, e prescient.Entity, jobExec, tag string) (prescient.FutureJob, error) {
	found, err := c.find(ctx, db, "job.job_key = "+literal.Of(literal.AppendKey, prescient.KeyOf(e, jobExec, tag)), false)
	if err != nil {
		return prescient.FutureJob{}, err
	}
	for _, job := range found {
		if job.Entity() == e && job.JobExec == jobExec && job.Tag == tag {
			return job, nil
		}
	}
	return prescient.FutureJob{}, fmt.Errorf("%w: %s of %s", prescient.ErrNotFound, jobExec, e)
}
