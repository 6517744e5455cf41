package longrun

import (
	"context"
	"database/sql"
	"errors"
	"fmt"
	"time"

	"prescient/prescient"
	"prescient/prescient/internal/literal"
	"prescient/prescient/internal/store"
)

// errMoved is returned where a slot run moved the check just then.
var errMoved = errors.New("the check was moved meanwhile")

// present is the check of a run as it is now, in a transaction that is to end or move it.
type present struct {
	tables   *store.Tables
	agent    string // that writes
	tx       *sql.Tx
	key      prescient.Key
	now      time.Time // by the database's clock
	slot     sql.NullTime
	revision sql.Null[uint64]
	check    struct {
		due, inserted sql.NullTime
		checks        sql.NullInt64
	}
	errors, putOff, totalMS sql.NullInt64
	paused                  bool // its job_exec is
}

// find reads a check, for an agent that is to write what becomes of it.
func find(ctx context.Context, tx *sql.Tx, tables *store.Tables, agent string, job prescient.FutureJob) (present, error) {
	p := present{tables: tables, agent: agent, tx: tx, key: job.Key()}
	err := tx.QueryRowContext(ctx, tables.Stmt.Get("longrun/find"), job.JobExec, prescient.AllExecs, p.key[:]).Scan(&p.now, &p.slot, &p.revision,
		&p.check.due, &p.check.inserted, &p.check.checks, &p.errors, &p.putOff, &p.totalMS, &p.paused)
	if err != nil {
		return p, fmt.Errorf("reading the check: %w", err)
	}
	return p, nil
}

// is says whether it is the check of a run.
func (p *present) is(check identity) bool {
	return p.slot.Valid && identity{p.check.due.Time.UTC(), p.check.inserted.Time.UTC(), int(p.check.checks.Int64)} == check
}

// lock locks it, if it is still as it was read; else errMoved.
func (p *present) lock(ctx context.Context) error {
	var revision uint64
	err := p.tx.QueryRowContext(ctx, p.tables.Stmt.Get("longrun/lock"), p.slot.Time, p.key[:], p.revision.V).Scan(&revision)
	if errors.Is(err, sql.ErrNoRows) {
		return errMoved
	} else if err != nil {
		return fmt.Errorf("locking the check: %w", err)
	}
	return nil
}

// move moves it to a later slot.
func (p *present) move(ctx context.Context, job prescient.FutureJob, v prescient.Verdict) error {
	expires := prescient.MovedExpiry(job, v.DueAt)
	n, err := store.Affected(ctx, p.tx, p.tables.Stmt.Get("longrun/move"), v.Slot, v.DueAt, v.CheckCount, v.ErrorCount, v.PutOffCount,
		job.TotalMS, textOrNil(v.Reason), expires, p.slot.Time, p.key[:], p.revision.V)
	return one("moving the check", n, err)
}

// end writes its end, and adds it to the books of its slot. started is zero where it was not called.
func (p *present) end(ctx context.Context, job prescient.FutureJob, v prescient.Verdict, started time.Time, ran time.Duration) error {
	var late *int64
	if !started.IsZero() {
		ms := started.Sub(job.NextCheckAt).Milliseconds()
		late = &ms
	}
	n, err := store.Affected(ctx, p.tx, p.tables.Stmt.Get("longrun/history"), v.CheckCount, v.ErrorCount, job.TotalMS,
		job.NextCheckAt, string(v.Outcome), textOrNil(v.Reason), timeOrNil(started), p.now, literal.Millis(ran), late, p.agent,
		p.slot.Time, p.key[:], p.revision.V)
	if err := one("writing history", n, err); err != nil {
		return err
	}
	n, err = store.Affected(ctx, p.tx, p.tables.Stmt.Get("longrun/delete"), p.slot.Time, p.key[:], p.revision.V)
	if err := one("deleting the check", n, err); err != nil {
		return err
	}
	if _, err := p.tx.ExecContext(ctx, p.tables.Fill("longrun/books", "{outcome}", string(v.Outcome)), job.NextCheckAt); err != nil {
		return fmt.Errorf("keeping the books: %w", err)
	}
	return nil
}

func textOrNil(text string) *string {
	if text == "" {
		return nil
	}
	return &text
}

// one makes sure that a statement hit the one row that is locked.
func one(what string, n int, err error) error {
	if err != nil {
		return fmt.Errorf("%s: %w", what, err)
	}
	if n != 1 {
		return fmt.Errorf("%s: %d rows in the place of one", what, n)
	}
	return nil
}
