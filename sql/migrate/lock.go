package migrate

import (
	"context"
	"database/sql"
	"errors"
	"fmt"

	text "prescient/sql"
)

// ErrLocked is returned when somebody else is migrating the same tables and did not finish in time.
var ErrLocked = errors.New("another migration is running")

// ErrPruning is returned when somebody else prunes the same tables.
var ErrPruning = errors.New("another prune is running")

// lockPatience is how long Lock waits for another that has the lock, in seconds.
const lockPatience = 60

// prunePatience is that of LockPrune.
const prunePatience = 5

// Lock keeps migrations, and all else that alters the tables, away until unlock is called. It takes a connection of
// the pool, which must not be closed for being idle as long. The error wraps ErrLocked where another holds it.
//
// The lock is a named one of the server, which goes with its connection. Where several nodes of a cluster take writes,
// such locks hold on one of them only; there a row is taken as well, as rowLock tells, and on a shard of Vitess in its place.
func (s Schema) Lock(ctx context.Context, db *sql.DB) (unlock func(), err error) {
	if db.Stats().MaxOpenConnections == 1 {
		return nil, errors.New("a migration needs a second connection beside that which holds its lock, but the pool may open only one")
	}
	conn, err := db.Conn(ctx)
	if err != nil {
		return nil, err
	}
	server, err := text.ServerOf(ctx, conn)
	if err == nil && server == text.VitessShard { // which takes no named lock there
		return s.lockRow(ctx, conn)
	}
	if err == nil {
		err = s.takeNamed(ctx, conn, ofMigrations, lockPatience, ErrLocked)
	}
	letGo := func() {}
	if err == nil {
		letGo, err = s.lockNodes(ctx, conn)
	}
	if err != nil {
		return nil, errors.Join(fmt.Errorf("locking the schema: %w", err), conn.Close())
	}
	return func() {
		letGo()
		// The lock goes with the connection if this fails.
		_, _ = conn.ExecContext(context.WithoutCancel(ctx), "DO RELEASE_LOCK("+lockName+")", ofMigrations, s.Prefix)
		_ = conn.Close()
	}, nil
}

// lockRow takes the lock that is a row alone.
func (s Schema) lockRow(ctx context.Context, conn *sql.Conn) (unlock func(), err error) {
	l := newRowLock(conn, s.lockTable(), migrating)
	if err := l.take(ctx); err != nil {
		return nil, errors.Join(fmt.Errorf("locking the schema: %w", err), conn.Close())
	}
	letGo := l.keep(ctx)
	return func() {
		letGo()
		_ = conn.Close()
	}, nil
}

// lockNodes takes the lock that holds on all nodes, where several take writes.
func (s Schema) lockNodes(ctx context.Context, conn *sql.Conn) (unlock func(), err error) {
	several, err := severalWriters(ctx, conn)
	if err != nil || !several {
		return func() {}, err
	}
	l := newRowLock(conn, s.lockTable(), migrating)
	if err := l.take(ctx); err != nil {
		return nil, err
	}
	return l.keep(ctx), nil
}

// LockPrune keeps those who prune the same tables away until unlock is called, and until conn is closed, which has the named lock. Where several
// nodes take writes, and on a shard of Vitess, it takes a second connection of the pool. The error wraps ErrPruning where another holds it.
func (s Schema) LockPrune(ctx context.Context, conn *sql.Conn, db *sql.DB) (unlock func(), err error) {
	server, err := text.ServerOf(ctx, conn)
	if err != nil {
		return nil, err
	}
	if server != text.VitessShard {
		if err := s.takeNamed(ctx, conn, ofPrunes, prunePatience, ErrPruning); err != nil {
			return nil, err
		}
		several, err := severalWriters(ctx, conn)
		if err != nil || !several {
			return func() {}, err
		}
	}
	if conn, err = db.Conn(ctx); err != nil {
		return nil, err
	}
	l := newRowLock(conn, s.lockTable(), pruning)
	if err := l.take(ctx); err != nil {
		return nil, errors.Join(err, conn.Close())
	}
	letGo := l.keep(ctx)
	return func() {
		letGo()
		_ = conn.Close()
	}, nil
}

// lockName is that of a lock of the tables with a prefix: names of locks are of the whole server.
const lockName = "CONCAT(?, LEFT(SHA2(CONCAT(DATABASE(), '/', ?), 256), 32))"

// The locks, by what lockName begins with.
const (
	ofMigrations = "prescient:"
	ofPrunes     = "prescient-prune:"
)

// takeNamed takes a named lock within so many seconds.
func (s Schema) takeNamed(ctx context.Context, conn *sql.Conn, of string, patience int, busy error) error {
	// In steps of a second: MySQL goes on waiting, and then has the lock for a moment, where the client gave up.
	var got sql.NullInt64
	for waited := 0; got.Int64 != 1; waited++ {
		if waited == patience {
			return fmt.Errorf("%w: waited %d s", busy, patience)
		}
		if err := conn.QueryRowContext(ctx, "SELECT GET_LOCK("+lockName+", 1)", of, s.Prefix).Scan(&got); err != nil {
			return err
		}
	}
	return nil
}

// lockTable is there only where several nodes of a cluster take writes.
func (s Schema) lockTable() string { return s.Prefix + "schema_lock" }

// severalWriters says whether the server is a node of a cluster in which other nodes take writes, too.
func severalWriters(ctx context.Context, conn *sql.Conn) (bool, error) {
	rows, err := conn.QueryContext(ctx, "SHOW GLOBAL VARIABLES WHERE (Variable_name = 'wsrep_on' AND Value = 'ON')"+
		" OR (Variable_name = 'group_replication_single_primary_mode' AND Value = 'OFF')")
	if err != nil {
		return false, fmt.Errorf("asking whether this is a cluster: %w", err)
	}
	defer rows.Close()
	several := rows.Next()
	return several, rows.Err()
}
