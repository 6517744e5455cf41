package schedule_test

import (
	"bytes"
	"context"
	"encoding/json"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/jmoiron/sqlx"

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

// What a job_exec gets as the payload of a run is the same whether the schedule names a heartbeat or not.
func TestAHeartbeatIsNotInThePayloadOfACall(t *testing.T) {
	eachServer(t, func(t *testing.T, r *testRig) {
		got := make(map[string][]string)
		note := func(job prescient.FutureJob) {
			r.mu.Lock()
			defer r.mu.Unlock()
			got[job.EntityKey] = append(got[job.EntityKey], string(job.Payload))
			if want := strings.HasPrefix(job.EntityKey, "told"); (schedule.HeartbeatOf(job) == "nightly") != want {
				t.Errorf("%s has the heartbeat %q", job.EntityKey, schedule.HeartbeatOf(job))
			}
		}
		r.registry.MustRegister("plain", func(_ context.Context, job prescient.FutureJob) (*time.Time, error) {
			note(job)
			return nil, nil
		}, prescient.Guards{})
		r.Must(r.registry.RegisterTxBatch("batch", func(_ context.Context, _ *sqlx.Tx, batch *prescient.Batch) error {
			for i, job := range batch.Jobs() {
				note(job)
				batch.Settle(i)
			}
			return nil
		}, prescient.Guards{}))
		for _, exec := range []string{"plain", "batch"} {
			for _, missed := range []schedule.CatchUp{schedule.Once, schedule.Skip} {
				one := schedule.Schedule{ID: "bare-" + exec + "-" + string(missed), Crontabs: []string{"*/15 * * * *"}, JobExec: exec, CatchUp: missed}
				r.create("10:00", one)
				one.ID, one.Heartbeat = "told"+strings.TrimPrefix(one.ID, "bare"), "nightly"
				r.create("10:00", one)
			}
		}
		r.run("10:15")
		if len(got) != 8 {
			t.Fatalf("%d schedules had runs: %q", len(got), got)
		}
		for id, payloads := range got {
			if told := "told" + id[4:]; len(payloads) != 1 || canonical(payloads[0]) != canonical(got[told][0]) {
				t.Errorf("%s got %q, and %s %q", id, payloads, told, got[told])
			}
		}
	})
}

// canonical is JSON without the spaces that servers put.
func canonical(text string) string {
	var b bytes.Buffer
	if json.Compact(&b, []byte(text)) != nil {
		return text
	}
	return b.String()
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
