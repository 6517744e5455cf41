package ops_test

import (
	"errors"
	"fmt"
	"slices"
	"testing"
	"time"

	"prescient/prescient"
	"prescient/prescient/internal/rig"
	"prescient/prescient/internal/rig/served"
	"prescient/prescient/ops"
	"prescient/prescient/ops/definition"
	"prescient/prescient/schedule"
	"prescient/prescient/steps"
)

func daily(crontabs ...string) definition.Timing { return definition.Timing{Crontabs: crontabs} }

func text(s string) *string { return &s }

func TestASchedulesLife(t *testing.T) {
	eachFlavour(t, func(t *testing.T, r *served.Rig) {
		o, by, viewer := r.OpsAt(rig.At("10:00")), served.By(ops.Operator), served.By(ops.Viewer)
		digest := definition.Schedule{ID: "digest/7", Timing: daily("30 12 * * *"), JobExec: "digest", Payload: text("user 7"), Owner: "user/7"}
		digest.Zone, digest.CatchUp, digest.CatchUpWithinMS, digest.ExpiresAfterMS, digest.JitterMS = "Europe/Berlin", "skip", 90_000, 3_600_000, 0
		other := definition.Schedule{ID: "late", Timing: daily("0 3 * * *"), JobExec: "export", Long: true, PayloadBase64: "/w=="}
		other.Overlap, other.NoQuota, other.ToleranceMS, other.Pool, other.Heartbeat = "queue", true, 60_000, "heavy", "beat"
		for _, one := range []definition.Schedule{digest, other} {
			for _, want := range []bool{true, false} {
				did, err := ops.CreateSchedule.Do(t.Context(), o, by, one)
				if err != nil || did.Created != want {
					t.Errorf("%s: %+v, %v", one.ID, did, err)
				}
			}
		}
		for _, role := range ops.Roles {
			got, err := ops.GetSchedule.Do(t.Context(), o, served.By(role), ops.ScheduleAsked{ID: "digest/7"})
			r.Must(err)
			if (got.Payload != nil && *got.Payload == "user 7") != role.May(ops.Operator) || !got.Enabled || got.Version != 1 || !got.Next.Equal(rig.At("11:30")) {
				t.Errorf("%s: %+v", role, got)
			}
			if got.Payload = digest.Payload; fmt.Sprint(got.Schedule) != fmt.Sprint(digest) {
				t.Errorf("%s: %+v; want %+v", role, got.Schedule, digest)
			}
		}
		got, err := ops.GetSchedule.Do(t.Context(), o, by, ops.ScheduleAsked{ID: "late"})
		r.Must(err)
		if other.Zone, other.CatchUp = "UTC", "once"; fmt.Sprint(got.Schedule) != fmt.Sprint(other) {
			t.Errorf("%+v; want %+v", got.Schedule, other)
		}
		list, err := ops.ListSchedules.Do(t.Context(), o, viewer, ops.SchedulesAsked{Paging: ops.Paging{Limit: 1}})
		r.Must(err)
		if len(list.Rows) != 1 || list.Rows[0].Payload != nil || list.Next != "digest/7" {
			t.Errorf("%+v", list)
		}
		list, err = ops.ListSchedules.Do(t.Context(), o, viewer, ops.SchedulesAsked{Owner: "user/7", Paging: ops.Paging{Limit: 10}})
		r.Must(err)
		if len(list.Rows) != 1 || list.Next != "" || list.Rows[0].Owner != "user/7" {
			t.Errorf("%+v", list)
		}
		digest.Crontabs = []string{"0 13 * * *"}
		for _, want := range []bool{true, false} {
			did, err := ops.UpdateSchedule.Do(t.Context(), o, by, ops.ScheduleUpdate{Schedule: digest})
			if err != nil || did.Changed != want {
				t.Errorf("%+v, %v", did, err)
			}
		}
		for _, want := range []bool{true, false} {
			did, err := ops.PauseSchedule.Do(t.Context(), o, by, ops.ScheduleAsked{ID: "digest/7"})
			if err != nil || did.Changed != want {
				t.Errorf("%+v, %v", did, err)
			}
		}
		began, err := ops.RunSchedule.Do(t.Context(), o, by, ops.ScheduleAsked{ID: "digest/7"})
		r.Must(err)
		runs, err := ops.ListScheduleRuns.Do(t.Context(), o, viewer, ops.ScheduleRunsAsked{ScheduleAsked: ops.ScheduleAsked{ID: "digest/7"}, Paging: ops.Paging{Limit: 10}})
		r.Must(err)
		// What the update and the pause ended are the runs of the next occurrence.
		if runs.Timer != nil || len(runs.Waiting) != 1 || "digest/7-"+runs.Waiting[0].Tag != began.Run || len(runs.Ended.Rows) != 2 || runs.Ended.Rows[0].Outcome != prescient.Superseded {
			t.Errorf("%+v, %+v", began, runs)
		}
		for _, want := range []bool{true, false} {
			did, err := ops.ResumeSchedule.Do(t.Context(), o, by, ops.ScheduleAsked{ID: "digest/7"})
			if err != nil || did.Changed != want {
				t.Errorf("%+v, %v", did, err)
			}
		}
		for _, deleted := range []bool{false, true} {
			if deleted { // by plain SQL
				r.Exec("DELETE FROM p_future_job WHERE entity_key = 'digest/7' AND job_exec = 'schedule.fire'")
			}
			did, err := ops.PlanSchedule.Do(t.Context(), o, by, ops.ScheduleAsked{ID: "digest/7"})
			if err != nil || did.Is == nil || did.Changed() != deleted || (did.Was == nil) != deleted {
				t.Errorf("deleted: %v: %+v, %v", deleted, did, err)
			}
		}
		n, err := ops.DeleteSchedules.Do(t.Context(), o, by, ops.SchedulesChosen{Owner: "user/7"})
		r.Must(err)
		m, err := ops.DeleteSchedules.Do(t.Context(), o, by, ops.SchedulesChosen{IDs: []string{"late", "digest/7"}})
		r.Must(err)
		if n.Count != 1 || m.Count != 1 {
			t.Errorf("%+v, %+v", n, m)
		}
		_, err = ops.GetSchedule.Do(t.Context(), o, viewer, ops.ScheduleAsked{ID: "late"})
		if !errors.Is(err, schedule.ErrNotFound) {
			t.Error(err)
		}
	})
}

func TestASchedulesDefinitionIsRefusedWhereItIsNoGood(t *testing.T) {
	eachFlavour(t, func(t *testing.T, r *served.Rig) {
		by := served.By(ops.Operator)
		good := definition.Schedule{ID: "a", Timing: daily("@hourly"), JobExec: "digest"}
		for what, change := range map[string]func(d *definition.Schedule){
			"two payloads": func(d *definition.Schedule) { d.Payload, d.PayloadBase64 = text("a"), "YQ==" },
			"no base64":    func(d *definition.Schedule) { d.PayloadBase64 = "?" },
			"no owner":     func(d *definition.Schedule) { d.Owner = "user" },
			"no crontab":   func(d *definition.Schedule) { d.Crontabs = []string{"every day"} },
			"too fine":     func(d *definition.Schedule) { d.Crontabs = []string{"* * * * *"} },
			"no zone":      func(d *definition.Schedule) { d.Zone = "Europe/Nowhere" },
			"two quotas":   func(d *definition.Schedule) { d.Long, d.QuotaMS, d.NoQuota = true, 1000, true },
			"half seconds": func(d *definition.Schedule) { d.JitterMS = 500 },
			"no target":    func(d *definition.Schedule) { d.JobExec = "" },
			"not long":     func(d *definition.Schedule) { d.Pool = "heavy" },
		} {
			d := good
			change(&d)
			if _, err := ops.CreateSchedule.Do(t.Context(), r.Ops, by, d); !errors.Is(err, prescient.ErrInvalid) {
				t.Errorf("%s: %v", what, err)
			}
		}
		for _, chosen := range []ops.SchedulesChosen{{}, {IDs: []string{"a"}, Owner: "user/7"}, {Owner: "user"}} {
			if _, err := ops.DeleteSchedules.Do(t.Context(), r.Ops, by, chosen); !errors.Is(err, prescient.ErrInvalid) {
				t.Errorf("%+v: %v", chosen, err)
			}
		}
		for _, err := range []error{
			second(ops.UpdateSchedule.Do(t.Context(), r.Ops, by, ops.ScheduleUpdate{Schedule: good})), second(ops.PauseSchedule.Do(t.Context(), r.Ops, by, ops.ScheduleAsked{ID: "a"})),
			second(ops.RunSchedule.Do(t.Context(), r.Ops, by, ops.ScheduleAsked{ID: "a"})), second(ops.ListScheduleRuns.Do(t.Context(), r.Ops, by, ops.ScheduleRunsAsked{ScheduleAsked: ops.ScheduleAsked{ID: "a"}})),
		} {
			if !errors.Is(err, schedule.ErrNotFound) {
				t.Error(err)
			}
		}
	})
}

func second[T any](_ T, err error) error { return err }

func TestAPreviewIsOfTheZone(t *testing.T) {
	eachFlavour(t, func(t *testing.T, r *served.Rig) {
		asked := definition.Previewed{Crontabs: []string{"0,30 2 * * *", "0 12 * * sat"}, Zone: "Europe/Berlin", From: time.Date(2026, 3, 28, 0, 0, 0, 0, time.UTC), Count: 5}
		got, err := ops.PreviewSchedule.Do(t.Context(), r.Ops, served.By(ops.Viewer), asked)
		r.Must(err)
		var local []string
		for _, one := range got.Times {
			local = append(local, one.Local)
		}
		want := []string{"2026-03-28T02:00:00+01:00", "2026-03-28T02:30:00+01:00", "2026-03-28T12:00:00+01:00", "2026-03-29T03:00:00+02:00", "2026-03-30T02:00:00+02:00"}
		if !slices.Equal(local, want) || got.TooFine != "" {
			t.Errorf("%+v", got)
		}
		asked.Crontabs = []string{"* * * * *"}
		got, err = ops.PreviewSchedule.Do(t.Context(), r.Ops, served.By(ops.Viewer), asked)
		if err != nil || got.TooFine == "" {
			t.Errorf("%+v, %v", got, err)
		}
		asked.Crontabs = []string{"@at 2026-01-01T00:00:00Z"}
		got, err = ops.PreviewSchedule.Do(t.Context(), r.Ops, served.By(ops.Viewer), asked)
		if err == nil && len(got.Times) > 0 || err != nil && !errors.Is(err, prescient.ErrInvalid) {
			t.Errorf("%+v, %v", got, err)
		}
		asked.Zone = "Nowhere"
		if _, err := ops.PreviewSchedule.Do(t.Context(), r.Ops, served.By(ops.Viewer), asked); !errors.Is(err, prescient.ErrInvalid) {
			t.Error(err)
		}
	})
}

func TestAJobsLife(t *testing.T) {
	eachFlavour(t, func(t *testing.T, r *served.Rig) {
		o, by, viewer := r.OpsAt(rig.At("10:00")), served.By(ops.Operator), served.By(ops.Viewer)
		put, err := ops.PutStep.Do(t.Context(), o, by, ops.StepUpdate{Step: definition.Step{Name: "report", JobExec: "send-report", Arguments: []byte(`{"to":"ada"}`)}})
		r.Must(err)
		if !put.Changed || len(put.Jobs) != 0 {
			t.Errorf("%+v", put)
		}
		nightly := definition.Job{Name: "nightly", Timing: daily("0 3 * * *"), Steps: []definition.Step{
			{Name: "export", JobExec: "export-orders", Arguments: []byte(`{"table":"orders"}`), TimeoutMS: 3_600_000, Retries: 3, RetryWaitMS: 5000, OnFailure: "continue"}, {Name: "report", Shared: true}}}
		for _, want := range []bool{true, false} {
			did, err := ops.CreateJob.Do(t.Context(), o, by, nightly)
			if err != nil || did.Created != want {
				t.Errorf("%+v, %v", did, err)
			}
		}
		named := ops.JobNamed{Name: "nightly"}
		for _, role := range ops.Roles {
			got, err := ops.GetJob.Do(t.Context(), o, served.By(role), ops.JobAsked{JobNamed: named})
			r.Must(err)
			if len(got.Steps) != 2 || (len(got.Steps[0].Arguments) > 0) != role.May(ops.Operator) || got.Steps[0].RetryWaitMS != 5000 || !got.Steps[1].Shared || got.Version != 1 || !got.Enabled || got.Next == nil {
				t.Errorf("%s: %+v", role, got)
			}
			version, err := ops.GetJob.Do(t.Context(), o, served.By(role), ops.JobAsked{JobNamed: named, Version: 1})
			r.Must(err)
			if len(version.Steps) != 2 || version.Steps[1].JobExec != "send-report" || (len(version.Steps[1].Arguments) > 0) != role.May(ops.Operator) {
				t.Errorf("%s: %+v", role, version)
			}
			step, err := ops.GetStep.Do(t.Context(), o, served.By(role), ops.StepNamed{Name: "report"})
			r.Must(err)
			if !slices.Equal(step.Jobs, []string{"nightly"}) || (len(step.Arguments) > 0) != role.May(ops.Operator) {
				t.Errorf("%s: %+v", role, step)
			}
		}
		nightly.Steps[0].Retries = 4
		did, err := ops.UpdateJob.Do(t.Context(), o, by, ops.JobUpdate{Job: nightly, Version: 1})
		r.Must(err)
		if _, err := ops.UpdateJob.Do(t.Context(), o, by, ops.JobUpdate{Job: nightly, Version: 1}); !did.Changed || !errors.Is(err, steps.ErrStale) {
			t.Errorf("%+v, %v", did, err)
		}
		put, err = ops.PutStep.Do(t.Context(), o, by, ops.StepUpdate{Step: definition.Step{Name: "report", JobExec: "send-mail"}, Version: 1})
		r.Must(err)
		versions, err := ops.ListJobVersions.Do(t.Context(), o, viewer, ops.JobVersionsAsked{JobNamed: named, Limit: 2})
		r.Must(err)
		if !slices.Equal(put.Jobs, []string{"nightly"}) || len(versions.Rows) != 2 || versions.Rows[0].Version != 3 {
			t.Errorf("%+v, %+v", put, versions)
		}
		paused, err := ops.PauseJob.Do(t.Context(), o, by, named)
		r.Must(err)
		began, err := ops.RunJob.Do(t.Context(), o, by, named)
		r.Must(err)
		resumed, err := ops.ResumeJob.Do(t.Context(), o, by, named)
		r.Must(err)
		if !paused.Changed || !resumed.Changed || began.Run != fmt.Sprintf("nightly-m%d", rig.At("10:00").Unix()) {
			t.Errorf("%+v, %+v, %+v", paused, began, resumed)
		}
		list, err := ops.ListJobs.Do(t.Context(), o, viewer, ops.JobsAsked{Paging: ops.Paging{Limit: 1}})
		r.Must(err)
		shared, err := ops.ListSteps.Do(t.Context(), o, viewer, ops.Paging{Limit: 1})
		r.Must(err)
		if len(list.Rows) != 1 || list.Next != "" || len(shared.Rows) != 1 || shared.Rows[0].JobExec != "send-mail" {
			t.Errorf("%+v, %+v", list, shared)
		}
		if _, err := ops.DeleteStep.Do(t.Context(), o, by, ops.StepNamed{Name: "report"}); !errors.Is(err, steps.ErrInUse) {
			t.Error(err)
		}
		n, err := ops.DeleteJobs.Do(t.Context(), o, by, ops.JobsChosen{Names: []string{"nightly", "none"}})
		r.Must(err)
		_, err = ops.DeleteStep.Do(t.Context(), o, by, ops.StepNamed{Name: "report"})
		r.Must(err)
		if _, err := ops.GetJob.Do(t.Context(), o, viewer, ops.JobAsked{JobNamed: named}); n.Count != 1 || !errors.Is(err, steps.ErrNotFound) {
			t.Errorf("%+v, %v", n, err)
		}
	})
}

func TestRunsOfJobsAreListedWithoutOutputForViewers(t *testing.T) {
	eachFlavour(t, func(t *testing.T, r *served.Rig) {
		r.Exec(`INSERT INTO p_job_run_log (job, occurrence, job_key, version, scheduled_at, started_at, ended_at, agent, takeovers, result) VALUES
			('nightly', '1795168800', REPEAT('a', 16), 3, '2026-11-20 10:00:00', '2026-11-20 10:00:01', '2026-11-20 10:00:02', 'w', 0, 'done'),
			('nightly', '1795172400', REPEAT('b', 16), 3, '2026-11-20 11:00:00', '2026-11-20 11:00:01', '2026-11-20 11:00:02', 'w', 0, 'done')`)
		r.Exec(`INSERT INTO p_step_run_log (job, occurrence, seq, position, step, job_exec, attempt, scheduled_at, started_at, ended_at, agent, result, output)
			VALUES ('nightly', '1795168800', 1, 1, 'export', 'export-orders', 1, '2026-11-20 10:00:00', '2026-11-20 10:00:01', '2026-11-20 10:00:02', 'w', 'done', 'secret')`)
		for _, role := range ops.Roles {
			for name, asked := range map[string]ops.JobRunsAsked{"the run": {Run: "nightly-1795168800", Limit: 10}, "those before": {Name: "nightly", Before: rig.At("11:00"), Output: true, Limit: 10}} {
				got, err := ops.ListJobRuns.Do(t.Context(), r.Ops, served.By(role), asked)
				r.Must(err)
				if len(got.Rows) != 1 || got.Rows[0].Run != "nightly-1795168800" || got.Rows[0].Version != 3 || len(got.Rows[0].Steps) != 1 ||
					(got.Rows[0].Steps[0].Output == "secret") != role.May(ops.Operator) {
					t.Errorf("%s of %s: %+v", name, role, got)
				}
			}
		}
		got, err := ops.ListJobRuns.Do(t.Context(), r.Ops, served.By(ops.Viewer), ops.JobRunsAsked{Limit: 10})
		r.Must(err)
		if len(got.Rows) != 2 || got.Rows[0].Steps != nil {
			t.Errorf("%+v", got)
		}
		for _, asked := range []ops.JobRunsAsked{{Run: "nightly", Limit: 1}, {Run: "nightly-1795168800", Name: "nightly", Limit: 1}, {Name: "a b", Limit: 1}} {
			if _, err := ops.ListJobRuns.Do(t.Context(), r.Ops, served.By(ops.Viewer), asked); !errors.Is(err, prescient.ErrInvalid) {
				t.Errorf("%+v: %v", asked, err)
			}
		}
	})
}
