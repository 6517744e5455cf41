// Package servertest gives tests real database servers, in a package that has func TestMain(m *testing.M) { servertest.Main(m) }:
//
//	servertest.Each(t, func(t *testing.T, db servertest.Database) { … })
//
// scripts/test names servers by Kind in PRESCIENT_TEST_DSNS, "mariadb=DSN mariadb-11.8=DSN mysql=DSN"; some may be missing. Without it
// each package starts its own, from PATH or the cache folder that scripts/mariadb, scripts/mariadb118 and scripts/mysql97 fill. A
// test that finds no server fails.
package servertest
