package output

import (
	"fmt"
	"io"
	"time"
)

// Rows prints rows: as JSON, as a table, or what is said where there are none.
func Rows[T any](w io.Writer, asJSON bool, rows []T, none string, columns []Column, cells func(T) []string) error {
	switch {
	case asJSON:
		return Lines(w, rows)
	case len(rows) == 0:
		return Say(w, "%s", none)
	}
	table := make([][]string, len(rows))
	for i, row := range rows {
		table[i] = cells(row)
	}
	return Table(w, columns, table)
}

// Page is what a listing found, and how it is printed.
type Page[T interface{ Cursor() string }] struct {
	// Rows are one more than Limit where there are more.
	Rows  []T
	Limit int
	// LatestFirst says that cursors descend.
	LatestFirst bool
	// Line is a row in JSON.
	Line func(T) any
	// None is said where there are no rows, and the search came to the end.
	None    string
	Columns []Column
	Cells   func(T) []string
	// Early is nil where the search came to the end.
	Early *Early
}

// Early is how far a search came that ended early, of what, and what narrows it.
type Early struct {
	Looked     int
	Reached    time.Time
	After      string
	Of, Narrow string
}

// searched is the last line of a listing in JSON whose search ended early: the rows that were looked at in vain have no cursor.
type searched struct {
	More     bool      `json:"more"`
	After    string    `json:"after"`
	LookedAt int       `json:"looked_at"`
	Reached  time.Time `json:"reached"`
}

// Print prints a page, and says on stderr how to go on.
func (p Page[T]) Print(out, stderr io.Writer, asJSON bool) error {
	more := len(p.Rows) > p.Limit
	rows := p.Rows[:min(len(p.Rows), p.Limit)]
	if asJSON {
		return p.lines(out, rows)
	}
	if p.Early != nil {
		p.None = fmt.Sprintf("nothing matches the filter among the %d %s that were looked at", p.Early.Looked, p.Early.Of)
	}
	err := Rows(out, false, rows, p.None, p.Columns, p.Cells)
	switch {
	case err != nil:
		return err
	case p.Early != nil:
		return Say(stderr, "%d %s were looked at, as far as %s: narrow the time with %s, or go on with --after '%s'",
			p.Early.Looked, p.Early.Of, Stamp(p.Early.Reached), p.Early.Narrow, p.Early.After)
	case more:
		return Say(stderr, "there are more: --after '%s'", rows[len(rows)-1].Cursor())
	}
	return nil
}

func (p Page[T]) lines(out io.Writer, rows []T) error {
	lines := make([]any, 0, len(rows)+1)
	for _, row := range rows {
		lines = append(lines, p.Line(row))
	}
	if p.Early != nil {
		lines = append(lines, searched{true, p.Early.After, p.Early.Looked, p.Early.Reached})
	}
	return Lines(out, lines)
}
