package client

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"time"

	"github.com/jmoiron/sqlx"

	"prescient/prescient"
	"prescient/prescient/client/internal/listing"
	"prescient/prescient/client/internal/rowtext"
	"prescient/prescient/internal/errno"
	"prescient/prescient/internal/literal"
	"prescient/prescient/internal/reserved"
	"prescient/prescient/internal/store"
	text "prescient/sql"
)

// Bulk works off many rows that were listed, for the room of bulk runs.
type Bulk struct{ client *Client }

// Bulk returns what works off many rows; only rooms of the library can name one.
func (c *Client) Bulk(reserved.Room) Bulk { return Bulk{c} }

// Tables are those that the client works on.
func (b Bulk) Tables() *store.Tables { return &b.client.tables }

// Counted is how many rows a filter has.
type Counted = listing.Counted

// CountPending counts what Pending would list, until it has found as many as most, or looked for as long as within.
func (b Bulk) CountPending(ctx context.Context, db Lister, f ListFilter, most int, within time.Duration) (Counted, error) {
	q, err := f.query("next_check_at", "next_check_at", "last_error")
	if err != nil {
		return Counted{}, err
	}
	return listing.Count(ctx, &b.client.tables, db, listing.Pending, q, most, within)
}

// CountEnded is CountPending of History.
func (b Bulk) CountEnded(ctx context.Context, db Lister, f ListFilter, most int, within time.Duration) (Counted, error) {
	q, err := f.query("ended_at", "slot", "error")
	if err != nil {
		return Counted{}, err
	}
	return listing.Count(ctx, &b.client.tables, db, listing.History, q, most, within)
}

// Lock locks those of some rows that are still as they were read and that nobody else has locked, in either index, and returns them. db is a
// transaction. It waits for nobody.
func (b Bulk) Lock(ctx context.Context, db prescient.DB, rows []prescient.FutureJob) (locked []prescient.FutureJob, err error) {
	read := func(index string) func(some []prescient.FutureJob) ([]prescient.FutureJob, error) {
		return func(some []prescient.FutureJob) ([]prescient.FutureJob, error) {
			which, lock := rowtext.AsRead(b.client.tables.Dialect, some), "FOR UPDATE SKIP LOCKED"
			if index == "job_key" {
				which = "(job.job_key IN (" + literal.Keys(some, func(job prescient.FutureJob) prescient.Key { return job.Key() }) + ") OR 1 = 0)"
			}
			if b.client.tables.Dialect == text.Plain { // which knows no SKIP LOCKED
				lock = "FOR UPDATE NOWAIT"
			}
			query := b.client.tables.Fill("bulk/lock", "{columns}", rowtext.BareColumns, "{index}", index, "{rows}", which, "{lock}", lock)
			return store.Rows(ctx, db, "locking pending checks", query, rowtext.Into)
		}
	}
	// A row whose entry in UNIQUE (job_key) somebody has locked cannot be moved or deleted without waiting for that.
	for _, index := range []string{"PRIMARY", "job_key"} {
		asRead := make(map[prescient.Key]uint64, len(rows))
		for _, row := range rows {
			asRead[row.Key()] = row.Revision
		}
		if locked, err = lockFree(rows, read(index)); err != nil {
			return nil, err
		}
		rows = slices.DeleteFunc(locked, func(row prescient.FutureJob) bool { return asRead[row.Key()] != row.Revision })
	}
	return rows, nil
}

// lockFree locks rows by statements that fail where somebody has one of theirs, or that leave it out: of those that fail, each half.
func lockFree(rows []prescient.FutureJob, lock func([]prescient.FutureJob) ([]prescient.FutureJob, error)) ([]prescient.FutureJob, error) {
	if len(rows) == 0 {
		return nil, nil
	}
	locked, err := lock(rows)
	if !errno.Is(err, errno.NoWait, errno.LockWaitTimeout) {
		return locked, err
	}
	if len(rows) == 1 {
		return nil, nil
	}
	half := len(rows) / 2
	first, err := lockFree(rows[:half], lock)
	if err != nil {
		return nil, err
	}
	second, err := lockFree(rows[half:], lock)
	return append(first, second...), err
}

// End ends rows that Lock returned as cancelled.
func (b Bulk) End(ctx context.Context, db prescient.DB, rows []prescient.FutureJob) error {
	n, err := b.client.endFound(ctx, db, rows, prescient.Cancelled)
	if err == nil && n != len(rows) {
		err = fmt.Errorf("%d of %d locked checks were ended", n, len(rows))
	}
	if err != nil {
		return fmt.Errorf("cancelling %d checks: %w", len(rows), err)
	}
	return nil
}

// Move moves rows that Lock returned to another time each.
func (b Bulk) Move(ctx context.Context, db prescient.DB, rows []prescient.FutureJob, due func(row prescient.FutureJob) time.Time) error {
	times := make([]NewTime, len(rows))
	for i, row := range rows {
		times[i] = NewTime{Entity: row.Entity(), JobExec: row.JobExec, Tag: row.Tag, DueAt: due(row)}
	}
	_, err := b.client.RescheduleMany(ctx, db, times)
	return err
}

// Noted returns which of some checks a bulk run was done to already.
func (b Bulk) Noted(ctx context.Context, db prescient.DB, number uint64, keys []prescient.Key) (map[prescient.Key]bool, error) {
	noted := make(map[prescient.Key]bool, len(keys))
	if len(keys) == 0 {
		return noted, nil
	}
	found, err := store.Rows(ctx, db, "looking for checks that were done", b.client.tables.Fill("bulk/noted", "{keys}", literal.KeysOf(keys)),
		func(key *prescient.Key) []any { return []any{store.Key(key)} }, number)
	for _, key := range found {
		noted[key] = true
	}
	return noted, err
}

// Place says when checks of a job_exec that are to be due at a time are due, and in which slot. The error wraps prescient.ErrBeyondHorizon.
func (b Bulk) Place(jobExec string, due, now time.Time) (dueAt, slot time.Time, err error) {
	return b.client.place(jobExec, due, now)
}

// Requeue makes ends of a page pending again, as Client.Requeue does, due after a time by at most a spread; beside is called in the transaction,
// with what became of each, in place of the entries in the audit.
func (b Bulk) Requeue(ctx context.Context, db *sqlx.DB, page []Ended, due time.Time, spread time.Duration, now time.Time, beside func(ctx context.Context, tx prescient.DB, jobs []RequeuedJob) error) (Requeued, error) {
	r := requeue{Client: b.client, db: db, options: RequeueOptions{DueAt: due, Spread: spread, Limit: len(page)}, now: now, seen: make(map[prescient.Key]bool), beside: beside}
	err := r.page(ctx, page)
	return r.did, err
}

// Cursor reads where a listing goes on behind a page of as many rows as were asked for: a cursor, or none where that was the last page. It
// passes on every error but that a search ended early.
func Cursor[T interface{ Cursor() string }](page []T, limit int, err error) (after string, more bool, _ error) {
	var early *SearchedError
	switch {
	case errors.As(err, &early):
		return early.After, true, nil
	case err != nil || len(page) < limit:
		return "", false, err
	}
	return page[len(page)-1].Cursor(), true, nil
}
