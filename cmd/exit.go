package cmd

import (
	"context"
	"database/sql/driver"
	"errors"
	"io/fs"
	"net"
	"strings"

	"github.com/go-sql-driver/mysql"

	"prescient/config"
	"prescient/prescient"
	"prescient/prescient/localserver"
	"prescient/sql"

	"prescient/prescient/connect"
	"prescient/prescient/prune"
)

// The exit codes of every command.
const (
	// ExitOK: done. For run also: the slot that is now is not assigned to this worker.
	ExitOK = 0
	// ExitFailure: it failed for a reason that has no code of its own.
	ExitFailure = 1
	// ExitUsage: a flag, an argument or the configuration is not allowed; nothing was done.
	ExitUsage = 2
	// ExitNotFound: no such job is pending.
	ExitNotFound = 3
	// ExitTables: the tables are missing, have migrations to come, or were made for another resolution.
	ExitTables = 4
	// ExitDatabase: the database cannot be reached, or refuses the connection.
	ExitDatabase = 5
	// ExitPending: the job is pending already, and insert was told --on-pending error.
	ExitPending = 6
	// ExitHeld: prune could not drop or make partitions, since somebody had history open; all else was done.
	ExitHeld = 7
	// ExitPartly: insert --file --keep-going left out bad lines.
	ExitPartly = 8
	// ExitWarn and ExitBad: what doctor found is a warning at worst, or bad.
	ExitWarn = 10
	ExitBad  = 11
	// ExitInterrupted: a signal ended it before it was done. The commands that stop gracefully exit with 0; a second
	// signal ends these too, with 128 and the number of the signal.
	ExitInterrupted = 130
)

const exitCodes = `Exit codes:
  0    done; for run also: the slot that is now is not assigned to this worker
  1    failed
  2    a flag, an argument or the configuration is not allowed; nothing was done
  3    no such job is pending
  4    the tables are missing or lack migrations, or have another resolution
  5    the database cannot be reached or refuses the connection
  6    the job is pending already (insert --on-pending error)
  7    history was held open by somebody: prune it again later
  8    bad lines were left out (insert --file --keep-going)
  10   doctor found something to be warned about
  11   doctor found something that is bad
  130  interrupted before it was done; run, work, sweep and roll-forward stop gracefully and exit with 0`

// coded is an error that knows its exit code.
type coded struct {
	code int
	err  error
	said bool // the command's output says it
}

func (c *coded) Error() string { return c.err.Error() }
func (c *coded) Unwrap() error { return c.err }

// usage marks an error as one of the command line.
func usage(err error) error { return &coded{code: ExitUsage, err: err} }

// said reports whether the output of the command says what the error does, so that stderr need not.
func said(err error) bool {
	var known *coded
	return errors.As(err, &known) && known.said
}

// ExitCode returns the exit code of an error that a command returned.
func ExitCode(err error) int {
	var known *coded
	var setting *config.Error
	switch {
	case err == nil:
		return ExitOK
	case errors.As(err, &known):
		return known.code
	case errors.Is(err, prescient.ErrNotFound):
		return ExitNotFound
	case errors.Is(err, prescient.ErrNotMigrated), errors.Is(err, prescient.ErrResolution),
		errors.Is(err, prescient.ErrConfigChanged), errors.Is(err, prescient.ErrReslotting):
		return ExitTables
	case errors.Is(err, prescient.ErrPending):
		return ExitPending
	case errors.Is(err, prune.ErrHistoryHeld):
		return ExitHeld
	case errors.Is(err, prescient.ErrInvalid), errors.Is(err, prescient.ErrBeyondHorizon), errors.Is(err, sql.ErrPrefix),
		errors.As(err, &setting):
		return ExitUsage
	case errors.Is(err, context.Canceled):
		return ExitInterrupted
	case unreachable(err), errors.Is(err, localserver.ErrNotFound):
		return ExitDatabase
	}
	return ExitFailure
}

// refusals are the servers' errors for a connection that they do not take: too many, no such user, database or right,
// blocked host, shutting down, not ready, not encrypted.
var refusals = map[uint16]bool{1040: true, 1044: true, 1045: true, 1047: true, 1049: true, 1053: true, 1129: true,
	1130: true, 1203: true, 1226: true, 1698: true, 3118: true, errInsecure: true}

// errInsecure is the servers' error for a connection that is not encrypted but has to be.
const errInsecure = 3159

// unreachable says whether an error means that there is no working connection.
func unreachable(err error) bool {
	var network net.Error
	var server *mysql.MySQLError
	var file *fs.PathError
	switch {
	case errors.As(err, &server):
		return refusals[server.Number]
	case errors.As(err, &file): // its errno would pass for a net.Error
		return false
	case errors.As(err, &network), errors.Is(err, driver.ErrBadConn), errors.Is(err, mysql.ErrInvalidConn), errors.Is(err, mysql.ErrNoTLS), errors.Is(err, connect.ErrNotTrusted),
		errors.Is(err, context.DeadlineExceeded):
		return true
	}
	return false
}

// isInsecure says whether a server refused a connection that may have to be encrypted: MariaDB says only that access is
// denied.
func isInsecure(err error) bool {
	var server *mysql.MySQLError
	return errors.As(err, &server) && (server.Number == errInsecure || server.Number == 1045)
}

// longestComplaint is the longest line about an error, in characters: a value that is wrong may be of any length.
const longestComplaint = 1000

// complaint is what stands on stderr about an error: a line for each thing that is wrong.
func complaint(program string, err error) string {
	var lines strings.Builder
	for line := range strings.SplitSeq(strings.TrimSpace(inWords(err)), "\n") {
		lines.WriteString(program + ": " + clip(line, longestComplaint) + "\n")
	}
	return lines.String()
}
