package client

import (
	"context"
	"database/sql/driver"
	"errors"
	"fmt"
	"strings"
	"time"

	"prescient/prescient"
	"prescient/prescient/audit"
	"prescient/prescient/client/internal/handle"
	"prescient/prescient/client/internal/rowtext"
	"prescient/prescient/internal/errno"
	"prescient/prescient/internal/literal"
	"prescient/prescient/internal/reserved"
	"prescient/prescient/internal/store"
	text "prescient/sql"
)

// Cancel ends what is pending for an entity as cancelled: all of it, or only what the job_execs named do. It returns
// how many it ended; none is no error. On a handle that is no transaction it takes one of its own.
//
// In the caller's transaction it reads twice, the second time under a lock. That read finds what a snapshot does not, and under
// REPEATABLE READ also keeps others from inserting for the entity until the transaction ends. Rows of other entities stay
// free.
//
// It calls the procedure cancel: two round trips at most. That refuses the entities of schedules, and where an account may not call that, for several job_execs, and in the
// dialect plain, it sends the statements itself, for which the account needs INSERT on future_job too.
//
// An operator's cancel (audit.By) leaves an entry for each check in the audit. It sends the statements itself.
//
// A cancel that commits before a slot run read the row is never followed by a run of it; one that commits while the
// job_exec runs wins: the answer of that call is dropped.
func (c *Client) Cancel(ctx context.Context, db prescient.DB, e prescient.Entity, jobExecs ...string) (cancelled int, err error) {
	if err := errors.Join(e.Validate(), reserved.Refuse(e)); err != nil {
		return 0, err
	}
	if err := validJobExecs(jobExecs); err != nil {
		return 0, err
	}
	if _, begins := handle.BeginnerOf(db); !audit.Of(ctx).Operator && c.tables.Dialect == text.Full && len(jobExecs) <= 1 && e.Name != prescient.ScheduleEntity && begins != handle.IsCallersTx(db) {
		cancelled, err = c.callCancel(ctx, db, e, strings.Join(jobExecs, ""))
		if !errno.Is(err, errno.RoutineDenied, errno.NoSuchName, errno.NoDefiner) {
			return cancelled, err
		}
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

// callCancel cancels by the procedure, in the caller's transaction or in one of the procedure's own. Where a CALL is killed, the
// servers run none of the procedure's handlers: what it did is undone here.
func (c *Client) callCancel(ctx context.Context, db prescient.DB, e prescient.Entity, jobExec string) (cancelled int, err error) {
	pool, lends := db.(handle.Lender)
	if _, begins := handle.BeginnerOf(db); begins && lends {
		return handle.Retried(func() (int, error) { return c.callCancelOn(ctx, pool, e, jobExec) })
	}
	if err := handle.IsInside(ctx, db); err != nil {
		return 0, err
	}
	if cancelled, err = c.call(ctx, db, e, jobExec); err == nil {
		return cancelled, nil
	}
	for _, undo := range []string{"ROLLBACK TO SAVEPOINT prescient_cancel", "RELEASE SAVEPOINT prescient_cancel"} {
		if _, failed := db.ExecContext(context.WithoutCancel(ctx), undo); failed != nil {
			if !handle.IsOver(failed) {
				err = errors.Join(err, fmt.Errorf("rolling back to the savepoint: %w", failed))
			}
			break // the procedure did not come to set it
		}
	}
	return 0, err
}

// callCancelOn is callCancel on a connection of a pool.
func (c *Client) callCancelOn(ctx context.Context, pool handle.Lender, e prescient.Entity, jobExec string) (cancelled int, err error) {
	conn, err := pool.Conn(ctx)
	if err != nil {
		return 0, err
	}
	defer conn.Close()
	if cancelled, err = c.call(ctx, conn, e, jobExec); err == nil {
		if _, err = conn.ExecContext(ctx, "COMMIT"); err == nil { // where autocommit is off
			return cancelled, nil
		}
		err = fmt.Errorf("committing: %w", err)
	}
	undoing, cancel := context.WithTimeout(context.WithoutCancel(ctx), undoWithin)
	defer cancel()
	if _, failed := conn.ExecContext(undoing, "ROLLBACK"); failed != nil {
		_ = conn.Raw(func(any) error { return driver.ErrBadConn }) // it goes, and its transaction with it
	}
	return 0, err
}

// undoWithin is how long a server may take to roll back, until the connection is given up.
const undoWithin = 10 * time.Second

func (c *Client) call(ctx context.Context, db prescient.DB, e prescient.Entity, jobExec string) (cancelled int, err error) {
	err = store.QueryRow(ctx, db, []any{&cancelled}, c.tables.Fill("client/cancel", "{entity_name}", literal.Of(literal.AppendText, e.Name),
		"{entity_key}", literal.Of(literal.AppendText, e.Key), "{job_exec}", literal.Of(literal.AppendTextOrNull, jobExec)))
	if err != nil {
		return 0, fmt.Errorf("cancelling for %s: %w", e, err)
	}
	return cancelled, nil
}

// Get returns the pending check of an entity, job_exec and tag, or an error that wraps prescient.ErrNotFound.
func (c *Client) Get(ctx context.Context, db prescient.DB, e prescient.Entity, jobExec, tag string) (prescient.FutureJob, error) {
	found, err := c.find(ctx, db, rowtext.Columns, "job.job_key = "+literal.Of(literal.AppendKey, prescient.KeyOf(e, jobExec, tag)), false)
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
