package listing

import (
	"context"
	"time"

	"prescient/prescient"
	"prescient/prescient/internal/store"
)

const (
	// firstStretch is how many rows are looked at first; each stretch after it has stretchGrowth times as many, up to
	// longestStretch. What is frequent is found in the first.
	firstStretch   = 1000
	stretchGrowth  = 4
	longestStretch = 64000
)

// DB is what *sqlx.DB and *sqlx.Tx have in common for lists.
type DB interface {
	prescient.DB
	SelectContext(ctx context.Context, into any, query string, args ...any) error
	GetContext(ctx context.Context, into any, query string, args ...any) error
}

// Query is what a page is to have.
type Query struct {
	// Bounds are the conditions that an index serves, Filter are the others.
	Bounds, Filter Condition
	// After is the cursor of the last row of the page before, or empty.
	After string
	// Limit is how many rows the page has at most, and Search how many are looked at for them where there is a filter.
	Limit, Search int
	// Bare leaves payloads out.
	Bare bool
	// Index is what the bounds are served by, where that is not the primary key: to a server the order of this looks cheaper where many rows match.
	Index string
}

// Stop says where a search ended before its page was full.
type Stop struct {
	// Rows is how many were looked at.
	Rows int
	// Reached is the time of the last of them, and After its cursor.
	Reached time.Time
	After   string
}

// Read reads a page. It also says where the search stopped, if it looked at as many rows as it may before the page was full. Where all
// conditions are served by an index, it is one statement. Others are looked for in one stretch of the index after the other.
func Read[R interface{ Cursor() string }](ctx context.Context, t *store.Tables, db DB, l Listing, q Query) ([]R, *Stop, error) {
	found := []R{}
	payload := "COALESCE(job.payload, '')"
	if q.Bare {
		payload = "''"
	}
	index := ""
	if q.Index != "" {
		index = "FORCE INDEX (" + q.Index + ")"
	}
	read := func(where Condition) error {
		var page []R
		if err := db.SelectContext(ctx, &page, t.Fill(l.page, "{filter}", where.text(), "{payload}", payload, "{index}", index), append(where.args, q.Limit-len(found))...); err != nil {
			return err
		}
		found = append(found, page...)
		return nil
	}
	within := q.Bounds
	if q.After != "" {
		behind, err := l.behind(q.After)
		if err != nil {
			return nil, nil, err
		}
		within = q.Bounds.and(behind)
	}
	if len(q.Filter.parts) == 0 {
		err := read(within)
		return found, nil, err
	}
	for looked, stretch := 0, firstStretch; ; stretch = min(stretch*stretchGrowth, longestStretch) {
		stretch = min(stretch, q.Search-looked)
		var last []reached
		if err := db.SelectContext(ctx, &last, t.Fill(l.reach, "{bounds}", within.text()), append(within.args, stretch-1)...); err != nil {
			return nil, nil, err
		}
		if len(last) == 0 {
			err := read(within.and(q.Filter))
			return found, nil, err
		}
		cursor, at := l.cursor(last[0])
		upTo, err := l.upTo(cursor)
		if err != nil {
			return nil, nil, err
		}
		if err := read(within.and(upTo).and(q.Filter)); err != nil || len(found) == q.Limit {
			return found, nil, err
		}
		if looked += stretch; looked >= q.Search {
			return found, &Stop{Rows: looked, Reached: at, After: cursor}, nil
		}
		behind, err := l.behind(cursor)
		if err != nil {
			return nil, nil, err
		}
		within = q.Bounds.and(behind)
	}
}
