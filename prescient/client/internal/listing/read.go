package listing

import (
	"context"
	"slices"
	"time"

	"prescient/prescient"
	"prescient/prescient/internal/store"
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
	// Entity is whose rows they are, where the bounds are those of its key; rows of others, who gave them this key, are left out.
	Entity prescient.Entity
	// After is the cursor of the last row of the page before, or empty.
	After string
	// Parts are the parts of the table that are read in their order where there is no filter, until the page is full; all of it at once by default.
	Parts []Condition
	// Limit is how many rows the page has at most, and Search how many are looked at for them where there is a filter.
	Limit, Search int
	// Bare leaves payloads out.
	Bare bool
	// Within is for how long more is looked for, where there is a filter; without a bound by default.
	Within time.Duration
	// Index is what the bounds are served by, where that is not the primary key: to a server the order of this looks cheaper where many rows match.
	Index string
}

// Row is what is listed.
type Row interface {
	Cursor() string
	Entity() prescient.Entity
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
func Read[R Row](ctx context.Context, t *store.Tables, db DB, l Listing, q Query) ([]R, *Stop, error) {
	found := []R{}
	index, reach := "", "PRIMARY"
	if q.Index != "" {
		index, reach = "FORCE INDEX ("+q.Index+")", q.Index
	}
	read := func(where Condition, limit int) (page []R, err error) {
		for from := where; ; {
			var more []R
			asked, err := store.Answered(limit-len(page), func(rows, longest int) error {
				payload := "COALESCE(job.payload, '')"
				if q.Bare || longest == 0 {
					payload = "''"
				}
				more = nil
				return db.SelectContext(ctx, &more, t.Fill(l.page, "{filter}", from.text(), "{payload}", payload, "{index}", index), append(slices.Clip(from.args), rows)...)
			})
			page = append(page, more...)
			if err != nil || len(more) < asked || len(page) == limit {
				return page, err
			}
			behind, err := l.behind(page[len(page)-1].Cursor())
			if err != nil {
				return nil, err
			}
			from = where.and(behind)
		}
	}
	within := q.Bounds
	if q.After != "" {
		behind, err := l.behind(q.After)
		if err != nil {
			return nil, nil, err
		}
		within = q.Bounds.and(behind)
	}
	if len(q.Parts) == 0 {
		q.Parts = []Condition{{}}
	}
	if len(q.Filter.parts) == 0 {
		var page []R
		for i := 0; i < len(q.Parts) && len(page) < q.Limit; i++ {
			more, err := read(within.and(q.Parts[i]), q.Limit-len(page))
			if err != nil {
				return nil, nil, err
			}
			page = append(page, more...)
		}
		of := slices.DeleteFunc(slices.Clone(page), func(r R) bool { return q.Entity.Key != "" && r.Entity() != q.Entity })
		if len(of) == len(page) || len(page) < q.Limit {
			return append(found, of...), nil, nil
		}
		// Rows of others have the keys of this entity: it has to be searched among them.
	}
	if q.Entity.Key != "" {
		q.Filter = q.Filter.and(ofEntity(q.Entity))
	}
	s := store.NewStretches(store.FirstStretch, q.Search, q.Within, time.Now())
	for {
		stretch := s.Take(time.Now())
		var last []reached
		if err := db.SelectContext(ctx, &last, t.Fill(l.reach, "{bounds}", within.text(), "{index}", reach), append(within.args, stretch-1)...); err != nil {
			return nil, nil, err
		}
		if len(last) == 0 {
			page, err := read(within.and(q.Filter), q.Limit-len(found))
			return append(found, page...), nil, err
		}
		cursor, at := l.cursor(last[0])
		upTo, err := l.upTo(cursor)
		if err != nil {
			return nil, nil, err
		}
		page, err := read(within.and(upTo).and(q.Filter), q.Limit-len(found))
		if found = append(found, page...); err != nil || len(found) == q.Limit {
			return found, nil, err
		}
		if s.Over(time.Now()) {
			return found, &Stop{Rows: s.Looked(), Reached: at, After: cursor}, nil
		}
		behind, err := l.behind(cursor)
		if err != nil {
			return nil, nil, err
		}
		within = q.Bounds.and(behind)
	}
}
