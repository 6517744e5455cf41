package servertest

import (
	"fmt"
	"os"
	"sync"
	"testing"

	"go.uber.org/goleak"

	"prescient/prescient/localserver"
)

// servers are those that this process started, one of a kind, and what databases are kept for the tests to come.
var servers struct {
	sync.Mutex
	byKind map[Kind]*localserver.Server
	kept   map[like][]Database // on any
	made   map[like]*made
}

// Main runs a package's tests, stops the servers that they started and ends
// the process; goroutines that are still there then are a failure. TestMain
// calls it, with what else is to be done after the tests.
func Main(m *testing.M, after ...func()) {
	code := m.Run()
	for _, do := range after {
		do()
	}
	if err := dropKept(); err != nil {
		fmt.Fprintln(os.Stderr, err)
		code = max(code, 1)
	}
	servers.Lock()
	for kind, server := range servers.byKind {
		if err := server.Close(); err != nil {
			fmt.Fprintf(os.Stderr, "closing the %s server: %v\n", kind, err)
			code = max(code, 1)
		}
	}
	if err := goleak.Find(); err != nil && code == 0 {
		fmt.Fprintf(os.Stderr, "goroutines are left: %v\n", err)
		code = 1
	}
	os.Exit(code)
}

// Private starts a server that the test may kill, stop and restart, with
// durable settings and further server arguments. It is closed at the end of
// the test.
func (k Kind) Private(t testing.TB, args ...string) *localserver.Server {
	t.Helper()
	options := k.options(t)
	options.Durable, options.Args = true, args
	server := start(t, options)
	t.Cleanup(func() {
		if err := server.Close(); err != nil {
			t.Errorf("closing the test's own server: %v", err)
		}
	})
	return server
}

// Private starts a server of the kind that is the first of a flavour.
func Private(t testing.TB, flavour localserver.Flavour, args ...string) *localserver.Server {
	t.Helper()
	return first(t, flavour).Private(t, args...)
}

// serverOf returns the server of a kind that all tests share.
func serverOf(t testing.TB, kind Kind) (dsn string, server *localserver.Server) {
	t.Helper()
	if given := givenDSNs(t); given != nil {
		return given[kind], nil
	}
	servers.Lock()
	defer servers.Unlock()
	if server = servers.byKind[kind]; server == nil {
		options := kind.options(t)
		options.Args = []string{"--max-connections=500"}
		server = start(t, options)
		if servers.byKind == nil {
			servers.byKind = map[Kind]*localserver.Server{}
		}
		servers.byKind[kind] = server
	}
	return server.DSN(""), server
}

func start(t testing.TB, options localserver.Options) *localserver.Server {
	t.Helper()
	server, err := localserver.Start(t.Context(), options)
	if err != nil {
		t.Fatalf("no server to test on; scripts/test gets what is missing: %v", err)
	}
	return server
}
