package worker

import (
	"errors"
)

// errPaused ends a sweep once everything is paused; it never leaves the package.
var errPaused = errors.New("everything is paused")

// Reasons that end a piece of a slot run; they never leave the package.
var (
	errLeaseLost = errors.New("lease lost")
	errStopped   = errors.New("stopped")

	// errRowsLocked is returned where rows are left behind that open transactions of others have locked.
	errRowsLocked = errors.New("rows are locked by others")
	// errCrowdedOut is returned where rows are left behind for whose job_exec too many wait already.
	errCrowdedOut = errors.New("too many rows wait for their job_exec")
)

// errEarly is returned when the database's clock says that the slot has not come.
var errEarly = errors.New("the slot has not come by the database's clock")

// errSetBack is returned by a run that found the clock before its slot, and left it to Work.
var errSetBack = errors.New("the database's clock was set back")

// errChanged is returned inside a commit when rows changed between the look and the write; the commit starts over.
var errChanged = errors.New("rows changed under the commit")

// errAtOnce is returned inside a commit when a statement that waits for no lock met one of somebody else's.
var errAtOnce = errors.New("somebody else has a row locked")

// errWriting is returned where a commit failed behind its fence: the server is there, and the lease is ours.
var errWriting = errors.New("writing what becomes of the rows")
