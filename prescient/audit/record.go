package audit

import (
	"bytes"
	"context"
	"fmt"
	"slices"

	"prescient/prescient"
	"prescient/prescient/internal/errno"
	"prescient/prescient/internal/literal"
	"prescient/prescient/internal/store"
	text "prescient/sql"
)

// Log is the audit of an installation. It is for concurrent use.
type Log struct{ tables *store.Tables }

// On is the audit of an installation that a room of the library has opened.
func On(tables *store.Tables) Log { return Log{tables} }

// Options are for Open; the zero value is usable.
type Options struct {
	// Prefix of the table names; empty by default.
	Prefix string
	// Dialect is [text.Auto] by default.
	Dialect text.Dialect
}

// Open opens the audit of an installation. The error wraps prescient.ErrNotMigrated or prescient.ErrInvalid.
func Open(ctx context.Context, db prescient.DB, options Options) (Log, error) {
	tables, err := store.OpenTables(ctx, db, options.Prefix, 0, options.Dialect)
	if err != nil {
		return Log{}, err
	}
	return Log{&tables}, nil
}

const (
	// entriesPerStatement is how many entries a statement has at most; it is as long as literal.BulkBytes at most.
	entriesPerStatement = 500
	// maxTries bounds how often a number is looked for that others take meanwhile, where nobody has the object locked: each time one of them came in.
	maxTries = 100
)

// Record writes entries, in their order, on the transaction of the change, which has the objects locked: call it last, since others wait
// for what it writes of an object until the transaction ends. Who, from where and why come from the context. It takes one statement for
// some hundreds of new objects, and two for others. The error wraps prescient.ErrInvalid for an entry that cannot be stored; others
// come from the server.
func (l Log) Record(ctx context.Context, db prescient.DB, entries ...Entry) error {
	_, err := l.record(ctx, db, entries)
	return err
}

// record writes entries. before has the streams of new objects that had entries already, and the number of the latest.
func (l Log) record(ctx context.Context, db prescient.DB, entries []Entry) (before map[stream]uint64, err error) {
	by := Of(ctx).stored()
	before = make(map[stream]uint64)
	var some []row
	size := 0
	for i, e := range entries {
		r, err := rowOf(e, by)
		if err != nil {
			return nil, err
		}
		some, size = append(some, r), size+len(r.rest)
		if i < len(entries)-1 && len(some) < entriesPerStatement && size < literal.BulkBytes {
			continue
		}
		latest, err := l.write(ctx, db, some)
		if err != nil {
			return nil, fmt.Errorf("writing the audit of %s %.80q: %w", e.Kind, e.ID, err)
		}
		for _, r := range some {
			if n := latest[r.of]; r.new && n > 0 {
				before[r.of] = n
			}
		}
		some, size = some[:0], 0
	}
	return before, nil
}

// row is an entry, ready to be written but for its number.
type row struct {
	of   stream
	new  bool
	rest []byte // the columns from kind on, as literals
}

func rowOf(e Entry, by By) (row, error) {
	if err := e.validate(); err != nil {
		return row{}, err
	}
	before, err := state(e.Before)
	if err != nil {
		return row{}, err
	}
	after, err := state(e.After)
	if err != nil {
		return row{}, err
	}
	b := make([]byte, 0, 256+len(e.ID)+len(before)+len(after))
	b = literal.AppendText(b, string(e.Kind))
	b = literal.AppendText(append(b, ','), e.ID)
	b = literal.AppendText(append(b, ','), e.Verb)
	if b = append(b, ','); e.Version == 0 {
		b = append(b, "NULL"...)
	} else {
		b = literal.AppendUint(b, e.Version)
	}
	for _, value := range []string{by.Person, by.Host, by.Program, by.Command, by.Reason} {
		b = literal.AppendText(append(b, ','), value)
	}
	for _, value := range []string{before, after} {
		b = literal.AppendTextOrNull(append(b, ','), value)
	}
	return row{of: streamOf(e.Kind, e.ID), new: e.New, rest: b}, nil
}

// write finds the numbers of entries, and inserts them by one statement. It returns the latest number that each stream had before, as
// far as that had to be known.
func (l Log) write(ctx context.Context, db prescient.DB, rows []row) (latest map[stream]uint64, err error) {
	// All have one time: in the order of their streams each comes behind the one before it in the primary key, and pages are filled.
	slices.SortStableFunc(rows, func(a, b row) int { return bytes.Compare(a.of[:], b.of[:]) })
	whole := l.tables.Dialect == text.Plain
	for tries := 1; ; tries++ {
		latest, err := l.latest(ctx, db, rows, tries > 1)
		if err != nil {
			return nil, err
		}
		err = l.insert(ctx, db, rows, latest, whole)
		switch {
		case err == nil:
			return latest, nil
		case errno.Is(err, errno.NoDefault) && !whole:
			whole = true // the dialect plain made the table
		case !errno.Is(err, errno.DuplicateKey) || tries >= maxTries:
			return nil, err
		}
	}
}

// latest returns the number of the latest entry of each stream, 0 for one without entries: at first by a plain look, and without one for
// new objects; then with a lock, since the snapshot of the transaction may hide an entry.
func (l Log) latest(ctx context.Context, db prescient.DB, rows []row, lock bool) (map[stream]uint64, error) {
	latest := make(map[stream]uint64)
	var streams []byte
	for _, r := range rows {
		if _, seen := latest[r.of]; seen {
			continue
		}
		latest[r.of] = 0
		if r.new && !lock {
			continue
		}
		if len(streams) > 0 {
			streams = append(streams, ',')
		}
		streams = r.of.literal(streams)
	}
	if len(streams) == 0 {
		return latest, nil
	}
	how := ""
	if lock {
		how = "LOCK IN SHARE MODE"
	}
	found, err := db.QueryContext(ctx, l.tables.Fill("audit/latest", "{streams}", string(streams), "{lock}", how))
	if err != nil {
		return nil, fmt.Errorf("looking for the latest entries: %w", err)
	}
	defer found.Close()
	for found.Next() {
		var name string
		var seq uint64
		if err := found.Scan(&name, &seq); err != nil {
			return nil, err
		}
		s, err := parseStream(name)
		if err != nil {
			return nil, err
		}
		latest[s] = seq
	}
	return latest, found.Err()
}

// insert inserts entries behind the latest of their streams. whole gives the columns that a table of the dialect full fills in.
func (l Log) insert(ctx context.Context, db prescient.DB, rows []row, latest map[stream]uint64, whole bool) error {
	statement, begin := "audit/insert", "("
	if whole {
		statement, begin = "audit/insert_whole", "(UTC_TIMESTAMP(6),USER(),"
	}
	next := make(map[stream]uint64, len(latest))
	var b []byte
	for i, r := range rows {
		if i > 0 {
			b = append(b, ',')
		}
		if next[r.of] == 0 {
			next[r.of] = latest[r.of]
		}
		next[r.of]++
		b = append(r.of.literal(append(b, begin...)), ',')
		b = literal.AppendUint(b, next[r.of])
		b = append(append(append(b, ','), r.rest...), ')')
	}
	_, err := db.ExecContext(ctx, l.tables.Fill(statement, "{rows}", string(b)))
	return err
}
