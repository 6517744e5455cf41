package prescient

import (
	"math"
	"time"

	"prescient/slots"
)

// Expiry is from when on a check is not called any more, by the guards of its job_exec: its own ExpiresAt, or their
// ExpiresAfter from its DueAt; zero for never.
func Expiry(job FutureJob, g Guards) time.Time {
	switch {
	case job.ExpiresAt != nil:
		return *job.ExpiresAt
	case g.ExpiresAfter > 0 && !g.Endless:
		return *ExpiresAt(job.DueAt, g.ExpiresAfter)
	}
	return time.Time{}
}

// MayLapse says whether NotCalled may ever say of a check that it is not to be called: of most it never does, and those need
// no look at the clock.
func MayLapse(g Guards, job *FutureJob) bool {
	return !g.Endless && (job.ExpiresAt != nil || g.ExpiresAfter > 0)
}

// NotCalled says whether a check is not to be called at a time, by the database's clock, and why: CauseExpired is for what has expired. It is
// looked at just before each call. It is a pure function.
func NotCalled(g Guards, job FutureJob, now time.Time) (Cause, bool) {
	if g.Endless { // whatever plain SQL has given the row
		return CauseCalled, false
	}
	if expiry := Expiry(job, g); !expiry.IsZero() && !now.Before(expiry) {
		return CauseExpired, true
	}
	return CauseCalled, false
}

// ExpiresAt is the expiry of a check that expires so long after it is due, as the tables hold it: in microseconds, LatestSlot at
// most; nil for 0.
func ExpiresAt(due time.Time, after time.Duration) *time.Time {
	if after == 0 {
		return nil
	}
	at := slots.RoundUp(due.Add(after))
	if at.After(LatestSlot) {
		at = LatestSlot
	}
	return &at
}

// MovedExpiry is the expiry that a check has once it is due at another time: as long after that as it was after DueAt; nil
// where it has none of its own. One that is centuries after DueAt stays.
func MovedExpiry(job FutureJob, due time.Time) *time.Time {
	if job.ExpiresAt == nil || due.Equal(job.DueAt) {
		return job.ExpiresAt
	}
	after := job.ExpiresAt.Sub(job.DueAt)
	if after == math.MaxInt64 || after == math.MinInt64 {
		return job.ExpiresAt
	}
	at := due.Add(after)
	if at.Before(EarliestDue) {
		at = EarliestDue
	} else if at.After(LatestSlot) {
		at = LatestSlot
	}
	return &at
}
