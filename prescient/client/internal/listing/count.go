package listing

import (
	"cmp"
	"context"
	"fmt"
	"time"

	"prescient/prescient/internal/store"
)

// Counted is how many rows a query has.
type Counted struct {
	// Rows are those that were found among Looked ones.
	Rows, Looked int
	// Whole says that all were looked at. Where it is false, About is how many there are by the share of those that were, and by what the server
	// takes for the number of all.
	Whole bool
	About int
}

// Count counts what a query has, one stretch of the index after the other, until it has found as many as most, or looked for as long as within.
func Count(ctx context.Context, t *store.Tables, db DB, l Listing, q Query, most int, within time.Duration) (c Counted, err error) {
	until := time.Now().Add(within)
	if q.Entity.Key != "" {
		q.Filter = q.Filter.and(ofEntity(q.Entity))
	}
	bounds, index := q.Bounds, cmp.Or(q.Index, "PRIMARY")
	for {
		var last []reached
		if err := db.SelectContext(ctx, &last, t.Fill(l.reach, "{bounds}", bounds.text(), "{index}", index), append(bounds.args, store.LongestStretch-1)...); err != nil {
			return c, fmt.Errorf("looking how far to count: %w", err)
		}
		stretch, cursor := bounds, ""
		if len(last) > 0 {
			cursor, _ = l.cursor(last[0])
			upTo, err := l.upTo(cursor)
			if err != nil {
				return c, err
			}
			stretch = bounds.and(upTo)
		}
		var counted struct {
			Rows   int `db:"matching"`
			Looked int `db:"looked"`
		}
		if err := db.GetContext(ctx, &counted, t.Fill(l.count, "{bounds}", stretch.text(), "{filter}", q.Filter.text(), "{index}", index), append(q.Filter.args, stretch.args...)...); err != nil {
			return c, fmt.Errorf("counting: %w", err)
		}
		c.Rows, c.Looked = c.Rows+counted.Rows, c.Looked+counted.Looked
		if len(last) == 0 {
			c.Whole = true
			return c, nil
		}
		if c.Rows > most || time.Now().After(until) {
			all, known, err := store.Estimate(ctx, db, "estimating how many rows there are", t.Fill(l.estimate, "{bounds}", q.Bounds.text()), q.Bounds.args...)
			c.About = c.Rows
			if known && c.Looked > 0 {
				c.About = max(c.Rows, int(all*float64(c.Rows)/float64(c.Looked)))
			}
			return c, err
		}
		behind, err := l.behind(cursor)
		if err != nil {
			return c, err
		}
		bounds = q.Bounds.and(behind)
	}
}
