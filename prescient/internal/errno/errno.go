package errno

import (
	"context"
	"database/sql"
	"database/sql/driver"
	"errors"
	"net"
	"slices"

	"github.com/go-sql-driver/mysql"
)

// ErrNotWritable is returned for a host of a list that takes no writes: a replica, or a primary that was deposed.
var ErrNotWritable = errors.New("the server is read-only")

// ErrNoConnection is that of a statement which waited in vain for one of its pool's connections.
var ErrNoConnection = errors.New("no connection came free")

// Is says whether an error is a server's with one of some numbers.
func Is(err error, numbers ...uint16) bool {
	var server *mysql.MySQLError
	return errors.As(err, &server) && slices.Contains(numbers, server.Number)
}

// Passing says whether an error passes by itself: contention, a server that restarts or fails over, a connection that
// broke.
func Passing(err error) bool {
	var network net.Error
	switch {
	case err == nil:
		return false
	case says(err, QueryInterrupted, "ow count exceeded"): // of Vitess: the statement asks for more than it may, each time
		return false
	case Is(err, DiskFull, TableFull, TooManyConnections, TooManyConnectionsOfUser, ServerShutdown, UnknownCommand, LockWaitTimeout, Deadlock,
		CheckRead, ReadOnly, Autoincrement, ReadOnlyMode, NoWait, TransactionRollback, IdledOut, ConnectionKilled,
		QueryInterrupted, ErrorDuringCommit, ResolveLock, WriteConflict, RunHook, BeforeFailover, OnFailover, ServerGone, ServerLost), Away(err), Crowded(err):
		return true
	case errors.Is(err, driver.ErrBadConn), errors.Is(err, mysql.ErrInvalidConn), errors.Is(err, sql.ErrConnDone),
		errors.As(err, &network), errors.Is(err, context.DeadlineExceeded):
		return true
	case errors.Is(err, ErrNotWritable), errors.Is(err, ErrNoConnection):
		return true
	case errors.Is(err, sql.ErrTxDone):
		return true // the deadline ended the transaction a moment before its COMMIT
	}
	return false
}

// RolledBack says whether the server has rolled the whole transaction back with an error, for others got in its way, or it took too long.
func RolledBack(err error) bool {
	return Is(err, Deadlock, CheckRead, TransactionRollback, WriteConflict) || ended(err)
}

// KeepsRow says whether a server refuses to delete or change a row for what the tables say of it: a foreign key, a trigger, a CHECK.
func KeepsRow(err error) bool {
	return Is(err, ParentKept, ParentKeptUnnamed, NoParent, Signal, CheckMySQL, CheckMariaDB)
}

// RefusesRow says whether a server refuses to write a row for what stands in it: plain SQL may have written that with the CHECKs off, as MariaDB lets any
// session do.
func RefusesRow(err error) bool { return KeepsRow(err) || Is(err, WrongDate) }

// Denied says whether a server refused a statement since the account lacks a right: to a database, a table, a column, a procedure, or to
// what only some accounts may look at.
func Denied(err error) bool {
	return Is(err, DatabaseDenied, TableDenied, ColumnDenied, AccessDenied, RoutineDenied, TiDBDenied)
}

// BeginAgain says whether a transaction is to be rolled back and begun again, since others got in its way.
func BeginAgain(err error) bool {
	return RolledBack(err) || Is(err, LockWaitTimeout, TableChanged) || Crowded(err)
}

// Numbers of the servers' errors that matter here.
const (
	CheckRead                = 1020 // MariaDB with innodb_snapshot_isolation: a row was changed after the snapshot
	DiskFull                 = 1021
	TooManyConnections       = 1040
	DatabaseDenied           = 1044
	UserDenied               = 1045
	UnknownCommand           = 1047 // Galera: the node is not ready
	NoDatabase               = 1049
	ServerShutdown           = 1053
	NoSuchColumn             = 1054
	BadNull                  = 1048
	DuplicateKey             = 1062
	Syntax                   = 1064
	NoSuchConstraintMariaDB  = 1091
	Unknown                  = 1105 // Vitess: what has no number of its own
	AnswerTooLarge           = 1153 // Vitess: than its programs pass on to each other
	TableFull                = 1114 // the disk, too
	HostBlocked              = 1129
	HostDenied               = 1130
	TableDenied              = 1142
	ColumnDenied             = 1143
	NoSuchTable              = 1146
	ErrorDuringCommit        = 1180 // Galera: the node left the cluster under the COMMIT
	UnknownVariable          = 1193
	TooManyConnectionsOfUser = 1203 // Vitess: a vttablet's transactions are all in use, as by those of a vtgate that died
	LockWaitTimeout          = 1205 // on MariaDB also of a statement that waits for no lock
	Deadlock                 = 1213
	UserLimit                = 1226
	AccessDenied             = 1227
	ReadOnly                 = 1290
	NoSuchName               = 1305 // a procedure; or a savepoint: after a deadlock it is gone with its transaction
	WrongDate                = 1292 // such as a day that no calendar has, which a lax sql_mode took
	QueryInterrupted         = 1317 // by an administrator
	NoDefault                = 1364 // for a column that an INSERT does not name
	ParentKeptUnnamed        = 1217 // as ParentKept, for who may not see the child
	RoutineDenied            = 1370
	ParentKept               = 1451 // a foreign key of another table keeps a row from being deleted or changed
	NoParent                 = 1452
	Signal                   = 1644 // of a trigger
	TableChanged             = 1412 // a table was altered after the transaction's snapshot
	NoDefiner                = 1449
	Autoincrement            = 1467
	DuplicateCheckMariaDB    = 1826
	UserDeniedPassword       = 1698
	ReadOnlyMode             = 1836
	ConnectionKilled         = 1927 // MariaDB: it idled in a transaction, or an administrator did
	ServerGone               = 2006 // Vitess: of a server behind it, as the next; a driver's own have no number
	ServerLost               = 2013
	RunHook                  = 3100 // Group Replication: the server left the group under the transaction
	TransactionRollback      = 3101 // Group Replication: certification failed
	UserLocked               = 3118
	JSONText                 = 3140 // MySQL: a number that no double holds, half of a surrogate pair
	JSONDepth                = 3157 // MySQL: nested deeper than 100
	Insecure                 = 3159 // the connection is not encrypted but has to be
	NoWait                   = 3572
	BeforeFailover           = 3797 // Group Replication: what a primary before left was not applied in time
	OnFailover               = 3798
	CheckMySQL               = 3819
	NoSuchConstraintMySQL    = 3821
	DuplicateCheckMySQL      = 3822
	NotShown                 = 3854 // MySQL: a list has a statement of somebody, which is no text, and so is not shown at all
	CheckMariaDB             = 4025
	IdledOut                 = 4031 // MySQL
	TiDBDenied               = 8121
	ResolveLock              = 9004 // TiDB: somebody else's lock could not be looked through in time
	WriteConflict            = 9007 // TiDB
)
