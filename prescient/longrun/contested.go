package longrun

import (
	"errors"
	"time"

	"prescient/prescient/internal/errno"
)

// errContested is that of a start for which somebody else has locked what it needs.
var errContested = errors.New("somebody else has locked the schedule of a long run, or one of its runs")

// contested says whether a start may be tried again once somebody else has ended a transaction.
func contested(err error) bool {
	return errors.Is(err, errContested) || errno.Is(err, errno.LockWaitTimeout, errno.NoWait)
}

// contestedFor is for how long the starts of some claims, all together, are tried again that somebody's locks are in the way of. What is
// contested for longer is put off for contestedWait: else a few such runs would keep an agent from all others.
const contestedFor, contestedWait = 250 * time.Millisecond, time.Second
