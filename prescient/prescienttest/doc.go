// Package prescienttest is for the tests of programs that use prescient: a database whose clock a test sets, and the worker itself. The
// example shows a test; its package has func TestMain(m *testing.M) { prescienttest.Main(m) }.
//
// Each [Kit] has an empty database, on the server of Options.DSN, of the variable PRESCIENT_TEST_DSN, or a private one (package localserver)
// that [Main] shares among the tests of a package.
//
// On the connections of Kit.DB the database's clock stands where the test has put it. Code under test takes its time from Kit.Now or the
// database, and uses Kit.DB.
//
// [Simulate] takes one check through its life without a database, also under testing/synctest.
package prescienttest
