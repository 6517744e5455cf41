package prescient

import (
	"errors"
	"math"
	"strings"
	"testing"
	"time"
	"unicode/utf8"

	"prescient/slots"
)

// Whatever a job_exec answers, and whatever the row and the guards are: the job ends and says why, or it moves to a slot
// that is on the grid, above its own and above now, and not beyond the horizon unless that is the next open slot.
func FuzzEveryAnswerEndsTheJobOrMovesItToAnOpenSlot(f *testing.F) {
	f.Add(uint8(0), int64(0), int64(0), int64(0), uint8(0), uint32(0), uint32(0), uint32(0), int64(0), 0, 0)
	f.Add(uint8(9), int64(1763644500), int64(2e9), int64(3600), uint8(0), uint32(5), uint32(0), uint32(0), int64(0), 5, 5)
	f.Add(uint8(3), int64(1763644500), int64(2e9), int64(-1), uint8(1), uint32(1), uint32(40), uint32(0), int64(time.Hour), -1, 100)
	f.Add(uint8(0), int64(1763644500), int64(2e9), int64(-1), uint8(49), uint32(1), uint32(40), uint32(60), int64(time.Hour), -1, 100)
	f.Add(uint8(14), int64(1763596800), int64(86399e9), int64(86400*40), uint8(2), uint32(1), uint32(2), uint32(63), int64(1), -1, -1)
	f.Add(uint8(1), int64(1763596801), int64(1), int64(math.MaxInt64), uint8(3), uint32(1), uint32(2), uint32(63), int64(1), 2, 3)
	f.Add(uint8(3), int64(1763644500), int64(2e9), int64(math.MaxInt64), uint8(54), uint32(1), uint32(40), uint32(60), int64(time.Hour), -1, 100)
	f.Add(uint8(3), int64(1763644500), int64(2e9), int64(-1), uint8(6), uint32(1), uint32(1), uint32(0), int64(time.Hour), -1, 100)
	f.Add(uint8(3), int64(1763644500), int64(2e9), int64(1), uint8(102), uint32(1), uint32(1), uint32(0), int64(time.Hour), -1, 100)
	f.Add(uint8(1), int64(1763596801), int64(1), int64(math.MinInt64), uint8(4), uint32(1), uint32(2), uint32(63), int64(1), 2, 3)
	resolutions := []time.Duration{1, 2, 5, 15, 30, 60, 120, 300, 600, 900, 1200, 1800, 3600, 7200, 43200, 86400}
	f.Fuzz(func(t *testing.T, res uint8, own, late, next int64, kind uint8, checks, errs, putOffs uint32, horizon int64, maxChecks, maxErrors int) {
		grid, err := slots.NewGrid(resolutions[int(res)%len(resolutions)] * time.Second)
		if err != nil {
			t.Fatal(err)
		}
		const years = 250 * 366 * 86400 // either side of the epoch
		slot := grid.Floor(time.Unix(own%years, 0))
		now := slot.Add(time.Duration(max(late, -late, 0)))
		job := pendingAt(slot)
		job.CheckCount, job.ErrorCount, job.PutOffCount = int(checks), int(errs), int(putOffs)
		guards := Guards{Horizon: time.Duration(max(horizon, -horizon, 0)) % (MaxHorizon + 1), MaxChecks: max(maxChecks, None), MaxErrors: max(maxErrors, None)}.Or(DefaultGuards())
		if kind&16 != 0 {
			guards.RetryWithin = time.Duration(putOffs) * time.Second
		}
		guards.Endless = kind&32 != 0
		var a Answer
		switch kind % 8 {
		case 0:
			a = returned(time.Unix(slot.Unix()+next, next%1e9))
		case 1:
			a = failed("no")
		case 2:
			a = Answer{Cause: CauseUnregistered}
		case 3:
			a = Answer{Cause: CauseAbandoned}
		case 4:
			a = Answer{Cause: CauseKilled}
		case 5:
			a, job.LastError = Answer{Cause: CausePaused}, "before"
		case 6:
			if a = retried(time.Duration(next)); kind&64 != 0 {
				a.Err = Final(a.Err)
			}
		case 7:
			a, job.ExpiresAt = Answer{Cause: CauseExpired}, At(slot)
		}
		v := Decide(grid, guards, job, a, now)

		if v.Outcome != "" {
			if v.Outcome == Cancelled || v.Reason == "" && v.Outcome != Done {
				t.Fatalf("ended as %q without a reason: %+v", v.Outcome, v)
			}
			if guards.Endless && (a.Err != nil || a.Cause == CauseKilled) && !errors.Is(a.Err, ErrFinal) {
				t.Fatalf("an endless check ended by an error: %+v", v)
			}
			if !v.Slot.IsZero() || !v.DueAt.Equal(job.DueAt) {
				t.Fatalf("ended and moved: %+v", v)
			}
			return
		}
		open := slots.Later(grid.Next(slot), grid.Next(now))
		if !grid.On(v.Slot) || !v.Slot.After(slot) || !v.Slot.After(now) {
			t.Fatalf("moved to %s from %s, at %s", v.Slot, slot, now)
		}
		limit := now.Add(guards.Ahead())
		if a.Next != nil && guards.Endless {
			limit = LatestSlot
		}
		switch {
		case a.Next != nil: // the time is within the horizon, and its slot is that time rounded up
			if v.DueAt.After(limit) || v.Slot.After(slots.Later(grid.Ceil(limit), open)) || v.Slot.Before(v.DueAt) {
				t.Fatalf("moved to %s, due %s, beyond %s", v.Slot, v.DueAt, limit)
			}
		case a.Cause == CauseUnregistered:
			limit = now.Add(MaxPutOff)
			fallthrough
		default:
			if errors.Is(a.Err, ErrFinal) {
				t.Fatalf("a final error moved it: %+v", v)
			}
			in, stated := RetryIn(a.Err)
			if asked := now.Add(in); stated && v.Slot.Before(asked) && !grid.Next(v.Slot).After(limit) {
				t.Fatalf("moved to %s, before %s, which is within %s", v.Slot, asked, limit)
			}
			if guards.RetryWithin > 0 && (a.Err != nil || a.Cause == CauseKilled) && !stated {
				limit = now.Add(min(guards.RetryWithin, guards.Ahead()))
			}
			if v.Slot.After(limit) && !v.Slot.Equal(open) {
				t.Fatalf("moved to %s, beyond %s", v.Slot, limit)
			}
			if !v.DueAt.Equal(job.DueAt) || v.Reason == "" {
				t.Fatalf("moved without a returned time: %+v", v)
			}
		}
	})
}

func FuzzErrorText(f *testing.F) {
	f.Add("no")
	f.Add("\x00\xff")
	f.Add(strings.Repeat("😀\xff", 700))
	f.Fuzz(func(t *testing.T, text string) {
		got := ReasonText(errors.New(text))
		if !utf8.ValidString(got) || strings.ContainsRune(got, 0) || got == "" || utf8.RuneCountInString(got) > maxErrorText {
			t.Fatalf("%q became %q", text, got)
		}
	})
}
