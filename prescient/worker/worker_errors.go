package worker

import (
	"errors"
)

// errPaused ends a sweep once everything is paused; it never leaves the package.
var errPaused = errors.New("everything is paused")

// errSetBack is returned by a run that found the clock before its slot, and left it to Work.
var errSetBack = errors.New("the database's clock was set back")
