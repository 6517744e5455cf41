package sql

import (
	"fmt"
	"io/fs"
	"regexp"
	"slices"
	"strings"
	"time"
)

// Table is what the migrations make of one table, as far as it can be told by names.
type Table struct {
	Name    string
	Columns []string
	// Indexes has PRIMARY for the primary key, and Checks the names of the CHECK constraints.
	Indexes, Checks []string
}

var (
	createTable = regexp.MustCompile(`(?s)CREATE TABLE IF NOT EXISTS (\w+) \((.*?)\n\)`)
	alterTable  = regexp.MustCompile(`(?s)ALTER TABLE (\w+)\s+(.*?);`)
	addColumn   = regexp.MustCompile(`\bADD COLUMN (?:IF NOT EXISTS )?(\w+)`)
	addKey      = regexp.MustCompile(`\bADD (?:UNIQUE )?(?:KEY|INDEX) (\w+)`)
	// firstWords are those of a line that begins a definition: two blanks before it, more before its continuation.
	firstWords = regexp.MustCompile(`(?m)^  (\w+)(?: (KEY|\w+))?(?: (\w+))?`)
)

// Expected returns what the tables have once all migrations are applied, in the order in which these make them.
func (s Schema) Expected() ([]Table, error) {
	s.Resolution = max(s.Resolution, time.Second)
	files, err := s.render()
	if err != nil {
		return nil, err
	}
	names, err := fs.Glob(files, "*.sql")
	if err != nil {
		return nil, err
	}
	var tables []Table
	for _, name := range names {
		text, err := fs.ReadFile(files, name)
		if err != nil {
			return nil, fmt.Errorf("reading %s: %w", name, err)
		}
		up, _, _ := strings.Cut(string(text), "-- +goose Down")
		for _, found := range createTable.FindAllStringSubmatch(up, -1) {
			tables = append(tables, readTable(found[1], found[2]))
		}
		for _, found := range alterTable.FindAllStringSubmatch(up, -1) {
			i := slices.IndexFunc(tables, func(t Table) bool { return t.Name == found[1] })
			if i < 0 {
				continue
			}
			for _, column := range addColumn.FindAllStringSubmatch(found[2], -1) {
				tables[i].Columns = append(tables[i].Columns, column[1])
			}
			for _, key := range addKey.FindAllStringSubmatch(found[2], -1) {
				tables[i].Indexes = append(tables[i].Indexes, key[1])
			}
		}
	}
	return tables, nil
}

func readTable(name, body string) Table {
	t := Table{Name: name}
	for _, words := range firstWords.FindAllStringSubmatch(body, -1) {
		switch first, second, third := words[1], words[2], words[3]; first {
		case "PRIMARY":
			t.Indexes = append(t.Indexes, "PRIMARY")
		case "UNIQUE":
			t.Indexes = append(t.Indexes, third)
		case "KEY", "INDEX":
			t.Indexes = append(t.Indexes, second)
		case "CONSTRAINT":
			if third == "CHECK" {
				t.Checks = append(t.Checks, second)
			}
		default:
			t.Columns = append(t.Columns, first)
		}
	}
	return t
}
