package prescient

import "errors"

// BeginAgain says whether an error, of a client or of a statement of the caller's own, means that the caller's transaction
// is to be rolled back and begun again, since others got in its way: it will most likely go through then. That is so for
//
//   - 1213, a deadlock, or in a Galera cluster a conflict with another node;
//   - 1205, a lock that was waited for in vain;
//   - 1020, of a MariaDB with innodb_snapshot_isolation (by default from 11.6 on): somebody has committed a change to a row
//     that a transaction under REPEATABLE READ wants to lock, after it had read its first;
//   - 1412, of a MySQL whose table was altered, by a migration or a reslot, after the transaction had read its first;
//   - 3101, a conflict in a replication group, and 9007, one in TiDB.
//
// With most of these the server has rolled back the whole transaction, not only the statement, and what is sent on that
// connection without a rollback is committed by itself. The error of a COMMIT counts as any other: nothing was committed.
// A connection that broke is not among them, since a COMMIT that it carried may have gone through.
func BeginAgain(err error) bool {
	return rolledBack(err) || isError(err, errLockWaitTimeout, errTableChanged)
}

// rolledBack says whether the server has rolled the whole transaction back with an error, for others got in its way.
func rolledBack(err error) bool {
	return isError(err, errDeadlock, errCheckRead, errTransactionRollback, errWriteConflict)
}

// Errors that a caller can tell apart with errors.Is. Each is returned wrapped, with the values that caused it.
var (
	// ErrInvalid is returned when an argument cannot be stored or configured as it is given; nothing was written.
	ErrInvalid = errors.New("invalid")
	// ErrBeyondHorizon is returned when a check is asked for later than the horizon guard allows.
	ErrBeyondHorizon = errors.New("beyond the horizon")
	// ErrPending is returned by an insert with OnPendingError when the job is pending already.
	ErrPending = errors.New("already pending")
	// ErrNotFound is returned when no such job is pending.
	ErrNotFound = errors.New("not pending")
	// ErrKeyCollision is returned when another entity, job_exec and tag have the same job_key: a true collision of
	// hashes. The row that is pending stays as it is.
	ErrKeyCollision = errors.New("job_key collision")
	// ErrResolution is returned when the resolution configured here is not the one in slot_config.
	ErrResolution = errors.New("resolution differs")
	// ErrConfigChanged is returned when slot_config was changed after this client or worker started; start it again.
	ErrConfigChanged = errors.New("slot_config has changed since the start")
	// ErrReslotting is returned when a change of the resolution is under way, or was interrupted: then Reslot has to be
	// run again, to the same resolution or another. Nothing runs meanwhile.
	ErrReslotting = errors.New("the resolution is being changed")
	// ErrLeased is returned by Reslot when workers did not give their leases back in time; nothing was changed.
	ErrLeased = errors.New("leases live")
	// ErrNotMigrated is returned when the tables are not there, or lack migrations that this program needs.
	ErrNotMigrated = errors.New("migrations are missing")
	// ErrNotAssigned is returned by Run when the slot that is now is not among those assigned to this worker.
	ErrNotAssigned = errors.New("slot is not assigned to this worker")
	// ErrTimeout is the error of a job_exec that did not answer within its timeout.
	ErrTimeout = errors.New("timed out")
	// ErrPanic is the error of a job_exec that panicked or called runtime.Goexit.
	ErrPanic = errors.New("panicked")
)

// Reasons that end a piece of a slot run; they never leave the package.
var (
	errLeaseLost = errors.New("lease lost")
	errStopped   = errors.New("stopped")

	// errRowsLocked is returned where rows are left behind that open transactions of others have locked.
	errRowsLocked = errors.New("rows are locked by others")
	// errCrowdedOut is returned where rows are left behind for whose job_exec too many wait already.
	errCrowdedOut = errors.New("too many rows wait for their job_exec")
)
