// Package output prints what a command has to say: JSON, lines, tables, the log, and bars that show how far something is; and it writes files.
package output

import (
	"bufio"
	"bytes"
	"encoding/json"
	"fmt"
	"io"
	"os"
	"time"
	"unicode/utf16"
	"unicode/utf8"

	"github.com/jedib0t/go-pretty/v6/table"
	"github.com/jedib0t/go-pretty/v6/text"
	"golang.org/x/term"

	"prescient/cmd/internal/words"
	"prescient/prescient"
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

// Answer prints what a command did: as JSON, or in a line for people.
func Answer(w io.Writer, asJSON bool, v any, format string, args ...any) error {
	if asJSON {
		return JSON(w, v)
	}
	return Say(w, format, args...)
}

// Column is a column of a table.
type Column struct {
	Title string
	Right bool
	// Long says that its texts are shortened to LongColumn characters, or to what a terminal has left where that is more.
	Long bool
}

// LongColumn is how many characters of a long text stand in a table where nobody knows how wide it may be.
const LongColumn = 60

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
	shorten(columns, rows, kept, widthOf(w))
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

// widthOf is how many characters a line of a terminal has; 0 where there is none.
func widthOf(w io.Writer) int {
	if s, ok := w.(*Screen); ok {
		w = s.Writer
	}
	file, ok := w.(*os.File)
	if !ok {
		return 0
	}
	width, _, err := term.GetSize(int(file.Fd()))
	if err != nil {
		return 0
	}
	return width
}

// shorten shortens the texts of a long column to what the others leave of a line.
func shorten(columns []Column, rows [][]string, kept []int, width int) {
	for _, long := range kept {
		if !columns[long].Long {
			continue
		}
		left := width - 1 // for the line at the end
		for _, i := range kept {
			widest := text.StringWidth(columns[i].Title)
			for _, cells := range rows {
				widest = max(widest, text.StringWidth(cells[i]))
			}
			if left -= 3; i != long { // blanks and a line beside each
				left -= widest
			}
		}
		for _, cells := range rows {
			cells[long] = prescient.Shorten(cells[long], max(left, LongColumn))
		}
	}
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

// Fields prints names with what each has, a line each, the values one below the other. A name without a value is left out.
func Fields(w io.Writer, width int, fields [][2]string) error {
	for _, field := range fields {
		if field[1] == "" {
			continue
		}
		if err := Say(w, "%-*s %s", width, field[0], field[1]); err != nil {
			return err
		}
	}
	return nil
}

// Count is a count, and nothing where it is 0.
func Count[T int | int64 | uint64](n T) string {
	if n == 0 {
		return ""
	}
	return fmt.Sprint(n)
}

// Millis shows milliseconds to people: 1.5s.
func Millis(ms int64) string { return (time.Duration(ms) * time.Millisecond).String() }

// Second shows a time to people, to the second, and nothing where there is none.
func Second(t *time.Time) string {
	if t == nil || t.IsZero() {
		return ""
	}
	return Stamp(t.Truncate(time.Second))
}

// Maybe is Stamp of a time that there may not be; nothing then.
func Maybe(t *time.Time) string {
	if t == nil {
		return ""
	}
	return Stamp(*t)
}

// Stamp shows a time to people: UTC, with a fraction only where it has one.
func Stamp(t time.Time) string { return t.UTC().Format("2006-01-02 15:04:05.999999") }
