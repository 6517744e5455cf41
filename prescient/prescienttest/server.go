package prescienttest

import (
	"context"
	"crypto/rand"
	"database/sql"
	"encoding/hex"
	"fmt"
	"os"
	"sync"
	"testing"
	"time"

	"github.com/go-sql-driver/mysql"

	"prescient/prescient/localserver"
)

// dsnVariable names the server to test on where Options.DSN does not.
const dsnVariable = "PRESCIENT_TEST_DSN"

// shared is the private server that Main closes at the end.
var shared struct {
	sync.Mutex
	on     bool // Main is running
	server *localserver.Server
}

// Main runs the tests of a package, which share one private server where they need one, and ends the process. Call it
// from TestMain. Without it each Kit starts a server of its own, which takes a second or two.
func Main(m *testing.M) {
	shared.Lock()
	shared.on = true
	shared.Unlock()
	code := m.Run()
	shared.Lock()
	if shared.server != nil {
		if err := shared.server.Close(); err != nil {
			fmt.Fprintf(os.Stderr, "prescienttest: closing the server: %v\n", err)
			code = max(code, 1)
		}
	}
	os.Exit(code)
}

// serverDSN returns the server to make databases on.
func serverDSN(t testing.TB, options Options) string {
	t.Helper()
	if options.DSN != "" {
		return options.DSN
	}
	if dsn := os.Getenv(dsnVariable); dsn != "" {
		return dsn
	}
	shared.Lock()
	defer shared.Unlock()
	if shared.server != nil {
		return shared.server.DSN("")
	}
	server, err := localserver.Start(t.Context(), localserver.Options{})
	if err != nil {
		t.Fatalf("prescienttest: no database server to test on; name one in %s: %v", dsnVariable, err)
	}
	if shared.on {
		shared.server = server
	} else {
		t.Cleanup(func() {
			if err := server.Close(); err != nil {
				t.Errorf("prescienttest: closing the server: %v", err)
			}
		})
	}
	return server.DSN("")
}

// cleanupTime bounds the removal of a test's database.
const cleanupTime = 30 * time.Second

// newDatabase makes an empty database, which goes at the end of the test, and returns how to connect to it.
func newDatabase(t testing.TB, dsn string) *mysql.Config {
	t.Helper()
	config, err := mysql.ParseDSN(dsn)
	if err != nil {
		t.Fatal("prescienttest: the DSN cannot be read; want user:password@tcp(host:port)/")
	}
	config.DBName = ""
	admin, err := sql.Open("mysql", config.FormatDSN())
	if err != nil {
		t.Fatalf("prescienttest: %v", err)
	}
	random := make([]byte, 6)
	_, _ = rand.Read(random) // it never fails
	name := "prescient_test_" + hex.EncodeToString(random)
	if _, err := admin.ExecContext(t.Context(), "CREATE DATABASE "+name+" CHARACTER SET utf8mb4"); err != nil {
		t.Fatalf("prescienttest: making a database: %v", err)
	}
	t.Cleanup(func() {
		ctx, cancel := context.WithTimeout(context.Background(), cleanupTime)
		defer cancel()
		defer admin.Close()
		if _, err := admin.ExecContext(ctx, "DROP DATABASE "+name); err != nil {
			t.Errorf("prescienttest: dropping the test's database (did a transaction stay open?): %v", err)
		}
	})
	config.DBName = name
	return config
}
