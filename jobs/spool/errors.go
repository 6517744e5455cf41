package spool

import "errors"

// Errors that a caller can tell apart.
var (
	// ErrUnsafe is returned for a spool in which others may write, or that is on no local file system.
	ErrUnsafe = errors.New("not a safe spool")
	// ErrBusy is returned by Run where another process runs what is due.
	ErrBusy = errors.New("another process runs what is due")
	// ErrLeft is returned by Run where files or slots stay that cannot be executed. All others were.
	ErrLeft = errors.New("left as it is")
)
