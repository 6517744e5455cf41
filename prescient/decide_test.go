package prescient

import (
	"errors"
	"fmt"
	"math"
	"strings"
	"testing"
	"time"

	"prescient/slots"
)

// quarter is the grid of the tests: 15 minutes. The row that they decide about waits for the slot 13:15, and its Answer
// came at 13:15:02.
var quarter = func() slots.Grid {
	grid, err := slots.NewGrid(15 * time.Minute)
	if err != nil {
		panic(err)
	}
	return grid
}()

const dueTime = "13:05:00.000001"

func pendingAt(slot time.Time) FutureJob {
	return FutureJob{EntityName: "order", EntityKey: "42", JobExec: "unshipped", DueAt: at(dueTime),
		FirstCheckAt: slot, NextCheckAt: slot}
}

func returned(t time.Time) Answer { return Answer{Next: &t} }

func failed(text string) Answer { return Answer{Err: errors.New(text)} }

func retried(in time.Duration) Answer { return Answer{Err: fmt.Errorf("busy: %w", Retry(in))} }

// The rules of a check, in the order in which a reader asks for them. Where nothing else is said the guards are the
// documented ones, the row was never checked, and a moved row keeps its due time and its counts.
func TestRulesOfACheck(t *testing.T) {
	const days = 24 * time.Hour
	horizon := at("13:15:02").Add(30 * days)
	for _, rule := range []struct {
		name    string
		job     func(*FutureJob)
		guards  Guards
		answer  Answer
		now     string // 13:15:02 by default
		outcome Outcome
		slot    string // of a move; or at, for a day other than the tests'
		at      time.Time
		due     time.Time // after a move; that of the row by default
		checks  int
		errors  int
		putOff  int
		reason  string // part of it
	}{
		// A nil answer.
		{name: "nil is done", answer: Answer{}, outcome: Done},
		{name: "nil after some checks is done", answer: Answer{}, job: func(j *FutureJob) { j.CheckCount = 3 }, outcome: Done, checks: 3},
		{name: "nil resets the errors", answer: Answer{}, job: func(j *FutureJob) { j.ErrorCount, j.LastError = 4, "no" }, outcome: Done},
		{name: "nil is done however many checks there were", answer: Answer{}, job: func(j *FutureJob) { j.CheckCount = 9 }, outcome: Done, checks: 9},

		// A returned time.
		{name: "a time is rounded up to its slot", answer: returned(at("14:01")), slot: "14:15", due: at("14:01"), checks: 1},
		{name: "a time on a slot stays there", answer: returned(at("14:15")), slot: "14:15", due: at("14:15"), checks: 1},
		{name: "a microsecond past a slot is the next", answer: returned(at("14:15:00.000001")), slot: "14:30", due: at("14:15:00.000001"), checks: 1},
		{name: "a nanosecond past a slot is a microsecond", answer: returned(at("14:15").Add(1)), slot: "14:30", due: at("14:15:00.000001"), checks: 1},
		{name: "fractions of a microsecond are rounded up", answer: returned(at("14:01:02.000003").Add(999)), slot: "14:15", due: at("14:01:02.000004"), checks: 1},
		{name: "a time in another zone is the same time", answer: returned(at("14:01").In(time.FixedZone("", -8*3600))), slot: "14:15", due: at("14:01"), checks: 1},
		{name: "a time tomorrow", answer: returned(at("14:01").Add(days)), at: at("14:15").Add(days), due: at("14:01").Add(days), checks: 1},
		{name: "a time resets the errors", answer: returned(at("14:01")), job: func(j *FutureJob) { j.ErrorCount = 5 }, slot: "14:15", due: at("14:01"), checks: 1},
		{name: "a time resets the put-offs", answer: returned(at("14:01")), job: func(j *FutureJob) { j.PutOffCount = 5 }, slot: "14:15", due: at("14:01"), checks: 1},

		// A time that is over.
		{name: "a time in this slot's quarter goes to the next", answer: returned(at("13:15:01")), slot: "13:30", due: at("13:15:01"), checks: 1},
		{name: "a time that is over, after an outage, goes to the next open slot", answer: returned(at("16:05")), now: "18:20", slot: "18:30", due: at("16:05"), checks: 1},
		{name: "a time whose slot is now goes to the next open slot", answer: returned(at("18:15")), now: "18:15", slot: "18:30", due: at("18:15"), checks: 1},
		{name: "a slot that has not begun is open", answer: returned(at("18:15")), now: "18:14:59.999999", slot: "18:15", due: at("18:15"), checks: 1},
		{name: "a microsecond after its own slot is not past", answer: returned(at("13:15:00.000001")), slot: "13:30", due: at("13:15:00.000001"), checks: 1},
		{name: "a nanosecond after its own slot is not past", answer: returned(at("13:15").Add(1)), slot: "13:30", due: at("13:15:00.000001"), checks: 1},

		// Past.
		{name: "its own slot is past", answer: returned(at("13:15")), outcome: PastReturn, reason: "2026-11-20T13:15:00Z"},
		{name: "before its own slot is past", answer: returned(at("13:14:59.999999")), outcome: PastReturn, reason: "returned 2026-11-20T13:14:59.999999Z, which is not after its slot 2026-11-20T13:15:00Z"},
		{name: "the time it was due is past", answer: returned(at(dueTime)), outcome: PastReturn},
		{name: "the zero time is past", answer: returned(time.Time{}), outcome: PastReturn, reason: "0001-01-01T00:00:00Z"},
		{name: "the year 1 is past", answer: returned(time.Date(1, 5, 1, 0, 0, 0, 1, time.UTC)), outcome: PastReturn},
		{name: "the Unix epoch is past", answer: returned(time.Unix(0, 0)), outcome: PastReturn},
		{name: "a past return ends it whatever the checks", answer: returned(at("13:00")), job: func(j *FutureJob) { j.CheckCount = 5 }, outcome: PastReturn, checks: 5},

		{name: "an endless one waits for the next open slot, with the time that is over", guards: Guards{Endless: true}, answer: returned(at(dueTime)), slot: "13:30", due: at(dueTime), checks: 1},
		{name: "an endless one that caught up, too", guards: Guards{Endless: true}, answer: returned(at("12:00")), now: "18:20", slot: "18:30", due: at("12:00"), checks: 1},

		// The horizon.
		{name: "exactly at the horizon is allowed", answer: returned(horizon), at: quarter.Ceil(horizon), due: horizon, checks: 1},
		{name: "a nanosecond beyond the horizon is not", answer: returned(horizon.Add(1)), outcome: BeyondHorizon, reason: "the horizon of 30d (2026-12-20T13:15:02Z)"},
		{name: "the year 9999 is beyond", answer: returned(time.Date(9999, 12, 31, 23, 59, 59, 999999999, time.UTC)), outcome: BeyondHorizon, reason: "10000-01-01"},
		{name: "the end of time is beyond or over", answer: returned(time.Unix(1<<62, 0)), outcome: BeyondHorizon},
		{name: "a horizon of its own", guards: Guards{Horizon: time.Hour}, answer: returned(at("14:15:03")), outcome: BeyondHorizon},
		{name: "within a horizon of its own", guards: Guards{Horizon: time.Hour}, answer: returned(at("14:15:02")), slot: "14:30", due: at("14:15:02"), checks: 1},
		{name: "a horizon shorter than a slot leaves the next one", guards: Guards{Horizon: time.Minute}, answer: returned(at("13:16")), slot: "13:30", due: at("13:16"), checks: 1},
		{name: "the horizon counts from now, not from the slot", now: "18:20", guards: Guards{Horizon: time.Hour}, answer: returned(at("19:20")), slot: "19:30", due: at("19:20"), checks: 1},
		{name: "the longest horizon", guards: Guards{Horizon: MaxHorizon}, answer: returned(day.Add(MaxHorizon)), at: day.Add(MaxHorizon), due: day.Add(MaxHorizon), checks: 1},

		// Check count: five returned times by default, the sixth ends it.
		{name: "the fifth time is allowed", answer: returned(at("14:01")), job: func(j *FutureJob) { j.CheckCount = 4 }, slot: "14:15", due: at("14:01"), checks: 5},
		{name: "the sixth is not", answer: returned(at("14:01")), job: func(j *FutureJob) { j.CheckCount = 5 }, outcome: MaxChecks, checks: 5, reason: "returned 2026-11-20T14:01:00Z after 5 checks; 5 are allowed"},
		{name: "nor is one more, after the guard was lowered", answer: returned(at("14:01")), job: func(j *FutureJob) { j.CheckCount = 7 }, guards: Guards{MaxChecks: 2}, outcome: MaxChecks, checks: 7},
		{name: "one check", guards: Guards{MaxChecks: 1}, answer: returned(at("14:01")), slot: "14:15", due: at("14:01"), checks: 1},
		{name: "no checks", guards: Guards{MaxChecks: None}, answer: returned(at("14:01")), outcome: MaxChecks, reason: "0 are allowed"},
		{name: "very many checks", guards: Guards{MaxChecks: math.MaxInt}, job: func(j *FutureJob) { j.CheckCount = math.MaxInt32 }, answer: returned(at("14:01")), slot: "14:15", due: at("14:01"), checks: math.MaxInt32 + 1},

		// Errors: five in a row are retried by default, after 1, 2, 4, 8 and 16 slots.
		{name: "the first error waits for the next slot", answer: failed("no"), slot: "13:30", errors: 1, reason: "no"},
		{name: "the second waits two slots", answer: failed("no"), job: func(j *FutureJob) { j.ErrorCount = 1 }, slot: "13:45", errors: 2, reason: "no"},
		{name: "the third waits four slots", answer: failed("no"), job: func(j *FutureJob) { j.ErrorCount = 2 }, slot: "14:15", errors: 3, reason: "no"},
		{name: "the fourth waits eight slots", answer: failed("no"), job: func(j *FutureJob) { j.ErrorCount = 3 }, slot: "15:15", errors: 4, reason: "no"},
		{name: "the fifth waits sixteen slots", answer: failed("no"), job: func(j *FutureJob) { j.ErrorCount = 4 }, slot: "17:15", errors: 5, reason: "no"},
		{name: "the sixth ends it", answer: failed("no"), job: func(j *FutureJob) { j.ErrorCount = 5 }, outcome: Failed, errors: 6, reason: "no"},
		{name: "an error leaves the check count", answer: failed("no"), job: func(j *FutureJob) { j.CheckCount = 5 }, slot: "13:30", errors: 1, checks: 5, reason: "no"},
		{name: "an error ends the put-offs", answer: failed("no"), job: func(j *FutureJob) { j.PutOffCount = 5 }, slot: "13:30", errors: 1, reason: "no"},
		{name: "an error in a run that caught up waits from now on", answer: failed("no"), now: "18:20", slot: "18:30", errors: 1, reason: "no"},
		{name: "so does the third", answer: failed("no"), now: "18:20", job: func(j *FutureJob) { j.ErrorCount = 2 }, slot: "19:15", errors: 3, reason: "no"},
		{name: "no errors", guards: Guards{MaxErrors: None}, answer: failed("no"), outcome: Failed, errors: 1, reason: "no"},
		{name: "one error", guards: Guards{MaxErrors: 1}, answer: failed("no"), job: func(j *FutureJob) { j.ErrorCount = 1 }, outcome: Failed, errors: 2, reason: "no"},
		{name: "a wait ends at the horizon", guards: Guards{Horizon: time.Hour}, answer: failed("no"), job: func(j *FutureJob) { j.ErrorCount = 4 }, slot: "14:15", errors: 5, reason: "no"},
		{name: "a horizon shorter than a slot leaves the next one to an error", guards: Guards{Horizon: time.Minute}, answer: failed("no"), job: func(j *FutureJob) { j.ErrorCount = 4 }, slot: "13:30", errors: 5, reason: "no"},
		{name: "the hundredth error waits until the horizon", guards: Guards{MaxErrors: math.MaxInt}, answer: failed("no"), job: func(j *FutureJob) { j.ErrorCount = 99 }, at: quarter.Floor(horizon), errors: 100, reason: "no"},
		{name: "so does the 62nd", guards: Guards{MaxErrors: math.MaxInt}, answer: failed("no"), job: func(j *FutureJob) { j.ErrorCount = 61 }, at: quarter.Floor(horizon), errors: 62, reason: "no"},
		{name: "a retry waits for a bound of its own at most", guards: Guards{RetryWithin: time.Hour}, answer: failed("no"), job: func(j *FutureJob) { j.ErrorCount = 4 }, slot: "14:15", errors: 5, reason: "no"},
		{name: "up to that it waits as others do", guards: Guards{RetryWithin: time.Hour}, answer: failed("no"), job: func(j *FutureJob) { j.ErrorCount = 1 }, slot: "13:45", errors: 2, reason: "no"},
		{name: "the bound counts from now, not from the slot", now: "18:20", guards: Guards{RetryWithin: time.Hour}, answer: failed("no"), job: func(j *FutureJob) { j.ErrorCount = 4 }, slot: "19:15", errors: 5, reason: "no"},
		{name: "a bound within a slot is the next slot", guards: Guards{RetryWithin: time.Minute}, answer: failed("no"), job: func(j *FutureJob) { j.ErrorCount = 4 }, slot: "13:30", errors: 5, reason: "no"},
		{name: "a bound leaves the number of errors", guards: Guards{RetryWithin: time.Minute}, answer: failed("no"), job: func(j *FutureJob) { j.ErrorCount = 5 }, outcome: Failed, errors: 6, reason: "no"},
		{name: "a bound leaves the horizon", guards: Guards{RetryWithin: 9 * time.Hour, Horizon: time.Hour}, answer: failed("no"), job: func(j *FutureJob) { j.ErrorCount = 4 }, slot: "14:15", errors: 5, reason: "no"},
		{name: "an endless check without a bound waits for the next slot", guards: Guards{Endless: true}, answer: failed("no"), job: func(j *FutureJob) { j.ErrorCount = 99 }, slot: "13:30", errors: 100, reason: "no"},
		{name: "with one it waits longer and longer", guards: Guards{Endless: true, RetryWithin: 3 * time.Hour}, answer: failed("no"), job: func(j *FutureJob) { j.ErrorCount = 3 }, slot: "15:15", errors: 4, reason: "no"},
		{name: "up to the bound, however often", guards: Guards{Endless: true, RetryWithin: 3 * time.Hour}, answer: failed("no"), job: func(j *FutureJob) { j.ErrorCount = 99 }, slot: "16:15", errors: 100, reason: "no"},
		{name: "whatever the horizon", guards: Guards{Endless: true, RetryWithin: 3 * time.Hour, Horizon: time.Hour}, answer: failed("no"), job: func(j *FutureJob) { j.ErrorCount = 99 }, slot: "16:15", errors: 100, reason: "no"},

		// Errors that say when to try again, in place of that growing wait.
		{name: "a retry is rounded up to its slot", answer: retried(time.Hour), slot: "14:30", errors: 1, reason: "busy: try again in 1h"},
		{name: "a retry on a slot stays there", answer: retried(59*time.Minute + 58*time.Second), slot: "14:15", errors: 1, reason: "busy: try again in 59m58s"},
		{name: "a nanosecond later it is the next", answer: retried(59*time.Minute + 58*time.Second + 1), slot: "14:30", errors: 1, reason: "busy"},
		{name: "so does the fifth in a row wait", answer: retried(time.Hour), job: func(j *FutureJob) { j.ErrorCount = 4 }, slot: "14:30", errors: 5, reason: "busy"},
		{name: "and the sixth ends it", answer: retried(time.Hour), job: func(j *FutureJob) { j.ErrorCount = 5 }, outcome: Failed, errors: 6, reason: "busy"},
		{name: "no errors, no retry", guards: Guards{MaxErrors: None}, answer: retried(time.Hour), outcome: Failed, errors: 1, reason: "busy"},
		{name: "a retry leaves the check count, and ends the put-offs", answer: retried(time.Hour), job: func(j *FutureJob) { j.CheckCount, j.PutOffCount = 5, 5 }, slot: "14:30", errors: 1, checks: 5, reason: "busy"},
		{name: "a retry counts from now, not from the slot", now: "18:20", answer: retried(time.Hour), slot: "19:30", errors: 1, reason: "busy"},
		{name: "a retry at once is in the next slot", answer: retried(0), slot: "13:30", errors: 1, reason: "try again in the next slot"},
		{name: "and so is one in the past", answer: retried(-time.Hour), slot: "13:30", errors: 1, reason: "try again in the next slot"},
		{name: "and one 292 years ago", answer: retried(math.MinInt64), slot: "13:30", errors: 1, reason: "try again in the next slot"},
		{name: "caught up, it is in the next open slot", now: "18:20", answer: retried(time.Nanosecond), slot: "18:30", errors: 1, reason: "try again in 1s"},
		{name: "a retry in 292 years is at the horizon", answer: retried(math.MaxInt64), at: quarter.Floor(horizon), errors: 1, reason: "try again in 2562047h47m16.85"},
		{name: "a nanosecond beyond the horizon, too", answer: retried(30*days + 1), at: quarter.Floor(horizon), errors: 1, reason: "try again in 30d"},
		{name: "a retry with a horizon of its own", guards: Guards{Horizon: time.Hour}, answer: retried(2 * time.Hour), slot: "14:15", errors: 1, reason: "busy"},
		{name: "a horizon shorter than a slot leaves the next one to a retry", guards: Guards{Horizon: time.Minute}, answer: retried(2 * time.Hour), slot: "13:30", errors: 1, reason: "busy"},
		{name: "a bound of retries is no bound of one that says when", guards: Guards{RetryWithin: time.Minute}, answer: retried(time.Hour), slot: "14:30", errors: 1, reason: "busy"},
		{name: "an endless check, too, waits as it says", guards: Guards{Endless: true}, answer: retried(time.Hour), job: func(j *FutureJob) { j.ErrorCount = 99 }, slot: "14:30", errors: 100, reason: "busy"},
		{name: "for ten years at most", guards: Guards{Endless: true, RetryWithin: time.Hour}, answer: retried(math.MaxInt64), at: quarter.Floor(at("13:15:02").Add(MaxHorizon)), errors: 1, reason: "busy"},
		{name: "a timeout that says when", answer: Answer{Err: fmt.Errorf("%w: %w", ErrTimeout, Retry(time.Hour))}, slot: "14:30", errors: 1, reason: "timed out: try again in 1h"},
		{name: "of two the first counts", answer: Answer{Err: errors.Join(Retry(time.Hour), Retry(2*time.Hour))}, slot: "14:30", errors: 1, reason: "try again in 1h\ntry again in 2h"},
		{name: "a retry however deep", answer: Answer{Err: fmt.Errorf("a: %w", errors.Join(errors.New("b"), fmt.Errorf("c: %w", Retry(time.Hour))))}, slot: "14:30", errors: 1, reason: "a: b\nc: try again in 1h"},
		{name: "a returned time beside a retry does not count", answer: Answer{Err: Retry(time.Hour), Next: At(at("20:00"))}, slot: "14:30", errors: 1, reason: "try again in 1h"},

		// Errors that are not tried again.
		{name: "a final error ends it at once", answer: Answer{Err: Final(errors.New("no such order"))}, outcome: Failed, errors: 1, reason: "no such order"},
		{name: "whatever is allowed", guards: Guards{MaxErrors: math.MaxInt}, job: func(j *FutureJob) { j.ErrorCount, j.CheckCount = 3, 2 }, answer: Answer{Err: Final(errors.New("no"))}, outcome: Failed, errors: 4, checks: 2, reason: "no"},
		{name: "and an endless one", guards: Guards{Endless: true}, answer: Answer{Err: Final(errors.New("no"))}, outcome: Failed, errors: 1, reason: "no"},
		{name: "wrapped", answer: Answer{Err: fmt.Errorf("a: %w", errors.Join(errors.New("b"), Final(errors.New("c"))))}, outcome: Failed, errors: 1, reason: "a: b\nc"},
		{name: "a final error without an error", answer: Answer{Err: Final(nil)}, outcome: Failed, errors: 1, reason: "failed without an error"},
		{name: "a final timeout is a failure", answer: Answer{Err: Final(fmt.Errorf("the carrier %w", ErrTimeout))}, outcome: Failed, errors: 1, reason: "the carrier timed out"},
		{name: "a retry that is final is none", answer: Answer{Err: Final(Retry(time.Hour))}, outcome: Failed, errors: 1, reason: "try again in 1h"},
		{name: "nor is one beside a final error", answer: Answer{Err: errors.Join(Retry(time.Hour), Final(errors.New("no")))}, outcome: Failed, errors: 1, reason: "try again in 1h\nno"},

		{name: "a timeout is an error", answer: Answer{Err: fmt.Errorf("%w after 30s", ErrTimeout)}, slot: "13:30", errors: 1, reason: "timed out after 30s"},
		{name: "timed_out where the last of the errors was a timeout", answer: Answer{Err: fmt.Errorf("%w after 1s: x", ErrTimeout)}, job: func(j *FutureJob) { j.ErrorCount, j.LastError = 5, "no" }, outcome: TimedOut, errors: 6, reason: "timed out after 1s: x"},
		{name: "failed where only those before were timeouts", answer: failed("no"), job: func(j *FutureJob) { j.ErrorCount, j.LastError = 5, "timed out" }, outcome: Failed, errors: 6, reason: "no"},
		{name: "a panic is an error", answer: Answer{Err: fmt.Errorf("%w: boo", ErrPanic)}, slot: "13:30", errors: 1, reason: "panicked: boo"},
		{name: "of an error and a time the error counts", answer: Answer{Err: errors.New("no"), Next: At(at("14:01"))}, slot: "13:30", errors: 1, reason: "no"},
		{name: "of an error and a past time, too", answer: Answer{Err: errors.New("no"), Next: At(at("10:00"))}, slot: "13:30", errors: 1, reason: "no"},

		// A job_exec that nobody registered: never ended.
		{name: "unknown waits for the next slot", answer: Answer{Cause: CauseUnregistered}, slot: "13:30", putOff: 1, reason: `job_exec "unshipped" is not registered`},
		{name: "then for two", answer: Answer{Cause: CauseUnregistered}, job: func(j *FutureJob) { j.PutOffCount = 1 }, slot: "13:45", putOff: 2, reason: "not registered"},
		{name: "then for four", answer: Answer{Cause: CauseUnregistered}, job: func(j *FutureJob) { j.PutOffCount = 2 }, slot: "14:15", putOff: 3, reason: "not registered"},
		{name: "for a day at most", answer: Answer{Cause: CauseUnregistered}, job: func(j *FutureJob) { j.PutOffCount = 99 }, at: at("13:15").Add(days), putOff: 100, reason: "not registered"},
		{name: "whatever the guards", guards: Guards{MaxChecks: None, MaxErrors: None, Horizon: time.Second}, answer: Answer{Cause: CauseUnregistered}, job: func(j *FutureJob) { j.PutOffCount = 3 }, slot: "15:15", putOff: 4, reason: "not registered"},
		{name: "but as the answer says", answer: Answer{Cause: CauseUnregistered, Next: At(at("13:15"))}, job: func(j *FutureJob) { j.PutOffCount = 7 }, slot: "13:30", putOff: 8, reason: "not registered"},
		{name: "and the counts are left", answer: Answer{Cause: CauseUnregistered}, job: func(j *FutureJob) { j.CheckCount, j.ErrorCount = 5, 5 }, slot: "13:30", putOff: 1, checks: 5, errors: 5, reason: "not registered"},

		// Not called for other reasons.
		{name: "put off waits for the next slot", answer: Answer{Cause: CauseAbandoned}, slot: "13:30", putOff: 1, reason: "put off"},
		{name: "every time", answer: Answer{Cause: CauseAbandoned}, job: func(j *FutureJob) { j.PutOffCount, j.CheckCount, j.ErrorCount = 70, 5, 5 }, slot: "13:30", putOff: 71, checks: 5, errors: 5, reason: "ignored their timeout"},
		{name: "paused waits for the next slot, otherwise as it was", answer: Answer{Cause: CausePaused}, job: func(j *FutureJob) { j.PutOffCount, j.CheckCount, j.ErrorCount, j.LastError = 7, 5, 3, "no" }, slot: "13:30", putOff: 7, checks: 5, errors: 3, reason: "no"},
		{name: "paused while it is caught up waits for the next open slot", answer: Answer{Cause: CausePaused}, now: "18:20", slot: "18:30"},
		{name: "a row that kills its worker alone ends", answer: Answer{Cause: CauseKilled}, job: func(j *FutureJob) { j.CheckCount, j.ErrorCount = 2, 3 }, outcome: Crashed, checks: 2, errors: 3, reason: "killed its worker"},
		{name: "an endless one that does is called again", answer: Answer{Cause: CauseKilled}, guards: Guards{Endless: true}, job: func(j *FutureJob) { j.CheckCount, j.ErrorCount = 2, 3 }, slot: "13:30", checks: 2, errors: 4, reason: "killed its worker"},
		{name: "later and later, where it has a bound", answer: Answer{Cause: CauseKilled}, guards: Guards{Endless: true, RetryWithin: time.Hour}, job: func(j *FutureJob) { j.ErrorCount = 1 }, slot: "13:45", errors: 2, reason: "killed its worker"},
	} {
		t.Run(rule.name, func(t *testing.T) {
			job := pendingAt(at("13:15"))
			if rule.job != nil {
				rule.job(&job)
			}
			now := at("13:15:02")
			if rule.now != "" {
				now = at(rule.now)
			}
			want := Verdict{Outcome: rule.outcome, Slot: rule.at, DueAt: rule.due, CheckCount: rule.checks, ErrorCount: rule.errors,
				PutOffCount: rule.putOff}
			if rule.slot != "" {
				want.Slot = at(rule.slot)
			}
			if want.DueAt.IsZero() {
				want.DueAt = at(dueTime)
			}
			got := Decide(quarter, rule.guards.Or(DefaultGuards()), job, rule.answer, now)
			if !strings.Contains(got.Reason, rule.reason) || (got.Reason == "") != (rule.reason == "" && (rule.outcome == "" || rule.outcome == Done)) {
				t.Errorf("reason: %q; want %q in it", got.Reason, rule.reason)
			}
			got.Reason = ""
			if got != want {
				t.Errorf("decided\n%+v; want\n%+v", got, want)
			}
		})
	}
}

// A check that never gets anywhere, over its whole life: the errors of a day, slot after slot.
func TestSixErrorsInARowAreSpreadOver31SlotsAndEndTheJob(t *testing.T) {
	job := pendingAt(at("13:15"))
	var waits []int64
	for range 5 {
		v := Decide(quarter, DefaultGuards(), job, failed("no"), job.NextCheckAt.Add(time.Second))
		if v.Outcome != "" {
			t.Fatalf("ended as %s after %d errors", v.Outcome, job.ErrorCount)
		}
		waits = append(waits, quarter.Ordinal(v.Slot)-quarter.Ordinal(job.NextCheckAt))
		job.NextCheckAt, job.ErrorCount = v.Slot, v.ErrorCount
	}
	if fmt.Sprint(waits) != "[1 2 4 8 16]" {
		t.Errorf("slots waited: %v; want 1 2 4 8 16", waits)
	}
	if v := Decide(quarter, DefaultGuards(), job, failed("no"), job.NextCheckAt); v.Outcome != Failed || v.ErrorCount != 6 {
		t.Errorf("the sixth: %+v; want failed with 6 errors", v)
	}
}

// Whatever the slots are, the distance between two calls grows up to the bound, and is never more than that or one slot.
func TestRetriesWithoutAnEndAreABoundOrOneSlotApart(t *testing.T) {
	for _, test := range []struct {
		resolution time.Duration
		waits      string // in seconds, of the first errors
	}{
		{time.Second, "[1 2 4 8 16 32 60 60]"},
		{2 * time.Second, "[2 4 8 16 32 60 60 60]"},
		{15 * time.Second, "[15 30 60 60 60 60 60 60]"},
		{45 * time.Second, "[45 45 45 45 45 45 45 45]"},
		{time.Minute, "[60 60 60 60 60 60 60 60]"},
		{15 * time.Minute, "[900 900 900 900 900 900 900 900]"},
	} {
		grid, err := slots.NewGrid(test.resolution)
		if err != nil {
			t.Fatal(err)
		}
		guards := Guards{Endless: true, RetryWithin: time.Minute}
		job := pendingAt(at("13:30"))
		var waits []float64
		for i := range 200 {
			called := job.NextCheckAt.Add(20 * time.Millisecond)
			v := Decide(grid, guards, job, failed("no"), called)
			if v.Outcome != "" || v.ErrorCount != i+1 || v.Slot.Sub(called) > max(time.Minute, test.resolution) {
				t.Fatalf("%s: error %d: %+v", test.resolution, i+1, v)
			}
			if len(waits) < 8 {
				waits = append(waits, v.Slot.Sub(job.NextCheckAt).Seconds())
			}
			job = v.Apply(job)
		}
		if got := fmt.Sprint(waits); got != test.waits {
			t.Errorf("%s: waited %s; want %s", test.resolution, got, test.waits)
		}
		if job.LastError != "no" || !job.DueAt.Equal(at(dueTime)) {
			t.Errorf("%s: after all of them it is %+v", test.resolution, job)
		}
	}
}

func TestErrorsAreStoredAsCleanTextOf1000Characters(t *testing.T) {
	for _, test := range []struct{ name, text, want string }{
		{"plain", "no such order", "no such order"},
		{"with quotes and lines", "it's \"no\"\n\\n\t", "it's \"no\"\n\\n\t"},
		{"NUL", "a\x00b", "a�b"},
		{"not UTF-8", "a\xff\xfeb", "a�b"},
		{"half a character", "ab\xe2\x82", "ab�"},
		{"1000 characters", strings.Repeat("x", 1000), strings.Repeat("x", 1000)},
		{"1001 characters", strings.Repeat("x", 1001), strings.Repeat("x", 999) + "…"},
		{"1000 long characters", strings.Repeat("😀", 1000), strings.Repeat("😀", 1000)},
		{"1001 long characters", strings.Repeat("😀", 1001), strings.Repeat("😀", 999) + "…"},
		{"a megabyte", strings.Repeat("é", 1<<19), strings.Repeat("é", 999) + "…"},
		{"a megabyte of garbage", strings.Repeat("\xff.", 1<<19), strings.Repeat("�.", 500)[:499*4+3] + "…"},
	} {
		t.Run(test.name, func(t *testing.T) {
			v := Decide(quarter, DefaultGuards(), pendingAt(at("13:15")), failed(test.text), at("13:15"))
			if v.Reason != test.want {
				t.Errorf("stored: %.60q, %d bytes; want %.60q, %d bytes", v.Reason, len(v.Reason), test.want, len(test.want))
			}
		})
	}
}

func TestAnErrorWithoutTextSaysSo(t *testing.T) {
	if v := Decide(quarter, DefaultGuards(), pendingAt(at("13:15")), failed(""), at("13:15")); v.Reason == "" {
		t.Error("an error without text left no reason")
	}
}

func TestATextIsCutBetweenCharactersAndSaysSo(t *testing.T) {
	for _, c := range []struct {
		text string
		most int
		want string
	}{
		{"", 3, ""}, {"öäü", 3, "öäü"}, {"öäü!", 3, "öä…"}, {"😀😀😀", 2, "😀…"}, {"ab", 1, "…"}, {"a\xff\xffb", 3, "a\xff…"},
	} {
		if got := Shorten(c.text, c.most); got != c.want {
			t.Errorf("%q in %d: %q; want %q", c.text, c.most, got, c.want)
		}
	}
}
