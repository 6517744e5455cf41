// Package servertest gives tests real database servers.
//
// A test asks for a database on each flavour with Each:
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
// scripts/test starts one server of each flavour for all packages and names
// them in PRESCIENT_TEST_DSNS, "mariadb=DSN mysql=DSN"; one of the two may be
// missing, then only the other is tested. Where the variable is not set, as in
// a plain go test, each package starts its own from what it finds on PATH or
// in the cache folder that scripts/mariadb and scripts/mysql97 fill. A test
// that finds no server fails; no test is ever skipped for that.
//
// A test that kills or stops a server takes one for itself with Private.
package servertest
