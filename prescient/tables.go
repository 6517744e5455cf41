package prescient

import (
	"context"
	"database/sql"
	"errors"
	"fmt"
	"time"

	"github.com/go-sql-driver/mysql"

	"prescient/slots"
	text "prescient/sql"
)

// DB is what *sql.DB, *sql.Tx, *sql.Conn, *sqlx.DB and *sqlx.Tx have in common: the caller's handle, on which a client
// works so that what it does commits with the domain event. A handle of your own is taken for a transaction of yours unless it
// can lend a connection (Conn, as *sql.DB has it) or is one (Raw), and has neither Commit nor Rollback: only then does a client
// begin transactions of its own on it.
type DB interface {
	ExecContext(ctx context.Context, query string, args ...any) (sql.Result, error)
	QueryContext(ctx context.Context, query string, args ...any) (*sql.Rows, error)
}

// tables is one installation: its statements, its grid, and the version of slot_config that all of it was read at.
type tables struct {
	stmt    text.Statements
	server  text.Server
	prefix  string
	grid    slots.Grid
	version uint64
}

// openTables reads slot_config. A resolution of zero takes what is there; any other must be the same.
func openTables(ctx context.Context, db DB, prefix string, resolution time.Duration) (tables, error) {
	if err := text.CheckPrefix(prefix); err != nil {
		return tables{}, fmt.Errorf("%w: %w", ErrInvalid, err)
	}
	server, err := text.ServerOf(ctx, db)
	if err != nil {
		return tables{}, err
	}
	statements, err := text.LoadFor(server, prefix)
	if err != nil {
		return tables{}, fmt.Errorf("%w: %w", ErrInvalid, err)
	}
	t := tables{stmt: statements, server: server, prefix: prefix}
	var seconds, goesTo, schema int64
	err = queryRow(ctx, db, []any{&seconds, &t.version, &goesTo, &schema}, statements.Get("list/config"))
	if isError(err, errNoSuchColumn) {
		err = queryRow(ctx, db, []any{&seconds}, statements.Get("list/config_earlier"))
	}
	switch {
	case isError(err, errNoSuchTable), errors.Is(err, sql.ErrNoRows):
		return tables{}, fmt.Errorf("%w: %sslot_config is not there or empty: run the migrations first", ErrNotMigrated, prefix)
	case err != nil:
		return tables{}, fmt.Errorf("reading slot_config: %w", err)
	}
	stored := time.Duration(seconds) * time.Second
	if goesTo != 0 {
		return tables{}, unfinishedReslot(stored, time.Duration(goesTo)*time.Second)
	}
	if resolution != 0 && resolution != stored {
		return tables{}, fmt.Errorf("%w: configured is %s, but %sslot_config has %s", ErrResolution, resolution, prefix, stored)
	}
	if err := t.hasSchema(schema); err != nil {
		return tables{}, err
	}
	t.grid, err = slots.NewGrid(stored)
	return t, err
}

// versionKnown is the first schema version that slot_config names.
const versionKnown = 10

// hasSchema refuses tables that lack migrations; zero is a version from before slot_config named it. Tables that are
// ahead are taken: migrations only add.
func (t *tables) hasSchema(version int64) error {
	needed, err := text.Version()
	switch {
	case err != nil:
		return err
	case version >= needed:
		return nil
	}
	has := fmt.Sprint(version)
	if version == 0 {
		has = fmt.Sprintf("before %d", versionKnown)
	}
	return fmt.Errorf("%w: the schema version of %sslot_config is %s, but this program needs %d: run the migrations first",
		ErrNotMigrated, t.prefix, has, needed)
}

// sameVersion checks a version just read against the one at the start.
func (t *tables) sameVersion(version uint64) error {
	if version != t.version {
		return fmt.Errorf("%w: version %d, now %d: start again to take up the new settings", ErrConfigChanged, t.version, version)
	}
	return nil
}

// queryRow scans the one row of a query; sql.ErrNoRows where there is none.
func queryRow(ctx context.Context, db DB, into []any, query string, args ...any) error {
	rows, err := db.QueryContext(ctx, query, args...)
	if err != nil {
		return err
	}
	defer rows.Close()
	if !rows.Next() {
		return errors.Join(rows.Err(), orNoRows(rows.Err()))
	}
	if err := rows.Scan(into...); err != nil {
		return err
	}
	return rows.Close()
}

func orNoRows(err error) error {
	if err == nil {
		return sql.ErrNoRows
	}
	return nil
}

// affected runs a statement and returns how many rows it hit.
func affected(ctx context.Context, db DB, query string, args ...any) (int, error) {
	result, err := db.ExecContext(ctx, query, args...)
	if err != nil {
		return 0, err
	}
	n, err := result.RowsAffected()
	return int(n), err
}

// Numbers of the servers' errors that matter here.
const (
	errCheckRead           = 1020 // MariaDB with innodb_snapshot_isolation: a row was changed after the snapshot
	errTooManyConnections  = 1040
	errServerShutdown      = 1053
	errDuplicateKey        = 1062
	errNoSuchColumn        = 1054
	errNoSuchTable         = 1146
	errErrorDuringCommit   = 1180 // Galera: the node left the cluster under the COMMIT
	errUnknownVariable     = 1193
	errUnknownCommand      = 1047 // Galera: the node is not ready
	errLockWaitTimeout     = 1205
	errDeadlock            = 1213
	errReadOnly            = 1290
	errTableChanged        = 1412 // a table was altered after the transaction's snapshot
	errAutoincrement       = 1467
	errReadOnlyMode        = 1836
	errRunHook             = 3100 // Group Replication: the server left the group under the transaction
	errNoWait              = 3572
	errBeforeFailover      = 3797 // Group Replication: what a primary before left was not applied in time
	errOnFailover          = 3798
	errCheckMySQL          = 3819
	errCheckMariaDB        = 4025
	errResolveLock         = 9004 // TiDB: somebody else's lock could not be looked through in time
	errWriteConflict       = 9007 // TiDB
	errTransactionRollback = 3101 // Group Replication: certification failed
)

func isError(err error, numbers ...uint16) bool {
	var server *mysql.MySQLError
	if !errors.As(err, &server) {
		return false
	}
	for _, n := range numbers {
		if server.Number == n {
			return true
		}
	}
	return false
}
