package reserved

import (
	"encoding/json"
	"testing"
	"time"

	"prescient/prescient"
	"prescient/slots"
)

func at(clock string) time.Time {
	t, err := time.Parse(time.RFC3339, "2026-11-20T"+clock+":00Z")
	if err != nil {
		panic(err)
	}
	return t
}

func runOfSchedule(missedAfter string, change func(j *prescient.FutureJob)) prescient.FutureJob {
	job := prescient.FutureJob{EntityName: prescient.ScheduleEntity, EntityKey: "42", JobExec: "unshipped", DueAt: at("13:05"),
		FirstCheckAt: at("13:15"), NextCheckAt: at("13:15"), Payload: json.RawMessage(`{"missed_after": "2026-11-20T` + missedAfter + `"}`)}
	if change != nil {
		change(&job)
	}
	return job
}

func TestARunThatIsMissedIsNotCalled(t *testing.T) {
	quarter, err := slots.NewGrid(15 * time.Minute)
	if err != nil {
		t.Fatal(err)
	}
	for _, c := range []struct {
		name   string
		job    prescient.FutureJob
		guards prescient.Guards
		now    time.Time
		cause  prescient.Cause
		not    bool
	}{
		{"nor are they missed", runOfSchedule("13:30:00Z", nil), prescient.Guards{Endless: true}, at("14:00"), prescient.CauseCalled, false},
		{"a run of a schedule in time", runOfSchedule("13:30:00Z", nil), prescient.Guards{}, at("13:30"), prescient.CauseCalled, false},
		{"a run that is missed", runOfSchedule("13:30:00Z", nil), prescient.Guards{}, at("13:30").Add(time.Microsecond), prescient.CauseMissed, true},
		{"in another zone", runOfSchedule("14:30:00+01:00", nil), prescient.Guards{}, at("13:31"), prescient.CauseMissed, true},
		{"one that was called before is a retry", runOfSchedule("13:30:00Z", func(j *prescient.FutureJob) { j.ErrorCount = 1 }), prescient.Guards{}, at("14:00"), prescient.CauseCalled, false},
		{"or a later check", runOfSchedule("13:30:00Z", func(j *prescient.FutureJob) { j.CheckCount = 1 }), prescient.Guards{}, at("14:00"), prescient.CauseCalled, false},
		{"missed comes before expired", runOfSchedule("13:30:00Z", func(j *prescient.FutureJob) { j.ExpiresAt = prescient.At(at("13:20")) }), prescient.Guards{}, at("14:00"), prescient.CauseMissed, true},
		{"expired where it is not missed", runOfSchedule("18:00:00Z", func(j *prescient.FutureJob) { j.ExpiresAt = prescient.At(at("13:20")) }), prescient.Guards{}, at("14:00"), prescient.CauseExpired, true},
		{"a payload of others", runOfSchedule("13:30:00Z", func(j *prescient.FutureJob) { j.EntityName = "order" }), prescient.Guards{}, at("14:00"), prescient.CauseCalled, false},
		{"no payload", runOfSchedule("", func(j *prescient.FutureJob) { j.Payload = nil }), prescient.Guards{}, at("14:00"), prescient.CauseCalled, false},
		{"that a reslot moved behind it", runOfSchedule("13:30:00Z", func(j *prescient.FutureJob) { j.FirstCheckAt = at("14:00") }), prescient.Guards{}, at("14:00"), prescient.CauseCalled, false},
		{"no time in it", runOfSchedule("", func(j *prescient.FutureJob) { j.Payload = json.RawMessage(`{"missed_after": "soon"}`) }), prescient.Guards{}, at("14:00"), prescient.CauseCalled, false},
		{"no object", runOfSchedule("", func(j *prescient.FutureJob) { j.Payload = json.RawMessage(`[1]`) }), prescient.Guards{}, at("14:00"), prescient.CauseCalled, false},
	} {
		t.Run(c.name, func(t *testing.T) {
			a, not := NotCalled(c.guards, c.job, c.now)
			if a.Cause != c.cause || not != c.not {
				t.Fatalf("cause %d, not called: %v; want %d, %v", a.Cause, not, c.cause, c.not)
			}
			if not && !MayLapse(c.guards, &c.job) {
				t.Error("and yet it is said that it never lapses")
			}
			if !not {
				return
			}
			v := prescient.Decide(quarter, c.guards, c.job, a, c.now)
			want, why := prescient.Expired, "not called: it expired at "+slots.Stamp(prescient.Expiry(c.job, c.guards))
			if c.cause == prescient.CauseMissed {
				want, why = prescient.Missed, "not called: it was to be called by 2026-11-20T13:30:00Z"
			}
			if v.Outcome != want || v.Reason != why || !v.Slot.IsZero() || v.CheckCount != c.job.CheckCount || v.ErrorCount != c.job.ErrorCount {
				t.Errorf("decided %+v; want %s: %s", v, want, why)
			}
		})
	}
}

// Nobody who lacks the room of schedules knows their job_exec.
func TestATimerThatNobodyRegisteredIsLookedAtInEachSlot(t *testing.T) {
	quarter, err := slots.NewGrid(15 * time.Minute)
	if err != nil {
		t.Fatal(err)
	}
	timer := runOfSchedule("", func(j *prescient.FutureJob) { j.JobExec, j.PutOffCount = TimerExec, 7 })
	run := runOfSchedule("", func(j *prescient.FutureJob) { j.Tag, j.PutOffCount = "1763643600", 2 })
	for _, c := range []struct {
		name   string
		job    prescient.FutureJob
		slot   string
		putOff int
	}{{"the timer of a schedule waits for the next slot each time", timer, "13:30", 8}, {"and its run for ever longer", run, "14:15", 3}} {
		v := prescient.Decide(quarter, prescient.DefaultGuards(), c.job, Unregistered(c.job), at("13:15").Add(2*time.Second))
		if !v.Slot.Equal(at(c.slot)) || v.PutOffCount != c.putOff || v.Outcome != "" || v.Reason == "" {
			t.Errorf("%s: %+v", c.name, v)
		}
	}
}

func TestTheJobExecOfARunSeesNoHeartbeat(t *testing.T) {
	for _, c := range []struct{ entity, payload, wantPayload, wantHeartbeat string }{
		{prescient.ScheduleEntity, `{"heartbeat":"nightly"}`, "", "nightly"},
		{prescient.ScheduleEntity, `{"heartbeat": "nightly", "missed_after": "2026-07-14T10:00:00Z"}`, `{"missed_after":"2026-07-14T10:00:00Z"}`, "nightly"},
		{prescient.ScheduleEntity, `{"missed_after": "2026-07-14T10:00:00Z"}`, `{"missed_after": "2026-07-14T10:00:00Z"}`, ""},
		{prescient.ScheduleEntity, `{"heartbeat": 1}`, `{"heartbeat": 1}`, ""},
		{prescient.ScheduleEntity, `["heartbeat"]`, `["heartbeat"]`, ""},
		{prescient.ScheduleEntity, "", "", ""},
		{"order", `{"heartbeat":"nightly"}`, `{"heartbeat":"nightly"}`, ""},
	} {
		got := InCall(prescient.FutureJob{EntityName: c.entity, Payload: json.RawMessage(c.payload)})
		if string(got.Payload) != c.wantPayload || got.Heartbeat != c.wantHeartbeat {
			t.Errorf("%s of %s: %q, %q", c.payload, c.entity, got.Payload, got.Heartbeat)
		}
	}
}
