package audit

import (
	"context"
	"database/sql"
	"errors"
	"fmt"
	"time"

	"prescient/prescient"
	"prescient/prescient/internal/literal"
	"prescient/prescient/internal/store"
)

// Amiss is an object of whose versions the entries do not tell as they should.
type Amiss struct {
	Kind Kind
	ID   string
	// What is wrong, such as: lacks version 3.
	What string
}

// String names the object, and what is wrong.
func (a Amiss) String() string { return fmt.Sprintf("%s %q %s", a.Kind, a.ID, a.What) }

// Place is a place in the log, in the order of the streams: where a search goes on. The zero value is before the first.
type Place [16]byte

// Literal is it in a statement.
func (p Place) Literal() string { return string(stream(p).literal(nil)) }

// Versions looks for objects of which a version has no entry, or more than one, but for what was pruned: among so many entries from a
// place on. It returns where to go on; done says that it came to the end.
func (l Log) Versions(ctx context.Context, db prescient.DB, from Place, entries int) (amiss []Amiss, next Place, done bool, err error) {
	began, err := l.began(ctx, db)
	if err != nil {
		return nil, from, false, err
	}
	made, done, err := l.versions(ctx, db, from, entries)
	if err != nil || len(made) == 0 {
		return nil, from, done, err
	}
	if !done {
		made, next = wholeStreams(made)
	}
	looks := verbLooks
	for len(made) > 0 {
		n := 1
		for n < len(made) && made[n].of == made[0].of && made[n].incarnation == made[0].incarnation {
			n++
		}
		one := made[:n]
		made = made[n:]
		if one[0].incarnation == "" {
			continue // of what has no versions
		}
		what := judge(one)
		if _, err := store.ParseCalendar(one[0].incarnation); err != nil {
			what = fmt.Sprintf("has version %d of %s, which is no time: somebody else than prescient wrote the entry", one[0].version, one[0].incarnation)
		}
		if n == entries && !done {
			what = fmt.Sprintf("has %d entries or more, of which the rest was not looked at", n)
		}
		if what == "" && looks > 0 && startsLate(one, began) {
			looks--
			what, err = l.start(ctx, db, one[0])
			if err != nil {
				return amiss, next, done, err
			}
		}
		if what == "" {
			continue
		}
		found := Amiss{What: what}
		if len(amiss) < named {
			if err := l.name(ctx, db, one[0].of, &found); err != nil {
				return amiss, next, done, err
			}
		}
		amiss = append(amiss, found)
	}
	return amiss, next, done, nil
}

const (
	// named is how many objects are named: each is a statement.
	named = 10
	// verbLooks is how many first entries are looked at that are not of version 1: each is a statement.
	verbLooks = 100
)

// made is a version of an incarnation that an entry made; incarnation is empty for an entry that made none.
type made struct {
	of          stream
	incarnation string
	version     uint64
	pruned      bool
}

// wholeStreams leaves out the last stream, which may be cut off, unless it is the only one; next is the last that is left.
func wholeStreams(all []made) (whole []made, next Place) {
	last := all[len(all)-1].of
	for n := len(all); n > 0; n-- {
		if all[n-1].of != last {
			return all[:n], Place(all[n-1].of)
		}
	}
	return all, Place(last)
}

// judge says what is wrong with the versions of an incarnation, which are in their order; empty for nothing. Those below a marked one
// were pruned.
func judge(versions []made) string {
	first := 0
	for i, v := range versions {
		if v.pruned {
			first = i
		}
	}
	for first > 0 && versions[first-1].version == versions[first].version {
		first--
	}
	versions = versions[first:]
	for i, v := range versions[1:] {
		switch before := versions[i].version; {
		case v.version == before:
			return fmt.Sprintf("has version %d twice: somebody else than prescient wrote one of the two", v.version)
		case v.version == before+2:
			return fmt.Sprintf("lacks version %d", before+1)
		case v.version > before+2:
			return fmt.Sprintf("lacks the versions %d to %d", before+1, v.version-1)
		}
	}
	return ""
}

// startsLate says whether the first entry of an incarnation is not of version 1, though nothing tells why.
func startsLate(versions []made, began string) bool {
	for _, v := range versions {
		if v.pruned {
			return false
		}
	}
	return versions[0].version > 1 && versions[0].incarnation >= began
}

// start says what is wrong with an incarnation whose first entry is not of version 1: a job that is made anew goes on with its numbers.
func (l Log) start(ctx context.Context, db prescient.DB, first made) (what string, err error) {
	var verb string
	at, err := store.ParseTime(first.incarnation)
	if err != nil {
		return "", err
	}
	err = store.QueryRow(ctx, db, []any{&verb}, l.tables.Fill("audit/verb", "{stream}", string(first.of.literal(nil)),
		"{incarnation}", literal.Of(literal.AppendMicro, at), "{version}", literal.Of(literal.AppendUint, first.version)))
	switch {
	case errors.Is(err, sql.ErrNoRows), err == nil && verb == Create:
		return "", nil
	case err != nil:
		return "", fmt.Errorf("reading the audit: %w", err)
	}
	return fmt.Sprintf("lacks the versions before %d", first.version), nil
}

// versions reads what entries have made, in the order of the streams. done says that none come behind them.
func (l Log) versions(ctx context.Context, db prescient.DB, from Place, entries int) (all []made, done bool, err error) {
	all, err = store.Rows(ctx, db, "looking for versions in the audit", l.tables.Fill("audit/versions", "{from}", from.Literal(), "{limit}", literal.Of(literal.AppendInt, int64(entries))), (*made).into)
	return all, err == nil && len(all) < entries, err
}

// into is where the columns of a row go.
func (m *made) into() []any {
	ofStream := store.Text(func(text string) (err error) {
		m.of, err = parseStream(text)
		return err
	})
	return []any{ofStream, store.OrZero(&m.incarnation), &m.version, &m.pruned}
}

// began is since when there is an audit, as the server writes times.
func (l Log) began(ctx context.Context, db prescient.DB) (at string, err error) {
	err = store.QueryRow(ctx, db, []any{&at}, l.tables.Fill("audit/began", "{stream}", string(streamOf(Installation, InstallationID).literal(nil))))
	if errors.Is(err, sql.ErrNoRows) {
		return "", nil
	}
	if err != nil {
		return "", fmt.Errorf("reading since when there is an audit: %w", err)
	}
	return at, nil
}

// Began is since when there is an audit; zero where it is empty.
func (l Log) Began(ctx context.Context, db prescient.DB) (time.Time, error) {
	text, err := l.began(ctx, db)
	if err != nil || text == "" {
		return time.Time{}, err
	}
	return store.ParseCalendar(text)
}

// name finds out what a stream is of.
func (l Log) name(ctx context.Context, db prescient.DB, of stream, found *Amiss) error {
	page, err := l.page(ctx, db, Filter{Bare: true}, "stream", []string{"stream = " + string(of.literal(nil))}, 1)
	if err == nil && len(page) > 0 {
		found.Kind, found.ID = page[0].Kind, page[0].ID
	}
	return err
}
