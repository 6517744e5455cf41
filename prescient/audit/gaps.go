package audit

import (
	"context"
	"database/sql"
	"errors"
	"fmt"
	"strconv"

	"prescient/prescient"
	"prescient/prescient/internal/store"
)

// Gap is what is wrong with the numbers of an object's entries.
type Gap struct {
	Kind Kind
	ID   string
	// Least and Latest are its lowest and highest number, Entries how many there are.
	Least, Latest, Entries uint64
}

// String names the object, and what is missing.
func (g Gap) String() string {
	return fmt.Sprintf("%s %q has the numbers %d to %d, but %d entries", g.Kind, g.ID, g.Least, g.Latest, g.Entries)
}

// Place is a place in the log, in the order of the streams: where a search for gaps goes on. The zero value is before the first.
type Place [16]byte

// Gaps looks for objects whose entries do not count 1, 2, 3 and so on, but for what was pruned: among so many entries from a place on, and
// the rest of the last object. It returns where to go on; done says that it came to the end.
func (l Log) Gaps(ctx context.Context, db prescient.DB, from Place, entries int) (gaps []Gap, next Place, done bool, err error) {
	next, done, err = l.stretch(ctx, db, from, entries)
	if err != nil {
		return nil, next, done, err
	}
	rows, err := db.QueryContext(ctx, l.tables.Fill("audit/gaps", "{from}", string(stream(from).literal(nil)), "{to}", string(stream(next).literal(nil))))
	if err != nil {
		return nil, next, done, fmt.Errorf("looking for gaps of the audit: %w", err)
	}
	defer rows.Close()
	var streams []stream
	for rows.Next() {
		var name string
		var g Gap
		var marked uint64
		if err := rows.Scan(&name, &g.Least, &g.Latest, &g.Entries, &marked); err != nil {
			return nil, next, done, err
		}
		if explained(g, marked) {
			continue
		}
		s, err := parseStream(name)
		if err != nil {
			return nil, next, done, err
		}
		gaps, streams = append(gaps, g), append(streams, s)
	}
	if err := errors.Join(rows.Err(), rows.Close()); err != nil {
		return nil, next, done, err
	}
	for i := range min(len(gaps), namedGaps) {
		if err := l.name(ctx, db, streams[i], &gaps[i]); err != nil {
			return nil, next, done, err
		}
	}
	return gaps, next, done, nil
}

// namedGaps is how many gaps say what they are of: each is a statement.
const namedGaps = 10

// explained says whether a stream lacks just what was pruned: all between its first entry and the marked one.
func explained(g Gap, marked uint64) bool {
	return marked > 1 && g.Least == 1 && g.Latest >= marked && g.Entries == g.Latest-marked+2
}

// stretch returns the stream that so many entries from a place on end with; the last that there can be where they come to the end.
func (l Log) stretch(ctx context.Context, db prescient.DB, from Place, entries int) (to Place, done bool, err error) {
	var name string
	err = store.QueryRow(ctx, db, []any{&name}, l.tables.Fill("audit/stretch", "{from}", string(stream(from).literal(nil)), "{offset}", strconv.Itoa(entries)))
	switch {
	case errors.Is(err, sql.ErrNoRows):
		for i := range to {
			to[i] = 0xff
		}
		return to, true, nil
	case err != nil:
		return to, false, fmt.Errorf("reading the audit: %w", err)
	}
	s, err := parseStream(name)
	return Place(s), false, err
}

// name finds out what a gap is of.
func (l Log) name(ctx context.Context, db prescient.DB, of stream, g *Gap) error {
	page, err := l.page(ctx, db, "stream", []string{"stream = " + string(of.literal(nil))}, 1)
	if err == nil && len(page) > 0 {
		g.Kind, g.ID = page[0].Kind, page[0].ID
	}
	return err
}
