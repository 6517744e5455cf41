package longrun

import (
	"errors"
	"fmt"
	"time"
)

// Errors that a function meets.
var (
	// ErrLost is why the context of a call ends, and what Save returns, where the run is another agent's by now, or nobody's: its
	// lease was not renewed in time. Nothing of the call is committed.
	ErrLost = errors.New("the run is lost")
	// ErrHandOn is what Save returns while the agent stops: the checkpoint is kept, and another agent goes on from it. A function that
	// gets it returns it.
	ErrHandOn = errors.New("the agent stops: another goes on with the run")
	// ErrQuota is why the context ends of a run that had all the time that it may have.
	ErrQuota = errors.New("the quota is used up")
	// ErrDropped is why the context ends of a run whose check the app has cancelled or changed.
	ErrDropped = errors.New("the check was cancelled or changed")
	// ErrCheckpoint is returned by Save for a checkpoint that is too long.
	ErrCheckpoint = errors.New("checkpoint too long")
)

// Reasons why a check is not run.
var (
	errTooSoon    = errors.New("too soon after the run before it")
	errOverlapped = errors.New("the run before it is not over")
	errTooLate    = errors.New("its retry came when the next occurrence was due")
	errCrashed    = errors.New("its agents let it lapse, one after the other")
)

func quotaError(quota time.Duration) error { return fmt.Errorf("%w: %s", ErrQuota, quota) }
