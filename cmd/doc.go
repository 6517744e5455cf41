// Package cmd is the command line of prescient. A program that has job_execs in Go registers them ([Options],
// as in README.md), and has every command.
//
// # Output
//
// Data goes to stdout, the log and errors to stderr. With --json a command prints one JSON object, or a line for each row; a search that ended early
// has a last line with "more" and the cursor for --after. Times are UTC. No control character of a text reaches the terminal.
//
// # Times
//
// A time is "now" (by the database's clock), "+3h", "now-1d12h", RFC 3339, or "2006-01-02 15:04", with seconds or a zone where wanted; else UTC.
//
// # When it fails
//
// A line of stderr says what failed, and what to do; the constants Exit… are the exit codes. What works in batches goes on when it is run again. SIGTERM or SIGINT stops gracefully; after a second one, what was not committed is called again.
package cmd
