package audit

import (
	"context"
	"crypto/rand"
	"fmt"

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

// entriesPerStatement is how many entries a statement has at most; it is as long as literal.BulkBytes at most.
const entriesPerStatement = 500

// Record writes entries on the transaction of the change. Who, from where and why come from the context. It takes one statement for some
// hundreds of entries, waits for nobody, and nobody waits for it. The error wraps prescient.ErrInvalid for an entry that cannot be
// stored; others come from the server.
func (l Log) Record(ctx context.Context, db prescient.DB, entries ...Entry) error {
	by := Of(ctx).stored()
	var rows [][]byte
	size := 0
	for i, e := range entries {
		r, err := l.rowOf(e, by)
		if err != nil {
			return err
		}
		rows, size = append(rows, r), size+len(r)
		if i < len(entries)-1 && len(rows) < entriesPerStatement && size < literal.BulkBytes {
			continue
		}
		if err := l.write(ctx, db, rows); err != nil {
			return fmt.Errorf("writing the audit of %s %.80q: %w", e.Kind, e.ID, err)
		}
		rows, size = rows[:0], 0
	}
	return nil
}

// rowOf is an entry as literals, in the order of the columns.
func (l Log) rowOf(e Entry, by By) ([]byte, error) {
	if err := e.validate(); err != nil {
		return nil, err
	}
	before, err := state(e.Before)
	if err != nil {
		return nil, err
	}
	after, err := state(e.After)
	if err != nil {
		return nil, err
	}
	b := make([]byte, 0, 300+len(e.ID)+len(before)+len(after))
	b = streamOf(e.Kind, e.ID).literal(b)
	for _, value := range []string{string(e.Kind), e.ID, e.Verb} {
		b = literal.AppendText(append(b, ','), value)
	}
	if b = append(b, ','); e.Version == 0 {
		b = append(b, "NULL"...)
	} else {
		b = literal.AppendUint(b, e.Version)
	}
	if b = append(b, ','); e.Incarnation.IsZero() {
		b = append(b, "NULL"...)
	} else {
		b = literal.AppendMicro(b, e.Incarnation)
	}
	for _, value := range []string{by.Person, by.Host, by.Program, by.Command, by.Reason} {
		b = literal.AppendText(append(b, ','), value)
	}
	for _, value := range []string{before, after} {
		b = literal.AppendTextOrNull(append(b, ','), value)
	}
	if l.tables.Server.Placed() {
		b = literal.AppendPlace(append(b, ','), e.place())
	}
	return b, nil
}

// write inserts entries by one statement.
func (l Log) write(ctx context.Context, db prescient.DB, rows [][]byte) error {
	whole := l.tables.Dialect == text.Plain
	err := l.insert(ctx, db, rows, whole)
	if errno.Is(err, errno.NoDefault) && !whole {
		return l.insert(ctx, db, rows, true) // the dialect plain made the table
	}
	return err
}

// insert inserts entries. whole gives the columns that a table of the dialect full fills in.
func (l Log) insert(ctx context.Context, db prescient.DB, rows [][]byte, whole bool) error {
	statement := "audit/insert"
	if whole {
		statement = "audit/insert_whole"
	}
	row := func(b, r []byte) []byte {
		b = append(b, '(')
		if whole {
			var id entryID
			_, _ = rand.Read(id[:]) // it never fails
			b = append(id.literal(append(b, "UTC_TIMESTAMP(6),USER(),"...)), ',')
		}
		return append(append(b, r...), ')')
	}
	_, err := db.ExecContext(ctx, l.tables.Fill(statement, "{rows}", literal.List(row, rows)))
	return err
}
