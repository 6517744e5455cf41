package cmd

import (
	"bufio"
	"bytes"
	"encoding/json"
	"fmt"
	"io"
	"unicode/utf8"

	"github.com/jedib0t/go-pretty/v6/table"
	"github.com/jedib0t/go-pretty/v6/text"
)

// printJSON prints an object on a line. What could drive a terminal is escaped, also where JSON does not ask for it.
func printJSON(w io.Writer, v any) error {
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
	if !bytes.ContainsFunc(line, drives) {
		return line
	}
	var b bytes.Buffer
	for len(line) > 0 {
		r, size := utf8.DecodeRune(line)
		if drives(r) {
			fmt.Fprintf(&b, `\u%04x`, r)
		} else {
			b.Write(line[:size])
		}
		line = line[size:]
	}
	return b.Bytes()
}

// printLines prints a row a line, as JSON.
func printLines[T any](w io.Writer, rows []T) error {
	buffered := bufio.NewWriter(w)
	for _, row := range rows {
		if err := printJSON(buffered, row); err != nil {
			return err
		}
	}
	return buffered.Flush()
}

// say prints a line for people. Texts and errors among the arguments are cleaned.
func say(w io.Writer, format string, args ...any) error {
	for i, arg := range args {
		switch v := arg.(type) {
		case string:
			args[i] = clean(v)
		case error:
			args[i] = clean(inWords(v))
		case fmt.Stringer:
			args[i] = clean(v.String())
		}
	}
	_, err := fmt.Fprintf(w, format+"\n", args...)
	return err
}

// column is a column of a table.
type column struct {
	title string
	right bool
}

// printTable prints rows for people: with lines around them on a terminal, else in plain columns. The cells are cleaned
// already. Columns that are empty in every row are left out.
func printTable(w io.Writer, columns []column, rows [][]string) error {
	t := table.NewWriter()
	if isTerminal(w) {
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
		header = append(header, columns[i].title)
		if columns[i].right {
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

func notEmpty(columns []column, rows [][]string) (kept []int) {
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
