package prescient

import (
	"errors"
	"fmt"
	"math"
	"strings"
	"time"

	"prescient/slots"
)

// Outcome is how a job ended; job_history.outcome holds it.
type Outcome string

// The outcomes.
const (
	// Done: the job_exec answered nil.
	Done Outcome = "done"
	// Cancelled: the app cancelled it.
	Cancelled Outcome = "cancelled"
	// MaxChecks: it returned one time more than the max_checks guard allows.
	MaxChecks Outcome = "max_checks"
	// PastReturn: it returned a time that is not after its own slot.
	PastReturn Outcome = "past_return"
	// BeyondHorizon: it returned a time beyond the horizon guard.
	BeyondHorizon Outcome = "beyond_horizon"
	// Failed: one error in a row more than the max_errors guard allows.
	Failed Outcome = "failed"
	// TimedOut: as Failed, and the last of the errors was a timeout.
	TimedOut Outcome = "timed_out"
	// Crashed: it killed its worker, alone, after its bucket had been taken over twice.
	Crashed Outcome = "crashed"
)

// outcomes lists every outcome in the order of the column.
var outcomes = []Outcome{Done, Cancelled, MaxChecks, PastReturn, BeyondHorizon, Failed, TimedOut, Crashed}

// answerKind says how a row came to its answer.
type answerKind uint8

const (
	called     answerKind = iota // its job_exec was called
	unknown                      // no such job_exec is registered here
	paused                       // its job_exec is paused: not called
	abandoned                    // too many calls of its job_exec were abandoned: not called
	killed                       // it killed the worker before this one
	unreadable                   // its payload is too long to be read: not called
	notStarted                   // the worker stops, or lost the lease: the row stays as it is
	again                        // its transaction came to nothing: it is called again, by itself
	committed                    // its transaction has committed what became of it
	dropped                      // its transaction found that the app had changed it
)

// answer is what came of one row in a slot run.
type answer struct {
	kind    answerKind
	next    *time.Time
	err     error
	started time.Time     // by the database's clock
	ended   time.Time     // the same
	ran     time.Duration // elapsed
	verdict *verdict      // of a committed one
	wait    time.Duration // before it is called again
	locked  bool          // it was not called, since somebody else has the row locked
}

// verdict is what becomes of the row: an end, or a move to a later slot.
type verdict struct {
	outcome     Outcome // empty for a move
	reason      string  // error text of the end, or the last_error of the moved row
	slot        time.Time
	dueAt       time.Time
	checkCount  int
	errorCount  int
	putOffCount int
}

// decide applies the rules of a check to an answer. It is pure: now is the database's time when the answer came.
func decide(grid slots.Grid, g Guards, job FutureJob, a answer, now time.Time) verdict {
	v := verdict{dueAt: job.DueAt, checkCount: job.CheckCount, errorCount: job.ErrorCount}
	open := openSlot(grid, job.NextCheckAt, now)
	switch {
	case a.kind == killed:
		v.outcome, v.reason = Crashed, "killed its worker, running alone after its bucket had been taken over twice"
	case a.kind == unreadable:
		v.outcome, v.reason = Failed, fmt.Sprintf("not called: its payload is longer than %d MB, which is not read", maxRead>>20)
	case a.kind == unknown:
		v.reason = fmt.Sprintf("job_exec %q is not registered with the worker that serves the slot", job.JobExec)
		v.putOffCount = job.PutOffCount + 1
		v.slot = growing(grid, open, job.PutOffCount, now.Add(maxPutOff))
	case a.kind == paused:
		// Nothing is said about the row itself: its counts and its last error stay as they are.
		v.reason, v.putOffCount, v.slot = job.LastError, job.PutOffCount, open
	case a.kind == abandoned:
		v.reason = "put off: too many calls of this job_exec ignored their timeout and still run"
		v.putOffCount = job.PutOffCount + 1
		v.slot = open
	case a.err != nil:
		v.errorCount++
		v.reason = errorText(a.err)
		switch {
		case v.errorCount <= allowed(g.MaxErrors):
			v.slot = growing(grid, open, job.ErrorCount, now.Add(g.Horizon))
		case errors.Is(a.err, ErrTimeout):
			v.outcome = TimedOut
		default:
			v.outcome = Failed
		}
	case a.next == nil:
		v.outcome, v.errorCount = Done, 0
	default:
		v.decideNext(grid, g, job, *a.next, open, now)
	}
	return v
}

// withoutPayload is what becomes of a row that the server refuses to write as it is: it ends, without payload and last error.
// One that was to move has failed.
func withoutPayload(v verdict, refused error) verdict {
	why := "history lacks its payload and last error, which the server refused"
	if v.outcome == "" {
		v.outcome, why = Failed, "it could not be moved to "+stamp(v.slot)
	}
	if v.reason != "" {
		why = v.reason + "; " + why
	}
	v.reason = errorText(fmt.Errorf("%s: %w", why, refused))
	return v
}

// decideNext applies the guards to a returned time.
func (v *verdict) decideNext(grid slots.Grid, g Guards, job FutureJob, next, open, now time.Time) {
	v.errorCount = 0
	due := roundUp(next)
	horizon := now.Add(g.Horizon)
	switch {
	case !due.After(job.NextCheckAt):
		v.outcome = PastReturn
		v.reason = fmt.Sprintf("returned %s, which is not after its slot %s", stamp(due), stamp(job.NextCheckAt))
	case due.After(horizon):
		v.outcome = BeyondHorizon
		v.reason = fmt.Sprintf("returned %s, which is beyond the horizon of %s (%s)", stamp(due), g.Horizon, stamp(horizon))
	case job.CheckCount >= allowed(g.MaxChecks):
		v.outcome = MaxChecks
		v.reason = fmt.Sprintf("returned %s after %d checks; %d are allowed", stamp(due), job.CheckCount, allowed(g.MaxChecks))
	default:
		v.dueAt = due
		v.checkCount++
		v.slot = later(grid.Ceil(due), open)
	}
}

// maxPutOff bounds the growing distance of a job_exec that nobody has registered.
const maxPutOff = 24 * time.Hour

// openSlot is the first slot that is above the row's own and above now: the earliest a row may move to.
func openSlot(grid slots.Grid, own, now time.Time) time.Time {
	return later(grid.Next(own), grid.Next(now))
}

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

func later(a, b time.Time) time.Time {
	if a.After(b) {
		return a
	}
	return b
}

// roundUp is t in UTC, rounded up to the microsecond that a DATETIME(6) holds.
func roundUp(t time.Time) time.Time {
	if rest := t.Nanosecond() % 1000; rest != 0 {
		t = t.Add(time.Duration(1000 - rest))
	}
	return t.UTC().Round(0)
}

func stamp(t time.Time) string { return t.UTC().Format(time.RFC3339Nano) }

// maxErrorText is how many characters of an error the tables hold.
const maxErrorText = 1000

// errorText is err as the tables hold it: valid UTF-8 without NUL, cut to maxErrorText characters, never empty.
func errorText(err error) string {
	text := strings.ReplaceAll(strings.ToValidUTF8(err.Error(), "�"), "\x00", "�")
	if text == "" {
		return "an error without a text"
	}
	characters, short := 0, 0
	for i := range text {
		switch characters++; characters {
		case maxErrorText:
			short = i
		case maxErrorText + 1:
			return text[:short] + "…"
		}
	}
	return text
}

// millis is a duration as the tables hold it: whole milliseconds, rounded, never negative, within INT UNSIGNED.
func millis(d time.Duration) int64 {
	return min(max(d.Round(time.Millisecond).Milliseconds(), 0), math.MaxUint32)
}
