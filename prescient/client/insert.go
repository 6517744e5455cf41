package client

import (
	"cmp"
	"context"
	"database/sql"
	"errors"
	"fmt"
	"strings"
	"time"

	"prescient/prescient"
	"prescient/prescient/client/internal/handle"
	"prescient/prescient/client/internal/rowtext"
	"prescient/prescient/internal/errno"
	"prescient/prescient/internal/literal"
	"prescient/prescient/internal/reserved"
	"prescient/prescient/internal/store"
	"prescient/slots"
	text "prescient/sql"
)

// Inserted says what an insert did.
type Inserted struct {
	// Did is what happened.
	Did InsertAction
	// DueAt and Slot are those of the row that is pending now.
	DueAt, Slot time.Time
}

// InsertAction is what an insert did.
type InsertAction string

// The actions.
const (
	DidInsert  InsertAction = "inserted"
	DidKeep    InsertAction = "kept"
	DidReplace InsertAction = "replaced"
	// DidReschedule is what Reschedule did.
	DidReschedule InsertAction = "rescheduled"
)

// Insert makes a check pending, on the caller's handle. It takes one statement where nothing is pending for it. A look comes first
// where the client has not looked for 5 s, and for a minute after it met a pending row, or what was due already, with the same
// job_exec and policy. Errors: prescient.ErrInvalid, prescient.ErrBeyondHorizon, prescient.ErrPending, prescient.ErrKeyCollision
// and prescient.ErrConfigChanged, with nothing written; others come from the server.
//
// ErrConfigChanged comes within 5 s of the change. What is inserted until then has a slot of the old grid, as what was inserted
// before the change; the tables refuse what is not on the new one as well.
func (c *Client) Insert(ctx context.Context, db prescient.DB, job prescient.NewJob) (did Inserted, err error) {
	if err := errors.Join(job.Validate(), reserved.RefuseNew(job.Entity)); err != nil {
		return Inserted{}, err
	}
	trace, end := c.trace.Begin(ctx, job)
	defer func() { end(err) }()
	job.Trace = cmp.Or(job.Trace, trace)
	return c.insertValid(ctx, db, job)
}

// insertValid is Insert for a job that is valid.
func (c *Client) insertValid(ctx context.Context, db prescient.DB, job prescient.NewJob) (Inserted, error) {
	job = job.InPlace()
	key := prescient.KeyOf(job.Entity, job.JobExec, job.Tag)
	do := func() (Inserted, error) {
		// Of a server that speaks plain nobody knows that it refuses a NULL whatever the sql_mode: TiDB did not.
		if c.tables.Dialect == text.Full && !c.lately.needsLook(wayOf(job), time.Now()) {
			if did, done, err := c.insertDirectly(ctx, db, job, key); done || err != nil {
				return did, err
			}
			c.lately.wasWorthIt(wayOf(job), time.Now())
		}
		now, pending, err := c.readPending(ctx, db, key)
		if err != nil {
			return Inserted{}, err
		}
		if pending != nil {
			c.lately.wasWorthIt(wayOf(job), time.Now())
		}
		return c.insert(ctx, db, job, pending, now)
	}
	if handle.CommitsByItself(db) {
		return handle.Retried(do)
	}
	return do()
}

// insert goes on from the pending row that was read, or from none.
func (c *Client) insert(ctx context.Context, db prescient.DB, job prescient.NewJob, pending *prescient.FutureJob, now time.Time) (Inserted, error) {
	key := prescient.KeyOf(job.Entity, job.JobExec, job.Tag)
	// A plain read in the caller's transaction may show a row that is there no more.
	latest := !handle.IsCallersTx(db)
	for range handle.MaxTries {
		due, slot, err := c.placeNew(&job, now)
		if err != nil {
			return Inserted{}, err
		}
		if pending == nil {
			_, err := db.ExecContext(ctx, c.insertOf(job, key, due, slot))
			if err == nil {
				return Inserted{Did: DidInsert, DueAt: due, Slot: slot}, nil
			}
			if !errno.Is(err, errno.DuplicateKey) {
				return Inserted{}, c.explain(ctx, db, job, err)
			}
		} else if stays, refused := byPolicy(job, *pending, due, now); stays {
			if !latest {
				if latest, err = c.lock(ctx, db, *pending); err != nil {
					return Inserted{}, err
				}
			}
			if latest {
				return Inserted{Did: DidKeep, DueAt: pending.DueAt, Slot: pending.NextCheckAt}, refused
			}
		} else {
			n, err := c.replace(ctx, db, job, *pending, due, slot, now)
			if err != nil {
				return Inserted{}, c.explain(ctx, db, job, err)
			}
			if n == 1 {
				return Inserted{Did: DidReplace, DueAt: due, Slot: slot}, nil
			}
		}
		// Somebody was faster, or this transaction's snapshot is older than the row.
		if now, pending, err = c.readLatest(ctx, db, key); err != nil {
			return Inserted{}, err
		}
		latest = true
	}
	return Inserted{}, fmt.Errorf("inserting %s of %s: others changed the pending row meanwhile, %d times", job.JobExec, job.Entity, handle.MaxTries)
}

// readLatest is readPending for the latest row, whatever the snapshot of the caller's transaction shows. The time is that
// after the wait for the row's lock.
func (c *Client) readLatest(ctx context.Context, db prescient.DB, key prescient.Key) (now time.Time, pending *prescient.FutureJob, err error) {
	if !handle.IsCallersTx(db) {
		return c.readPending(ctx, db, key)
	}
	found, err := c.find(ctx, db, rowtext.Columns, "job.job_key = "+literal.Of(literal.AppendKey, key), true)
	if err != nil {
		return time.Time{}, nil, err
	}
	if len(found) > 0 {
		pending = &found[0]
	}
	now, _, err = c.readPending(ctx, db, key) // for the time alone, from where the row is
	return now, pending, err
}

// lock locks a row by its primary key, if it is still as it was read.
func (c *Client) lock(ctx context.Context, db prescient.DB, job prescient.FutureJob) (locked bool, err error) {
	var revision uint64
	err = store.QueryRow(ctx, db, []any{&revision}, c.tables.Fill("client/lock", rowtext.Identity(job)...))
	if errors.Is(err, sql.ErrNoRows) {
		return false, nil
	}
	if err != nil {
		return false, fmt.Errorf("locking the pending %s of %s: %w", job.JobExec, job.Entity(), err)
	}
	return true, nil
}

// byPolicy says whether the pending row stays, by the job's policy. It always does where the job is refused.
func byPolicy(job prescient.NewJob, pending prescient.FutureJob, due, now time.Time) (stays bool, refused error) {
	if pending.Entity() != job.Entity || pending.JobExec != job.JobExec || pending.Tag != job.Tag {
		return true, fmt.Errorf("%w: %s of %s has the job_key of %s of %s", prescient.ErrKeyCollision, job.JobExec, job.Entity, pending.JobExec, pending.Entity())
	}
	if job.OnPending == prescient.OnPendingError {
		return true, fmt.Errorf("%w: %s of %s, due at %s", prescient.ErrPending, job.JobExec, job.Entity, slots.Stamp(pending.DueAt))
	}
	if !pending.NextCheckAt.After(now) {
		return false, nil
	}
	switch job.OnPending {
	case prescient.Replace:
		return false, nil
	case prescient.Earlier:
		return !due.Before(pending.DueAt), nil
	case prescient.Later:
		return !due.After(pending.DueAt), nil
	default:
		return true, nil
	}
}

// insertOf inserts one row.
func (c *Client) insertOf(job prescient.NewJob, key prescient.Key, due, slot time.Time) string {
	m := rowtext.MoreOf(&job)
	return c.insertRows(rowtext.Append(nil, &job, key, rowtext.TimesOf(c.tables.Dialect, due, slot, job.ExpiresAfter), m), m)
}

// insertRows is client/insert for rows that rowtext.Append wrote.
func (c *Client) insertRows(rows []byte, m rowtext.More) string {
	return c.tables.Fill("client/insert", "{more}", m.Columns(c.tables.Dialect), "{rows}", string(rows))
}

// explain wraps a server's error. A slot that is off the grid means that the resolution was changed a moment ago.
func (c *Client) explain(ctx context.Context, db prescient.DB, job prescient.NewJob, err error) error {
	if err == nil {
		return nil
	}
	failed := errno.Is(err, errno.CheckMySQL, errno.CheckMariaDB)
	if failed && strings.Contains(err.Error(), "on_grid") {
		if _, changed := c.now(ctx, db); changed != nil {
			return changed
		}
		// In a snapshot of the caller's transaction slot_config looks as it did before.
		return fmt.Errorf("%w: the tables refuse slots of %s; start this program again, so that it reads the new settings", prescient.ErrConfigChanged, c.tables.Grid)
	}
	if errno.Is(err, errno.JSONText, errno.JSONDepth) || failed && strings.Contains(err.Error(), "payload") {
		return fmt.Errorf("%w: the server refuses the payload of %s: %w", prescient.ErrInvalid, job.Entity, err)
	}
	return fmt.Errorf("inserting %s of %s: %w", job.JobExec, job.Entity, err)
}
