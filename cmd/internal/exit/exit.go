// Package exit says which exit code an error means.
package exit

import (
	"context"
	"errors"
	"fmt"
	"regexp"
	"slices"
	"strings"

	"github.com/go-sql-driver/mysql"

	"prescient/config"
	"prescient/prescient"
	"prescient/prescient/bulk"
	"prescient/prescient/connect"
	"prescient/prescient/localserver"
	"prescient/prescient/ops"
	"prescient/prescient/prune"
	"prescient/prescient/rulebook"
	"prescient/prescient/schedule"
	"prescient/prescient/stats"
	"prescient/prescient/steps"
	"prescient/sql"
	"prescient/sql/migrate"
)

// The exit codes of every command; what each means stands where package cmd hands them on.
const (
	CodeOK          = 0
	CodeFailure     = 1
	CodeUsage       = 2
	CodeNotFound    = 3
	CodeTables      = 4
	CodeDatabase    = 5
	CodePending     = 6
	CodeHeld        = 7
	CodePartly      = 8
	CodeDenied      = 9
	CodeWarn        = 10
	CodeBad         = 11
	CodeInterrupted = 130
)

// Error is an error that knows its exit code.
type Error struct {
	Code    int
	Err     error
	Printed bool // the command's output has it
}

func (c *Error) Error() string { return c.Err.Error() }
func (c *Error) Unwrap() error { return c.Err }

// Usage marks an error as one of the command line.
func Usage(err error) error { return &Error{Code: CodeUsage, Err: err} }

// NotRead marks the error of a file that what was given names: it cannot be read, or was not, since the command was told to stop.
func NotRead(what string, err error) error {
	if errors.Is(err, context.Canceled) {
		return err
	}
	return Usage(fmt.Errorf("%s: %w", what, err))
}

// Printed reports whether the output of the command says what the error does, so that stderr need not.
func Printed(err error) bool {
	var known *Error
	return errors.As(err, &known) && known.Printed
}

// Code returns the exit code of an error that a command returned.
func Code(err error) int {
	var known *Error
	var setting *config.Error
	switch {
	case err == nil:
		return CodeOK
	case errors.As(err, &known):
		return known.Code
	case errors.Is(err, prescient.ErrNotFound), errors.Is(err, schedule.ErrNotFound), errors.Is(err, steps.ErrNotFound), errors.Is(err, bulk.ErrNotFound), errors.Is(err, rulebook.ErrNotFound), errors.Is(err, ops.ErrNoToken),
		errors.Is(err, ops.ErrNoUser):
		return CodeNotFound
	case errors.Is(err, prescient.ErrNotMigrated), errors.Is(err, prescient.ErrResolution),
		errors.Is(err, prescient.ErrConfigChanged), errors.Is(err, prescient.ErrReslotting), errors.Is(err, migrate.ErrEarlier),
		errors.Is(err, migrate.ErrReslotting), errors.Is(err, migrate.ErrResolution):
		return CodeTables
	case errors.Is(err, prescient.ErrPending), errors.Is(err, schedule.ErrExists), errors.Is(err, steps.ErrExists), errors.Is(err, steps.ErrStale), errors.Is(err, rulebook.ErrExists), errors.Is(err, rulebook.ErrStale), errors.Is(err, rulebook.ErrFixed), errors.Is(err, rulebook.ErrTooMany),
		errors.Is(err, steps.ErrInUse), errors.Is(err, ops.ErrUserExists):
		return CodePending
	case errors.Is(err, prune.ErrHistoryHeld), errors.Is(err, migrate.ErrHeld), errors.Is(err, migrate.ErrLocked), errors.Is(err, prune.ErrPruning), errors.Is(err, stats.ErrBusy):
		return CodeHeld
	case errors.Is(err, prescient.ErrInvalid), errors.Is(err, prescient.ErrBeyondHorizon), errors.Is(err, sql.ErrPrefix), errors.Is(err, schedule.ErrOfJob),
		errors.As(err, &setting):
		return CodeUsage
	case IsDenied(err):
		return CodeDenied
	case errors.Is(err, context.Canceled):
		return CodeInterrupted
	case connect.IsUnreachable(err), errors.Is(err, localserver.ErrNotFound):
		return CodeDatabase
	}
	return CodeFailure
}

// Numbers of the servers' errors that have exit codes.
const (
	errUserDenied    = 1045
	errTableDenied   = 1142
	errColumnDenied  = 1143
	errRoutineDenied = 1370
	errInsecure      = 3159 // the connection is not encrypted but has to be
	errTiDBDenied    = 8121
)

// IsInsecure says whether a server refused a connection that may have to be encrypted: MariaDB says only that access is
// denied.
func IsInsecure(err error) bool {
	var server *mysql.MySQLError
	return errors.As(err, &server) && (server.Number == errInsecure || server.Number == errUserDenied)
}

// deniedText is what the servers say of a right that is missing: on a table, on a column or on a routine, of which MariaDB names the
// database, too.
var deniedText = regexp.MustCompile("(?i)^(?:(select|insert|update|delete|execute|alter|create|drop|index|references|lock tables)[a-z, ]*) command denied to user .*? for (?:column [`'](\\w+)[`'] in )?(?:table|routine) [`'](?:[^`']+[`.]+)?(\\w+)[`']$")

// Denied returns the right that the account of a statement lacks, the table or routine and the column, as the server names them; is says
// whether the error names them.
func Denied(err error) (right, name, column string, is bool) {
	var server *mysql.MySQLError
	if !IsDenied(err) || !errors.As(err, &server) {
		return "", "", "", false
	}
	found := deniedText.FindStringSubmatch(server.Message)
	if found == nil {
		return "", "", "", false
	}
	right = strings.ToUpper(found[1])
	if strings.Contains(server.Message[:strings.Index(server.Message, " command denied")], " with locking clause") {
		right = "UPDATE" // or DELETE, with which MySQL lets a row be locked
	}
	return right, found[3], found[2], true
}

// IsDenied says whether a server refused a statement since the account lacks the right: to a table, a column or a procedure.
func IsDenied(err error) bool {
	var server *mysql.MySQLError
	return errors.As(err, &server) && slices.Contains([]uint16{errTableDenied, errColumnDenied, errRoutineDenied, errTiDBDenied}, server.Number)
}
