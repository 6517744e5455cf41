package check

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

// ErrMoved is returned where a slot run moved the check just then.
var ErrMoved = errors.New("the check was moved meanwhile")

// Present is the check of a run as it is now, in a transaction that is to end or move it.
type Present struct {
	tables   *store.Tables
	agent    string // that writes
	tx       *sql.Tx
	key      prescient.Key
	slot     sql.NullTime
	revision sql.Null[uint64]
	locked   bool

	due, inserted                   sql.NullTime
	checks, errors, putOff, totalMS sql.NullInt64

	// Now is by the database's clock.
	Now time.Time
}

// Place is where a check waits; zero where that is not known.
type Place struct {
	Slot     time.Time
	Revision uint64
}

// Find reads a check, for an agent that is to write what becomes of it. One that is still in its place it locks by the same statement.
func Find(ctx context.Context, tx *sql.Tx, tables *store.Tables, agent string, job prescient.FutureJob, at Place) (Present, error) {
	p := Present{tables: tables, agent: agent, tx: tx, key: job.Key()}
	if !at.Slot.IsZero() {
		if err := p.lock(ctx, at); !errors.Is(err, ErrMoved) {
			return p, err
		}
	}
	if err := tx.QueryRowContext(ctx, tables.Stmt.Get("longrun/find"), p.key[:]).Scan(p.into()...); err != nil {
		return p, fmt.Errorf("reading the check: %w", err)
	}
	return p, nil
}

// into is where the columns of a check go.
func (p *Present) into() []any {
	return []any{&p.Now, &p.slot, &p.revision, &p.due, &p.inserted, &p.checks, &p.errors, &p.putOff, &p.totalMS}
}

// Locked is a check that is locked as it was read: it waits for a slot.
func Locked(tx *sql.Tx, tables *store.Tables, agent string, job prescient.FutureJob, slot, now time.Time) Present {
	return Present{tables: tables, agent: agent, tx: tx, key: job.Key(), slot: sql.NullTime{Time: slot, Valid: true}, revision: sql.Null[uint64]{V: job.Revision, Valid: true}, Now: now}
}

// Is says whether it is there, as the app has left it for a run.
func (p *Present) Is(dueAt, insertedAt time.Time, checkCount int) bool {
	return p.slot.Valid && p.due.Time.Equal(dueAt) && p.inserted.Time.Equal(insertedAt) && int(p.checks.Int64) == checkCount
}

// Left is the check as the app has left it, and how often it was checked since; there says whether it is.
func (p *Present) Left() (dueAt, insertedAt time.Time, checkCount int, there bool) {
	return p.due.Time, p.inserted.Time, int(p.checks.Int64), p.slot.Valid
}

// Count gives a check the counts that it has now.
func (p *Present) Count(job *prescient.FutureJob) {
	job.ErrorCount, job.PutOffCount, job.TotalMS = int(p.errors.Int64), int(p.putOff.Int64), p.totalMS.Int64
}

// Lock locks it, if it is still as it was read; else ErrMoved.
func (p *Present) Lock(ctx context.Context) error {
	if p.locked {
		return nil
	}
	return p.lock(ctx, Place{p.slot.Time, p.revision.V})
}

func (p *Present) lock(ctx context.Context, at Place) error {
	err := p.tx.QueryRowContext(ctx, p.tables.Stmt.Get("longrun/lock"), at.Slot, p.key[:], at.Revision).Scan(p.into()...)
	if errors.Is(err, sql.ErrNoRows) {
		return ErrMoved
	} else if err != nil {
		return fmt.Errorf("locking the check: %w", err)
	}
	p.locked = true
	return nil
}

// Move moves it to a later slot.
func (p *Present) Move(ctx context.Context, job prescient.FutureJob, v prescient.Verdict) error {
	expires := prescient.MovedExpiry(job, v.DueAt)
	n, err := store.Affected(ctx, p.tx, p.tables.Stmt.Get("longrun/move"), v.Slot, v.DueAt, v.CheckCount, v.ErrorCount, v.PutOffCount,
		job.TotalMS, textOrNil(v.Reason), expires, p.slot.Time, p.key[:], p.revision.V)
	return one("moving the check", n, err)
}

// End writes its end, and adds it to the books of its slot. started is nil where it was not called.
func (p *Present) End(ctx context.Context, job prescient.FutureJob, v prescient.Verdict, started *time.Time, ran time.Duration) error {
	var late *int64
	if started != nil {
		ms := started.Sub(job.NextCheckAt).Milliseconds()
		late = &ms
	}
	n, err := store.Affected(ctx, p.tx, p.tables.Stmt.Get("longrun/history"), v.CheckCount, v.ErrorCount, job.TotalMS,
		job.NextCheckAt, string(v.Outcome), textOrNil(v.Reason), started, p.Now, literal.Millis(ran), late, p.agent,
		p.slot.Time, p.key[:], p.revision.V)
	if err := one("writing history", n, err); err != nil {
		return err
	}
	n, err = store.Affected(ctx, p.tx, p.tables.Stmt.Get("longrun/delete"), p.slot.Time, p.key[:], p.revision.V)
	if err := one("deleting the check", n, err); err != nil || v.Outcome.ByApp() { // whose ends are in no books
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
