package prescient

import (
	"errors"
	"time"

	"prescient/slots"
)

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
	// ErrFinal marks the error of a job_exec that is not called again. See Final.
	ErrFinal = errors.New("not to be tried again")
)

// errUnsaid stands for an error that a job_exec meant to give, and left out.
var errUnsaid = errors.New("failed without an error")

// Final returns an error after which a check is not called again: it ends as failed, whatever its guards allow. It has the text of err, which it
// wraps, and says the same where it is wrapped itself. A BatchFunc that returns it ends all its rows; Batch.Fail ends one. After the timeout of a
// call it comes too late, as any answer does, and so does a Retry.
func Final(err error) error {
	if err == nil {
		err = errUnsaid
	}
	return final{err}
}

type final struct{ error }

func (f final) Unwrap() error        { return f.error }
func (f final) Is(target error) bool { return target == ErrFinal }

// Retry returns an error after which a check is called again so long after its answer, rounded up to a slot, in place of after 1, 2, 4, … slots. It
// counts as any error does. The next open slot is the earliest, also where in is zero or negative, and the last slot within the horizon is the
// latest; RetryWithin does not hold. It says the same where it is wrapped:
//
//	return nil, fmt.Errorf("the carrier is busy: %w", prescient.Retry(10*time.Minute))
//
// Of several the first counts, and none beside a Final.
func Retry(in time.Duration) error { return retry(in) }

type retry time.Duration

func (r retry) Error() string {
	if r <= 0 {
		return "try again in the next slot"
	}
	return "try again in " + slots.Short(max(time.Duration(r).Round(time.Second), time.Second))
}

// RetryIn is how long after an error a check is to be called again, where a Retry is in it.
func RetryIn(err error) (in time.Duration, ok bool) {
	var r retry
	ok = errors.As(err, &r)
	return time.Duration(r), ok
}
