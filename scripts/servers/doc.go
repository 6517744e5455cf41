//go:build unix

// Command servers runs a command against database servers to test on: those of
// its own that -start lists, or the one that -dsn names. The command finds them
// in PRESCIENT_TEST_DSNS, and its exit code becomes this program's.
//
//	go run ./scripts/servers [-start LIST | -dsn DSN] -- COMMAND [ARGUMENT...]
//
// The list is of names that localserver.Named reads. A signal ends the command
// and then the servers. Where a server does not start, the command is not run,
// the others are stopped, and the exit code is 1.
package main
