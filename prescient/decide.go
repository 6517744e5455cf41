package prescient

import (
	"errors"
	"fmt"
	"math"
	"strings"
	"time"

	"prescient/slots"
)

// Cause says how a check comes to its verdict: its job_exec was called, or why it was not.
type Cause uint8

// The causes.
const (
	// CauseCalled: its job_exec was called, and answered.
	CauseCalled Cause = iota
	// CauseUnregistered: the worker has no such job_exec. Next may say when to look again; else that is at growing distances.
	CauseUnregistered
	// CausePaused: its job_exec is paused.
	CausePaused
	// CauseAbandoned: too many calls of its job_exec ignored their timeout and still run.
	CauseAbandoned
	// CauseKilled: it killed the worker before this one.
	CauseKilled
	// CauseUnreadable: its payload is longer than MaxRead.
	CauseUnreadable
	// CauseExpired: it had expired. See NotCalled.
	CauseExpired
	// CauseMissed: it was too late for its first call, which was to be made by Next.
	CauseMissed
	// CauseWaits: it is not its turn yet. Next says when to look again; nothing else of the row changes.
	CauseWaits
	// CauseEnds: it ends uncalled with the Outcome of the answer, and with its error for the reason.
	CauseEnds
	// CauseMoved: its rule was changed since the check was made. It is due at Next by the version RuleVersion, and not called before.
	CauseMoved
	// CauseContested: somebody else has locked what is needed to call it. It stays as it is, and is tried again: by the same slot run for a
	// while, then by a sweep.
	CauseContested
	// CauseKept: it cannot be ended, and it is time to try that again. See IsKept.
	CauseKept
	// CauseRefused: it was to end, and the server refuses that with the error of the answer. It is kept.
	CauseRefused
)

// Answer is what a job_exec answered: the next time to check or nil, or an error; or why it was not asked. What schedules and long runs want of
// their checks comes to Decide as an Answer, too, which knows neither.
type Answer struct {
	Next  *time.Time
	Err   error
	Cause Cause
	// Outcome is how it ends, with CauseEnds.
	Outcome Outcome
	// RuleVersion is that of the rule by which it is due, with CauseMoved.
	RuleVersion uint32
	// Began says, with CauseWaits, that its call began just now, for the first time, and goes on beside the slot run.
	Began bool
}

// Verdict is what becomes of a check: an end, or a move to a later slot.
type Verdict struct {
	// Outcome is how it ends; empty where it goes on.
	Outcome Outcome
	// Reason is the text of the error, or why it ended or was put off; empty where all went well.
	Reason string
	// Slot it moves to; zero where it ends.
	Slot time.Time
	// DueAt and the counts are as they are from then on.
	DueAt       time.Time
	CheckCount  int
	ErrorCount  int
	PutOffCount int
	// RuleVersion is that of its rule from then on, where its rule moved it; else 0.
	RuleVersion uint32
}

// Apply returns the check as it is after the verdict. One that ended keeps its times.
func (v Verdict) Apply(job FutureJob) FutureJob {
	if v.Outcome == "" {
		job.ExpiresAt = MovedExpiry(job, v.DueAt)
	}
	job.CheckCount, job.ErrorCount = v.CheckCount, v.ErrorCount
	if v.Outcome == "" {
		job.DueAt, job.NextCheckAt, job.PutOffCount, job.LastError = v.DueAt, v.Slot, v.PutOffCount, v.Reason
		if v.RuleVersion != 0 {
			job.RuleVersion = v.RuleVersion
		}
	}
	return job
}

// Decide applies the rules of a check to an answer, as a worker does. It is a pure function: now is the time when the answer
// came, by the database's clock. Zero guards mean their defaults.
func Decide(grid slots.Grid, g Guards, job FutureJob, a Answer, now time.Time) Verdict {
	g = g.Or(DefaultGuards())
	v := Verdict{DueAt: job.DueAt, CheckCount: job.CheckCount, ErrorCount: job.ErrorCount}
	open := openSlot(grid, job.NextCheckAt, now)
	switch {
	case a.Cause == CauseKilled:
		v.Reason = "killed its worker, running alone after its bucket had been taken over twice"
		if v.Outcome = Crashed; g.Endless {
			v.Outcome, v.Slot = "", g.retrySlot(grid, open, job.ErrorCount, now)
			v.ErrorCount = oneMore(v.ErrorCount)
		}
	case a.Cause == CauseUnreadable:
		v.Outcome, v.Reason = Failed, fmt.Sprintf("not called: its payload is longer than %d MB, which is not read", MaxRead>>20)
	case a.Cause == CauseExpired:
		v.Outcome, v.Reason = Expired, "not called: it expired at "+slots.Stamp(Expiry(job, g))
	case a.Cause == CauseMissed:
		v.Outcome, v.Reason = Missed, "not called: it was too late"
		if a.Next != nil {
			v.Reason = "not called: it was to be called by " + slots.Stamp(*a.Next)
		}
	case a.Cause == CauseEnds:
		if v.Outcome = a.Outcome; a.Err != nil {
			v.Reason = ReasonText(a.Err)
		}
	case a.Cause == CauseKept:
		v.Outcome, v.Reason = Failed, job.LastError
	case a.Cause == CauseRefused:
		return Kept(grid, job, a.Err, now)
	case a.Cause == CauseWaits, a.Cause == CauseContested:
		v.Reason, v.PutOffCount, v.Slot = job.LastError, job.PutOffCount, open
		if a.Next != nil {
			v.Slot = lookAgain(grid, *a.Next, open)
		}
	case a.Cause == CauseMoved && a.Next != nil:
		v.Reason, v.PutOffCount, v.RuleVersion = job.LastError, job.PutOffCount, a.RuleVersion
		v.DueAt, v.Slot = slots.RoundUp(*a.Next), lookAgain(grid, *a.Next, open)
	case a.Cause == CauseUnregistered:
		v.Reason = fmt.Sprintf("job_exec %q is not registered with the worker that serves the slot", job.JobExec)
		v.PutOffCount = oneMore(job.PutOffCount)
		if a.Next != nil {
			v.Slot = lookAgain(grid, *a.Next, open)
		} else {
			v.Slot = growing(grid, open, job.PutOffCount, now.Add(MaxPutOff))
		}
	case a.Cause == CausePaused:
		// Nothing is said about the row itself: its counts and its last error stay as they are.
		v.Reason, v.PutOffCount, v.Slot = job.LastError, job.PutOffCount, open
	case a.Cause == CauseAbandoned:
		v.Reason = abandonedError
		v.PutOffCount = oneMore(job.PutOffCount)
		v.Slot = open
	case a.Err != nil:
		v.ErrorCount = oneMore(v.ErrorCount)
		v.Reason = ReasonText(a.Err)
		switch {
		case errors.Is(a.Err, ErrFinal):
			v.Outcome = Failed
		case g.Endless || v.ErrorCount <= allowed(g.MaxErrors):
			v.Slot = g.retrySlot(grid, open, job.ErrorCount, now)
			if in, stated := RetryIn(a.Err); stated {
				v.Slot = g.statedSlot(grid, open, in, now)
			}
		case errors.Is(a.Err, ErrTimeout):
			v.Outcome = TimedOut
		default:
			v.Outcome = Failed
		}
	case a.Next == nil:
		v.Outcome, v.ErrorCount = Done, 0
	default:
		v.decideNext(grid, g, job, *a.Next, open, now)
	}
	return v
}

// abandonedError is the last_error of a check whose job_exec has too many calls that ignored their timeout.
const abandonedError = "put off: too many calls of this job_exec ignored their timeout and still run"

// IsAbandoned says whether a check was put off since too many calls of its job_exec ignored their timeout and still run.
func IsAbandoned(job FutureJob) bool { return job.PutOffCount > 0 && job.LastError == abandonedError }

// lookAgain is the slot in which a check is looked at again that was not called.
func lookAgain(grid slots.Grid, next, open time.Time) time.Time {
	return slots.Later(grid.Ceil(slots.Earlier(slots.RoundUp(next), grid.Floor(LatestSlot))), open)
}

// decideNext applies the guards to a returned time.
func (v *Verdict) decideNext(grid slots.Grid, g Guards, job FutureJob, next, open, now time.Time) {
	v.ErrorCount = 0
	due := slots.RoundUp(next)
	horizon := now.Add(g.Horizon)
	if g.Endless {
		horizon = grid.Floor(LatestSlot)
	}
	switch {
	case !due.After(job.NextCheckAt) && !g.Endless:
		v.Outcome = PastReturn
		v.Reason = fmt.Sprintf("returned %s, which is not after its slot %s", slots.Stamp(due), slots.Stamp(job.NextCheckAt))
	case due.After(horizon):
		v.Outcome = BeyondHorizon
		v.Reason = fmt.Sprintf("returned %s, which is beyond the horizon of %s (%s)", slots.Stamp(due), slots.Short(g.Horizon), slots.Stamp(horizon))
	case job.CheckCount >= allowed(g.MaxChecks) && !g.Endless:
		v.Outcome = MaxChecks
		v.Reason = fmt.Sprintf("returned %s after %d checks; %d are allowed", slots.Stamp(due), job.CheckCount, allowed(g.MaxChecks))
	default:
		v.DueAt = due
		v.CheckCount = oneMore(v.CheckCount)
		v.Slot = slots.Later(grid.Ceil(due), open)
	}
}

// MaxRead is how long a payload may be, in bytes, that a worker reads. Inserts are held to MaxPayload; a longer one is from
// before there was a CHECK.
const MaxRead = 16 << 20

// MaxPutOff bounds the growing distance of a job_exec that nobody has registered.
const MaxPutOff = 24 * time.Hour

// openSlot is the first slot that is above the row's own and above now: the earliest a row may move to.
func openSlot(grid slots.Grid, own, now time.Time) time.Time {
	return slots.Later(grid.Next(own), grid.Next(now))
}

// retrySlot is when a check is called again after an error that n others came before, in a row.
func (g Guards) retrySlot(grid slots.Grid, open time.Time, n int, now time.Time) time.Time {
	switch {
	case g.RetryWithin > 0:
		return growing(grid, open, n, now.Add(min(g.RetryWithin, g.Ahead())))
	case g.Endless:
		return open
	}
	return growing(grid, open, n, now.Add(g.Horizon))
}

// statedSlot is when a check is called again whose error says in how long.
func (g Guards) statedSlot(grid slots.Grid, open time.Time, in time.Duration, now time.Time) time.Time {
	last := grid.Floor(now.Add(g.Ahead()))
	at := slots.RoundUp(now.Add(min(max(in, 0), g.Ahead())))
	return slots.Later(slots.Earlier(grid.Ceil(at), last), open)
}

// oneMore counts up, to the highest number that the tables hold.
func oneMore(n int) int { return min(n+1, math.MaxUint32) }

// growing returns the slot 1, 2, 4, 8, … slots on, for n = 0, 1, 2, …; open is the first of them. It stays at or
// before the limit, unless that is before open.
func growing(grid slots.Grid, open time.Time, n int, limit time.Time) time.Time {
	last := grid.Floor(limit)
	if !last.After(open) {
		return open
	}
	most := grid.Ordinal(last) - grid.Ordinal(open)
	if n >= 62 || int64(1)<<n-1 > most {
		return last
	}
	return grid.Add(open, int64(1)<<n-1)
}

// maxErrorText is how many characters of an error the tables hold.
const maxErrorText = 1000

// ReasonText is err as the tables hold it: valid UTF-8 without NUL, cut to maxErrorText characters, never empty.
func ReasonText(err error) string {
	text := strings.ReplaceAll(strings.ToValidUTF8(err.Error(), "�"), "\x00", "�")
	if text == "" {
		return "an error without a text"
	}
	return Shorten(text, maxErrorText)
}

// Shorten is a text, or its beginning, of so many characters with the … that says so: texts for people are cut so, and errors for tables.
func Shorten(text string, most int) string {
	characters, last := 0, 0
	for at := range text {
		switch characters++; characters {
		case most:
			last = at
		case most + 1:
			return text[:last] + "…"
		}
	}
	return text
}
