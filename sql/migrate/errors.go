package migrate

import (
	"errors"
	"slices"

	"github.com/go-sql-driver/mysql"
)

// Numbers of the servers' errors that matter here.
const (
	errCheckRead           = 1020
	errDatabaseDenied      = 1044
	errNoSuchColumn        = 1054
	errDuplicateColumn     = 1060
	errDuplicateIndex      = 1061
	errDuplicateKey        = 1062
	errTableDenied         = 1142
	errColumnDenied        = 1143
	errNoSuchTable         = 1146
	errUnknownVariable     = 1193
	errLockWaitTimeout     = 1205
	errDeadlock            = 1213
	errAccessDenied        = 1227
	errWrongValue          = 1231
	errWrongDate           = 1292
	errNoSuchName          = 1305
	errQueryInterrupted    = 1317
	errArguments           = 1318
	errViewAccessDenied    = 1345
	errInvalidView         = 1356
	errRoutineDenied       = 1370
	errNoDefiner           = 1449
	errQueryTimeout        = 3024
	errTransactionRollback = 3101
	errNoWait              = 3572
	errCheckMySQL          = 3819
	errCheckMariaDB        = 4025
	errTiDBDenied          = 8121
)

func refused(err error, numbers ...uint16) bool {
	var server *mysql.MySQLError
	return errors.As(err, &server) && slices.Contains(numbers, server.Number)
}

func noSuchTable(err error) bool { return refused(err, errNoSuchTable) }
