package schedule_test

import (
	"bytes"
	"slices"
	"strings"
	"testing"
	"time"

	"prescient/prescient"
	"prescient/prescient/internal/rig"
	"prescient/prescient/schedule"
	"prescient/prescient/worker"
)

// withoutTimers are workers that know no timers: what runs, runs.
func (r *testRig) withoutTimers() *prescient.Registry {
	registry := prescient.NewRegistry()
	r.Must(registry.Register("digest", r.schedules.Func(r.Pool(time.Time{}), r.called), prescient.Guards{}))
	return registry
}

// slots are the slots of a quarter of an hour from one to another.
func slots(from, to string) (list []string) {
	for t := rig.At(from); !t.After(rig.At(to)); t = t.Add(15 * time.Minute) {
		list = append(list, t.Format("15:04"))
	}
	return list
}

// The run of the occurrence that a timer waits for is called all the same: the earliest that was missed is the one after it.
func TestOnceFiresTheEarliestMissedWhereOnlyTimersWereHeldUp(t *testing.T) {
	eachServer(t, func(t *testing.T, r *testRig) {
		one := schedule.Schedule{ID: "timers", Crontabs: []string{"*/15 * * * *"}, JobExec: "digest"}
		r.create("10:00", one)
		one.ID, one.JobExec = "both", "other"
		r.create("10:00", one)
		one.ID, one.JobExec, one.Topic = "event", "", "t"
		r.create("10:00", one)
		held := r.withoutTimers()
		for _, clock := range slots("10:15", "11:45") {
			r.RunAt(rig.At(clock).Add(time.Second), held, worker.Options{})
		}
		r.wantCalled(idsOf("timers", "10:15")...)
		// Each slot, and not further each time.
		if timer := r.timer("timers"); !timer.NextCheckAt.Equal(rig.At("12:00")) || timer.PutOffCount != 7 {
			t.Errorf("%+v", timer)
		}
		r.Must(r.registry.Register("other", r.schedules.Func(r.Pool(time.Time{}), r.called), prescient.Guards{}))
		r.run("12:00")
		r.run("12:15")
		r.run("12:30")
		r.run("12:45") // "other" was put off further each time
		r.run("13:00")
		want := idsOf("timers", slices.Concat([]string{"10:30"}, slots("11:45", "13:00"))...)
		want = append(want, idsOf("both", slices.Concat([]string{"10:15"}, slots("11:45", "13:00"))...)...)
		r.wantCalled(want...)
		if want := idsOf("event", slices.Concat([]string{"10:15"}, slots("11:30", "13:00"))...); !slices.Equal(r.events(), want) {
			t.Errorf("%q; want %q", r.events(), want)
		}
		r.Balanced()
	})
}

func TestACatchUpGoesOnSlotAfterSlot(t *testing.T) {
	eachServer(t, func(t *testing.T, r *testRig) {
		large := bytes.Repeat([]byte("\x00'\xff"), 2000)
		r.create("10:00", schedule.Schedule{ID: "events", Crontabs: []string{"*/15 * * * *"}, Topic: "t", CatchUp: schedule.All, Payload: large})
		r.create("10:00", schedule.Schedule{ID: "runs", Crontabs: []string{"*/15 * * * *"}, JobExec: "digest", CatchUp: schedule.All, Payload: large})
		r.schedules.Bound(10, 4*len(large))
		// 33 were missed, and three more a slot come to be so.
		most := 0
		r.sweep("18:10")
		for _, clock := range slots("18:15", "23:30") {
			before := len(r.events())
			r.run(clock)
			most = max(most, len(r.events())-before)
		}
		if most > 4 || most < 2 {
			t.Errorf("%d events in a slot", most)
		}
		if want := idsOf("events", slots("10:15", "23:30")...); !slices.Equal(r.events(), want) {
			t.Errorf("%d events; want %d: %q", len(r.events()), len(want), r.events())
		}
		if n := r.Count("SELECT COUNT(*) FROM p_event_outbox WHERE payload = ? AND topic = 't' AND event_key = 'events'", large); n != len(r.events()) {
			t.Errorf("%d have the payload", n)
		}
		r.run("23:45")
		r.wantCalled(idsOf("runs", slots("10:15", "23:45")...)...)
		if n := r.Count("SELECT COUNT(*) FROM p_schedule WHERE caught_up IS NULL AND passed_over IS NULL"); n != 2 {
			t.Error("a catch-up goes on")
		}
		r.Balanced()
	})
}

// Where the first events are too much for a call, each timer is called by itself.
func TestLargePayloadsAreSentByCallsOfTheirOwn(t *testing.T) {
	eachServer(t, func(t *testing.T, r *testRig) {
		large := make([]byte, 5000)
		for _, id := range []string{"a", "b", "c"} {
			r.create("10:00", schedule.Schedule{ID: id, Crontabs: []string{"30 * * * *"}, Topic: "t", Payload: large})
		}
		r.schedules.Bound(10, 2*len(large))
		r.run("10:30")
		if n := r.Count("SELECT COUNT(*) FROM p_event_outbox WHERE payload = ?", large); n != 3 {
			t.Errorf("%d events", n)
		}
		for _, id := range []string{"a", "b", "c"} {
			r.wantTimer(id, "11:30")
		}
	})
}

func TestAnEventThatExpiredIsCounted(t *testing.T) {
	eachServer(t, func(t *testing.T, r *testRig) {
		r.create("10:00", schedule.Schedule{ID: "a", Crontabs: []string{"30 * * * *"}, Topic: "t", ExpiresAfter: 10 * time.Minute})
		r.sweep("10:41")
		if one := r.get("a"); len(r.events()) != 0 || one.PassedOver != 1 {
			t.Errorf("%q, %+v", r.events(), one)
		}
	})
}

// A zone that was there when a schedule was made is not the schedule's fault.
func TestAWorkerWithoutAZoneDisablesNothing(t *testing.T) {
	eachServer(t, func(t *testing.T, r *testRig) {
		r.create("10:00", schedule.Schedule{ID: "a", Crontabs: []string{"30 * * * *"}, Topic: "t"})
		r.create("10:00", schedule.Schedule{ID: "good", Crontabs: []string{"30 * * * *"}, Topic: "t"})
		r.Exec("UPDATE p_schedule SET zone = 'Mars/Olympus' WHERE id = 'a'")
		r.run("10:30")
		if one := r.get("a"); !one.Enabled || one.DisabledReason != "" {
			t.Errorf("%+v", one)
		}
		if timer := r.timer("a"); timer == nil || timer.ErrorCount != 1 || !strings.Contains(timer.LastError, "Mars/Olympus") || !timer.NextCheckAt.Equal(rig.At("10:45")) {
			t.Errorf("%+v", timer)
		}
		r.wantTimer("good", "11:30")
		r.Exec("UPDATE p_schedule SET zone = 'UTC'")
		r.run("10:45")
		r.wantTimer("a", "11:30")
		if want := append(idsOf("good", "10:30"), idsOf("a", "10:30")...); !slices.Equal(r.events(), want) {
			t.Errorf("%q", r.events())
		}
	})
}

// A row whose job_key somebody else wrote stands in for one that has the same hash.
func TestARunWhoseKeyIsTakenIsNotLost(t *testing.T) {
	eachServer(t, func(t *testing.T, r *testRig) {
		r.Needs(t, rig.ColumnDefaults)
		r.create("10:00", schedule.Schedule{ID: "a", Crontabs: []string{"*/15 * * * *"}, JobExec: "digest"})
		e := prescient.Entity{Name: prescient.ScheduleEntity, Key: "a"}
		r.Exec(`INSERT INTO p_future_job (entity_name, entity_key, job_exec, tag, due_at, job_key) VALUES ('schedule', 'a', 'digest', '1', '2026-11-20 23:00:00', ?)`,
			rig.KeyBytes(prescient.KeyOf(e, "digest", unix("10:30"))))
		r.run("10:15")
		if timer := r.timer("a"); !timer.DueAt.Equal(rig.At("10:15")) || timer.ErrorCount != 1 || !strings.Contains(timer.LastError, "collision") {
			t.Errorf("%+v", timer)
		}
		r.Exec("DELETE FROM p_future_job WHERE tag = '1'")
		r.run("10:30")
		r.run("10:45")
		r.wantCalled(idsOf("a", "10:15", "10:30", "10:45")...)
		r.Balanced()
	})
}

// An app may write what it likes into the row of a schedule: the highest numbers there stop no timer, and no change, of another.
func TestTheHighestNumbersOfAScheduleHoldUpNoOther(t *testing.T) {
	eachServer(t, func(t *testing.T, r *testRig) {
		one := schedule.Schedule{ID: "full", Crontabs: []string{"*/15 * * * *"}, Topic: "t", CatchUp: schedule.Skip, Owner: rig.Order("1")}
		r.create("10:00", one)
		one.ID = "other"
		r.create("10:00", one)
		r.Exec("UPDATE p_schedule SET passed_over = 4294967295, version = 4294967295 WHERE id = 'full'")
		for _, clock := range slots("10:15", "11:45") {
			r.RunAt(rig.At(clock).Add(time.Second), r.withoutTimers(), worker.Options{})
		}
		r.run("12:00")
		r.run("12:15")
		for _, id := range []string{"full", "other"} {
			if timer := r.timer(id); !timer.NextCheckAt.Equal(rig.At("12:30")) {
				t.Errorf("%s: %+v", id, timer)
			}
		}
		if n := r.Count("SELECT COUNT(*) FROM p_schedule WHERE passed_over > 0"); n != 2 {
			t.Errorf("%d have passed over something; want both", n)
		}
		for _, id := range []string{"full", "other"} {
			r.Did(r.schedules.Pause(t.Context(), r.App, id))
		}
	})
}
