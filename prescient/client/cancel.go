package client

import (
	"context"
	"fmt"

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
	if err := validJobExecs(jobExecs); err != nil {
		return 0, err
	}
	if c.tables.Dialect == text.Full {
		cancelled, err = c.callCancel(ctx, db, e, jobExecs)
		if !errno.Is(err, errno.RoutineDenied, errno.NoSuchName) {
			return cancelled, err
		}
		// An account that may not call the procedure may do all the same what it does.
	}
	return c.cancelByStatements(ctx, db, []prescient.Entity{e}, jobExecs)
}

func validJobExecs(names []string) error {
	for _, name := range names {
		if err := prescient.ValidIdentifier("job_exec", name); err != nil {
			return err
		}
	}
	return nil
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
