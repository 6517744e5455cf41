package servertest

import (
	"context"
	"crypto/sha256"
	"database/sql"
	"encoding/hex"
	"encoding/json"
	"fmt"
	"math"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/go-sql-driver/mysql"

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
	// Since is when the tables begin, for tests whose clock stands still; the server's time by default.
	Since time.Time
}

// Migrated makes the tables in an empty database, or takes one in its place that a test before has left as new: it returns which it is. The
// migrations make them once for each server; databases after that get at once what they made. Some of it they make twice, and to read them
// takes more processor time than most tests do, under the race detector.
func (d Database) Migrated(t testing.TB, tables Tables) Database {
	t.Helper()
	config, err := mysql.ParseDSN(d.DSN)
	must(t, err)
	as := like{d.Server, config.Net, config.Addr, tables.Schema, tables.By}
	used, is, err := d.another(t, as)
	must(t, err)
	if is {
		t.Cleanup(func() { used.giveBack(t, as) }) // once all that is opened from here on is closed
		used.begin(t, as, tables.Since)
		return used
	}
	t.Cleanup(func() { d.giveBack(t, as) })
	to := madeLike(as)
	for i, part := range d.Parts() {
		if i > 0 || !to.described(t, part, tables, as) {
			part.makeAs(t, to, tables, as)
		}
	}
	d.tellGate(t, tables.Prefix)
	return d
}

// makeAs makes the tables in an empty database at once.
func (d Database) makeAs(t testing.TB, to *made, tables Tables, as like) {
	t.Helper()
	maker := d
	if tables.As != nil {
		maker.Root = tables.As(d)
	}
	conn, disconnect, err := maker.connect(t.Context())
	must(t, err)
	defer disconnect()
	for _, s := range to.Statements {
		must(t, d.send(t.Context(), conn, s))
	}
	d.begin(t, as, tables.Since)
	root, close, err := d.connect(t.Context()) // who sees all
	must(t, err)
	defer close()
	if shape, err := d.shape(t.Context(), root); err != nil || shape != to.Shape {
		t.Fatalf("a database that is made at once differs from the first that was made (%v):\n%s\nwas\n%s", err, shape, to.Shape)
	}
}

// tellGate has vtgate know the columns of tables that were made behind it, without which it plans no statement that adds up what shards answer.
func (d Database) tellGate(t testing.TB, tables string) {
	t.Helper()
	if d.kind != Untargeted {
		return
	}
	for _, part := range d.Parts() { // after DDL a vttablet looks which tables there are
		must(t, execute(t.Context(), part.DSN, "DROP TABLE IF EXISTS px_none"))
	}
	for wait := time.Millisecond; ; wait = min(2*wait, 200*time.Millisecond) {
		err := execute(t.Context(), d.DSN, "SELECT MAX(CAST(job.occasion_at + INTERVAL 0 DAY AS CHAR)) FROM "+tables+"future_job job WHERE job.job_key = X'00'")
		if err == nil {
			return
		}
		select {
		case <-t.Context().Done():
			t.Fatalf("vtgate does not hear of the tables: %v", err)
		case <-time.After(wait):
		}
	}
}

// described makes the tables and notes what has become of the database, unless that was done before.
func (to *made) described(t testing.TB, d Database, tables Tables, as like) (first bool) {
	t.Helper()
	to.mu.Lock() // nothing changes it once it has statements
	defer to.mu.Unlock()
	ctx := t.Context()
	known, err := to.known(ctx, d, as)
	must(t, err)
	if known {
		return false
	}
	if d.keyspace != nil {
		tables.Server = text.VitessShard
	}
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
	to.Rows = make(map[string]statement)
	for _, table := range strings.Fields(names) {
		var name, create string
		must(t, conn.QueryRowContext(ctx, "SHOW CREATE TABLE "+table).Scan(&name, &create))
		rows, err := d.contents(ctx, conn, table, math.MaxInt)
		must(t, err)
		to.Rows[table] = rows
		statements = append(statements, statement{Query: create})
		if rows.Query != "" {
			statements = append(statements, rows)
		}
	}
	var mode string // which procedures keep
	must(t, conn.QueryRowContext(ctx, "SELECT COALESCE(MIN(sql_mode), @@sql_mode) FROM information_schema.routines WHERE routine_schema = DATABASE()").Scan(&mode))
	statements = append(statements, statement{Query: "SET SESSION sql_mode = ?", Args: [][]byte{[]byte(mode)}})
	schema := tables.Schema
	if d.keyspace == nil {
		schema.Server, schema.Dialect, err = schema.Dialect.Choose(ctx, conn) // as the migrations do: the server may know no procedures
		must(t, err)
	}
	objects, err := schema.Objects()
	must(t, err)
	for _, object := range objects {
		statements = append(statements, statement{Query: object.Create})
		if d.keyspace != nil { // Vitess spells them in its own way, and has an account of its own
			_, err := conn.ExecContext(ctx, "DROP "+object.Kind+" "+object.Name+"; "+object.Create)
			must(t, err)
		}
	}
	to.Shape, err = d.shape(ctx, conn)
	must(t, err)
	to.Statements = statements
	if as.isShared() {
		how, err := json.Marshal(to)
		must(t, err)
		must(t, shared{d.Root}.tell(ctx, as.digest(), how))
	}
	return true
}

// begin has the tables of a database that is not made anew begin at a time, or now, as if they were: no slot is over since then.
func (d Database) begin(t testing.TB, as like, at time.Time) {
	t.Helper()
	for _, part := range d.Parts() {
		conn, disconnect, err := part.connect(t.Context())
		must(t, err)
		_, err = conn.ExecContext(t.Context(), "UPDATE "+as.schema.Prefix+configTable+" SET "+begins+" = COALESCE(?, UTC_TIMESTAMP(6))", sql.NullTime{Time: at.UTC(), Valid: !at.IsZero()})
		disconnect()
		must(t, err)
	}
}

// begins is the column of the table of the configuration that says since when its row holds, and anyTime stands for what is in it.
const configTable, begins, anyTime = "slot_config", "changed_at", "2020-01-01 00:00:00"

// known says whether it is worked out already, by this process or another one that shares it. Whoever calls it holds the lock.
func (to *made) known(ctx context.Context, d Database, as like) (bool, error) {
	if to.Statements != nil || !as.isShared() {
		return to.Statements != nil, nil
	}
	how, err := shared{d.Root}.made(ctx, as.digest())
	if err != nil || how == nil {
		return false, err
	}
	return true, json.Unmarshal(how, to)
}

// contents returns the statement that fills a table as it is, none where it has no rows; of the first rows alone where it has more than most.
func (d Database) contents(ctx context.Context, conn *sql.Conn, table string, most int) (all statement, err error) {
	rows, err := conn.QueryContext(ctx, fmt.Sprintf("SELECT * FROM %s LIMIT %d", table, most))
	if err != nil {
		return statement{}, err
	}
	defer rows.Close()
	columns, err := rows.Columns()
	if err != nil {
		return statement{}, err
	}
	values, into := make([][]byte, len(columns)), make([]any, len(columns))
	for i := range values {
		into[i] = &values[i]
	}
	for rows.Next() {
		if err := rows.Scan(into...); err != nil {
			return statement{}, err
		}
		for i, value := range values {
			if columns[i] == begins && strings.HasSuffix(table, configTable) {
				value = []byte(anyTime)
			} else if value != nil {
				value = []byte(strings.ReplaceAll(string(value), d.short(), anyDatabase))
			}
			all.Args = append(all.Args, value)
		}
	}
	if n := len(all.Args) / len(columns); n > 0 {
		row := ", (?" + strings.Repeat(", ?", len(columns)-1) + ")"
		all.Query = "INSERT INTO " + table + " (" + strings.Join(columns, ", ") + ") VALUES " + strings.Repeat(row, n)[2:]
	}
	return all, rows.Err()
}

// send has a statement work on this database.
func (d Database) send(ctx context.Context, conn *sql.Conn, s statement) error {
	args := make([]any, len(s.Args))
	for i, arg := range s.Args {
		if arg != nil {
			args[i] = strings.ReplaceAll(string(arg), anyDatabase, d.short())
		}
	}
	_, err := conn.ExecContext(ctx, s.Query, args...)
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

// isShared says whether the processes of a run share what is like this: they have the same migrations, and no server of a process's own.
func (l like) isShared() bool {
	return mayShare() && l.server == nil && l.schema.Set == nil && l.schema.Watch == nil
}

// digest names what is alike for all processes.
func (l like) digest() string {
	sum := sha256.Sum256(fmt.Appendf(nil, "%q %q %v %q %q %v", l.by, l.schema.Prefix, l.schema.Resolution, l.schema.Dialect, l.schema.Server, l.schema.Patience))
	return hex.EncodeToString(sum[:])
}

// made are the statements that make a database of an empty one; none before the first.
type made struct {
	mu         sync.Mutex // held while they are worked out
	Statements []statement
	Rows       map[string]statement // what fills each table, if anything
	Shape      string               // of all but rows
}

// statement is one with its arguments as text, nil for NULL.
type statement struct {
	Query string
	Args  [][]byte
}

// has says whether the arguments are these.
func (s statement) has(args [][]byte) bool {
	return slices.EqualFunc(s.Args, args, func(a, b []byte) bool { return (a == nil) == (b == nil) && string(a) == string(b) })
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
