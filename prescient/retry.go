package prescient

import (
	"context"
	"database/sql"
	"database/sql/driver"
	"errors"
	"net"
	"time"

	"github.com/cenkalti/backoff/v5"
	"github.com/go-sql-driver/mysql"
)

// errEarly is returned when the database's clock says that the slot has not come.
var errEarly = errors.New("the slot has not come by the database's clock")

// errSetBack is returned by a run that found the clock before its slot, and left it to Work.
var errSetBack = errors.New("the database's clock was set back")

// How servers say that their disk is full. Somebody makes room.
const (
	errDiskFull  = 1021
	errTableFull = 1114
)

// How servers say that they ended a connection or a statement: it was idle in a transaction, or an administrator did.
const (
	errQueryInterrupted = 1317
	errConnectionKilled = 1927 // MariaDB
	errIdledOut         = 4031 // MySQL
)

// passing says whether an error passes by itself: contention, a server that restarts or fails over, a connection that
// broke.
func passing(err error) bool {
	var network net.Error
	switch {
	case err == nil:
		return false
	case isError(err, errDiskFull, errTableFull, errTooManyConnections, errServerShutdown, errUnknownCommand, errLockWaitTimeout, errDeadlock,
		errCheckRead, errReadOnly, errAutoincrement, errReadOnlyMode, errNoWait, errTransactionRollback, errIdledOut, errConnectionKilled,
		errQueryInterrupted, errErrorDuringCommit, errResolveLock, errWriteConflict, errRunHook, errBeforeFailover, errOnFailover):
		return true
	case errors.Is(err, driver.ErrBadConn), errors.Is(err, mysql.ErrInvalidConn), errors.Is(err, sql.ErrConnDone),
		errors.As(err, &network), errors.Is(err, context.DeadlineExceeded):
		return true
	case errors.Is(err, errNotWritable):
		return true
	case errors.Is(err, sql.ErrTxDone):
		return true // the deadline ended the transaction a moment before its COMMIT
	}
	return false
}

// newBackOff waits from 50 ms to 3 s, growing and jittered.
func newBackOff() *backoff.ExponentialBackOff {
	b := backoff.NewExponentialBackOff()
	b.InitialInterval = 50 * time.Millisecond
	b.MaxInterval = 3 * time.Second
	return b
}

// statementTimeout bounds every statement, so that a server that hangs does not hang a worker.
func (w *Worker) statementTimeout() time.Duration { return statementTime(w.options.Lease) }

func statementTime(lease time.Duration) time.Duration {
	return min(max(lease/2, time.Second), 30*time.Second)
}

// query runs one statement that may be repeated at will, again and again while its error is a passing one, until the
// context ends or w.options.Patience is over.
func (w *Worker) query(ctx context.Context, do func(ctx context.Context) error) error {
	_, err := backoff.Retry(ctx, func() (struct{}, error) {
		one, cancel := context.WithTimeout(ctx, w.statementTimeout())
		defer cancel()
		err := do(one)
		if err != nil && !passing(err) {
			return struct{}{}, backoff.Permanent(err)
		}
		return struct{}{}, err
	}, backoff.WithBackOff(newBackOff()), backoff.WithMaxElapsedTime(w.options.Patience))
	return err
}

// exec is query for a statement that changes rows, which returns how many it hit. A repetition whose first try went
// through unseen hits what it finds then; the callers' conditions on token and batch_seq make that safe.
func (w *Worker) exec(ctx context.Context, statement string, args ...any) (n int, err error) {
	n, _, err = w.execCounted(ctx, statement, args...)
	return n, err
}

// execCounted is exec that also says how often the statement was tried.
func (w *Worker) execCounted(ctx context.Context, statement string, args ...any) (n, tries int, err error) {
	err = w.query(ctx, func(ctx context.Context) error {
		tries++
		n, err = affected(ctx, w.db, statement, args...)
		return err
	})
	return n, tries, err
}
