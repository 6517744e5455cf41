package prescient

import (
	"context"
	"database/sql"
	"encoding/json"
	"errors"
	"fmt"
	"slices"
	"strings"
	"time"
	"unicode/utf8"
)

// OnPending says what an insert does when the same job (entity, job_exec and tag) is pending already. A row whose slot
// has begun is not pending in this sense: all but OnPendingError replace it, since its job_exec may be running and
// would otherwise settle the new request along with the old.
type OnPending string

// The ways.
const (
	// Keep leaves the pending job as it is. The default.
	Keep OnPending = "keep"
	// Replace puts the new job in its place: time, payload, counts.
	Replace OnPending = "replace"
	// Earlier keeps whichever of the two is due first.
	Earlier OnPending = "earlier"
	// Later keeps whichever of the two is due last.
	Later OnPending = "later"
	// OnPendingError refuses with ErrPending.
	OnPendingError OnPending = "error"
)

// ParseOnPending reads keep, replace, earlier, later or error; empty is keep. The error wraps ErrInvalid.
func ParseOnPending(text string) (OnPending, error) {
	switch p := OnPending(text); p {
	case "":
		return Keep, nil
	case Keep, Replace, Earlier, Later, OnPendingError:
		return p, nil
	}
	return "", fmt.Errorf("%w: on-pending %q: keep, replace, earlier, later or error are allowed", ErrInvalid, text)
}

// MaxPayload is the longest payload, in bytes. A CHECK of the tables holds inserts by plain SQL to it, by the size that the
// server stores: on MySQL, a list of many small numbers has three times its text.
const MaxPayload = 4 << 20

// NewJob is a check to insert.
type NewJob struct {
	// Entity is what the check is about.
	Entity Entity
	// JobExec is the name under which the check is registered with the workers: an identifier.
	JobExec string
	// Tag tells apart several checks of one job_exec on one entity: at most 64 characters, empty by default.
	Tag string
	// DueAt is when to check, in any zone; it is rounded up to a slot. A time that is over goes to the next open slot.
	DueAt time.Time
	// Spread puts the check somewhere between DueAt and so much later, so that not all that is asked for midnight is due
	// at midnight. Where is a stable hash of entity, job_exec and tag: the same job always has the same place. due_at is
	// that time from then on; the horizon and OnPending go by it. 0, the default, for DueAt itself.
	Spread time.Duration
	// Payload is JSON that the job_exec gets; nil for none. MySQL stores it in a form of its own; MariaDB refuses what
	// is nested deeper than 31, MySQL what is nested deeper than 100.
	Payload json.RawMessage
	// OnPending says what to do when the job is pending already; Keep by default.
	OnPending OnPending
}

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

// Validate returns an error that wraps ErrInvalid and names what cannot be stored.
func (j NewJob) Validate() error {
	if err := j.Entity.Validate(); err != nil {
		return err
	}
	if err := validIdentifier("job_exec", j.JobExec); err != nil {
		return err
	}
	if err := validText("tag", j.Tag, MaxTagLen); err != nil {
		return err
	}
	if j.DueAt.IsZero() {
		return fmt.Errorf("%w: %s of %s has no due time", ErrInvalid, j.JobExec, j.Entity)
	}
	if err := validSpread(j.Spread); err != nil {
		return err
	}
	if len(j.Payload) > MaxPayload {
		return fmt.Errorf("%w: payload of %s has %d bytes; at most %d are allowed", ErrInvalid, j.Entity, len(j.Payload), MaxPayload)
	}
	if j.Payload != nil && !(json.Valid(j.Payload) && utf8.Valid(j.Payload)) {
		return fmt.Errorf("%w: payload of %s is not JSON in UTF-8: %.80q", ErrInvalid, j.Entity, j.Payload)
	}
	_, err := ParseOnPending(string(j.OnPending))
	return err
}

// Insert makes a check pending, on the caller's handle. Errors: ErrInvalid, ErrBeyondHorizon, ErrPending,
// ErrKeyCollision and ErrConfigChanged, with nothing written; others come from the server.
func (c *Client) Insert(ctx context.Context, db DB, job NewJob) (Inserted, error) {
	if err := job.Validate(); err != nil {
		return Inserted{}, err
	}
	job = job.spread()
	do := func() (Inserted, error) {
		now, pending, err := c.look(ctx, db, KeyOf(job.Entity, job.JobExec, job.Tag))
		if err != nil {
			return Inserted{}, err
		}
		return c.insert(ctx, db, job, pending, now)
	}
	if commitsByItself(db) {
		return retried(do)
	}
	return do()
}

// insert goes on from a first look at the key.
func (c *Client) insert(ctx context.Context, db DB, job NewJob, pending *FutureJob, now time.Time) (Inserted, error) {
	key := KeyOf(job.Entity, job.JobExec, job.Tag)
	// A plain read in the caller's transaction may show a row that is there no more.
	latest := !isCallersTx(db)
	for range maxTries {
		due, slot, err := c.place(job.JobExec, job.DueAt, now)
		if err != nil {
			return Inserted{}, err
		}
		if pending == nil {
			_, err := db.ExecContext(ctx, c.insertOf(job, key, due, slot))
			if err == nil {
				return Inserted{Did: DidInsert, DueAt: due, Slot: slot}, nil
			}
			if !isError(err, errDuplicateKey) {
				return Inserted{}, c.explain(ctx, db, job, err)
			}
		} else if stays, refused := settle(job, *pending, due, now); stays {
			if !latest {
				if latest, err = c.hold(ctx, db, *pending); err != nil {
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
		if now, pending, err = c.lookAgain(ctx, db, key); err != nil {
			return Inserted{}, err
		}
		latest = true
	}
	return Inserted{}, fmt.Errorf("inserting %s of %s: the pending row changed %d times under it", job.JobExec, job.Entity, maxTries)
}

// lookAgain is look for the latest row, whatever the snapshot of the caller's transaction shows. The time is that
// after the wait for the row's lock.
func (c *Client) lookAgain(ctx context.Context, db DB, key Key) (now time.Time, pending *FutureJob, err error) {
	if !isCallersTx(db) {
		return c.look(ctx, db, key)
	}
	found, err := c.find(ctx, db, "job.job_key = "+literal(appendKey, key), true)
	if err != nil {
		return time.Time{}, nil, err
	}
	if len(found) > 0 {
		pending = &found[0]
	}
	now, err = c.now(ctx, db)
	return now, pending, err
}

// hold locks a row by its primary key, if it is still as it was read.
func (c *Client) hold(ctx context.Context, db DB, job FutureJob) (held bool, err error) {
	var revision uint64
	err = queryRow(ctx, db, []any{&revision}, c.fill("client/hold", c.identity(job)...))
	if errors.Is(err, sql.ErrNoRows) {
		return false, nil
	}
	if err != nil {
		return false, fmt.Errorf("locking the pending %s of %s: %w", job.JobExec, job.Entity(), err)
	}
	return true, nil
}

// settle says whether the pending row stays, by the job's policy; it always does where the job is refused.
func settle(job NewJob, pending FutureJob, due, now time.Time) (stays bool, refused error) {
	if pending.Entity() != job.Entity || pending.JobExec != job.JobExec || pending.Tag != job.Tag {
		return true, fmt.Errorf("%w: %s of %s has that of %s of %s", ErrKeyCollision, job.JobExec, job.Entity, pending.JobExec, pending.Entity())
	}
	if job.OnPending == OnPendingError {
		return true, fmt.Errorf("%w: %s of %s, due at %s", ErrPending, job.JobExec, job.Entity, stamp(pending.DueAt))
	}
	if !pending.NextCheckAt.After(now) {
		return false, nil
	}
	switch job.OnPending {
	case Replace:
		return false, nil
	case Earlier:
		return !due.Before(pending.DueAt), nil
	case Later:
		return !due.After(pending.DueAt), nil
	default:
		return true, nil
	}
}

// identity fills in the full primary key and the revision of a row as it was read.
func (c *Client) identity(job FutureJob) []string {
	return []string{"{slot}", literal(appendSecond, job.NextCheckAt), "{key}", literal(appendKey, job.Key()),
		"{revision}", literal(appendUint, job.Revision)}
}

// hasMore says whether a job has what most have not: a tag, or a payload.
func (j *NewJob) hasMore() bool { return j.Tag != "" || j.Payload != nil }

// insertOf inserts one row.
func (c *Client) insertOf(job NewJob, key Key, due, slot time.Time) string {
	more := job.hasMore()
	return c.insertRows(appendRow(nil, &job, key, textOf(due, slot), more), more)
}

// insertRows is client/insert for rows that appendRow wrote.
func (c *Client) insertRows(rows []byte, more bool) string {
	columns := ""
	if more {
		columns = ", tag, payload"
	}
	return c.fill("client/insert", "{more}", columns, "{rows}", string(rows))
}

// rowTimes are the times of a row, as text: thousands of rows may have the same.
type rowTimes struct {
	due, slots []byte // due_at; first_check_at and next_check_at
}

// textOf writes times as numbers where they have whole seconds: the servers read those sooner.
func textOf(due, slot time.Time) rowTimes {
	first := appendNumber(nil, slot)
	t := rowTimes{slots: slices.Concat(first, []byte(","), first)}
	if due.Nanosecond() == 0 {
		t.due = appendNumber(nil, due)
	} else {
		t.due = appendMicro(nil, due)
	}
	return t
}

// appendRow appends (…) for client/insert.
func appendRow(b []byte, job *NewJob, key Key, times rowTimes, more bool) []byte {
	b = append(b, '(')
	b = append(appendText(b, job.Entity.Name), ',')
	b = append(appendText(b, job.Entity.Key), ',')
	b = append(appendText(b, job.JobExec), ',')
	b = append(append(b, times.due...), ',')
	b = append(appendKey(b, key), ',')
	b = append(append(b, times.slots...), ',')
	b = appendUint(b, newRevision())
	if more {
		b = appendText(append(b, ','), job.Tag)
		b = appendJSON(append(b, ','), string(job.Payload))
	}
	return append(b, ')')
}

// Numbers of the errors with which servers refuse a payload that is JSON by its grammar.
const (
	errJSONText  = 3140 // MySQL: a number that no double holds, half of a surrogate pair
	errJSONDepth = 3157 // MySQL: nested deeper than 100
)

// explain wraps a server's error. A slot that is off the grid means that the resolution was changed a moment ago.
func (c *Client) explain(ctx context.Context, db DB, job NewJob, err error) error {
	if err == nil {
		return nil
	}
	failed := isError(err, errCheckMySQL, errCheckMariaDB)
	if failed && strings.Contains(err.Error(), "on_grid") {
		if _, changed := c.now(ctx, db); changed != nil {
			return changed
		}
		// In a snapshot of the caller's transaction slot_config looks as it did before.
		return fmt.Errorf("%w: the tables refuse the slots of %s: start again to take up the new settings", ErrConfigChanged, c.grid)
	}
	if isError(err, errJSONText, errJSONDepth) || failed && strings.Contains(err.Error(), "payload") {
		return fmt.Errorf("%w: the server refuses the payload of %s: %w", ErrInvalid, job.Entity, err)
	}
	return fmt.Errorf("inserting %s of %s: %w", job.JobExec, job.Entity, err)
}
