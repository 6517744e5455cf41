package stream

import (
	"encoding/csv"
	"encoding/json"
	"fmt"
	"io"
	"reflect"
	"regexp"
	"slices"
	"strings"
)

// csvLines writes rows as CSV, below a line with the names of the columns, which are those of JSON.
type csvLines[Row any] struct {
	*csv.Writer
	columns []string
	begun   bool
}

func newCSVLines[Row any](to io.Writer) *csvLines[Row] {
	return &csvLines[Row]{Writer: csv.NewWriter(to), columns: columnsOf(reflect.TypeFor[Row]())}
}

// columnsOf are the fields of a row that the database has.
func columnsOf(row reflect.Type) (columns []string) {
	for _, field := range reflect.VisibleFields(row) {
		name, _, _ := strings.Cut(field.Tag.Get("json"), ",")
		if !field.Anonymous && name != "" && name != "-" && field.Tag.Get("db") != "-" && !slices.Contains(columns, name) {
			columns = append(columns, name)
		}
	}
	return columns
}

func (c *csvLines[Row]) begin() error {
	if c.begun {
		return nil
	}
	c.begun = true
	return c.Write(c.columns)
}

func (c *csvLines[Row]) write(row *Row) error {
	if err := c.begin(); err != nil {
		return err
	}
	text, err := json.Marshal(row)
	if err != nil {
		return err
	}
	var fields map[string]json.RawMessage
	if err := json.Unmarshal(text, &fields); err != nil {
		return err
	}
	cells := make([]string, len(c.columns))
	for i, name := range c.columns {
		cells[i] = cellOf(name, fields[name])
	}
	return c.Write(cells)
}

// end has nothing to say of a problem: a line of it would look like a row.
func (c *csvLines[Row]) end(any) error {
	if err := c.begin(); err != nil {
		return err
	}
	c.Flush()
	return c.Error()
}

// formula is with which characters a cell begins that a spreadsheet may take for a formula.
const formula = "=+-@\t\r\n＝＋－＠"

// inside finds such a character behind one that parts cells where a comma does not, as in the spreadsheets of half of Europe.
var inside = regexp.MustCompile(`([;\t\r\n] *)([=+\-@＝＋－＠])`)

// cellOf is the cell of a field: the payload is JSON, and what may be a formula in it is escaped as JSON has it.
func cellOf(name string, value json.RawMessage) string {
	text := string(value)
	switch {
	case text == "null":
		return ""
	case name != "payload" && strings.HasPrefix(text, `"`):
		_ = json.Unmarshal(value, &text) // it was written a moment ago
		text = inside.ReplaceAllString(text, "$1'$2")
		if text != "" && strings.ContainsRune(formula, []rune(text)[0]) {
			return "'" + text
		}
	case name == "payload":
		return inside.ReplaceAllStringFunc(text, func(found string) string {
			runes := []rune(found)
			return string(runes[:len(runes)-1]) + fmt.Sprintf(`\u%04x`, runes[len(runes)-1])
		})
	}
	return text
}
