package acceptance

import (
	"context"
	"fmt"
	"strings"
	"testing"
	"time"

	"prescient/prescient"
	"prescient/prescient/client"
	"prescient/prescient/doctor"
	"prescient/prescient/internal/rig"
	"prescient/prescient/worker"
)

func TestTheRoleOperatorPausesRequeuesAndAsksTheDoctor(t *testing.T) {
	besideOthers(t, func(t *testing.T, r *testRig) {
		r.Needs(t, rig.ColumnDefaults)
		for i := range 3 {
			r.Insert(rig.At("12:00"), prescient.NewJob{Entity: rig.Order(fmt.Sprint(i)), JobExec: "check", DueAt: rig.At("13:05"), Payload: []byte(`{"n": 1}`)})
		}
		fails := rig.Registry("check", func(context.Context, prescient.FutureJob) (*time.Time, error) {
			return prescient.At(rig.At("11:00")), nil
		}, prescient.Guards{})
		r.RunAt(rig.At("13:15:01"), fails, worker.Options{})
		r.Insert(rig.At("13:20"), prescient.NewJob{Entity: rig.Order("0"), JobExec: "check", DueAt: rig.At("14:05")}) // by the app, again
		r.Exec("INSERT INTO p_future_job (entity_name, entity_key, job_exec, due_at) VALUES ('order', '1', 'check', '2026-11-20 13:10:00')")

		db := r.As("operator", rig.At("13:25"))
		c, err := client.New(t.Context(), db, client.Options{Prefix: "p_", Dialect: r.Setting})
		r.Must(err)
		r.Must(c.Pause(t.Context(), db, prescient.Paused{JobExec: "check", By: "me"}))
		r.Must(c.Pause(t.Context(), db, prescient.Paused{JobExec: "check", By: "me", Reason: "said twice"}))
		r.Must(c.Pause(t.Context(), db, prescient.Paused{JobExec: prescient.AllExecs}))
		if list, err := c.Pauses(t.Context(), db); err != nil || len(list) != 2 || list[1].Reason != "said twice" {
			t.Errorf("%+v, %v", list, err)
		}
		if n, err := c.Resume(t.Context(), db, "check", prescient.AllExecs); err != nil || n != 2 {
			t.Errorf("resumed %d, %v", n, err)
		}
		did, err := c.Requeue(t.Context(), db, client.RequeueOptions{Filter: client.ListFilter{JobExec: "check", Outcome: prescient.PastReturn, From: rig.At("00:00").AddDate(-1, 0, 0)},
			Limit: 1000})
		if err != nil || did.Requeued != 1 || did.Kept != 2 {
			t.Errorf("%+v, %v", did, err)
		}
		if _, err := c.Load(t.Context(), db, rig.At("12:00"), rig.At("15:00"), 10); err != nil {
			t.Error(err)
		}
		if _, err := c.Cancel(t.Context(), db, rig.Order("0")); !refusedRight(err) {
			t.Errorf("cancel: %v; want it refused", err)
		}
		if _, err := c.Reschedule(t.Context(), db, rig.Order("0"), "check", "", rig.At("15:00")); !refusedRight(err) {
			t.Errorf("reschedule: %v; want it refused", err)
		}
		found, err := doctor.Examine(t.Context(), db, doctor.Options{Prefix: "p_", Dialect: r.Setting, Use: doctor.UseOperator})
		r.Must(err)
		wantFound(t, found, "grants", doctor.SeverityOK, "its use as operator")
		wantFound(t, found, "schema", doctor.SeverityPart)
		for _, f := range found {
			if strings.Contains(f.Text, "could not be looked at") {
				t.Errorf("%+v", f)
			}
		}
		found, err = doctor.Examine(t.Context(), db, doctor.Options{Prefix: "p_", Dialect: r.Setting, Use: doctor.UseWorker})
		r.Must(err)
		wantFound(t, found, "grants", doctor.SeverityBad, "UPDATE on p_future_job", "DELETE on p_future_job", "INSERT on p_job_history", "UPDATE on p_slot_run")
		found, err = doctor.Examine(t.Context(), r.As("analyst", time.Time{}), doctor.Options{Prefix: "p_", Dialect: r.Setting, Use: doctor.UseOperator})
		r.Must(err)
		wantFound(t, found, "grants", doctor.SeverityBad, "SELECT on p_future_job")
	})
}
