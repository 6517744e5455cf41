package servertest

import (
	"context"
	"database/sql"
	"encoding/json"
	"errors"
	"fmt"
	"maps"
	"regexp"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/go-sql-driver/mysql"

	"prescient/prescient/internal/errno"
	"prescient/prescient/localserver"
)

// To make the tables of a database and to drop them is most of what a server has to do for a test, and to grant rights on them most of the
// rest. So a database that a test leaves as it was made, with its accounts, is given to the next test that wants one like it.

// owned is what is known of a database that is dropped after its test.
type owned struct {
	kept     bool               // another test gets it
	accounts map[string]account // by role
}

// account is one of a database: what it was granted, and what the server said of it then.
type account struct{ Grants, Shown string }

// goesWith has the database dropped at the end of a test that does not give it back.
func (d Database) goesWith(t testing.TB) Database {
	own := &owned{accounts: make(map[string]account)}
	if d.own != nil {
		own.accounts = d.own.accounts
	}
	d.own = own
	for i := range d.parts {
		d.parts[i].own = own
	}
	t.Cleanup(func() {
		if own.kept {
			return
		}
		if err := d.drop(); err != nil {
			t.Errorf("dropping the test's database %s (did a transaction stay open?): %v", d.Name, err)
		}
	})
	return d
}

// another returns a database that a test has given back, if there is one like this.
func (d Database) another(t testing.TB, as like) (used Database, is bool, err error) {
	if d.keyspace != nil {
		return d.anotherKeyspace(t, as)
	}
	servers.Lock()
	defer servers.Unlock()
	if free := servers.kept[as]; len(free) > 0 {
		used, servers.kept[as] = free[len(free)-1], free[:len(free)-1]
	} else if !as.isShared() {
		return Database{}, false, nil
	} else if used, is, err = d.takeShared(t.Context(), as); err != nil || !is {
		return Database{}, false, err
	}
	return used.goesWith(t), true, nil
}

// takeShared is another of those that other processes share.
func (d Database) takeShared(ctx context.Context, as like) (used Database, is bool, err error) {
	name, accounts, is, err := shared{d.DSN}.take(ctx, as.digest())
	if err != nil || !is {
		return Database{}, false, err
	}
	config, err := mysql.ParseDSN(d.DSN)
	if err != nil {
		return Database{}, false, err
	}
	config.DBName = name
	used = Database{DSN: config.FormatDSN(), Name: name, Flavour: d.Flavour, Root: config.FormatDSN(), own: new(owned)}
	return used, true, json.Unmarshal(accounts, &used.own.accounts)
}

// share lets tests of other processes have the database.
func (d Database) share(as like) error {
	ctx, cancel := context.WithTimeout(context.Background(), cleanupTime)
	defer cancel()
	accounts, err := json.Marshal(d.own.accounts)
	if err != nil {
		return err
	}
	return shared{d.DSN}.give(ctx, as.digest(), d.Name, accounts)
}

// keep lets another test have the database.
func (d Database) keep(as like) {
	if d.keyspace != nil {
		d.own.kept = d.keyspace.letGo(as.digest()) == nil
		return
	}
	servers.Lock()
	defer servers.Unlock()
	if servers.kept == nil {
		servers.kept = make(map[like][]Database)
	}
	d.own.kept = true
	servers.kept[as] = append(servers.kept[as], d)
}

// dropKept drops those that no test has at the end, but for those that tests of other processes may have.
func dropKept() (err error) {
	servers.Lock()
	defer servers.Unlock()
	for as, free := range servers.kept {
		for _, d := range free {
			if as.isShared() {
				err = errors.Join(err, d.share(as))
			} else if failed := d.drop(); failed != nil {
				err = errors.Join(err, fmt.Errorf("dropping database %s, which was used again (did a transaction stay open?): %w", d.Name, failed))
			}
		}
	}
	return err
}

func (d Database) drop() error {
	if d.keyspace != nil {
		return d.keyspace.letGo(nil)
	}
	config, err := mysql.ParseDSN(d.DSN)
	if err != nil {
		return err
	}
	config.DBName = ""
	ctx, cancel := context.WithTimeout(context.Background(), cleanupTime)
	defer cancel()
	statements := []string{"SET lock_wait_timeout = 20"}
	for role := range d.own.accounts { // before the database, which a transaction that stays open keeps
		statements = append(statements, "DROP USER IF EXISTS '"+d.User(role)+"'@'%'")
	}
	return execute(ctx, config.FormatDSN(), append(statements, "DROP DATABASE "+d.Name)...)
}

// giveBack lets the next test have the database, where this one was well, changed rows alone, and left nobody connected. Tables that were
// written are as new then: no row, no number that was counted up, no statistics.
func (d Database) giveBack(t testing.TB, as like) {
	if d.own == nil || t.Failed() { // those of a server that a test has for itself go with it
		return
	}
	ctx, cancel := context.WithTimeout(context.Background(), cleanupTime)
	defer cancel()
	to := madeLike(as)
	to.mu.Lock()
	known, err := to.known(ctx, d.Parts()[0], as) // also where this process got all that it had from others
	to.mu.Unlock()
	if err != nil || !known {
		return
	}
	for _, part := range d.Parts() {
		if clean, err := part.clean(ctx, to); err != nil || !clean {
			return
		}
	}
	d.keep(as)
}

// connect returns a connection of root's, which takes several statements at once.
func (d Database) connect(ctx context.Context) (conn *sql.Conn, disconnect func(), err error) {
	db, err := sql.Open("mysql", WithParams(d.Root, "multiStatements=true&interpolateParams=true"))
	if err != nil {
		return nil, nil, err
	}
	if conn, err = db.Conn(ctx); err != nil {
		return nil, nil, errors.Join(err, db.Close())
	}
	return conn, func() { _, _ = conn.Close(), db.Close() }, nil
}

// clean says whether all is as it was made, once tables that were written, or that have counted, are emptied.
func (d Database) clean(ctx context.Context, to *made) (bool, error) {
	conn, disconnect, err := d.connect(ctx)
	if err != nil {
		return false, err
	}
	defer disconnect()
	if alone, err := alone(ctx, conn); err != nil || !alone {
		return false, err
	}
	for role, was := range d.own.accounts {
		if shown, err := d.shown(ctx, conn, role); err != nil || shown != was.Shown {
			return false, err
		}
	}
	statistics := `SELECT table_name FROM mysql.table_stats WHERE db_name = DATABASE() UNION SELECT table_name FROM mysql.column_stats WHERE db_name = DATABASE()`
	if d.Flavour == localserver.MySQL {
		statistics = "SET SESSION information_schema_stats_expiry = 0; SELECT table_name FROM information_schema.column_statistics WHERE schema_name = DATABASE()"
	}
	if of, err := texts(ctx, conn, statistics); err != nil || of != "" { // emptied tables keep them
		return false, err
	}
	written, err := texts(ctx, conn, `SELECT table_name FROM information_schema.tables WHERE table_schema = DATABASE() AND table_type = 'BASE TABLE'
		AND (update_time IS NOT NULL OR auto_increment > 1)`)
	if err != nil {
		return false, err
	}
	var look []string
	for table := range to.Rows {
		look = append(look, fmt.Sprintf("SELECT '%s' FROM DUAL WHERE EXISTS (SELECT 1 FROM %[1]s)", table))
	}
	filled, err := texts(ctx, conn, strings.Join(look, " UNION ALL "))
	if err != nil {
		return false, err
	}
	if _, err := conn.ExecContext(ctx, "SET lock_wait_timeout = 1"); err != nil {
		return false, err
	}
	for _, table := range slices.Sorted(maps.Keys(to.Rows)) {
		if !slices.Contains(strings.Fields(written+filled), table) {
			continue
		}
		if err := d.empty(ctx, conn, table, to.Rows[table]); err != nil {
			return false, err
		}
	}
	shape, err := d.shape(ctx, conn)
	return shape == to.Shape, err
}

// empty leaves those rows in a table that were in it when it was made.
func (d Database) empty(ctx context.Context, conn *sql.Conn, table string, rows statement) error {
	if rows.Query != "" {
		most := strings.Count(rows.Query, "(") // one more than the rows: the columns stand in brackets, too
		if is, err := d.contents(ctx, conn, table, most); err != nil || is.has(rows.Args) {
			return err
		}
	}
	if _, err := conn.ExecContext(ctx, "TRUNCATE TABLE "+table); err != nil || rows.Query == "" {
		return err
	}
	return d.send(ctx, conn, rows)
}

// alone waits until the server has noticed that the test's connections are closed, for as long as that may take.
func alone(ctx context.Context, conn *sql.Conn) (bool, error) {
	for wait := time.Millisecond; wait < time.Second; wait *= 2 {
		others, err := texts(ctx, conn, "SELECT id FROM information_schema.processlist WHERE db = DATABASE() AND id <> CONNECTION_ID() AND user NOT LIKE 'vt\\_%'")
		if !errno.Is(err, errno.NotShown) && (err != nil || others == "") {
			return err == nil, err
		}
		time.Sleep(wait)
	}
	return false, nil
}

// shape tells all that a database has but for rows, and how far its tables have counted.
func (d Database) shape(ctx context.Context, conn *sql.Conn) (string, error) {
	names, err := texts(ctx, conn, `SELECT CASE table_type WHEN 'BASE TABLE' THEN 'TABLE' ELSE table_type END, table_name
		FROM information_schema.tables WHERE table_schema = DATABASE()
		UNION ALL SELECT routine_type, routine_name FROM information_schema.routines WHERE routine_schema = DATABASE() ORDER BY 1, 2`)
	if err != nil {
		return "", err
	}
	show := []string{"SHOW TRIGGERS", "SHOW EVENTS", "SHOW CREATE DATABASE " + d.Name}
	for object := range strings.Lines(names) {
		show = append(show, "SHOW CREATE "+strings.TrimSpace(object))
	}
	all, err := texts(ctx, conn, strings.Join(show, "; "))
	if strings.Contains(all, "/*T![") { // TiDB, which tells how far numbers are handed out, not how far they are taken
		all = handedOut.ReplaceAllString(all, "")
	}
	return strings.ReplaceAll(all, d.short(), "DATABASE"), err
}

var handedOut = regexp.MustCompile(` AUTO_INCREMENT=\d+`)

// shown is what the server says of the account of a role. MariaDB tells rights in another order once other accounts come and go.
func (d Database) shown(ctx context.Context, conn *sql.Conn, role string) (string, error) {
	name := "'" + d.User(role) + "'@'%'"
	all, err := texts(ctx, conn, "SHOW CREATE USER "+name+"; SHOW GRANTS FOR "+name)
	return strings.Join(slices.Sorted(strings.Lines(all)), ""), err
}

// anotherKeyspace is another of those on Vitess; it lets go of this one.
func (d Database) anotherKeyspace(t testing.TB, as like) (used Database, is bool, err error) {
	if !mayShare() {
		return Database{}, false, nil
	}
	held, err := holdKeyspace(t.Context(), d.kind, as.digest())
	if err != nil || held == nil {
		return Database{}, false, err
	}
	if used, err = held.on(d.DSN); err != nil {
		return Database{}, false, errors.Join(err, held.end())
	}
	d.own.kept = true
	return used.goesWith(t), true, d.keyspace.letGo("")
}
