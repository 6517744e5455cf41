package migrate

import (
	"cmp"
	"context"
	"database/sql"
	"errors"
	"fmt"
	"regexp"
	"slices"
	"strings"

	"github.com/go-sql-driver/mysql"

	text "prescient/sql"
)

// Kinds of what can be damaged.
const (
	DamagedTable     = "table"
	DamagedColumn    = "column"
	DamagedIndex     = "index"
	DamagedCheck     = "check"
	DamagedDefault   = "default"
	DamagedView      = "view"
	DamagedProcedure = "procedure"
	DamagedDefiner   = "definer"
)

// Damage is something that the migrations made and that is missing now, or is another.
type Damage struct {
	// Kind is one of the kinds above, Of the table or object that it is of, and Name what of a table is damaged.
	Kind, Of, Name string
	// Text says what is wrong.
	Text string
	// DDL are the statements that mend it.
	DDL []string
	// Lost says why Repair does not mend it; empty where it does.
	Lost string
	// Held says that Repair did not since somebody had it open.
	Held bool
	// Again says that Repair sent DDL in vain, and sends it again when it is called the next time.
	Again bool
	gone  bool // a procedure that is not there at all
}

// What names what is damaged.
func (d Damage) What() string {
	switch d.Kind {
	case DamagedTable, DamagedView, DamagedProcedure:
		return "the " + d.Kind + " " + d.Of
	case DamagedDefiner:
		return "the definer of the procedure " + d.Of
	}
	return "the " + d.Kind + " " + d.Name + " of " + d.Of
}

func (d Damage) isProcedure() bool { return d.Kind == DamagedProcedure || d.Kind == DamagedDefiner }

// Compared is what an account sees of the tables.
type Compared struct {
	Damages []Damage
	// Hidden are the tables and objects that the account has no right to see.
	Hidden []string
}

// Compare compares the tables, views and procedures with what the migrations make of them, all of which have to be
// applied. s.Resolution is that of slot_config, s.Server whose tables these are, and s.Dialect Full or Plain. It changes nothing: that a procedure
// can be called, it finds out by a call for an entity that no row can have.
func (s Schema) Compare(ctx context.Context, db text.Querier) (Compared, error) {
	c := comparison{Schema: s, db: db}
	m, err := s.readMigrations()
	if err != nil {
		return Compared{}, err
	}
	if c.statements, err = text.LoadFor(s.Dialect, s.Prefix); err != nil {
		return Compared{}, err
	}
	if err := c.readNames(ctx); err != nil {
		return Compared{}, err
	}
	for _, table := range m.tables {
		if err := c.compareTable(ctx, table); err != nil {
			return c.found, err
		}
	}
	for _, object := range m.objects {
		if err := c.compareObject(ctx, object); err != nil {
			return c.found, err
		}
	}
	return c.found, nil
}

// comparison is one Compare at work.
type comparison struct {
	Schema
	db         text.Querier
	statements text.Statements
	columns    map[string]map[string]sql.NullString // DEFAULTs, by table and column, in lower case
	indexes    map[string][]string
	routines   map[string]string // texts, by name; empty where the account may not read them
	found      Compared
}

func (c *comparison) damage(kind, of, name, text, lost string, ddl ...string) {
	c.found.Damages = append(c.found.Damages, Damage{Kind: kind, Of: of, Name: name, Text: text, DDL: ddl, Lost: lost})
}

// readNames reads what there is, as far as the account sees it.
func (c *comparison) readNames(ctx context.Context) error {
	c.columns, c.indexes, c.routines = make(map[string]map[string]sql.NullString), make(map[string][]string), make(map[string]string)
	like := strings.ReplaceAll(c.Prefix, "_", `\_`) + "%"
	each := func(statement string, take func(of, name string, value sql.NullString)) error {
		rows, err := c.db.QueryContext(ctx, c.statements.Get(statement), like)
		if err != nil {
			return fmt.Errorf("reading what the tables have: %w", err)
		}
		defer rows.Close()
		for rows.Next() {
			var of, name string
			var value sql.NullString
			if err := rows.Scan(&of, &name, &value); err != nil {
				return err
			}
			take(of, strings.ToLower(name), value)
		}
		return rows.Err()
	}
	return errors.Join(
		each("operate/columns", func(table, column string, value sql.NullString) {
			if c.columns[table] == nil {
				c.columns[table] = make(map[string]sql.NullString)
			}
			c.columns[table][column] = value
		}),
		each("operate/indexes", func(table, index string, _ sql.NullString) {
			c.indexes[table] = append(c.indexes[table], index)
		}),
		each("operate/routines", func(name, _ string, value sql.NullString) { c.routines[name] = value.String }))
}

// autoIncrement is in the place of the default of a column that has none, since it counts by itself: as tables of the dialect plain have.
const autoIncrement = "auto_increment"

func (c *comparison) compareTable(ctx context.Context, t Table) error {
	columns := c.columns[t.Name]
	missing := slices.IndexFunc(t.Columns, func(name string) bool { _, there := columns[strings.ToLower(name)]; return !there })
	if missing >= 0 && refused(c.try(ctx, "SELECT "+t.Columns[missing]+" FROM "+t.Name+" WHERE 1 = 0"), errTableDenied, errColumnDenied, errTiDBDenied) {
		// It is hidden, or a right on some columns does not show the rest.
		c.found.Hidden = append(c.found.Hidden, t.Name)
		return nil
	}
	if columns == nil {
		c.damage(DamagedTable, t.Name, "", "table "+t.Name+" is missing",
			"repair makes no table anew, since what it held would stay lost: restore it from a backup, then run it again")
		return nil
	}
	alter := "ALTER TABLE " + t.Name + " "
	previous := ""
	for _, name := range t.Columns {
		is, there := columns[strings.ToLower(name)]
		want := t.Default(name)
		switch {
		case !there:
			after := " FIRST"
			if previous != "" {
				after = " AFTER " + previous
			}
			c.damage(DamagedColumn, t.Name, name, t.Name+" lacks the column "+name,
				"repair adds no column, since what it held would stay lost: restore the table from a backup, or add it as the statement does, empty",
				alter+"ADD COLUMN "+t.Definition("column", name)+after)
		case want != "" && want != "NULL" && c.Dialect != text.Plain && (!is.Valid || fingerprint(is.String, t.Columns, name) != fingerprint(want, t.Columns, name)):
			ddl := alter + "ALTER COLUMN " + name + " SET DEFAULT " + want
			if is.String == autoIncrement {
				ddl = alter + "MODIFY " + t.Definition("column", name)
			}
			c.damage(DamagedDefault, t.Name, name, fmt.Sprintf("%s.%s has no default, or another than the migrations give it: plain INSERTs fail, or go wrong", t.Name, name), "", ddl)
		}
		previous = name
	}
	for _, name := range t.Indexes {
		if !slices.Contains(c.indexes[t.Name], strings.ToLower(name)) {
			c.damage(DamagedIndex, t.Name, name, t.Name+" lacks the index "+name, "", alter+"ADD "+t.Definition("index", name))
		}
	}
	return c.compareChecks(ctx, t)
}

// constraint is a line of SHOW CREATE TABLE.
var constraint = regexp.MustCompile("^CONSTRAINT [`\"]?(\\w+)[`\"]? CHECK (.*?),?$")

// Checks reads the CHECK constraints of a table by their names.
func (s Schema) Checks(ctx context.Context, db text.Querier, table string) (map[string]string, error) {
	statements, err := text.LoadFor(s.Dialect, s.Prefix)
	if err != nil {
		return nil, err
	}
	rows, err := db.QueryContext(ctx, strings.ReplaceAll(statements.Get("operate/checks"), "{table}", table))
	if err != nil {
		return nil, fmt.Errorf("reading the constraints of %s: %w", table, err)
	}
	defer rows.Close()
	all := make(map[string]string)
	for rows.Next() {
		var name, create string
		if err := rows.Scan(&name, &create); err != nil {
			return nil, err
		}
		for line := range strings.Lines(create) {
			if found := constraint.FindStringSubmatch(strings.TrimSpace(line)); found != nil {
				all[found[1]] = found[2]
			}
		}
	}
	return all, rows.Err()
}

func (c *comparison) compareChecks(ctx context.Context, t Table) error {
	if len(t.Checks) == 0 {
		return nil
	}
	has, err := c.Checks(ctx, c.db, t.Name)
	if refused(err, errTableDenied, errTiDBDenied) { // MySQL shows no table whose columns one may only INSERT
		c.found.Hidden = append(c.found.Hidden, t.Name)
		return nil
	}
	if err != nil {
		return err
	}
	for _, name := range t.Checks {
		definition := t.Definition("check", name)
		_, want, _ := strings.Cut(definition, " CHECK ")
		is, there := has[name]
		add := "ADD " + definition
		switch {
		case !there:
			c.damage(DamagedCheck, t.Name, name, t.Name+" lacks the check "+name, "", "ALTER TABLE "+t.Name+" "+add)
		case strings.Contains(is, "NOT ENFORCED"), fingerprint(is, t.Columns, "") != fingerprint(want, t.Columns, ""):
			// Only reslot may put one resolution in the place of another.
			if !strings.Contains(is, "NOT ENFORCED") && shape(is, t.Columns) == shape(want, t.Columns) && strings.HasSuffix(name, "_on_grid") {
				continue
			}
			c.damage(DamagedCheck, t.Name, name, fmt.Sprintf("%s has another check %s than the migrations give it, or does not enforce it", t.Name, name), "",
				"ALTER TABLE "+t.Name+" DROP CONSTRAINT "+name+", "+add)
		}
	}
	return nil
}

// compareObject tries a view by opening it and a procedure by calling it.
func (c *comparison) compareObject(ctx context.Context, o Object) error {
	if o.Kind == "view" {
		switch err := c.try(ctx, "SHOW COLUMNS FROM "+o.Name); {
		case err == nil:
		case refused(err, errTableDenied, errColumnDenied, errViewAccessDenied, errTiDBDenied):
			c.found.Hidden = append(c.found.Hidden, o.Name)
		case refused(err, errNoSuchTable):
			c.damage(DamagedView, o.Name, "", "view "+o.Name+" is missing", "", o.Create)
		case refused(err, errInvalidView):
			c.damage(DamagedView, o.Name, "", "view "+o.Name+" cannot be read: what it stands on is missing or another", "", o.Create)
		default:
			return fmt.Errorf("opening the view %s: %w", o.Name, err)
		}
		return nil
	}
	text, seen := c.routines[o.Name]
	again := c.remake(o)
	switch err := c.try(ctx, o.trial()); {
	case refused(err, errNoSuchName), !seen && refused(err, errRoutineDenied) && c.mayReadRoutines(ctx):
		c.damage(DamagedProcedure, o.Name, "", "the procedure "+o.Name+" is missing", "", again...)
		c.found.Damages[len(c.found.Damages)-1].gone = true
	case refused(err, errNoDefiner):
		c.damage(DamagedDefiner, o.Name, "", fmt.Sprintf("the procedure %s runs with the rights of an account that is not there any more: each CALL fails (%v)", o.Name, plainly(err)), "", again...)
	case !seen && refused(err, errRoutineDenied):
		c.found.Hidden = append(c.found.Hidden, o.Name)
	case refused(err, errRoutineDenied, errTableDenied, errColumnDenied, errDatabaseDenied) && !c.ours(ctx, err):
		c.damage(DamagedDefiner, o.Name, "", fmt.Sprintf("the procedure %s runs with the rights of an account that lacks some: each CALL fails (%v)", o.Name, plainly(err)),
			"repair grants nothing: give that account the rights of the owner, as `grants --role owner` prints them; or drop the procedure and repair it as the owner")
	case refused(err, errArguments), seen && text != "" && body(text) != body(o.Create):
		c.damage(DamagedProcedure, o.Name, "", "the procedure "+o.Name+" is another than the migrations make", "", again...)
	case refused(err, errRoutineDenied):
		c.found.Hidden = append(c.found.Hidden, o.Name)
	}
	return nil
}

// parameters are those of a procedure, each on a line of its own.
var parameters = regexp.MustCompile(`\n  IN (\w+) (\w+)`)

// trial calls a procedure for what no row can have, since no key is so long: that comes as far as the tables, and writes nothing.
func (o Object) trial() string {
	const long = "REPEAT('-', 255)"
	values := map[string]string{"p_entity_key": long, "p_owner_key": long, "p_key": long, "p_on_pending": "'keep'", "p_data": "NULL", "DATETIME": "'2000-01-01'"}
	var arguments []string
	for _, p := range parameters.FindAllStringSubmatch(o.Create, -1) {
		arguments = append(arguments, cmp.Or(values[p[1]], values[p[2]], "'-'"))
	}
	return "CALL " + o.Name + "(" + strings.Join(arguments, ", ") + ")"
}

// remake are the statements that put a procedure in its place. On MariaDB who may call it stays so; elsewhere that goes
// with the old one.
func (c *comparison) remake(o Object) []string {
	if c.Server == text.MariaDB {
		return []string{"CREATE OR REPLACE " + strings.TrimPrefix(o.Create, "CREATE ")}
	}
	return []string{"DROP PROCEDURE IF EXISTS " + o.Name, o.Create}
}

// mayReadRoutines says whether the account would see every procedure of the database: one that may make some does.
func (c *comparison) mayReadRoutines(ctx context.Context) bool {
	rows, err := c.db.QueryContext(ctx, "SHOW GRANTS")
	if err != nil {
		return false
	}
	defer rows.Close()
	for rows.Next() {
		var line string
		if rows.Scan(&line) == nil && strings.Contains(line, ".* TO") && (strings.Contains(line, "EXECUTE") || strings.Contains(line, "ALL PRIVILEGES")) {
			return true
		}
	}
	return false
}

// ours says whether an error about rights is about the account of the connection.
func (c *comparison) ours(ctx context.Context, err error) bool {
	rows, failed := c.db.QueryContext(ctx, "SELECT SUBSTRING_INDEX(CURRENT_USER(), '@', 1)")
	if failed != nil {
		return true
	}
	defer rows.Close()
	var user string
	return rows.Next() && rows.Scan(&user) == nil && strings.Contains(err.Error(), "'"+user+"'@")
}

// try runs a query for the error that it ends with.
func (c *comparison) try(ctx context.Context, query string) error {
	rows, err := c.db.QueryContext(ctx, query)
	if err != nil {
		return err
	}
	for rows.Next() {
	}
	return errors.Join(rows.Err(), rows.Close())
}

// plainly is what the server says, without its number.
func plainly(err error) string {
	var server *mysql.MySQLError
	if errors.As(err, &server) {
		return server.Message
	}
	return err.Error()
}

var (
	inQuotes  = regexp.MustCompile(`(?s)(?:\b_\w+)?\\?'(?:[^'\\]|'')*\\?'`)
	words     = regexp.MustCompile(`[a-z_][a-z0-9_]*|[0-9]+`)
	remarks   = regexp.MustCompile(`(?m)--[^\n]*$|/\*.*?\*/`)
	versioned = regexp.MustCompile(`/\*M?!\d*|\*/`)                                                                     // comments that a server takes for text, of which each takes its own
	spellings = []string{"uuid_short", "utc_timestamp", "unix_timestamp", "sha2", "timestampdiff", "current_timestamp"} // both servers spell these alike
)

// fingerprint is what remains of an expression however a server spells it: the columns, the numbers and some functions,
// in their order. Of a DEFAULT, the resolution is left out: only reslot may change it.
func fingerprint(expression string, columns []string, ofDefault string) string {
	if ofDefault == "first_check_at" {
		return shape(expression, columns)
	}
	return strings.Join(marks(expression, columns), " ")
}

// shape is a fingerprint without its numbers.
func shape(expression string, columns []string) string {
	return strings.Join(slices.DeleteFunc(marks(expression, columns), func(w string) bool { return w[0] <= '9' }), " ")
}

func marks(expression string, columns []string) (kept []string) {
	for _, word := range words.FindAllString(strings.ToLower(versioned.ReplaceAllString(inQuotes.ReplaceAllString(expression, " "), " ")), -1) {
		if word[0] <= '9' || slices.Contains(spellings, word) || slices.Contains(columns, word) {
			kept = append(kept, word)
		}
	}
	return kept
}

// body is what a procedure does, without remarks, which some ways of copying a database leave out.
func body(create string) string {
	if at := strings.Index(create, "BEGIN"); at >= 0 {
		create = create[at:]
	}
	return strings.Join(strings.Fields(remarks.ReplaceAllString(create, "")), " ")
}
