//go:build unix

// Command servers runs a command against database servers to test on: one
// MariaDB and one MySQL of its own, or the one that -dsn names. The command
// finds them in PRESCIENT_TEST_DSNS, and its exit code becomes this program's.
//
//	go run ./scripts/servers [-dsn DSN] -- COMMAND [ARGUMENT...]
//
// A signal ends the command and then the servers. Where a server does not
// start, the command is not run, the other server is stopped, and the exit
// code is 1.
package main
