package prescient

import (
	"errors"
	"strings"
	"testing"
	"time"

	"prescient/slots"
)

// expiring is a check that is due at 13:05, in the slot 13:15.
func expiring(expiresAt string) FutureJob {
	job := pendingAt(at("13:15"))
	if expiresAt != "" {
		job.ExpiresAt = At(at(expiresAt))
	}
	return job
}

func TestWhatExpiredIsNotCalled(t *testing.T) {
	hour := Guards{ExpiresAfter: time.Hour}
	due := at(dueTime)
	for _, c := range []struct {
		name   string
		job    FutureJob
		guards Guards
		now    time.Time
		cause  Cause
		not    bool
	}{
		{"no expiry", expiring(""), Guards{}, at("13:15").AddDate(100, 0, 0), CauseCalled, false},
		{"before its expiry", expiring("14:00"), Guards{}, at("14:00").Add(-time.Microsecond), CauseCalled, false},
		{"at its expiry", expiring("14:00"), Guards{}, at("14:00"), CauseExpired, true},
		{"after it", expiring("14:00"), Guards{}, at("15:00"), CauseExpired, true},
		{"a guard counts from due_at", expiring(""), hour, due.Add(time.Hour - time.Microsecond), CauseCalled, false},
		{"and is over then", expiring(""), hour, due.Add(time.Hour), CauseExpired, true},
		{"its own expiry comes before the guard's", expiring("18:00"), hour, at("17:59"), CauseCalled, false},
		{"also where it is sooner", expiring("13:20"), hour, at("13:20"), CauseExpired, true},
		{"endless checks have none by a guard", expiring(""), Guards{ExpiresAfter: time.Hour, Endless: true}, at("18:00"), CauseCalled, false},
		{"nor one of their own, which plain SQL can give", expiring("14:00"), Guards{Endless: true}, at("18:00"), CauseCalled, false},
	} {
		t.Run(c.name, func(t *testing.T) {
			cause, not := NotCalled(c.guards, c.job, c.now)
			if cause != c.cause || not != c.not {
				t.Fatalf("cause %d, not called: %v; want %d, %v", cause, not, c.cause, c.not)
			}
			if not && !MayLapse(c.guards, &c.job) {
				t.Error("and yet it is said that it never lapses")
			}
			if !not {
				return
			}
			v := Decide(quarter, c.guards, c.job, Answer{Cause: cause}, c.now)
			why := "not called: it expired at " + slots.Stamp(Expiry(c.job, c.guards))
			if v.Outcome != Expired || v.Reason != why || !v.Slot.IsZero() || v.CheckCount != c.job.CheckCount || v.ErrorCount != c.job.ErrorCount {
				t.Errorf("decided %+v; want %s: %s", v, Expired, why)
			}
		})
	}
}

func TestAnOrdinaryCheckNeverLapses(t *testing.T) {
	job := expiring("")
	if MayLapse(DefaultGuards(), &job) || MayLapse(Guards{ExpiresAfter: time.Hour, Endless: true}, &job) {
		t.Error("a check without an expiry is looked at")
	}
}

func TestAMoveTakesTheExpiryAlong(t *testing.T) {
	far := time.Date(9999, 12, 31, 0, 0, 0, 0, time.UTC)
	for _, c := range []struct {
		name              string
		expires, due, was time.Time
		want              time.Time
	}{
		{"as far as before", at("14:00"), at("18:00"), at("13:00"), at("19:00")},
		{"to the microsecond", at("14:00").Add(time.Microsecond), at("18:00"), at("13:00"), at("19:00").Add(time.Microsecond)},
		{"back too", at("14:00"), at("10:00"), at("13:00"), at("11:00")},
		{"one that had expired before it was due", at("12:00"), at("18:00"), at("13:00"), at("17:00")},
		{"it stays where due_at does", at("14:00"), at("13:00"), at("13:00"), at("14:00")},
		{"as late as a column holds", far, far.Add(-time.Hour), far.Add(-2 * time.Hour * 24), LatestSlot},
		{"as early", at("12:00"), EarliestDue, at("13:00"), EarliestDue},
		{"centuries later is never", far, at("18:00"), at("13:00"), far},
	} {
		job := expiring("")
		job.DueAt, job.ExpiresAt = c.was, At(c.expires)
		if got := MovedExpiry(job, c.due); !got.Equal(c.want) {
			t.Errorf("%s: %s; want %s", c.name, got, c.want)
		}
		if c.due.After(c.was) {
			moved := Verdict{DueAt: c.due, Slot: c.due}.Apply(job)
			if !moved.ExpiresAt.Equal(c.want) || !job.ExpiresAt.Equal(c.expires) {
				t.Errorf("%s: after the verdict %s, before it %s; want %s", c.name, moved.ExpiresAt, job.ExpiresAt, c.want)
			}
		}
	}
	if got := MovedExpiry(expiring(""), at("18:00")); got != nil {
		t.Errorf("without an expiry: %s", got)
	}
	ended := Verdict{Outcome: Done}.Apply(expiring("14:00"))
	if !ended.ExpiresAt.Equal(at("14:00")) {
		t.Errorf("an end moved the expiry to %s", ended.ExpiresAt)
	}
}

func TestANewCheckExpiresSoLongAfterItIsDue(t *testing.T) {
	job := NewJob{Entity: Entity{Name: "order", Key: "1"}, JobExec: "x", DueAt: at("13:05"), ExpiresAfter: time.Hour}
	pending, err := NewPending(quarter, Guards{}, job, at("13:00"))
	if err != nil || !pending.ExpiresAt.Equal(at("14:05")) {
		t.Errorf("%v, %v", pending.ExpiresAt, err)
	}
	job.Spread = time.Hour
	if pending, err = NewPending(quarter, Guards{}, job, at("13:00")); err != nil || pending.ExpiresAt.Sub(pending.DueAt) != time.Hour || pending.DueAt.Equal(at("13:05")) {
		t.Errorf("spread: due %s, expires %s, %v", pending.DueAt, pending.ExpiresAt, err)
	}
	job.Spread, job.ExpiresAfter = 0, 1
	if pending, err = NewPending(quarter, Guards{}, job, at("13:00")); err != nil || !pending.ExpiresAt.Equal(at("13:05").Add(time.Microsecond)) {
		t.Errorf("a nanosecond: %v, %v", pending.ExpiresAt, err)
	}
	job.ExpiresAfter = 0
	if pending, err = NewPending(quarter, Guards{}, job, at("13:00")); err != nil || pending.ExpiresAt != nil {
		t.Errorf("never: %v, %v", pending.ExpiresAt, err)
	}
	for _, wrong := range []time.Duration{-1, -time.Hour} {
		job.ExpiresAfter = wrong
		if err := job.Validate(); !errors.Is(err, ErrInvalid) || !strings.Contains(err.Error(), wrong.String()) {
			t.Errorf("%s: %v", wrong, err)
		}
	}
	if err := (Guards{ExpiresAfter: -1}).Validate(); !errors.Is(err, ErrInvalid) {
		t.Errorf("a guard: %v", err)
	}
	if at := ExpiresAt(time.Date(9900, 1, 1, 0, 0, 0, 0, time.UTC), 1<<63-1); !at.Equal(LatestSlot) {
		t.Errorf("beyond the calendar: %s", at)
	}
}

func TestAnEndlessCheckEndsByNoGuard(t *testing.T) {
	endless := Guards{MaxChecks: None, MaxErrors: None, Horizon: time.Hour, Endless: true}
	job := pendingAt(at("13:15"))
	job.CheckCount, job.ErrorCount = 99, 99
	v := Decide(quarter, endless, job, returned(at("14:00").AddDate(1, 0, 0)), at("13:15:02"))
	if v.Outcome != "" || !v.Slot.Equal(at("14:00").AddDate(1, 0, 0)) || v.CheckCount != 100 {
		t.Errorf("a year on: %+v", v)
	}
	v = Decide(quarter, endless, job, failed("no"), at("13:15:02"))
	if v.Outcome != "" || !v.Slot.Equal(at("13:30")) || v.ErrorCount != 100 || v.Reason != "no" {
		t.Errorf("an error: %+v", v)
	}
	v = Decide(quarter, endless, job, failed("no"), at("18:20"))
	if v.Outcome != "" || !v.Slot.Equal(at("18:30")) {
		t.Errorf("an error, caught up: %+v", v)
	}
	if v = Decide(quarter, endless, job, Answer{}, at("13:15:02")); v.Outcome != Done {
		t.Errorf("settled: %+v", v)
	}
	if v = Decide(quarter, endless, job, returned(time.Unix(1<<40, 0)), at("13:15:02")); v.Outcome != BeyondHorizon {
		t.Errorf("a time that no column holds: %+v", v)
	}
	new := NewJob{Entity: Entity{Name: "order", Key: "1"}, JobExec: "x", DueAt: at("13:05").AddDate(5, 0, 0)}
	if _, err := NewPending(quarter, endless, new, at("13:00")); err != nil {
		t.Errorf("an insert beyond the horizon: %v", err)
	}
	if merged := (Guards{}).Or(endless); !merged.Endless {
		t.Error("endless guards of a worker are lost")
	}
}
