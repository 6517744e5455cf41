package migrate

import (
	"fmt"
	"io/fs"
	"regexp"
	"slices"
	"strings"
	"sync"
	"time"
)

// Table is what the migrations make of one table.
type Table struct {
	Name    string
	Columns []string
	// Indexes has PRIMARY for the primary key, and Checks the names of the CHECK constraints.
	Indexes, Checks []string
	// definitions are the texts, by kind and name: "column due_at".
	definitions map[string]string
}

// Object is a view or a procedure that the migrations make.
type Object struct {
	// Kind is view or procedure.
	Kind, Name string
	// Create is the statement that makes it, as the last migration that does has it.
	Create string
}

// Definition is the text of a column, an index or a check, as it stands in CREATE TABLE.
func (t Table) Definition(kind, name string) string { return t.definitions[kind+" "+name] }

// Default is the expression or literal that fills in a column where an INSERT names none; empty where there is none.
func (t Table) Default(column string) string {
	_, rest, found := strings.Cut(t.Definition("column", column), " DEFAULT ")
	switch {
	case !found:
		return ""
	case strings.HasPrefix(rest, "("):
		return rest[:closing(rest)+1]
	}
	return firstToken.FindString(rest)
}

var (
	createTable   = regexp.MustCompile(`(?s)^CREATE TABLE IF NOT EXISTS (\w+) \((.*?)\n\)`)
	literals      = regexp.MustCompile(`(?s)'((?:[^']|'')*)'`)
	createObject  = regexp.MustCompile(`(?s)^CREATE (?:OR REPLACE )?(?:SQL SECURITY INVOKER )?(VIEW|PROCEDURE) (\w+)`)
	dropObjects   = regexp.MustCompile(`(?s)^DROP (?:VIEW|PROCEDURE) IF EXISTS (.*)$`)
	ifNotExists   = regexp.MustCompile(`IF NOT EXISTS |(?:/\*[TM]! IF NOT EXISTS \*/)+ ?`)
	addColumn     = regexp.MustCompile(`(?s)^(?:ADD|MODIFY) (?:COLUMN )?((\w+) .*?)(?: (?:AFTER \w+|FIRST))?$`)
	addOther      = regexp.MustCompile(`(?s)^ADD ((?:CONSTRAINT|PRIMARY|UNIQUE|KEY|INDEX) .*)$`)
	setDefault    = regexp.MustCompile(`(?s)^ALTER (?:COLUMN )?(\w+) SET DEFAULT (.*)$`)
	dropFromTable = regexp.MustCompile(`^DROP (CONSTRAINT|CHECK|KEY|INDEX|COLUMN) (?:IF EXISTS )?(\w+)$`)
	nameOfCheck   = regexp.MustCompile(`^CONSTRAINT (\w+) CHECK`)
	nameOfIndex   = regexp.MustCompile(`^(?:UNIQUE )?(?:KEY|INDEX) (\w+)`)
	firstToken    = regexp.MustCompile(`^('[^']*'|[^\s,]+)`)
)

// made is what the migrations have made so far.
type made struct {
	tables  []Table
	objects []Object
}

// Expected returns what the tables have once all migrations are applied, in the order in which these make them.
func (s Schema) Expected() ([]Table, error) {
	m, err := s.readMigrations()
	return slices.Clone(m.tables), err
}

// Objects returns the views and procedures that are there once all migrations are applied.
func (s Schema) Objects() ([]Object, error) {
	m, err := s.readMigrations()
	return slices.Clone(m.objects), err
}

// readings are what reading the migrations has come to, by Schema: a look of the doctor wants it several times, and it takes
// longer than what the server is asked. A program has one or two.
var readings sync.Map

// readMigrations returns what the migrations make; it is not to be changed.
func (s Schema) readMigrations() (made, error) {
	s = Schema{Prefix: s.Prefix, Resolution: max(s.Resolution, time.Second), Dialect: s.Dialect, Server: s.withoutProcedures(), Set: s.Set} // what it goes by
	read, _ := readings.LoadOrStore(s, sync.OnceValues(s.readEach))
	return read.(func() (made, error))()
}

func (s Schema) readEach() (m made, err error) {
	files, names, err := s.render()
	if err != nil {
		return m, err
	}
	for _, name := range names {
		migration, err := fs.ReadFile(files, name)
		if err != nil {
			return m, fmt.Errorf("reading %s: %w", name, err)
		}
		up, _, _ := strings.Cut(string(migration), "-- +goose Down")
		for _, statement := range splitStatements(up) {
			m.read(statement)
		}
	}
	return m, nil
}

// read takes in what one statement makes. An ALTER TABLE may stand in a literal that is prepared, so that it can be
// left out where it was done before.
func (m *made) read(statement string) {
	switch {
	case createTable.MatchString(statement):
		found := createTable.FindStringSubmatch(statement)
		if m.table(found[1]) == nil {
			m.tables = append(m.tables, readTable(found[1], found[2]))
		}
	case createObject.MatchString(statement):
		found := createObject.FindStringSubmatch(statement)
		m.drop(found[2])
		m.objects = append(m.objects, Object{Kind: strings.ToLower(found[1]), Name: found[2], Create: statement})
	case dropObjects.MatchString(statement):
		for name := range strings.SplitSeq(dropObjects.FindStringSubmatch(statement)[1], ",") {
			m.drop(strings.TrimSpace(name))
		}
	case alterTable.MatchString(statement):
		m.alter(statement)
	case strings.HasPrefix(statement, "SET @"):
		for _, literal := range literals.FindAllStringSubmatch(statement, -1) {
			m.alter(strings.ReplaceAll(literal[1], "''", "'"))
		}
	}
}

func (m *made) table(name string) *Table {
	if i := slices.IndexFunc(m.tables, func(t Table) bool { return t.Name == name }); i >= 0 {
		return &m.tables[i]
	}
	return nil
}

func (m *made) drop(object string) {
	m.objects = slices.DeleteFunc(m.objects, func(o Object) bool { return o.Name == object })
}

func (m *made) alter(statement string) {
	found := alterTable.FindStringSubmatch(statement)
	if found == nil {
		return
	}
	t := m.table(found[1])
	if t == nil {
		return
	}
	for _, clause := range splitList(found[2]) {
		clause = ifNotExists.ReplaceAllString(clause, "")
		switch {
		case addOther.MatchString(clause):
			t.define(addOther.FindStringSubmatch(clause)[1])
		case addColumn.MatchString(clause):
			t.define(addColumn.FindStringSubmatch(clause)[1])
		case setDefault.MatchString(clause):
			to := setDefault.FindStringSubmatch(clause)
			t.setDefault(to[1], to[2])
		case dropFromTable.MatchString(clause):
			from := dropFromTable.FindStringSubmatch(clause)
			t.drop(from[1], from[2])
		}
	}
}

func readTable(name, body string) Table {
	t := Table{Name: name}
	for _, definition := range splitList(body) {
		t.define(definition)
	}
	return t
}

// define adds a column, an index or a check, or puts it in the place of the one of that name.
func (t *Table) define(definition string) {
	kind, list := "column", &t.Columns
	name, _, _ := strings.Cut(definition, " ")
	switch {
	case strings.HasPrefix(definition, "PRIMARY KEY"):
		kind, list, name = "index", &t.Indexes, "PRIMARY"
	case nameOfIndex.MatchString(definition):
		kind, list, name = "index", &t.Indexes, nameOfIndex.FindStringSubmatch(definition)[1]
	case nameOfCheck.MatchString(definition):
		kind, list, name = "check", &t.Checks, nameOfCheck.FindStringSubmatch(definition)[1]
	}
	if t.definitions == nil {
		t.definitions = make(map[string]string)
	}
	t.definitions[kind+" "+name] = definition
	if !slices.Contains(*list, name) {
		*list = append(*list, name)
	}
}

func (t *Table) setDefault(column, expression string) {
	definition := t.Definition("column", column)
	if is := t.Default(column); is != "" {
		t.definitions["column "+column] = strings.Replace(definition, " DEFAULT "+is, " DEFAULT "+expression, 1)
	} else if definition != "" {
		t.definitions["column "+column] = definition + " DEFAULT " + expression
	}
}

func (t *Table) drop(kind, name string) {
	list := &t.Columns
	switch kind {
	case "CONSTRAINT", "CHECK":
		list = &t.Checks
	case "KEY", "INDEX":
		list = &t.Indexes
	}
	*list = slices.DeleteFunc(*list, func(n string) bool { return n == name })
}

// closing is where the parenthesis that the text begins with is closed.
func closing(text string) int {
	depth, quoted := 0, false
	for i, c := range []byte(text) {
		switch {
		case c == '\'':
			quoted = !quoted
		case quoted:
		case c == '(':
			depth++
		case c == ')':
			if depth--; depth == 0 {
				return i
			}
		}
	}
	return len(text) - 1
}
