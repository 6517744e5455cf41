package acceptance

import (
	"fmt"
	"strings"
	"testing"
	"time"

	"prescient/prescient"
	"prescient/prescient/longrun"
	"prescient/prescient/schedule"
	"prescient/prescient/steps"
)

// What the client takes at its bounds, the tables take, too.
func TestTheTablesTakeWhatTheClientTakesAtItsBounds(t *testing.T) {
	besideOthers(t, func(t *testing.T, r *testRig) {
		const longest = 3660 * 24 * time.Hour
		db := r.As("app", time.Time{})
		whole := schedule.Schedule{ID: strings.Repeat("🚢", prescient.MaxKeyLen), Crontabs: []string{"0 0 1 1 *"}, Zone: "Europe/Berlin", Payload: make([]byte, schedule.MaxPayload),
			JobExec: strings.Repeat("x", prescient.MaxNameLen), Owner: prescient.Entity{Name: strings.Repeat("o", prescient.MaxNameLen), Key: strings.Repeat("ß", prescient.MaxKeyLen)},
			CatchUp: schedule.All, CatchUpWithin: longest, ExpiresAfter: longest, Jitter: longest, MayCoalesce: true, Heartbeat: strings.Repeat("h", prescient.MaxNameLen)}
		long, event, none := whole, whole, whole
		long.ID, long.Long, long.Overlap, long.Tolerance, long.Quota, long.Pool = "long", true, longrun.Queue, longest, longest, strings.Repeat("p", prescient.MaxNameLen)
		event.ID, event.JobExec, event.Topic = "an event", "", strings.Repeat("/", schedule.MaxTopic)
		none.ID, none.Owner, none.Long, none.Quota, none.CatchUp = "none", prescient.Entity{}, true, schedule.NoQuota, ""
		schedules := schedule.New(r.Client)
		for _, one := range []schedule.Schedule{whole, long, event, none} {
			if _, err := schedules.Create(t.Context(), db, one); err != nil {
				t.Errorf("%.80q: %v", one.ID, err)
				continue
			}
			one.Crontabs = []string{"0 0 1 2 *"}
			if changed, err := schedules.Update(t.Context(), db, one); err != nil || !changed {
				t.Errorf("%.80q: %t, %v", one.ID, changed, err)
			}
		}
		arguments := func() []byte { return []byte(`"` + strings.Repeat(`\\`, (steps.MaxArguments-2)/2) + `"`) }
		step := steps.Step{Name: strings.Repeat("s", steps.MaxName), JobExec: strings.Repeat("x", prescient.MaxNameLen), Arguments: arguments(), Timeout: 366 * 24 * time.Hour, Retries: steps.MaxRetries,
			RetryWait: 366 * 24 * time.Hour, OnFailure: steps.Continue}
		jobs := steps.New(r.Client, steps.Options{})
		_, _, err := jobs.PutStep(t.Context(), db, step, 0)
		r.Must(err)
		job := steps.Job{Name: strings.Repeat("j", steps.MaxName), Crontabs: []string{"0 0 1 1 *"}, Zone: "Europe/Berlin", Pool: strings.Repeat("p", prescient.MaxNameLen)}
		for i := range steps.MaxSteps {
			one := step
			one.Name = fmt.Sprintf("%064d", i)
			job.Steps = append(job.Steps, one)
		}
		_, err = jobs.Create(t.Context(), db, job)
		r.Must(err)
		if got, err := jobs.Get(t.Context(), db, job.Name); err != nil || len(got.Steps) != steps.MaxSteps || string(got.Steps[7].Arguments) != string(step.Arguments) {
			t.Errorf("the longest job: %d steps, %v", len(got.Steps), err)
		}
	})
}
