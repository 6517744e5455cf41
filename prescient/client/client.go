package client

import (
	"context"
	"fmt"
	"slices"
	"time"

	"prescient/prescient"
	"prescient/prescient/client/internal/rowtext"
	"prescient/prescient/internal/literal"
	"prescient/prescient/internal/store"
	"prescient/prescient/rule"
	"prescient/slots"
	text "prescient/sql"
)

// Client is what app code works with: it inserts, cancels, moves and reads checks on the handle that the caller gives,
// mostly the transaction of the domain event. It is for concurrent use.
//
// It asks nothing of that connection: its loc, time_zone, character set, isolation level and sql_mode may be anything.
// Its own reads take no locks and its writes go by the primary key, so that it does not deadlock with slot runs. A direct
// insert that meets a pending row is the exception: in the caller's transaction the server leaves a shared lock on that row's key,
// and what follows can be a deadlock, with a slot run that ends the row, or with another app that inserts the same. A client that
// met one looks first for a minute. So two apps that insert the same pending check at once, each in a transaction, can deadlock
// once a minute, job_exec and policy: both have the shared lock then, and both want more. Only the look that a direct insert saves
// would rule that out, or an upsert, which deadlocks with slot runs.
//
// Under REPEATABLE READ a row that was moved after the transaction's snapshot is invisible to a plain read; where a first
// read may have missed it, a client reads again with FOR UPDATE, which locks the gap where the row would be. That read goes from
// the key to the row, and a slot run that ends or moves the row the other way, so that the two may deadlock: seldom, as
// TestAnAppAndASlotRunDoNotDeadlockOverAJob counts. No other order spares that: only by its key is a row found that the snapshot hides. A pending
// row that an insert keeps is locked too, so that nobody can cancel it before the caller commits. On a handle that is
// no transaction neither is needed.
//
// In the caller's transaction a client returns a deadlock, a lock wait timeout and the like as the server gave them. BeginAgain
// knows them, and the caller begins the transaction again. Expect one of them under REPEATABLE READ from MariaDB 11.6 on: the
// server refuses a row that somebody changed after the transaction's snapshot with 1020, and rolls back the whole transaction. On a handle that is no transaction a client tries again by itself.
type Client struct {
	tables   store.Tables
	guards   prescient.Guards
	registry *prescient.Registry
	trace    prescient.Traces[prescient.NewJob]
	lately   lately
	rules    rule.Memory
}

// Options are for New; the zero value is usable.
type Options struct {
	// Prefix of the table names; empty by default.
	Prefix string
	// Dialect is [text.Auto] by default: what the server can do. [text.Plain] keeps to what servers have that are neither
	// MySQL nor MariaDB.
	Dialect text.Dialect
	// Resolution of the slots. Zero takes that of slot_config; any other must be the same.
	Resolution time.Duration
	// Guards of the installation; of them a client uses Horizon, 30 days by default.
	Guards prescient.Guards
	// Registry is optional: with it the horizon of each job_exec is known.
	Registry *prescient.Registry
	// Trace is optional. It is called before an Insert or InsertMany sends anything. By default the trace is that of the context. Tracing of package
	// otel has one. Where there is a trace, the account needs the grants of this version.
	Trace prescient.Traces[prescient.NewJob]
}

// New reads slot_config on db and returns a client. The error wraps prescient.ErrNotMigrated, prescient.ErrResolution or
// prescient.ErrInvalid.
func New(ctx context.Context, db prescient.DB, options Options) (*Client, error) {
	if err := options.Guards.Validate(); err != nil {
		return nil, err
	}
	looking := time.Now()
	t, err := store.OpenTables(ctx, db, options.Prefix, options.Resolution, options.Dialect)
	if err != nil {
		return nil, err
	}
	c := &Client{tables: t, guards: options.Guards.Or(prescient.DefaultGuards()), registry: options.Registry, trace: options.Trace}
	c.lately.looked(looking)
	return c, nil
}

// Resolution returns the distance between two slots.
func (c *Client) Resolution() time.Duration { return c.tables.Grid.Resolution() }

// Grid returns the slots.
func (c *Client) Grid() slots.Grid { return c.tables.Grid }

// placeNew finds the slot of a new check.
func (c *Client) placeNew(job *prescient.NewJob, now time.Time) (due, slot time.Time, err error) {
	return prescient.Place(c.tables.Grid, job.Ahead(c.registry.GuardsOf(job.JobExec, c.guards).Ahead()), job.JobExec, job.DueAt, now)
}

// place finds the slot of a check that is to be moved.
func (c *Client) place(jobExec string, dueAt, now time.Time) (due, slot time.Time, err error) {
	return prescient.Place(c.tables.Grid, c.registry.GuardsOf(jobExec, c.guards).Ahead(), jobExec, dueAt, now)
}

// Now returns the database's time, by an account that may read slot_config and nothing else.
func (c *Client) Now(ctx context.Context, db prescient.DB) (time.Time, error) { return c.now(ctx, db) }

// now asks for the database's time, and makes sure that slot_config is as it was.
func (c *Client) now(ctx context.Context, db prescient.DB) (now time.Time, err error) {
	var version uint64
	looking := time.Now()
	if err := store.QueryRow(ctx, db, []any{store.At(&now), &version}, c.tables.Stmt.Get("client/now")); err != nil {
		return time.Time{}, fmt.Errorf("reading slot_config: %w", err)
	}
	return now, c.noteVersion(version, looking)
}

// noteVersion makes sure that slot_config is as it was, by the version that a statement has read which was sent at a time.
func (c *Client) noteVersion(version uint64, sent time.Time) error {
	if err := c.tables.SameVersion(version); err != nil {
		return err
	}
	c.lately.looked(sent)
	return nil
}

// readPending asks for the database's time, and for the row of a key if one is pending.
func (c *Client) readPending(ctx context.Context, db prescient.DB, key prescient.Key) (now time.Time, pending *prescient.FutureJob, err error) {
	var version uint64
	var job prescient.FutureJob
	query := c.tables.Fill("client/pending", "{columns}", rowtext.OneRow(c.tables.Dialect), "{key}", literal.Of(literal.AppendKey, key))
	looking := time.Now()
	if err := store.QueryRow(ctx, db, append([]any{store.At(&now), &version}, rowtext.Into(&job)...), query); err != nil {
		return time.Time{}, nil, fmt.Errorf("looking for a pending check: %w", err)
	}
	if err := c.noteVersion(version, looking); err != nil {
		return time.Time{}, nil, err
	}
	if job.EntityName == "" {
		return now, nil, nil
	}
	return now, &job, nil
}

// find reads pending rows by a condition on job_key, with or without a lock. columns are rowtext.Columns or rowtext.BareColumns.
func (c *Client) find(ctx context.Context, db prescient.DB, columns, condition string, lock bool) ([]prescient.FutureJob, error) {
	forUpdate := ""
	if lock {
		forUpdate = "FOR UPDATE"
	}
	query := c.tables.Fill("client/find", "{columns}", columns, "{keys}", condition, "{lock}", forUpdate)
	return store.Rows(ctx, db, "finding pending checks", query, rowtext.Into)
}

// bulkRows bounds a statement for many rows, as literal.BulkBytes does.
const bulkRows = 1000

// plainKeys is how many keys a find in plain has, which is to say nothing but them: of a list of 1000 MariaDB makes a subquery, and sorts.
const plainKeys = 999

// findKeys reads the pending rows of some keys, by one statement for about a thousand of them.
func (c *Client) findKeys(ctx context.Context, db prescient.DB, columns string, keys []prescient.Key, lock bool) (found []prescient.FutureJob, err error) {
	most := bulkRows
	if c.tables.Dialect == text.Plain {
		most = plainKeys
	}
	for some := range slices.Chunk(keys, most) {
		part, err := c.find(ctx, db, columns, "job.job_key IN ("+literal.KeysOf(some)+")", lock)
		if err != nil {
			return nil, err
		}
		found = append(found, part...)
	}
	return found, nil
}
