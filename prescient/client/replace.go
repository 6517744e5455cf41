package client

import (
	"context"
	"time"

	"prescient/prescient"
	"prescient/prescient/client/internal/handle"
	"prescient/prescient/client/internal/rowtext"
	"prescient/prescient/internal/errno"
	"prescient/prescient/internal/literal"
	"prescient/prescient/internal/store"
)

// replace puts a job in the place of a pending row, if that is still as it was read: n is 1 then.
//
// An account that may insert and delete, but not update, cannot do so, except where the slot of the row has begun: there
// every policy has to, so the row goes and a new one comes. The DELETE holds the place until the caller commits.
func (c *Client) replace(ctx context.Context, db prescient.DB, job prescient.NewJob, pending prescient.FutureJob, due, slot, now time.Time) (n int, err error) {
	n, err = store.Affected(ctx, db, c.tables.Fill("client/replace", append(rowtext.Identity(pending),
		"{due_at}", literal.Of(literal.AppendMicro, due), "{next_check_at}", literal.Of(literal.AppendSecond, slot),
		"{payload}", literal.Of(literal.AppendJSON, string(job.Payload)),
		"{expires_at}", rowtext.SetExpiry(pending, prescient.ExpiresAt(due, job.ExpiresAfter)),
		"{trace}", rowtext.SetTrace(pending, job.Trace), "{rule}", rowtext.SetRule(pending, &job),
		"{new_revision}", literal.Of(literal.AppendUint, rowtext.NewRevision()))...))
	if !errno.Denied(err) || pending.NextCheckAt.After(now) {
		return n, err
	}
	again := func(db prescient.DB) error {
		if n, err = store.Affected(ctx, db, c.tables.Fill("client/delete", "{rows}", rowtext.AsRead(c.tables.Dialect, []prescient.FutureJob{pending}))); err != nil || n == 0 {
			return err
		}
		_, err := db.ExecContext(ctx, c.insertOf(job, prescient.KeyOf(job.Entity, job.JobExec, job.Tag), due, slot))
		return err
	}
	err = handle.InTxWithin(ctx, c.tables.Server, db, "prescient_replace", again) // of InsertMany
	return n, err
}
