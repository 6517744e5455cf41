// Package wire stands between a worker and its server: a network for the driver (user:password@tcp4(host:port)/database, in a process that
// registers [Plan.Dial] for it) that sees every statement and answer. By rule it ends or freezes the process, closes the connection, answers
// with a server's error, delays, or rewrites.
package wire
