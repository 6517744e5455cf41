package servertest

import (
	"context"
	"database/sql"
	"strings"
	"sync"
	"testing"

	"github.com/go-sql-driver/mysql"
	"github.com/jmoiron/sqlx"

	"prescient/prescient/localserver"
	text "prescient/sql"
	"prescient/sql/migrate"
)

// Tables say how a database gets its tables.
type Tables struct {
	migrate.Schema
	// By tells from others who makes them not by the migrations alone: Up is called in their place, App after them. As is the DSN of
	// who it is, root by default.
	By  string
	Up  func(d Database)
	App func(d Database)
	As  func(d Database) string
}

// Migrated makes the tables in an empty database, or takes one in its place that a test before has left as new: it returns which it is. The
// migrations make them once for each server; databases after that get at once what they made. Some of it they make twice, and to read them
// takes more processor time than most tests do, under the race detector.
func (d Database) Migrated(t testing.TB, tables Tables) Database {
	t.Helper()
	config, err := mysql.ParseDSN(d.DSN)
	must(t, err)
	as := like{d.Server, config.Net, config.Addr, tables.Schema, tables.By}
	if used, is := another(t, as); is {
		t.Cleanup(func() { used.giveBack(t, as) }) // once all that is opened from here on is closed
		return used
	}
	t.Cleanup(func() { d.giveBack(t, as) })
	to := madeLike(as)
	if to.described(t, d, tables) {
		return d
	}
	maker := d
	if tables.As != nil {
		maker.DSN = tables.As(d)
	}
	conn, disconnect, err := maker.connect(t.Context())
	must(t, err)
	defer disconnect()
	for _, s := range to.statements {
		must(t, d.send(t.Context(), conn, s))
	}
	if to.shape == "" {
		return d
	}
	root, close, err := d.connect(t.Context()) // who sees all
	must(t, err)
	defer close()
	if shape, err := d.shape(t.Context(), root); err != nil || shape != to.shape {
		t.Fatalf("a database that is made at once differs from the first that was made (%v):\n%s\nwas\n%s", err, shape, to.shape)
	}
	return d
}

func must(t testing.TB, err error) {
	t.Helper()
	if err != nil {
		t.Fatal(err)
	}
}

// described makes the tables and notes what has become of the database, unless that was done before.
func (to *made) described(t testing.TB, d Database, tables Tables) (first bool) {
	t.Helper()
	to.mu.Lock() // nothing changes it once it has statements
	defer to.mu.Unlock()
	if to.statements != nil {
		return false
	}
	ctx := t.Context()
	if tables.Up != nil {
		tables.Up(d)
	} else {
		db, err := sql.Open("mysql", WithParams(d.DSN, "interpolateParams=true"))
		must(t, err)
		defer db.Close()
		_, err = migrate.Up(ctx, db, tables.Schema)
		must(t, err)
	}
	if tables.App != nil {
		tables.App(d)
	}
	conn, disconnect, err := d.connect(ctx)
	must(t, err)
	defer disconnect()
	names, err := texts(ctx, conn, "SELECT table_name FROM information_schema.tables WHERE table_schema = DATABASE() AND table_type = 'BASE TABLE'")
	must(t, err)
	var statements []statement
	to.rows = make(map[string]statement)
	for _, table := range strings.Fields(names) {
		var name, create string
		must(t, conn.QueryRowContext(ctx, "SHOW CREATE TABLE "+table).Scan(&name, &create))
		rows, err := d.contents(ctx, conn, table)
		must(t, err)
		to.rows[table] = rows
		statements = append(statements, statement{query: create})
		if rows.query != "" {
			statements = append(statements, rows)
		}
	}
	var mode string // which procedures keep
	must(t, conn.QueryRowContext(ctx, "SELECT COALESCE(MIN(sql_mode), @@sql_mode) FROM information_schema.routines WHERE routine_schema = DATABASE()").Scan(&mode))
	statements = append(statements, statement{query: "SET SESSION sql_mode = ?", args: []any{mode}})
	objects, err := tables.Objects()
	must(t, err)
	for _, object := range objects {
		statements = append(statements, statement{query: object.Create})
	}
	server, err := text.ServerOf(ctx, conn)
	must(t, err)
	if server != text.TiDB { // where nothing is given back
		to.shape, err = d.shape(ctx, conn)
		must(t, err)
	}
	to.statements = statements
	return true
}

// contents returns the statement that fills a table as it is, none where it has no rows.
func (d Database) contents(ctx context.Context, conn *sql.Conn, table string) (all statement, err error) {
	rows, err := conn.QueryContext(ctx, "SELECT * FROM "+table)
	if err != nil {
		return statement{}, err
	}
	defer rows.Close()
	columns, err := rows.Columns()
	if err != nil {
		return statement{}, err
	}
	row := "(?" + strings.Repeat(", ?", len(columns)-1) + ")"
	for rows.Next() {
		values, err := sqlx.SliceScan(rows)
		if err != nil {
			return statement{}, err
		}
		for i, value := range values {
			if value, is := value.([]byte); is {
				values[i] = strings.ReplaceAll(string(value), d.short(), anyDatabase)
			}
		}
		if all.query != "" {
			all.query += ", " + row
		} else {
			all.query = "INSERT INTO " + table + " (" + strings.Join(columns, ", ") + ") VALUES " + row
		}
		all.args = append(all.args, values...)
	}
	return all, rows.Err()
}

// send has a statement work on this database.
func (d Database) send(ctx context.Context, conn *sql.Conn, s statement) error {
	args := make([]any, len(s.args))
	for i, arg := range s.args {
		if value, is := arg.(string); is {
			arg = strings.ReplaceAll(value, anyDatabase, d.short())
		}
		args[i] = arg
	}
	_, err := conn.ExecContext(ctx, s.query, args...)
	return err
}

// anyDatabase stands for what is short for a database, such as in the name of an account.
const anyDatabase = "{a test's database}"

// like is what databases have in common of which a test may get any.
type like struct {
	server           *localserver.Server // another one may have its port later
	network, address string
	schema           migrate.Schema
	by               string
}

// made are the statements that make a database of an empty one; none before the first.
type made struct {
	mu         sync.Mutex // held while they are worked out
	statements []statement
	rows       map[string]statement // what fills each table, if anything
	shape      string               // of all but rows; empty where no database is given back
}

type statement struct {
	query string
	args  []any
}

func madeLike(l like) *made {
	servers.Lock()
	defer servers.Unlock()
	if servers.made == nil {
		servers.made = make(map[like]*made)
	}
	if servers.made[l] == nil {
		servers.made[l] = new(made)
	}
	return servers.made[l]
}
