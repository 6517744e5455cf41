package servertest

import (
	"context"
	"crypto/rand"
	"database/sql"
	"os"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/go-sql-driver/mysql"

	"prescient/prescient/localserver"
)

// A Database is an empty database that one test has for itself.
type Database struct {
	DSN     string // of github.com/go-sql-driver/mysql, without parameters unless the server was given with some
	Name    string
	Flavour localserver.Flavour

	// Server is the server that this process started, nil when the server was
	// given in PRESCIENT_TEST_DSNS. Other tests use it too: leave it running.
	Server *localserver.Server

	Root string // the DSN for what a test sends by itself, as root: DSN, but on a shard of Vitess that of the MySQL behind

	own      *owned     // nil for one that goes with its server
	kind     Kind       // on Vitess
	keyspace *keyspace  // on Vitess
	parts    []Database // on Vitess
}

// Each runs a test on every server, on all of them at the same time, as subtests
// that are called as the servers are, each with an empty database that is
// dropped at the end. It returns when all have ended. Tests mostly wait for
// their server, so that this takes as long as one of them takes. What the
// function shares with itself on another server, it has to guard.
func Each(t *testing.T, test func(t *testing.T, db Database)) {
	t.Helper()
	EachKind(t, func(t *testing.T, kind Kind) { test(t, kind.New(t)) })
}

// EachOfAFlavour is Each on one server of each flavour, for rooms that send no
// statements of their own: the rooms that they call have theirs tested on all.
func EachOfAFlavour(t *testing.T, test func(t *testing.T, db Database)) {
	t.Helper()
	EachFlavour(t, func(t *testing.T, flavour localserver.Flavour) { test(t, New(t, flavour)) })
}

// EachInTurn is Each on one server after the other, for tests that measure
// what the process has or takes: its memory, its goroutines, or times that are
// bounded tightly.
func EachInTurn(t *testing.T, test func(t *testing.T, db Database)) {
	t.Helper()
	for _, kind := range Kinds(t) {
		t.Run(string(kind), func(t *testing.T) { test(t, kind.New(t)) })
	}
}

// EachKind is Each for tests that start servers of their own: it makes no
// database.
func EachKind(t *testing.T, test func(t *testing.T, kind Kind)) {
	t.Helper()
	atTheSameTime(t, Kinds(t), test)
}

// EachFlavour is EachKind on the flavours, for what one server of a flavour is
// enough for.
func EachFlavour(t *testing.T, test func(t *testing.T, flavour localserver.Flavour)) {
	t.Helper()
	atTheSameTime(t, Flavours(t), test)
}

// atTheSameTime runs a test for each of the names at the same time.
func atTheSameTime[N ~string](t *testing.T, names []N, test func(t *testing.T, name N)) {
	var all sync.WaitGroup
	for _, name := range names {
		all.Go(func() { t.Run(string(name), func(t *testing.T) { test(t, name) }) })
	}
	all.Wait()
}

// New makes an empty database on a server, which is dropped at the end of the
// test.
func (k Kind) New(t testing.TB) Database {
	t.Helper()
	dsn, server := serverOf(t, k)
	if k.isVitess() {
		return k.newKeyspace(t, dsn)
	}
	return create(t, dsn, k, server)
}

// New makes an empty database on the first server of a flavour.
func New(t testing.TB, flavour localserver.Flavour) Database {
	t.Helper()
	return first(t, flavour).New(t)
}

// On makes an empty database on a server that the test started with Private.
// It is not dropped: it goes with the server.
func On(t testing.TB, server *localserver.Server) Database {
	t.Helper()
	name := uniqueName()
	admin := Open(t, server.DSN(""), "")
	if _, err := admin.Exec("CREATE DATABASE " + name + " CHARACTER SET utf8mb4"); err != nil {
		t.Fatalf("creating a database: %v", err)
	}
	return Database{DSN: server.DSN(name), Name: name, Flavour: server.Flavour(), Server: server, Root: server.DSN(name)}
}

func create(t testing.TB, dsn string, kind Kind, server *localserver.Server) Database {
	t.Helper()
	config, err := mysql.ParseDSN(dsn)
	if err != nil {
		t.Fatalf("the DSN of the %s server: %v", kind, err)
	}
	config.DBName = ""
	name, serverDSN := uniqueName(), config.FormatDSN()
	ctx, cancel := context.WithTimeout(context.Background(), cleanupTime)
	defer cancel()
	if err := execute(ctx, serverDSN, "CREATE DATABASE "+name+" CHARACTER SET utf8mb4"); err != nil {
		t.Fatalf("creating a database on the %s server: %v", kind, err)
	}
	config.DBName = name
	return Database{DSN: config.FormatDSN(), Name: name, Flavour: kind.Flavour(), Server: server, Root: config.FormatDSN()}.goesWith(t)
}

// execute runs statements on one connection that is closed afterwards.
func execute(ctx context.Context, dsn string, statements ...string) error {
	db, err := sql.Open("mysql", dsn)
	if err != nil {
		return err
	}
	defer db.Close()
	conn, err := db.Conn(ctx)
	if err != nil {
		return err
	}
	defer conn.Close()
	for _, statement := range statements {
		if _, err := conn.ExecContext(ctx, statement); err != nil {
			return err
		}
	}
	return nil
}

// Open connects to the database with further DSN parameters, such as
// "parseTime=true&loc=Local", and disconnects at the end of the test.
func (d Database) Open(t testing.TB, params string) *sql.DB {
	t.Helper()
	return Open(t, d.DSN, params)
}

// Open connects to any DSN with further parameters and disconnects at the end
// of the test.
func Open(t testing.TB, dsn, params string) *sql.DB {
	t.Helper()
	db, err := sql.Open("mysql", WithParams(dsn, params))
	if err != nil {
		t.Fatalf("opening the database: %v", err)
	}
	t.Cleanup(func() { db.Close() })
	if err := db.Ping(); err != nil {
		t.Fatalf("connecting to the database: %v", err)
	}
	return db
}

// prefix begins the names of all databases.
const prefix = "px_test_"

// User returns a name for the account of a role in a test's database: short
// enough for MySQL, where it may have 32 characters.
func (d Database) User(role string) string {
	if d.keyspace != nil {
		return "vt_app" // whoever it is that vtgate knows
	}
	return d.short() + "." + role
}

// short is the part of its name that no other database has.
func (d Database) short() string { return strings.TrimPrefix(d.Name, prefix) }

// Account makes the account of a role on the database, with what grants are
// sent by exec, and returns its DSN. It goes with the database.
func (d Database) Account(t testing.TB, role string, grants []string, exec func(statement string)) string {
	t.Helper()
	if d.keyspace != nil { // vtgate has accounts of its own, and these tests' has all rights
		return d.DSN
	}
	config, err := mysql.ParseDSN(d.DSN)
	if err != nil {
		t.Fatalf("the DSN of the test's database: %v", err)
	}
	config.User, config.Passwd = d.User(role), "Secret-42"
	name, all := "'"+config.User+"'@'%'", strings.Join(grants, "; ")
	if d.own != nil {
		if was, is := d.own.accounts[role]; is && was.Grants == all {
			return config.FormatDSN()
		} else if is {
			exec("DROP USER " + name)
		}
		d.own.accounts[role] = account{} // which is dropped, whatever comes of its rights
	}
	exec("CREATE USER " + name + " IDENTIFIED BY '" + config.Passwd + "'")
	for _, statement := range grants {
		exec(statement)
	}
	if d.own != nil {
		conn, disconnect, err := d.connect(context.Background())
		must(t, err)
		defer disconnect()
		shown, _ := d.shown(context.Background(), conn, role) // where root may not ask for it, no other test gets the database
		d.own.accounts[role] = account{all, shown}
	}
	return config.FormatDSN()
}

// uniqueName returns a database name that no other test has, in this process
// or another.
func uniqueName() string { return prefix + strings.ToLower(rand.Text()[:16]) }

// Parts are the databases of the shards of one on Vitess, each with the DSN that is targeted at it, and root's of the MySQL behind; itself elsewhere.
func (d Database) Parts() []Database {
	if d.parts == nil {
		return []Database{d}
	}
	return d.parts
}

// Clock is that for the DSN of the database.
func (d Database) Clock(now time.Time) string { return clock(now, d.kind == OnShard) }

// on is the database that a test has in it, spoken to as tests of its kind do.
func (k *keyspace) on(gate string) (Database, error) {
	config, err := mysql.ParseDSN(gate)
	if err != nil {
		return Database{}, err
	}
	behind, err := mysql.ParseDSN(os.Getenv(BehindVariable))
	if err != nil {
		return Database{}, err
	}
	var parts []Database
	for _, shard := range shardsOf(k.kind, k.name) {
		config.DBName, behind.DBName = k.name+":"+shard[0], shard[1]
		parts = append(parts, Database{DSN: config.FormatDSN(), Name: shard[1], Flavour: localserver.MySQL, Root: behind.FormatDSN(), kind: OnShard, keyspace: k})
	}
	if k.kind == OnShard {
		return parts[0], nil
	}
	config.DBName = k.name
	dsn := config.FormatDSN()
	return Database{DSN: dsn, Name: "vt_" + k.name, Flavour: localserver.MySQL, Root: dsn, kind: k.kind, keyspace: k, parts: parts}, nil
}

// newKeyspace is New on Vitess.
func (k Kind) newKeyspace(t testing.TB, gate string) Database {
	t.Helper()
	held, err := holdKeyspace(t.Context(), k, "")
	must(t, err)
	d, err := held.on(gate)
	must(t, err)
	return d.goesWith(t)
}
