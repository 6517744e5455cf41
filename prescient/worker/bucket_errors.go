package worker

import "errors"

// Reasons that end a piece of a slot run; they never leave the package.
var (
	errStopped = errors.New("stopped")

	// errRowsLocked is returned where rows are left behind that open transactions of others have locked.
	errRowsLocked = errors.New("rows are locked by others")
	// errCrowdedOut is returned where rows are left behind for whose job_exec too many wait already.
	errCrowdedOut = errors.New("too many rows wait for their job_exec")
)
