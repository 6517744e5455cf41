package tally

import (
	"cmp"
	"context"
	"database/sql"
	"encoding/json"
	"errors"
	"fmt"
	"maps"
	"slices"
	"strings"
	"time"

	"prescient/prescient/internal/literal"
	"prescient/prescient/internal/store"
)

// ErrWriting is returned where the lines could not be written: that is for none of the rows.
var ErrWriting = errors.New("writing the books by job_exec")

// Write writes the lines that a draft changes, as they are with it.
func (d *Draft) Write(ctx context.Context, tx *sql.Tx, tables *store.Tables, slot time.Time, bucket int) error {
	if len(d.changed) == 0 {
		return nil
	}
	order := slices.SortedFunc(maps.Keys(d.changed), func(x, y Of) int {
		return cmp.Or(strings.Compare(x.JobExec, y.JobExec), strings.Compare(x.EntityName, y.EntityName))
	})
	rows := make([]byte, 0, 400*len(order))
	for i, of := range order {
		if i > 0 {
			rows = append(rows, ',')
		}
		rows = append(literal.AppendSecond(append(rows, '('), slot), ',')
		rows = append(literal.AppendInt(rows, int64(bucket)), ',')
		rows = append(d.changed[of].appendValues(rows, of), ')')
	}
	if _, err := tx.ExecContext(ctx, tables.Fill("slotrun/tally", "{rows}", string(rows))); err != nil {
		return fmt.Errorf("%w: %w", ErrWriting, err)
	}
	return nil
}

// Add adds what became of one long run to the line of its job_exec and the slot in which it began, in a transaction that others may be in, too.
// Nobody counts how many kinds of entity a slot has by then, so they are not told apart.
func Add(ctx context.Context, tx *sql.Tx, tables *store.Tables, n Noted) error {
	line := NewLine()
	line.note(n)
	path := func(h Histogram) string { return fmt.Sprintf(`'$."%d"'`, h.buckets()[0]) }
	run, late := `'$."0"'`, `'$."0"'` // which nothing is added to
	if n.Called {
		run, late = path(line.runs), path(line.lates)
	}
	values := line.appendValues(nil, Of{JobExec: n.Job.JobExec, EntityName: Other})
	statement := tables.Fill("longrun/tally", "{values}", string(values), "{run}", run, "{lateness}", late)
	if _, err := tx.ExecContext(ctx, statement, n.Job.NextCheckAt); err != nil {
		return fmt.Errorf("%w: %w", ErrWriting, err)
	}
	return nil
}

// appendValues appends the columns of a line from job_exec on.
func (l *Line) appendValues(b []byte, of Of) []byte {
	b = append(literal.AppendText(b, of.JobExec), ',')
	b = append(literal.AppendText(b, of.EntityName), ',')
	for _, n := range l.counts {
		b = append(literal.AppendUint(b, n), ',')
	}
	for _, ms := range []int64{l.runMS, l.maxRunMS, l.lateMS, l.maxLateMS} {
		b = append(literal.AppendInt(b, ms), ',')
	}
	b = append(append(l.runs.AppendJSON(append(b, '\'')), '\''), ',')
	b = append(append(l.lates.AppendJSON(append(b, '\'')), '\''), ',')
	commonest := l.Reasons(1)
	if len(commonest) == 0 {
		return append(b, "NULL,0,NULL"...)
	}
	r := commonest[0]
	b = append(literal.AppendText(b, r.Text), ',')
	b = append(literal.AppendUint(b, r.Checks), ',')
	return literal.AppendJSON(b, r.Example.json())
}

// Read reads the lines of a bucket in which something was committed before: behind the fence, behind which nobody else writes them.
func (b *Books) Read(ctx context.Context, tx *sql.Tx, tables *store.Tables, slot time.Time, bucket int) error {
	read := Books{lines: make(map[Of]*Line), kinds: make(map[string]int)}
	err := store.EachRow(ctx, tx, func(scan store.Scan) error {
		of, line, err := Scan(scan)
		if err == nil {
			read.lines[of] = line
			read.kinds[of.JobExec]++
		}
		return err
	}, tables.Stmt.Get("slotrun/tallied"), slot, bucket)
	if err != nil {
		return fmt.Errorf("reading the books by job_exec: %w", err)
	}
	*b = read
	return nil
}

// Scan reads a line, behind other columns.
func Scan(scan store.Scan, before ...any) (of Of, l *Line, err error) {
	l = NewLine()
	var text sql.NullString
	var n uint64
	var example []byte
	columns := append(before, &of.JobExec, &of.EntityName)
	for i := range l.counts {
		columns = append(columns, &l.counts[i])
	}
	columns = append(columns, &l.runMS, &l.maxRunMS, &l.lateMS, &l.maxLateMS, &l.runs, &l.lates, &text, &n, &example)
	if err := scan(columns...); err != nil || !text.Valid {
		return of, l, err
	}
	r := &reason{n: n}
	l.reasons[text.String] = r
	return of, l, json.Unmarshal(example, &r.example)
}
