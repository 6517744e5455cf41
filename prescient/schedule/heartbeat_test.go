package schedule_test

import (
	"encoding/json"
	"slices"
	"testing"
	"time"

	"prescient/prescient"
	"prescient/prescient/internal/rig"
	"prescient/prescient/schedule"
	"prescient/prescient/worker"
)

func TestARunSaysWhichHeartbeatIsToldOfIt(t *testing.T) {
	eachServer(t, func(t *testing.T, r *testRig) {
		heartbeats := func() (all []string) {
			for _, job := range r.Pending() {
				if job.JobExec == "digest" {
					all = append(all, schedule.HeartbeatOf(job))
				}
			}
			return slices.Compact(all)
		}
		wants := func(when string, want ...string) {
			t.Helper()
			if got := heartbeats(); !slices.Equal(got, want) {
				t.Errorf("%s: %q; want %q", when, got, want)
			}
		}
		one := schedule.Schedule{ID: "a", Crontabs: []string{"*/15 * * * *"}, JobExec: "digest", Heartbeat: "nightly"}
		r.create("10:00", one)
		wants("when it is created", "nightly")
		stored, err := r.schedules.Get(t.Context(), r.app("10:00"), "a")
		if r.Must(err); stored.Heartbeat != "nightly" {
			t.Errorf("%+v", stored.Schedule)
		}
		var told []string
		r.RunAt(rig.At("10:15:01"), r.registry, worker.Options{Observer: &worker.Observer{Answered: func(results []worker.Result) {
			for _, result := range results {
				if name := schedule.HeartbeatOf(result.Job); name != "" {
					told = append(told, name+" "+string(result.Outcome))
				}
			}
		}}})
		if !slices.Equal(told, []string{"nightly done"}) {
			t.Errorf("told %q", told)
		}
		wants("after a run", "nightly")
		one.Heartbeat, one.CatchUp = "weekly", schedule.Skip
		_, err = r.schedules.Update(t.Context(), r.app("10:16"), one)
		r.Must(err)
		wants("after an update", "weekly")
		// What is to be missed is, all the same.
		r.sweep("12:00")
		if ends := r.ends(); ends["digest missed"] != 1 {
			t.Errorf("%v", ends)
		}
		one.Heartbeat = ""
		_, err = r.schedules.Update(t.Context(), r.app("12:01"), one)
		r.Must(err)
		wants("without one", "")
		one.Heartbeat = "no name"
		_, err = r.schedules.Update(t.Context(), r.app("12:01"), one)
		rig.WantErr(t, "a heartbeat that is no name", err, prescient.ErrInvalid)
	})
}

func TestWhatIsNoRunHasNoHeartbeat(t *testing.T) {
	says := func(text string) prescient.FutureJob {
		return prescient.FutureJob{EntityName: prescient.ScheduleEntity, JobExec: "digest", Payload: json.RawMessage(text)}
	}
	other := says(`{"heartbeat": "nightly"}`)
	other.EntityName = "order"
	for _, job := range []prescient.FutureJob{says(""), says("null"), says("[1]"), says(`{"heartbeat": 1}`), says(`{"heartbeat": "a b"}`), says(`{"missed_after": "soon"}`), other} {
		if name := schedule.HeartbeatOf(job); name != "" {
			t.Errorf("%s of %s has the heartbeat %q", job.Payload, job.EntityName, name)
		}
	}
	if name := schedule.HeartbeatOf(says(`{"heartbeat": "nightly"}`)); name != "nightly" {
		t.Errorf("got %q", name)
	}
}

// The heartbeat of a schedule that sends events is told of once they are in the outbox, and not of what was passed over.
func TestAHeartbeatIsToldOfEvents(t *testing.T) {
	eachServer(t, func(t *testing.T, r *testRig) {
		var told []string
		r.schedules.OnSent(func(name string) {
			r.mu.Lock()
			defer r.mu.Unlock()
			if r.Count("SELECT COUNT(*) FROM p_event_outbox") == 0 {
				t.Error("told before the event is committed")
			}
			told = append(told, name)
		})
		r.create("10:00", schedule.Schedule{ID: "a", Crontabs: []string{"*/15 * * * *"}, Topic: "t", Heartbeat: "nightly"})
		r.create("10:00", schedule.Schedule{ID: "b", Crontabs: []string{"*/15 * * * *"}, Topic: "t"})
		r.create("10:00", schedule.Schedule{ID: "c", Crontabs: []string{"*/15 * * * *"}, Topic: "t", ExpiresAfter: time.Second, Heartbeat: "late"})
		r.run("10:15")
		if !slices.Equal(told, []string{"nightly"}) {
			t.Errorf("told %q", told)
		}
	})
}
