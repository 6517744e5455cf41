package connect

import (
	"context"
	"database/sql"
	"database/sql/driver"
	"errors"
	"net"
	"slices"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/go-sql-driver/mysql"

	"prescient/prescient/internal/errno"
	"prescient/prescient/internal/rig"
	"prescient/prescient/localserver"
	"prescient/prescient/localserver/servertest"
)

func TestAListOfHostsIsCutWhereTheDriverCutsAnAddress(t *testing.T) {
	for dsn, want := range map[string][]string{
		"u:p@tcp(a)/db":                   {"u:p@tcp(a)/db"},
		"u:p@tcp(a,b:3307)/db?timeout=1s": {"u:p@tcp(a)/db?timeout=1s", "u:p@tcp(b:3307)/db?timeout=1s"},
		"u:p@tcp([::1]:1,[::1]:2)/db":     {"u:p@tcp([::1]:1)/db", "u:p@tcp([::1]:2)/db"},
		"u:a(b,c)@x/@tcp(d,e)/db":         {"u:a(b,c)@x/@tcp(d)/db", "u:a(b,c)@x/@tcp(e)/db"},
		"u:p@unix(/a,b)/db":               {"u:p@unix(/a,b)/db"},
		"u:a,b@/db":                       {"u:a,b@/db"},
		"tcp(a,b)/db":                     {"tcp(a)/db", "tcp(b)/db"},
		"/db":                             {"/db"},
		"db":                              {"db"},
		"":                                {""},
	} {
		if got, err := eachHost(dsn); err != nil || !slices.Equal(got, want) {
			t.Errorf("%s: %q, %v", dsn, got, err)
		}
	}
}

func TestErrorsOfAListNameTheHostsWithoutThePassword(t *testing.T) {
	db, err := Open("root:"+canary+"@tcp("+deadHost(t)+","+deadHost(t)+")/db", 0)
	if err != nil {
		t.Fatal(err)
	}
	defer db.Close()
	err = db.PingContext(t.Context())
	if err == nil || strings.Count(err.Error(), "host 127.0.0.1:") != 2 || strings.Contains(err.Error(), canary) || !errno.Passing(err) {
		t.Errorf("%v; want both hosts, no password, and an error that passes", err)
	}
}

// deadHost is an address where nobody listens.
func deadHost(t *testing.T) string {
	t.Helper()
	listener, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	defer listener.Close()
	return listener.Addr().String()
}

// frozenHost is an address where connections are accepted and nothing is ever said.
func frozenHost(t *testing.T) string {
	t.Helper()
	listener, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = listener.Close() })
	return listener.Addr().String()
}

func TestAHostThatIsDeadOrFrozenIsPassedOver(t *testing.T) {
	servertest.Each(t, func(t *testing.T, d servertest.Database) {
		good, err := mysql.ParseDSN(d.DSN)
		rig.Fatal(t, err)
		if good.Net != "tcp" {
			t.Fatalf("the test's server is at %s", good.Net)
		}
		for name, bad := range map[string]string{"dead": deadHost(t), "frozen": frozenHost(t)} {
			cfg := good.Clone()
			cfg.Addr = bad + "," + good.Addr
			db, err := Open(cfg.FormatDSN(), 0)
			rig.Fatal(t, err)
			defer db.Close()
			ctx, cancel := context.WithTimeout(t.Context(), 4*time.Second)
			defer cancel()
			conn, err := db.Conn(ctx)
			if err != nil {
				t.Fatalf("%s: %v", name, err)
			}
			defer conn.Close()
			// The host that is out of order is not asked again.
			began := time.Now()
			rig.Fatal(t, db.PingContext(ctx))
			if took := time.Since(began); took > time.Second {
				t.Errorf("%s: the second connection took %s", name, took)
			}
		}
	})
}

// pair is two servers with the same database and account, which may not write to a read-only server.
type pair struct {
	servers [2]*localserver.Server
	roots   [2]*sql.DB
	dsn     string
}

func newPair(t *testing.T, flavour localserver.Flavour) *pair {
	t.Helper()
	p := new(pair)
	cfg := mysql.NewConfig()
	cfg.User, cfg.Passwd, cfg.Net, cfg.DBName = "shop", "s3cret", "tcp", "shop"
	for i := range p.servers {
		p.servers[i] = servertest.Private(t, flavour)
		p.roots[i] = servertest.Open(t, p.servers[i].DSN(""), "")
		for _, statement := range []string{"CREATE DATABASE shop", "CREATE TABLE shop.written (n INT PRIMARY KEY)",
			"CREATE USER shop@'%' IDENTIFIED BY 's3cret'", "GRANT SELECT, INSERT, UPDATE ON shop.* TO shop@'%'"} {
			_, err := p.roots[i].Exec(statement)
			rig.Fatal(t, err)
		}
	}
	cfg.Addr = p.servers[0].Addr() + "," + p.servers[1].Addr()
	p.dsn = cfg.FormatDSN()
	return p
}

func (p *pair) setReadOnly(t *testing.T, server int, value string) {
	t.Helper()
	_, err := p.roots[server].Exec("SET GLOBAL read_only = " + value)
	rig.Fatal(t, err)
}

// serverOf is where a pool's connection goes.
func (p *pair) serverOf(t *testing.T, db interface {
	QueryRowContext(ctx context.Context, query string, args ...any) *sql.Row
}) int {
	t.Helper()
	var port int
	rig.Fatal(t, db.QueryRowContext(t.Context(), "SELECT @@port").Scan(&port))
	for i, s := range p.servers {
		if strings.HasSuffix(s.Addr(), ":"+strconv.Itoa(port)) {
			return i
		}
	}
	t.Fatalf("port %d is nobody's", port)
	return 0
}

// It takes 10 s, most of it to start and stop servers, and the choice of a host is the client's: one server of each flavour.
func TestAPoolGoesWhereItCanWrite(t *testing.T) {
	servertest.EachFlavour(t, func(t *testing.T, flavour localserver.Flavour) {
		p := newPair(t, flavour)
		p.setReadOnly(t, 0, "ON")
		for name, open := range map[string]func() (*sql.DB, error){
			"a worker's": func() (*sql.DB, error) {
				db, err := Open(p.dsn, 0)
				return db.DB, err
			},
			"an app's": func() (*sql.DB, error) {
				connector, err := NewConnector(p.dsn)
				return sql.OpenDB(connector), err
			},
		} {
			t.Run(name, func(t *testing.T) {
				db, err := open()
				rig.Fatal(t, err)
				defer db.Close()
				if at := p.serverOf(t, db); at != 1 {
					t.Error("the read-only server was taken")
				}
				failover(t, p, db)
			})
		}
		t.Run("nowhere", func(t *testing.T) {
			p.setReadOnly(t, 0, "ON")
			p.setReadOnly(t, 1, "ON")
			db, err := Open(p.dsn, 0)
			rig.Fatal(t, err)
			defer db.Close()
			if err := db.PingContext(t.Context()); !errors.Is(err, errno.ErrNotWritable) || !errno.Passing(err) {
				t.Errorf("%v; want an error that passes", err)
			}
		})
	})
}

// failover turns the second server, where db is at, read-only in the middle of it all, and kills the first in turn.
func failover(t *testing.T, p *pair, db *sql.DB) {
	t.Helper()
	ctx := t.Context()
	idle, err := db.Conn(ctx) // goes back to the pool before the second server turns read-only
	rig.Fatal(t, err)
	tx, err := db.BeginTx(ctx, nil)
	rig.Fatal(t, err)
	_, err = tx.ExecContext(ctx, "SELECT 1")
	rig.Fatal(t, err)
	busy, err := db.Conn(ctx) // only comes back afterwards
	rig.Fatal(t, err)
	rig.Fatal(t, idle.Close())
	p.setReadOnly(t, 0, "OFF")
	p.setReadOnly(t, 1, "ON")
	if _, err := tx.ExecContext(ctx, "INSERT INTO written VALUES (1)"); !errno.Is(err, errno.ReadOnly) || !errno.Passing(err) {
		t.Fatalf("%v; want 1290, as it is", err)
	}
	rig.Fatal(t, tx.Rollback())
	rig.Fatal(t, busy.Close())
	for range 3 {
		conn, err := db.Conn(ctx)
		rig.Fatal(t, err)
		defer conn.Close()
		if at := p.serverOf(t, conn); at != 0 {
			t.Error("a connection to the read-only server was kept")
		}
	}
	_, err = db.ExecContext(ctx, "INSERT INTO written VALUES (2)")
	rig.Fatal(t, err)
	_, err = p.roots[0].ExecContext(ctx, "DELETE FROM shop.written")
	rig.Fatal(t, err)

	p.setReadOnly(t, 1, "OFF")
	p.servers[0].Kill()
	for {
		_, err := db.ExecContext(ctx, "INSERT INTO written VALUES (3)")
		if err == nil {
			break
		}
		if !errno.Passing(err) {
			t.Fatalf("%v; want an error that passes", err)
		}
	}
	if at := p.serverOf(t, db); at != 1 {
		t.Error("the killed server answers")
	}
	_, err = p.roots[1].ExecContext(ctx, "DELETE FROM shop.written")
	rig.Fatal(t, err)
	rig.Fatal(t, p.servers[0].Restart(ctx))
	if at := p.serverOf(t, db); at != 1 {
		t.Error("the pool did not stay where it was")
	}
	p.setReadOnly(t, 0, "ON") // as it was
}

func TestOneServerThatIsReadOnlyIsStillRead(t *testing.T) {
	servertest.EachKind(t, func(t *testing.T, kind servertest.Kind) {
		d := servertest.On(t, kind.Private(t))
		_, err := d.Open(t, "").Exec("SET GLOBAL read_only = ON")
		rig.Fatal(t, err)
		db, err := Open(d.DSN, 0)
		rig.Fatal(t, err)
		defer db.Close()
		rig.Fatal(t, db.PingContext(t.Context()))
	})
}

// A connection has everything that database/sql looks for in one of the driver's.
func TestAConnectionPassesEverythingOn(t *testing.T) {
	servertest.Each(t, func(t *testing.T, d servertest.Database) {
		connector, err := NewConnector(d.DSN)
		rig.Fatal(t, err)
		conn, err := connector.Connect(t.Context())
		rig.Fatal(t, err)
		defer conn.Close()
		plain, err := connector.Driver().Open(d.DSN)
		rig.Fatal(t, err)
		defer plain.Close()
		for name, implements := range map[string]func(driver.Conn) bool{
			"QueryerContext":     func(c driver.Conn) bool { _, ok := c.(driver.QueryerContext); return ok },
			"ExecerContext":      func(c driver.Conn) bool { _, ok := c.(driver.ExecerContext); return ok },
			"ConnPrepareContext": func(c driver.Conn) bool { _, ok := c.(driver.ConnPrepareContext); return ok },
			"ConnBeginTx":        func(c driver.Conn) bool { _, ok := c.(driver.ConnBeginTx); return ok },
			"Pinger":             func(c driver.Conn) bool { _, ok := c.(driver.Pinger); return ok },
			"SessionResetter":    func(c driver.Conn) bool { _, ok := c.(driver.SessionResetter); return ok },
			"Validator":          func(c driver.Conn) bool { _, ok := c.(driver.Validator); return ok },
			"NamedValueChecker":  func(c driver.Conn) bool { _, ok := c.(driver.NamedValueChecker); return ok },
		} {
			if implements(conn) != implements(plain) {
				t.Errorf("%s: %v, but the driver's %v", name, implements(conn), implements(plain))
			}
		}
	})
}
