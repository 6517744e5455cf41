package localserver

import (
	"context"
	"database/sql"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/go-sql-driver/mysql"
)

// both runs a test on each flavour.
func both(t *testing.T, test func(t *testing.T, flavour Flavour)) {
	for _, flavour := range []Flavour{MariaDB, MySQL} {
		t.Run(string(flavour), func(t *testing.T) { test(t, flavour) })
	}
}

// start starts a server that is closed at the end of the test.
func start(t *testing.T, options Options) *Server {
	t.Helper()
	server, err := Start(t.Context(), options)
	if err != nil {
		t.Fatalf("starting a server (scripts/test gets what is missing): %v", err)
	}
	t.Cleanup(func() {
		if err := server.Close(); err != nil {
			t.Error(err)
		}
	})
	return server
}

func open(t *testing.T, dsn string) *sql.DB {
	t.Helper()
	config, err := mysql.ParseDSN(dsn)
	if err != nil {
		t.Fatal(err)
	}
	config.Logger = &mysql.NopLogger{} // killed servers are what these tests are about
	connector, err := mysql.NewConnector(config)
	if err != nil {
		t.Fatal(err)
	}
	db := sql.OpenDB(connector)
	t.Cleanup(func() { db.Close() })
	return db
}

func execute(t *testing.T, db *sql.DB, statements ...string) {
	t.Helper()
	for _, statement := range statements {
		if _, err := db.Exec(statement); err != nil {
			t.Fatalf("%s: %v", statement, err)
		}
	}
}

func value(t *testing.T, db *sql.DB, query string) string {
	t.Helper()
	var text string
	if err := db.QueryRow(query).Scan(&text); err != nil {
		t.Fatalf("%s: %v", query, err)
	}
	return text
}

func TestServerIsWhatWasAskedFor(t *testing.T) {
	t.Parallel()
	both(t, func(t *testing.T, flavour Flavour) {
		server := start(t, Options{Flavour: flavour, Args: []string{"--max-connections=77"}})
		db := open(t, server.DSN(""))
		if got := value(t, db, "SELECT VERSION()"); server.Flavour() != flavour || got != server.Version() || got == "" {
			t.Errorf("%s %q answers as %q, want %s", server.Flavour(), server.Version(), got, flavour)
		}
		for variable, want := range map[string]string{
			"max_connections":                "77",
			"datadir":                        filepath.Join(server.Dir(), "data") + "/",
			"socket":                         server.Socket(),
			"bind_address":                   "127.0.0.1",
			"local_infile":                   "0",
			"innodb_flush_log_at_trx_commit": "2",
		} {
			if got := value(t, db, "SELECT @@"+variable); got != want {
				t.Errorf("%s is %s, want %s", variable, got, want)
			}
		}
	})
}

func TestOnlyThePasswordOpensTheServer(t *testing.T) {
	t.Parallel()
	both(t, func(t *testing.T, flavour Flavour) {
		server := start(t, Options{Flavour: flavour})
		config, err := mysql.ParseDSN(server.DSN(""))
		if err != nil {
			t.Fatal(err)
		}
		overSocket := "root:" + config.Passwd + "@unix(" + server.Socket() + ")/"
		for _, dsn := range []string{server.DSN(""), overSocket} {
			if err := open(t, dsn).Ping(); err != nil {
				t.Errorf("with the password: %v", err)
			}
			config, err := mysql.ParseDSN(dsn)
			if err != nil {
				t.Fatal(err)
			}
			for _, user := range []string{"root", "", os.Getenv("USER"), "mysql"} {
				config.User, config.Passwd = user, ""
				if err := open(t, config.FormatDSN()).Ping(); err == nil {
					t.Errorf("%q gets in over %s without a password", user, config.Net)
				}
			}
		}
	})
}

func TestKilledServerKeepsItsDataOverRestart(t *testing.T) {
	t.Parallel()
	both(t, func(t *testing.T, flavour Flavour) {
		for _, durable := range []bool{false, true} {
			testKillAndRestart(t, Options{Flavour: flavour, Durable: durable})
		}
	})
}

func testKillAndRestart(t *testing.T, options Options) {
	server := start(t, options)
	db := open(t, server.DSN(""))
	execute(t, db, "CREATE DATABASE kept", "CREATE TABLE kept.things (id INT PRIMARY KEY)", "INSERT INTO kept.things VALUES (42)")
	addr, pid := server.Addr(), server.Pid()

	server.Kill()
	if server.Pid() != 0 {
		t.Errorf("a killed server has pid %d", server.Pid())
	}
	if err := db.Ping(); err == nil {
		t.Error("a killed server answers")
	}
	if err := server.Restart(t.Context()); err != nil {
		t.Fatal(err)
	}
	if server.Addr() != addr || server.Pid() == pid || server.Pid() == 0 {
		t.Errorf("restarted at %s with pid %d, was at %s with pid %d", server.Addr(), server.Pid(), addr, pid)
	}
	if got := value(t, open(t, server.DSN("kept")), "SELECT id FROM things"); got != "42" {
		t.Errorf("after a restart the row is %s, want 42", got)
	}
}

func TestRunningServerCanBeRestarted(t *testing.T) {
	t.Parallel()
	server := start(t, Options{})
	pid := server.Pid()
	if err := server.Restart(t.Context()); err != nil {
		t.Fatal(err)
	}
	if server.Pid() == pid || open(t, server.DSN("")).Ping() != nil {
		t.Errorf("pid %d, was %d", server.Pid(), pid)
	}
}

func TestCloseRemovesTheFolder(t *testing.T) {
	t.Parallel()
	both(t, func(t *testing.T, flavour Flavour) {
		server := start(t, Options{Flavour: flavour})
		if _, err := os.Stat(server.Dir()); err != nil {
			t.Fatal(err)
		}
		for range 2 {
			if err := server.Close(); err != nil {
				t.Fatal(err)
			}
		}
		if _, err := os.Stat(server.Dir()); !errors.Is(err, os.ErrNotExist) {
			t.Errorf("after Close %s is still there: %v", server.Dir(), err)
		}
		if err := server.Restart(t.Context()); !errors.Is(err, ErrClosed) {
			t.Errorf("restarting a closed server: %v, want ErrClosed", err)
		}
	})
}

func TestServersStartSideBySide(t *testing.T) {
	t.Parallel()
	var all sync.WaitGroup
	addrs := make(chan string, 4)
	for range cap(addrs) {
		all.Go(func() {
			server, err := Start(t.Context(), Options{})
			if err != nil {
				t.Error(err)
				return
			}
			addrs <- server.Addr()
			t.Cleanup(func() { server.Close() })
		})
	}
	all.Wait()
	close(addrs)
	seen := map[string]bool{}
	for addr := range addrs {
		if seen[addr] {
			t.Errorf("two servers listen on %s", addr)
		}
		seen[addr] = true
	}
}

// A port that somebody else takes first costs another attempt on another port.
func TestTakenPortIsTold(t *testing.T) {
	t.Parallel()
	both(t, func(t *testing.T, flavour Flavour) {
		first := start(t, Options{Flavour: flavour})
		second := start(t, Options{Flavour: flavour})
		second.account.port = first.account.port
		if err := second.Restart(t.Context()); !errors.Is(err, errPortTaken) {
			t.Errorf("restarting on another server's port: %v, want errPortTaken", err)
		}
	})
}

func TestLongTemporaryFolder(t *testing.T) {
	dir := filepath.Join(t.TempDir(), strings.Repeat("long", 30))
	if err := os.Mkdir(dir, 0o700); err != nil {
		t.Fatal(err)
	}
	t.Setenv("TMPDIR", dir)
	both(t, func(t *testing.T, flavour Flavour) {
		server := start(t, Options{Flavour: flavour})
		if server.Socket() != "" {
			t.Errorf("the socket is %s, longer than a socket may be", server.Socket())
		}
		server.Kill()
		if err := server.Restart(t.Context()); err != nil {
			t.Fatal(err)
		}
	})
}

func TestArgumentsThatAreSettledWithTheDataFolder(t *testing.T) {
	t.Parallel()
	both(t, func(t *testing.T, flavour Flavour) {
		server := start(t, Options{Flavour: flavour, Args: []string{"--lower_case_table_names=1"}})
		if got := value(t, open(t, server.DSN("")), "SELECT @@lower_case_table_names"); got != "1" {
			t.Errorf("lower_case_table_names is %s, want 1", got)
		}
	})
}

func TestFailedStartShowsTheLogAndLeavesNothing(t *testing.T) {
	both(t, func(t *testing.T, flavour Flavour) {
		t.Setenv("TMPDIR", t.TempDir())
		_, err := Start(t.Context(), Options{Flavour: flavour, Args: []string{"--no-such-setting=1"}})
		if err == nil || !strings.Contains(err.Error(), "no-such-setting") {
			t.Errorf("%v, want the server's own words in it", err)
		}
		wantEmpty(t, os.TempDir())
	})
}

func TestCancelledStartLeavesNothing(t *testing.T) {
	both(t, func(t *testing.T, flavour Flavour) {
		t.Setenv("TMPDIR", t.TempDir())
		for _, after := range []time.Duration{0, 100 * time.Millisecond, 300 * time.Millisecond} {
			ctx, cancel := context.WithTimeout(t.Context(), after)
			server, err := Start(ctx, Options{Flavour: flavour})
			cancel()
			if err == nil {
				t.Logf("was up within %v", after)
				server.Close()
			} else if !errors.Is(err, context.DeadlineExceeded) {
				t.Errorf("cancelled after %v: %v, want DeadlineExceeded", after, err)
			}
			wantEmpty(t, os.TempDir())
		}
	})
}

func wantEmpty(t *testing.T, dir string) {
	t.Helper()
	entries, err := os.ReadDir(dir)
	if err != nil || len(entries) > 0 {
		t.Errorf("left behind: %v, %v", fmt.Sprint(entries), err)
	}
}
