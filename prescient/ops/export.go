package ops

import (
	"context"
	"errors"
	"io"
	"time"

	"prescient/prescient"
	"prescient/prescient/client"
	"prescient/prescient/internal/sized"
	"prescient/prescient/internal/store"
)

// Export is an operation that answers rows without end, one chunk after the other.
type Export[In, Row any] struct {
	Info
	read  func(ctx context.Context, q asked, in In, after string, limit int) ([]Row, error)
	bytes func(Row) int
}

// Chunks are rows that are read as somebody takes them.
type Chunks[Row any] struct {
	next func(ctx context.Context) ([]Row, bool, error)
	// rest is how long the database rests before the next.
	rest time.Duration
	// first is the chunk that Begin has read.
	first []Row
	last  bool
}

func export[In any, Row interface{ Cursor() string }](id string, role Role, summary string, bytes func(Row) int,
	read func(ctx context.Context, q asked, in In, after string, limit int) ([]Row, error)) Export[In, Row] {
	e := Export[In, Row]{Info: Info{ID: id, Role: role, Within: queryWithin, Summary: summary}, read: read, bytes: bytes}
	all = append(all, e.Info)
	return e
}

// Begin reads the first chunk. Its errors are those of Do.
func Begin[In any, Row interface{ Cursor() string }](ctx context.Context, e Export[In, Row], o *Ops, by Caller, in In) (*Chunks[Row], error) {
	if err := e.Allow(by); err != nil {
		return nil, err
	}
	q := asked{o, by, o.accounts.of(by.Role)}
	after, limit := "", sized.First
	c := &Chunks[Row]{}
	c.next = func(ctx context.Context) ([]Row, bool, error) {
		began := time.Now()
		ctx, cancel := context.WithTimeout(ctx, e.Within)
		defer cancel()
		rows, err := e.read(ctx, q, in, after, limit)
		c.rest = restAfter(time.Since(began))
		var early *client.SearchedError
		switch {
		case errors.As(err, &early):
			after = early.After
			return rows, false, nil
		case err != nil:
			return nil, true, err
		case len(rows) < limit:
			return rows, true, nil
		}
		after = rows[len(rows)-1].Cursor()
		size := 0
		for _, row := range rows {
			size += e.bytes(row)
		}
		limit = sized.Next(len(rows), size, sized.Bytes)
		return rows, false, nil
	}
	var err error
	c.first, c.last, err = c.next(ctx)
	return c, err
}

// Next returns the next chunk, which may be empty, and io.EOF behind the last. Between chunks nothing is held in the database: rows that change
// meanwhile are as they are when their chunk is read.
func (c *Chunks[Row]) Next(ctx context.Context) (rows []Row, err error) {
	switch {
	case c.first != nil:
		rows, c.first = c.first, nil
		return rows, nil
	case c.last:
		return nil, io.EOF
	}
	if err := store.Sleep(ctx, c.rest); err != nil {
		return nil, err
	}
	rows, c.last, err = c.next(ctx)
	return rows, err
}

// briefly is how long a chunk takes at most that is found without a search.
const briefly = 50 * time.Millisecond

// restAfter is for how long the database rests after a chunk: as long as it searched for it, so that an export which finds next to nothing takes half
// of the time at most. What is found at once waits for its reader alone.
func restAfter(took time.Duration) time.Duration {
	if took < briefly {
		return 0
	}
	return took
}

// ExportAsked says which pending checks are wanted.
type ExportAsked struct {
	Narrowed
	After  string `query:"after" doc:"Go on behind this cursor, as that of a list."`
	Format Format `query:"format" enum:"jsonl,csv" default:"jsonl" doc:"JSON lines, or CSV with a line of names."`
}

// Format is how rows are written.
type Format string

// The formats.
const (
	JSONLines Format = "jsonl"
	CSV       Format = "csv"
)

// Formatted is what is asked of an export.
type Formatted interface{ As() Format }

// As is the format.
func (a ExportAsked) As() Format { return a.Format }

// ExportEndsAsked says which ends are wanted.
type ExportEndsAsked struct {
	ExportAsked
	Outcome string `query:"outcome" doc:"Only with this outcome."`
}

// jobBytes and endBytes are about how long a row is as JSON.
func jobBytes(job prescient.FutureJob) int { return 500 + len(job.Payload) }
func endBytes(end client.Ended) int        { return jobBytes(end.FutureJob) }

// sizedPage is a page of such rows, of which the filter wants one more than the page has.
func sizedPage[Row interface{ Cursor() string }](f client.ListFilter, bytes func(Row) int, list func(f client.ListFilter) ([]Row, error)) (Page[Row], error) {
	rows, full, err := sized.Rows(f.After, f.Limit, f.Bare, bytes, func(after string, limit int) ([]Row, error) {
		some := f
		some.After, some.Limit = after, limit
		return list(some)
	})
	p, err := page(rows, f.Limit-1, err)
	if full && err == nil {
		p.Next = rows[len(rows)-1].Cursor()
	}
	return p, err
}

// ExportPending exports pending checks.
var ExportPending = export("checks.export_pending", Viewer, "Stream all pending checks that match, in the order in which they come due.", jobBytes,
	func(ctx context.Context, q asked, in ExportAsked, after string, limit int) ([]prescient.FutureJob, error) {
		f, err := in.chunk(q.by, after, limit)
		if err != nil {
			return nil, err
		}
		return q.client.Pending(ctx, q.db, f)
	})

// ExportEnded exports ends.
var ExportEnded = export("checks.export_ended", Viewer, "Stream all checks that have ended and match, the latest first.", endBytes,
	func(ctx context.Context, q asked, in ExportEndsAsked, after string, limit int) ([]client.Ended, error) {
		f, err := in.chunk(q.by, after, limit)
		if err != nil {
			return nil, err
		}
		f.Outcome = prescient.Outcome(in.Outcome)
		return q.client.History(ctx, q.db, f)
	})

func (a ExportAsked) chunk(by Caller, after string, limit int) (client.ListFilter, error) {
	f, err := a.filter(by)
	if f.After, f.Limit = after, limit; after == "" {
		f.After = a.After
	}
	return f, err
}
