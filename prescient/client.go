package prescient

import (
	"context"
	"database/sql"
	"encoding/hex"
	"encoding/json"
	"errors"
	"fmt"
	"math/rand/v2"
	"strings"
	"time"
)

// Client is what app code works with: it inserts, cancels, moves and reads checks on the handle that the caller gives,
// mostly the transaction of the domain event. It is for concurrent use.
//
// It asks nothing of that connection: its loc, time_zone, character set, isolation level and sql_mode may be anything.
// Its own reads take no locks and its writes go by the primary key, so that it does not deadlock with slot runs. Under
// REPEATABLE READ a row that was moved after the transaction's snapshot is invisible to a plain read; where a first
// look may have missed it, a client looks again with FOR UPDATE, which locks the gap where the row would be. A pending
// row that an insert keeps is locked too, so that nobody can cancel it before the caller commits. On a handle that is
// no transaction neither is needed.
// In the caller's transaction a deadlock, a lock wait timeout and the like are returned as the server gave them, for the
// caller to begin the transaction again: BeginAgain knows them. One of them is to be expected under REPEATABLE READ from
// MariaDB 11.6 on: a row that somebody changed after the transaction's snapshot is refused with 1020, and the server rolls
// back the whole transaction. On a handle that is no transaction a client tries again by itself.
type Client struct {
	tables
	guards   Guards
	registry *Registry
}

// ClientOptions are for NewClient; the zero value is usable.
type ClientOptions struct {
	// Prefix of the table names; empty by default.
	Prefix string
	// Resolution of the slots. Zero takes that of slot_config; any other must be the same.
	Resolution time.Duration
	// Guards of the installation; of them a client uses Horizon, 30 days by default.
	Guards Guards
	// Registry is optional: with it the horizon of each job_exec is known.
	Registry *Registry
}

// NewClient reads slot_config on db and returns a client. The error wraps ErrNotMigrated, ErrResolution or ErrInvalid.
func NewClient(ctx context.Context, db DB, options ClientOptions) (*Client, error) {
	if err := options.Guards.Validate(); err != nil {
		return nil, err
	}
	t, err := openTables(ctx, db, options.Prefix, options.Resolution)
	if err != nil {
		return nil, err
	}
	return &Client{tables: t, guards: options.Guards.or(defaultGuards), registry: options.Registry}, nil
}

// Resolution returns the distance between two slots.
func (c *Client) Resolution() time.Duration { return c.grid.Resolution() }

// place finds the slot of a check that is asked for: its time rounded up, or the next open slot where that is over.
func (c *Client) place(jobExec string, dueAt, now time.Time) (due, slot time.Time, err error) {
	due = roundUp(dueAt)
	horizon := c.registry.guardsOf(jobExec, c.guards).Horizon
	if limit := now.Add(horizon); due.After(limit) {
		return due, slot, fmt.Errorf("%w: job_exec %s is asked for at %s; with a horizon of %s the latest is %s",
			ErrBeyondHorizon, jobExec, stamp(due), horizon, stamp(limit))
	}
	if due.Before(earliestDue) {
		due = earliestDue
	}
	return due, later(c.grid.Ceil(due), c.grid.Next(now)), nil
}

// earliestDue is the first time that a DATETIME column is documented to hold.
var earliestDue = time.Date(1000, 1, 1, 0, 0, 0, 0, time.UTC)

// Now returns the database's time, by an account that may read slot_config and nothing else.
func (c *Client) Now(ctx context.Context, db DB) (time.Time, error) { return c.now(ctx, db) }

// now asks for the database's time, and makes sure that slot_config is as it was.
func (c *Client) now(ctx context.Context, db DB) (time.Time, error) {
	var said string
	var version uint64
	if err := queryRow(ctx, db, []any{&said, &version}, c.stmt.Get("client/now")); err != nil {
		return time.Time{}, fmt.Errorf("reading slot_config: %w", err)
	}
	if err := c.sameVersion(version); err != nil {
		return time.Time{}, err
	}
	return parseTime(said)
}

// look asks for the database's time, and for the row of a key if one is pending.
func (c *Client) look(ctx context.Context, db DB, key Key) (time.Time, *FutureJob, error) {
	var said string
	var version uint64
	var row textRow
	query := c.fill("client/look", "{columns}", textColumns, "{key}", literal(appendKey, key))
	if err := queryRow(ctx, db, append([]any{&said, &version}, row.targets()...), query); err != nil {
		return time.Time{}, nil, fmt.Errorf("looking for a pending job: %w", err)
	}
	if err := c.sameVersion(version); err != nil {
		return time.Time{}, nil, err
	}
	now, err := parseTime(said)
	if err != nil {
		return time.Time{}, nil, err
	}
	job, err := row.job()
	return now, job, err
}

// find reads pending rows by a condition on job_key, with or without a lock.
func (c *Client) find(ctx context.Context, db DB, condition string, lock bool) ([]FutureJob, error) {
	forUpdate := ""
	if lock {
		forUpdate = "FOR UPDATE"
	}
	rows, err := db.QueryContext(ctx, c.fill("client/find", "{columns}", textColumns, "{keys}", condition, "{lock}", forUpdate))
	if err != nil {
		return nil, fmt.Errorf("finding pending jobs: %w", err)
	}
	defer rows.Close()
	var found []FutureJob
	for rows.Next() {
		var row textRow
		if err := rows.Scan(row.targets()...); err != nil {
			return nil, err
		}
		job, err := row.job()
		if err != nil {
			return nil, err
		}
		found = append(found, *job)
	}
	return found, rows.Err()
}

// fill puts values for the words in braces into a statement.
func (t *tables) fill(statement string, pairs ...string) string {
	return strings.NewReplacer(pairs...).Replace(t.stmt.Get(statement))
}

// newRevision is random, so that a row that was cancelled and one that took its place never share one. 63 bits leave
// room to count up.
func newRevision() uint64 { return rand.Uint64() >> 1 }

// textColumns reads a row of future_job as text that no setting of the connection changes.
const textColumns = `job.entity_name, HEX(job.entity_key), job.job_exec, HEX(job.tag), CAST(job.due_at AS CHAR),
  CAST(job.first_check_at AS CHAR), CAST(job.next_check_at AS CHAR), job.check_count, job.error_count, job.put_off_count,
  HEX(job.last_error), job.total_ms, HEX(CAST(job.payload AS CHAR CHARACTER SET utf8mb4)), job.revision,
  CAST(job.inserted_at AS CHAR)`

// textRow is a row as textColumns reads it; all NULL where an outer join found none.
type textRow struct {
	name, key, exec, tag, due, first, next, lastError, payload, inserted sql.NullString
	checks, errors, putOff, total                                        sql.NullInt64
	revision                                                             sql.Null[uint64]
}

func (r *textRow) targets() []any {
	return []any{&r.name, &r.key, &r.exec, &r.tag, &r.due, &r.first, &r.next, &r.checks, &r.errors, &r.putOff,
		&r.lastError, &r.total, &r.payload, &r.revision, &r.inserted}
}

// job returns nil where there was no row.
func (r *textRow) job() (*FutureJob, error) {
	if !r.name.Valid {
		return nil, nil
	}
	job := &FutureJob{
		EntityName: r.name.String, JobExec: r.exec.String,
		CheckCount: int(r.checks.Int64), ErrorCount: int(r.errors.Int64), PutOffCount: int(r.putOff.Int64),
		TotalMS: r.total.Int64, Revision: r.revision.V,
	}
	var errs []error
	text := func(s sql.NullString) string {
		plain, err := hex.DecodeString(s.String)
		errs = append(errs, err)
		return string(plain)
	}
	at := func(s sql.NullString) time.Time {
		t, err := parseTime(s.String)
		errs = append(errs, err)
		return t
	}
	job.EntityKey, job.Tag, job.LastError = text(r.key), text(r.tag), text(r.lastError)
	if r.payload.Valid {
		job.Payload = json.RawMessage(text(r.payload))
	}
	job.DueAt, job.FirstCheckAt, job.NextCheckAt, job.InsertedAt = at(r.due), at(r.first), at(r.next), at(r.inserted)
	return job, errors.Join(errs...)
}

// parseTime reads a DATETIME as the server writes it.
func parseTime(text string) (time.Time, error) {
	return time.ParseInLocation("2006-01-02 15:04:05.999999", text, time.UTC)
}
