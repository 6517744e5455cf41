package servertest

import (
	"fmt"
	"os"
	"strings"
	"sync"
	"testing"

	"go.uber.org/goleak"

	"prescient/prescient/localserver"
)

// dsnsVariable names the servers to test on. Set by scripts/test.
const dsnsVariable = "PRESCIENT_TEST_DSNS"

// servers are those that this process started, one a flavour.
var servers struct {
	sync.Mutex
	byFlavour map[localserver.Flavour]*localserver.Server
}

// Main runs a package's tests, stops the servers that they started and ends
// the process; goroutines that are still there then are a failure. TestMain
// calls it.
func Main(m *testing.M) {
	code := m.Run()
	servers.Lock()
	for flavour, server := range servers.byFlavour {
		if err := server.Close(); err != nil {
			fmt.Fprintf(os.Stderr, "closing the %s server: %v\n", flavour, err)
			code = max(code, 1)
		}
	}
	if err := goleak.Find(); err != nil && code == 0 {
		fmt.Fprintf(os.Stderr, "goroutines are left: %v\n", err)
		code = 1
	}
	os.Exit(code)
}

// Flavours returns the flavours to test on: both, unless PRESCIENT_TEST_DSNS
// names only one.
func Flavours(t testing.TB) []localserver.Flavour {
	t.Helper()
	dsns := givenDSNs(t)
	var list []localserver.Flavour
	for _, flavour := range []localserver.Flavour{localserver.MariaDB, localserver.MySQL} {
		if dsns == nil || dsns[flavour] != "" {
			list = append(list, flavour)
		}
	}
	return list
}

// Private starts a server that the test may kill, stop and restart, with
// durable settings and further server arguments. It is closed at the end of
// the test.
func Private(t testing.TB, flavour localserver.Flavour, args ...string) *localserver.Server {
	t.Helper()
	server := start(t, localserver.Options{Flavour: flavour, Durable: true, Args: args})
	t.Cleanup(func() {
		if err := server.Close(); err != nil {
			t.Errorf("closing the test's own server: %v", err)
		}
	})
	return server
}

// serverOf returns the server of a flavour that all tests share.
func serverOf(t testing.TB, flavour localserver.Flavour) (dsn string, server *localserver.Server) {
	t.Helper()
	if dsns := givenDSNs(t); dsns != nil {
		if dsns[flavour] == "" {
			t.Fatalf("%s names no %s server", dsnsVariable, flavour)
		}
		return dsns[flavour], nil
	}
	servers.Lock()
	defer servers.Unlock()
	if server = servers.byFlavour[flavour]; server == nil {
		server = start(t, localserver.Options{Flavour: flavour, Args: []string{"--max-connections=500"}})
		if servers.byFlavour == nil {
			servers.byFlavour = map[localserver.Flavour]*localserver.Server{}
		}
		servers.byFlavour[flavour] = server
	}
	return server.DSN(""), server
}

func start(t testing.TB, options localserver.Options) *localserver.Server {
	t.Helper()
	server, err := localserver.Start(t.Context(), options)
	if err != nil {
		t.Fatalf("no %s server to test on; scripts/test gets what is missing: %v", options.Flavour, err)
	}
	return server
}

// givenDSNs reads the servers that were given, nil when none were.
func givenDSNs(t testing.TB) map[localserver.Flavour]string {
	t.Helper()
	text := strings.TrimSpace(os.Getenv(dsnsVariable))
	if text == "" {
		return nil
	}
	dsns := map[localserver.Flavour]string{}
	for _, pair := range strings.Fields(text) {
		name, dsn, _ := strings.Cut(pair, "=")
		flavour := localserver.Flavour(name)
		if dsn == "" || flavour != localserver.MariaDB && flavour != localserver.MySQL {
			t.Fatalf("%s: want mariadb=DSN mysql=DSN, separated by spaces", dsnsVariable)
		}
		dsns[flavour] = dsn
	}
	return dsns
}
