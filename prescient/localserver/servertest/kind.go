package servertest

import (
	"os"
	"slices"
	"strings"
	"testing"

	"prescient/prescient/localserver"
)

// dsnsVariable names the servers to test on. Set by scripts/test.
const dsnsVariable = "PRESCIENT_TEST_DSNS"

// A Kind of server is a flavour, or a flavour and a version, under the name
// that localserver.Named reads.
type Kind string

// usual are the kinds to test on where none are given, those of a flavour with
// the one that is enough for it first.
var usual = []Kind{"mariadb", "mariadb-11.8", "mysql"}

// Kinds returns the kinds of server to test on: those that
// PRESCIENT_TEST_DSNS names, or else all.
func Kinds(t testing.TB) []Kind {
	t.Helper()
	var named []Kind
	for _, pair := range pairs() {
		kind, _, _ := strings.Cut(pair, "=")
		named = append(named, Kind(kind))
	}
	if named == nil {
		return usual
	}
	return named
}

// Flavours returns the flavours to test on, for what one server of a flavour
// is enough for.
func Flavours(t testing.TB) []localserver.Flavour {
	t.Helper()
	var list []localserver.Flavour
	for _, kind := range Kinds(t) {
		if flavour := kind.Flavour(); !slices.Contains(list, flavour) {
			list = append(list, flavour)
		}
	}
	return list
}

// first returns the first kind of a flavour.
func first(t testing.TB, flavour localserver.Flavour) Kind {
	t.Helper()
	for _, kind := range Kinds(t) {
		if kind.Flavour() == flavour {
			return kind
		}
	}
	t.Fatalf("%s names no %s server", dsnsVariable, flavour)
	return ""
}

// Flavour returns the flavour of the kind.
func (k Kind) Flavour() localserver.Flavour {
	if k.isVitess() {
		return localserver.MySQL
	}
	flavour, _, _ := strings.Cut(string(k), "-")
	return localserver.Flavour(flavour)
}

// options are those that find a server of the kind.
func (k Kind) options(t testing.TB) localserver.Options {
	t.Helper()
	if k.isVitess() {
		t.Skip("a server of the test's own is no Vitess")
	}
	options, err := localserver.Named(string(k))
	if err != nil {
		t.Fatal(err)
	}
	return options
}

// givenDSNs reads the servers that were given, nil when none were.
func givenDSNs(t testing.TB) map[Kind]string {
	t.Helper()
	var dsns map[Kind]string
	for _, pair := range pairs() {
		name, dsn, _ := strings.Cut(pair, "=")
		if _, err := localserver.Named(name); err != nil && !Kind(name).isVitess() || dsn == "" {
			t.Fatalf("%s: want mariadb=DSN mariadb-11.8=DSN mysql=DSN or some of these, separated by spaces", dsnsVariable)
		}
		if dsns == nil {
			dsns = make(map[Kind]string)
		}
		dsns[Kind(name)] = dsn
	}
	return dsns
}

// pairs are the servers that were given, each as name=DSN.
func pairs() []string { return strings.Fields(os.Getenv(dsnsVariable)) }

// The kinds of a Vitess, which stay among themselves: PRESCIENT_TEST_DSNS names no other kind beside them.
const (
	OnShard    Kind = "vitess"            // targeted at a shard, as workers are
	Untargeted Kind = "vitess-untargeted" // the keyspace, as apps have it
)

// BehindVariable has the DSN of the MySQL behind a Vitess. Set by scripts/servers.
const BehindVariable = "PRESCIENT_TEST_BEHIND"

// isVitess says whether the kind is one of Vitess.
func (k Kind) isVitess() bool { return k == OnShard || k == Untargeted }

// OnVitess says whether this run's kinds are those of Vitess.
func OnVitess() bool { return os.Getenv(BehindVariable) != "" }
