// Package output prints what a command has to say: JSON, lines, tables, the log, and bars that show how far something is.
package output

import (
	"bufio"
	"bytes"
	"encoding/json"
	"fmt"
	"io"
	"time"
	"unicode/utf16"
	"unicode/utf8"

	"github.com/jedib0t/go-pretty/v6/table"
	"github.com/jedib0t/go-pretty/v6/text"

	"prescient/cmd/internal/words"
)

// JSON prints an object on a line. What could drive a terminal is escaped, also where JSON does not ask for it.
func JSON(w io.Writer, v any) error {
	var line bytes.Buffer
	encoder := json.NewEncoder(&line)
	encoder.SetEscapeHTML(false)
	if err := encoder.Encode(v); err != nil {
		return fmt.Errorf("printing as JSON: %w", err)
	}
	_, err := w.Write(append(escapeJSON(bytes.TrimSuffix(line.Bytes(), []byte("\n"))), '\n'))
	return err
}

// escapeJSON escapes in a JSON text what drives a terminal; such characters stand in strings only.
func escapeJSON(line []byte) []byte {
	if !bytes.ContainsFunc(line, words.Drives) {
		return line
	}
	return escaped(line, words.Drives)
}

// escaped is a text with some of its characters as JSON escapes them.
func escaped(line []byte, which func(rune) bool) []byte {
	var b bytes.Buffer
	for len(line) > 0 {
		r, size := utf8.DecodeRune(line)
		if which(r) {
			for _, unit := range utf16.AppendRune(nil, r) {
				fmt.Fprintf(&b, `\u%04x`, unit)
			}
		} else {
			b.Write(line[:size])
		}
		line = line[size:]
	}
	return b.Bytes()
}

// Lines prints a row a line, as JSON.
func Lines[T any](w io.Writer, rows []T) error {
	buffered := bufio.NewWriter(w)
	for _, row := range rows {
		if err := JSON(buffered, row); err != nil {
			return err
		}
	}
	return buffered.Flush()
}

// Say prints a line for people. Texts and errors among the arguments are cleaned.
func Say(w io.Writer, format string, args ...any) error {
	for i, arg := range args {
		switch v := arg.(type) {
		case string:
			args[i] = words.Clean(v)
		case error:
			args[i] = words.Clean(words.Of(v))
		case fmt.Stringer:
			args[i] = words.Clean(v.String())
		}
	}
	_, err := fmt.Fprintf(w, format+"\n", args...)
	return err
}

// Column is a column of a table.
type Column struct {
	Title string
	Right bool
}

// Table prints rows for people: with lines around them on a terminal, else in plain columns. The cells are cleaned
// already. Columns that are empty in every row are left out.
func Table(w io.Writer, columns []Column, rows [][]string) error {
	t := table.NewWriter()
	if IsTerminal(w) {
		t.SetStyle(table.StyleLight)
	} else {
		t.SetStyle(plainStyle())
	}
	t.Style().Format.Header = text.FormatDefault
	t.SuppressTrailingSpaces()
	kept := notEmpty(columns, rows)
	var header table.Row
	var configs []table.ColumnConfig
	for n, i := range kept {
		header = append(header, columns[i].Title)
		if columns[i].Right {
			configs = append(configs, table.ColumnConfig{Number: n + 1, Align: text.AlignRight, AlignHeader: text.AlignRight})
		}
	}
	t.AppendHeader(header)
	t.SetColumnConfigs(configs)
	for _, cells := range rows {
		var row table.Row
		for _, i := range kept {
			row = append(row, cells[i])
		}
		t.AppendRow(row)
	}
	_, err := io.WriteString(w, t.Render()+"\n")
	return err
}

func notEmpty(columns []Column, rows [][]string) (kept []int) {
	for i := range columns {
		for _, cells := range rows {
			if cells[i] != "" {
				kept = append(kept, i)
				break
			}
		}
	}
	return kept
}

// plainStyle has two blanks between columns and nothing else.
func plainStyle() table.Style {
	return table.Style{
		Name:    "plain",
		Box:     table.BoxStyle{PaddingRight: "  ", UnfinishedRow: "…"},
		Options: table.OptionsNoBordersAndSeparators,
	}
}

// Second shows a time to people, to the second, and nothing where there is none.
func Second(t *time.Time) string {
	if t == nil || t.IsZero() {
		return ""
	}
	return Stamp(t.Truncate(time.Second))
}

// Stamp shows a time to people: UTC, with a fraction only where it has one.
func Stamp(t time.Time) string { return t.UTC().Format("2006-01-02 15:04:05.999999") }
