package bucket

import (
	"errors"
)

// Reasons that end a piece of a slot run; they never leave the package.
var (
	ErrStopped = errors.New("stopped")

	// ErrRowsLocked is returned where rows are left behind that open transactions of others have locked.
	ErrRowsLocked = errors.New("rows are locked by others")
	// ErrCrowdedOut is returned where rows are left behind for whose job_exec too many wait already.
	ErrCrowdedOut = errors.New("too many rows wait for their job_exec")
)
