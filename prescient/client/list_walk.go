package client

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"
	"time"

	"github.com/jmoiron/sqlx"

	"prescient/prescient"
	"prescient/prescient/internal/literal"
	"prescient/prescient/internal/store"
	"prescient/slots"
)

// DefaultSearch is how many rows a listing looks at for one page, where no index serves its filter.
const DefaultSearch = 250_000

// ErrSearched is returned by a listing that looked at as many rows as it may before its page was full. The error is a
// *SearchedError, and the rows that were found come with it.
var ErrSearched = errors.New("the search ended early")

// SearchedError says how far a listing came. By entity, by time and by cursor rows are found at once; by job_exec, by
// outcome, by slot of history and by kind of entity they are looked for, one after the other.
type SearchedError struct {
	// Rows is how many were looked at.
	Rows int
	// Reached is the time of the last of them: its slot, or its end.
	Reached time.Time
	// After is the cursor with which the search goes on.
	After string
}

func (e *SearchedError) Error() string {
	return fmt.Sprintf("%s: %d rows were looked at, as far as %s", ErrSearched, e.Rows, slots.Stamp(e.Reached))
}

func (e *SearchedError) Unwrap() error { return ErrSearched }

const (
	// firstStretch is how many rows are looked at first; each stretch after it has stretchGrowth times as many, up to
	// longestStretch. What is frequent is found in the first.
	firstStretch   = 1000
	stretchGrowth  = 4
	longestStretch = 64000
)

// listing is how a table is listed.
type listing struct {
	page, reach  string                                 // the statements
	behind, upTo func(cursor string) (condition, error) // conditions for rows after a cursor, and for those up to one
	cursor       func(row reached) (string, time.Time)
}

// reached is the last row of a stretch.
type reached struct {
	Ended    time.Time `db:"ended_at"`
	Slot     time.Time `db:"next_check_at"`
	Key      []byte    `db:"job_key"`
	Revision uint64    `db:"revision"`
}

var pendingListing = listing{
	page: "list/pending", reach: "list/pending_reach",
	behind: func(cursor string) (c condition, err error) {
		at, key, _, err := parseCursor(cursor, literal.SecondLayout, 2)
		c.add("(next_check_at > ? OR next_check_at = ? AND job_key > ?)", at, at, key)
		return c, err
	},
	upTo: func(cursor string) (c condition, err error) {
		at, key, _, err := parseCursor(cursor, literal.SecondLayout, 2)
		c.add("(next_check_at < ? OR next_check_at = ? AND job_key <= ?)", at, at, key)
		return c, err
	},
	cursor: func(r reached) (string, time.Time) {
		return r.Slot.UTC().Format(literal.SecondLayout) + "/" + prescient.Key(r.Key).String(), r.Slot
	},
}

var historyListing = listing{
	page: "list/history", reach: "list/history_reach",
	behind: func(cursor string) (c condition, err error) {
		at, key, revision, err := parseCursor(cursor, literal.MicroLayout, 3)
		c.add("(ended_at < ? OR ended_at = ? AND (job_key < ? OR job_key = ? AND revision < ?))", at, at, key, key, revision)
		return c, err
	},
	upTo: func(cursor string) (c condition, err error) {
		at, key, revision, err := parseCursor(cursor, literal.MicroLayout, 3)
		c.add("(ended_at > ? OR ended_at = ? AND (job_key > ? OR job_key = ? AND revision >= ?))", at, at, key, key, revision)
		return c, err
	},
	cursor: func(r reached) (string, time.Time) {
		return historyCursor(r.Ended, prescient.Key(r.Key), r.Revision), r.Ended
	},
}

// list reads a page. Where all conditions are served by an index (bounds), it is one statement. Others (filter) are
// looked for in one stretch of the index after the other, so that a value that nobody has does not cost a walk over the
// whole table.
func list[R interface{ Cursor() string }](ctx context.Context, t *store.Tables, db *sqlx.DB, l listing, f ListFilter, bounds, filter condition, limit int) ([]R, error) {
	found := []R{}
	read := func(where condition, limit int) error {
		var page []R
		if err := db.SelectContext(ctx, &page, t.Fill(l.page, "{filter}", where.text()), append(where.args, limit)...); err != nil {
			return err
		}
		found = append(found, page...)
		return nil
	}
	within := bounds
	if f.After != "" {
		behind, err := l.behind(f.After)
		if err != nil {
			return nil, err
		}
		within = bounds.and(behind)
	}
	if len(filter.parts) == 0 {
		return found, read(within, limit)
	}
	budget := cmp.Or(f.Search, DefaultSearch)
	for looked, stretch := 0, firstStretch; ; stretch = min(stretch*stretchGrowth, longestStretch) {
		stretch = min(stretch, budget-looked)
		var last []reached
		if err := db.SelectContext(ctx, &last, t.Fill(l.reach, "{bounds}", within.text()), append(within.args, stretch-1)...); err != nil {
			return nil, err
		}
		if len(last) == 0 {
			return found, read(within.and(filter), limit-len(found))
		}
		cursor, at := l.cursor(last[0])
		upTo, err := l.upTo(cursor)
		if err != nil {
			return nil, err
		}
		if err := read(within.and(upTo).and(filter), limit-len(found)); err != nil || len(found) == limit {
			return found, err
		}
		if looked += stretch; looked >= budget {
			return found, &SearchedError{Rows: looked, Reached: at, After: cursor}
		}
		behind, err := l.behind(cursor)
		if err != nil {
			return nil, err
		}
		within = bounds.and(behind)
	}
}

// condition collects what a WHERE clause has.
type condition struct {
	parts []string
	args  []any
}

func (c *condition) add(part string, args ...any) {
	c.parts = append(c.parts, part)
	c.args = append(c.args, args...)
}

// and returns both conditions together.
func (c condition) and(other condition) condition {
	return condition{parts: slices.Concat(c.parts, other.parts), args: slices.Concat(c.args, other.args)}
}

func (c condition) text() string {
	if len(c.parts) == 0 {
		return "1 = 1"
	}
	return strings.Join(c.parts, " AND ")
}
