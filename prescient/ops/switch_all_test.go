package ops_test

import (
	"errors"
	"fmt"
	"testing"

	"prescient/prescient"
	"prescient/prescient/internal/rig"
	"prescient/prescient/internal/rig/served"
	"prescient/prescient/ops"
	"prescient/prescient/ops/definition"
)

// What a filter matches is paused by one deed, and resumed by another: each leaves one entry beside those of the versions.
func TestManyAreSwitchedByOneDeed(t *testing.T) {
	eachFlavour(t, func(t *testing.T, r *served.Rig) {
		o, by := r.OpsAt(rig.At("10:00")), served.By(ops.Operator)
		for i := range 5 {
			d := definition.Schedule{ID: fmt.Sprintf("report %d", i), JobExec: "ship", Timing: definition.Timing{Crontabs: []string{"0 13 * * *"}}}
			if i == 4 {
				d.ID = "other"
			}
			_, err := ops.CreateSchedule.Do(t.Context(), o, by, d)
			r.Must(err)
		}
		for _, name := range []string{"nightly report", "daily"} {
			d := definition.Job{Name: "report-" + name[:5], Timing: definition.Timing{Crontabs: []string{"0 13 * * *"}}, Steps: []definition.Step{{Name: "a", JobExec: "ship"}}}
			_, err := ops.CreateJob.Do(t.Context(), o, by, d)
			r.Must(err)
		}
		_, err := ops.PauseSchedule.Do(t.Context(), o, by, ops.ScheduleAsked{ID: "report 0"})
		r.Must(err)
		for _, test := range []struct {
			op               ops.Operation[ops.Switching, definition.Switched]
			in               ops.Switching
			matched, changed int
		}{
			{ops.PauseSchedules, ops.Switching{Search: "REPORT"}, 4, 3}, {ops.PauseSchedules, ops.Switching{Search: "REPORT"}, 4, 0}, {ops.PauseSchedules, ops.Switching{Search: "REPORT", After: "report 2"}, 1, 0},
			{ops.ResumeSchedules, ops.Switching{Names: []string{"report 1", "gone", "other"}}, 2, 1}, {ops.PauseJobs, ops.Switching{Search: "report"}, 2, 2},
			{ops.ResumeJobs, ops.Switching{Names: []string{"report-daily", "gone"}}, 1, 1},
		} {
			before := r.Count("SELECT COUNT(*) FROM p_audit_log WHERE kind = 'installation'")
			did, err := test.op.Do(t.Context(), r.OpsAt(rig.At("10:01")), by, test.in)
			if err != nil || did.Matched != test.matched || did.Changed != test.changed || did.Next != "" {
				t.Errorf("%s %+v: %+v, %v", test.op.ID, test.in, did, err)
			}
			if n := r.Count("SELECT COUNT(*) FROM p_audit_log WHERE kind = 'installation'"); n != before+1 {
				t.Errorf("%s: %d entries", test.op.ID, n-before)
			}
		}
		for _, in := range []ops.Switching{{}, {Names: []string{"a"}, Search: "b"}, {Owner: "no entity"}} {
			if _, err := ops.PauseSchedules.Do(t.Context(), o, by, in); !errors.Is(err, prescient.ErrInvalid) {
				t.Errorf("%+v: %v", in, err)
			}
		}
		if _, err := ops.PauseJobs.Do(t.Context(), o, by, ops.Switching{Owner: "customer/1"}); !errors.Is(err, prescient.ErrInvalid) {
			t.Errorf("jobs of an owner: %v", err)
		}
		if _, err := ops.PauseSchedules.Do(t.Context(), o, served.By(ops.Viewer), ops.Switching{Search: "a"}); !errors.Is(err, ops.ErrForbidden) {
			t.Errorf("a viewer: %v", err)
		}
	})
}
