package prescient

import "errors"

// Errors that a caller can tell apart with errors.Is. Each is returned wrapped, with the values that caused it.
var (
	// ErrInvalid is returned when an argument cannot be stored or configured as it is given; nothing was written.
	ErrInvalid = errors.New("invalid")
	// ErrBeyondHorizon is returned when a check is asked for later than the horizon guard allows.
	ErrBeyondHorizon = errors.New("beyond the horizon")
	// ErrPending is returned by an insert with OnPendingError when the check is pending already.
	ErrPending = errors.New("already pending")
	// ErrNotFound is returned when no such check is pending.
	ErrNotFound = errors.New("not pending")
	// ErrKeyCollision is returned when another entity, job_exec and tag have the same job_key: a true collision of
	// hashes. The row that is pending stays as it is.
	ErrKeyCollision = errors.New("job_key collision")
	// ErrResolution is returned when the resolution configured here is not the one in slot_config.
	ErrResolution = errors.New("resolution differs")
	// ErrConfigChanged is returned when slot_config was changed after this client or worker started; start it again.
	ErrConfigChanged = errors.New("slot_config has changed since the start")
	// ErrReslotting is returned while the resolution is being changed, or where that was interrupted: then Run of
	// package reslot has to be called again, with the same resolution or another. Nothing runs meanwhile.
	ErrReslotting = errors.New("the resolution is being changed")
	// ErrLeased is returned by Run of package reslot when workers did not give their leases back in time; nothing was changed.
	ErrLeased = errors.New("leases live")
	// ErrNotMigrated is returned when the tables are not there, or lack migrations that this program needs.
	ErrNotMigrated = errors.New("the tables are not ready")
	// ErrNotAssigned is returned by Run of a worker when the slot that is now is not among those assigned to this worker.
	ErrNotAssigned = errors.New("slot is not assigned to this worker")
	// ErrTimeout is the error of a job_exec that did not answer within its timeout.
	ErrTimeout = errors.New("timed out")
	// ErrPanic is the error of a job_exec that panicked or called runtime.Goexit.
	ErrPanic = errors.New("panicked")
)
