// Package servertest gives tests real database servers.
//
// A test asks for a database on each server with Each:
//
//	func TestMain(m *testing.M) { servertest.Main(m) }
//
//	func TestInsert(t *testing.T) {
//		servertest.Each(t, func(t *testing.T, db servertest.Database) {
//			conn := db.Open(t, "parseTime=true")
//			…
//		})
//	}
//
// The test runs on all servers at the same time; EachInTurn is for those that
// measure what the process has or takes.
//
// A server is called by its Kind: mariadb, mariadb-11.8, mysql. scripts/test
// starts one of each for all packages and names them in PRESCIENT_TEST_DSNS,
// "mariadb=DSN mariadb-11.8=DSN mysql=DSN"; some may be missing, then only the
// others are tested. Where the variable is not set, as in a plain go test, each
// package starts its own from what it finds on PATH or in the cache folder that
// scripts/mariadb, scripts/mariadb118 and scripts/mysql97 fill. A test that
// finds no server fails; no test is ever skipped for that.
//
// Which release a server is makes no difference to some tests: those that need
// long for what the servers have no part in, and benchmarks. They run on one
// server of each flavour: Flavours.
//
// A test that kills or stops a server takes one for itself with Private.
package servertest
