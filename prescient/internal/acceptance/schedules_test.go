package acceptance

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"
	"testing"
	"time"

	"prescient/prescient"
	"prescient/prescient/client"
	"prescient/prescient/doctor"
	"prescient/prescient/internal/rig"
	"prescient/prescient/schedule"
	"prescient/prescient/worker"
)

// registryOfSchedules has timers, and a job_exec for schedules to run that notes the ids of its runs.
func (r *testRig) registryOfSchedules(s *schedule.Schedules, called *[]string, err *error) *prescient.Registry {
	r.T.Helper()
	registry := prescient.NewRegistry()
	r.Must(s.Register(registry))
	r.Must(registry.Register("digest", s.Func(r.Pool(time.Time{}), func(_ context.Context, run schedule.Run) error {
		*called = append(*called, run.ID)
		return *err
	}), prescient.Guards{Concurrency: 1, MaxErrors: prescient.None}))
	return registry
}

func TestADoctorNamesSchedulesThatDoNotFire(t *testing.T) {
	t.Parallel()
	eachServer(t, func(t *testing.T, r *testRig) {
		s := schedule.New(r.Client)
		for _, id := range []string{"good", "bad", "stuck", "bare"} {
			_, err := s.Create(t.Context(), r.AppAt(rig.At("10:00")), schedule.Schedule{ID: id, Crontabs: []string{"0 * * * *"}, Topic: "t"})
			r.Must(err)
		}
		wantFound(t, r.examine(rig.At("10:01"), doctor.Options{}), "schedules", doctor.SeverityOK)
		r.Exec("UPDATE p_schedule SET crontabs = '61 * * * *', version = 0 WHERE id = 'bad'")
		r.Exec("DELETE FROM p_future_job WHERE entity_key = 'bare'")
		var called []string
		var failure error
		registry := r.registryOfSchedules(s, &called, &failure)
		_ = r.As("worker", rig.At("11:00:01")) // it has its rights from then on
		// What it is told of the outbox it cannot do anything about: the timers wait for the next slot, however often.
		r.Exec("REVOKE INSERT ON p_event_outbox FROM '" + r.User("worker") + "'@'%'")
		for _, clock := range []string{"11:00:01", "11:15:01", "11:30:01"} {
			r.RunAt(rig.At(clock), registry, worker.Options{})
		}
		found := r.examine(rig.At("11:31"), doctor.Options{})
		wantFound(t, found, "schedules", doctor.SeverityBad, `"bad"`, "61 * * * *")
		wantFound(t, found, "schedules.timers", doctor.SeverityBad, `"stuck"`, `"good"`, "event_outbox")
		wantFound(t, found, "schedules.timerless", doctor.SeverityBad, `"bare"`)
		if n := r.Count("SELECT COUNT(*) FROM p_future_job WHERE job_exec = 'schedule.fire' AND due_at = ? AND next_check_at = ? AND error_count = 3", rig.At("11:00").Format(time.DateTime), rig.At("11:45").Format(time.DateTime)); n != 2 {
			t.Errorf("%d timers wait for the next slot", n)
		}
		r.Also("worker", "INSERT", "p_event_outbox")
		r.RunAt(rig.At("11:45:01"), registry, worker.Options{})
		if n := r.Count("SELECT COUNT(*) FROM p_event_outbox"); n != 2 {
			t.Errorf("%d events", n)
		}
		// An entry that somebody left there does no harm.
		r.Exec("INSERT INTO p_schedule_refused (schedule_id) VALUES ('a'), ('good')")
		_, err := s.Delete(t.Context(), r.AppAt(rig.At("11:46")), "bad")
		r.Must(err)
		wantFound(t, r.examine(rig.At("11:46"), doctor.Options{}), "schedules.timerless", doctor.SeverityBad, `"bare"`)
		if _, _, err := s.PlanAnew(t.Context(), r.AppAt(rig.At("11:46")), "bare"); err != nil { // as it is advised
			t.Error(err)
		}
		wantFound(t, r.examine(rig.At("11:46"), doctor.Options{}), "schedules", doctor.SeverityOK)
		r.Did(s.Pause(t.Context(), r.AppAt(rig.At("11:46")), "good"))
		wantFound(t, r.examine(rig.At("11:46"), doctor.Options{}), "schedules", doctor.SeverityOK, `1 is paused: "good"`)
	})
}

func TestADoctorNamesTimersOfOtherTimeZones(t *testing.T) {
	t.Parallel()
	eachServer(t, func(t *testing.T, r *testRig) {
		s := schedule.New(r.Client)
		for _, id := range []string{"here", "elsewhere", "mended", "star"} {
			_, err := s.Create(t.Context(), r.AppAt(rig.At("10:00")), schedule.Schedule{ID: id, Crontabs: []string{"0 13 * * *"}, Zone: "Europe/Berlin", Topic: "t", Jitter: 10 * time.Minute})
			r.Must(err)
		}
		// As a machine would that takes Berlin for two hours ahead.
		r.Exec("UPDATE p_schedule SET utc_offset = 7200 WHERE id IN ('elsewhere', 'mended')")
		r.Exec("UPDATE p_future_job SET due_at = due_at - INTERVAL 1 HOUR, first_check_at = first_check_at - INTERVAL 1 HOUR, next_check_at = next_check_at - INTERVAL 1 HOUR WHERE entity_key IN ('elsewhere', 'mended')")
		r.Exec("UPDATE p_schedule SET crontabs = '0 13 *,15 * mon-sun' WHERE id = 'star'")
		_, _, err := s.PlanAnew(t.Context(), r.AppAt(rig.At("10:01")), "mended")
		r.Must(err)
		found := r.examine(rig.At("10:01"), doctor.Options{})
		wantFound(t, found, "schedules.zones", doctor.SeverityWarn, `"elsewhere"`, "T11:0", "T12:0")
		wantFound(t, found, "schedules.crontabs", doctor.SeverityWarn, `"star"`, "*,15")
		for _, f := range found {
			if strings.Contains(f.Text, `"mended"`) || strings.Contains(f.Text, `"here"`) {
				t.Errorf("%+v", f)
			}
		}
	})
}

func TestSlotsThatBecomeLongerFireEachOccurrence(t *testing.T) {
	t.Parallel()
	eachServer(t, func(t *testing.T, r *testRig) {
		r.Needs(t, rig.ChangeOfResolution)
		s := schedule.New(r.Client)
		today := time.Now().UTC().Truncate(24 * time.Hour).Add(48 * time.Hour)
		at := func(clock string) time.Time { return today.Add(rig.At(clock).Sub(rig.Day)) }
		_, err := s.Create(t.Context(), r.AppAt(at("10:00")), schedule.Schedule{ID: "a", Crontabs: []string{"*/15 * * * *"}, JobExec: "digest"})
		r.Must(err)
		_, err = s.Create(t.Context(), r.AppAt(at("10:00")), schedule.Schedule{ID: "e", Crontabs: []string{"*/15 * * * *"}, Topic: "t"})
		r.Must(err)
		r.reslotTo(time.Hour)
		c, err := client.New(t.Context(), r.AppAt(at("10:00")), client.Options{Prefix: "p_", Dialect: r.Setting})
		r.Must(err)
		var called []string
		var failure error
		registry := r.registryOfSchedules(schedule.New(c), &called, &failure)
		for _, clock := range []string{"11:00:01", "12:00:01", "13:00:01"} {
			r.RunAt(at(clock), registry, worker.Options{})
		}
		var want []string
		for _, clock := range []string{"10:15", "10:30", "10:45", "11:00", "11:15", "11:30", "11:45", "12:00", "12:15"} {
			want = append(want, fmt.Sprintf("a-%d", at(clock).Unix()))
		}
		slices.Sort(called)
		if !slices.Equal(called, want) {
			t.Errorf("called %q; want %q", called, want)
		}
		if n := r.Count("SELECT COUNT(DISTINCT id) FROM p_event_outbox"); n != 12 || r.Count("SELECT COUNT(*) FROM p_event_outbox") != n {
			t.Errorf("%d events; want one for each quarter of an hour until 13:00", n)
		}
	})
}

func TestARunThatFailedIsRequeuedAndATimerIsNot(t *testing.T) {
	t.Parallel()
	eachServer(t, func(t *testing.T, r *testRig) {
		s := schedule.New(r.Client)
		_, err := s.Create(t.Context(), r.AppAt(rig.At("10:00")), schedule.Schedule{ID: "a", Crontabs: []string{"0 * * * *"}, JobExec: "digest", CatchUp: schedule.Skip, CatchUpWithin: time.Second})
		r.Must(err)
		var called []string
		failure := errors.New("no luck")
		registry := r.registryOfSchedules(s, &called, &failure)
		r.RunAt(rig.At("11:00:01"), registry, worker.Options{})
		_, err = s.Delete(t.Context(), r.AppAt(rig.At("11:01")), "a")
		r.Must(err)
		_, err = s.Create(t.Context(), r.AppAt(rig.At("11:01")), schedule.Schedule{ID: "a", Crontabs: []string{"@every 2h"}, JobExec: "digest", CatchUp: schedule.Skip})
		r.Must(err)
		operator := r.As("operator", rig.At("11:05"))
		did, err := r.Client.Requeue(t.Context(), operator, client.RequeueOptions{Filter: client.ListFilter{From: rig.Day.AddDate(-1, 0, 0)}, AllOutcomes: true, Limit: 10})
		if err == nil {
			t.Errorf("requeued everything: %+v", did)
		}
		did, err = r.Client.Requeue(t.Context(), operator, client.RequeueOptions{Filter: client.ListFilter{JobExec: schedule.TimerExec, From: rig.Day.AddDate(-1, 0, 0)}, AllOutcomes: true, Limit: 10})
		if r.Must(err); did.Requeued != 0 {
			t.Errorf("a timer was requeued: %+v", did)
		}
		did, err = r.Client.Requeue(t.Context(), operator, client.RequeueOptions{Filter: client.ListFilter{JobExec: "digest", Outcome: prescient.Failed, From: rig.Day.AddDate(-1, 0, 0)}, Limit: 10})
		if r.Must(err); did.Requeued != 1 {
			t.Errorf("%+v", did)
		}
		failure = nil
		r.RunAt(rig.At("11:15:01"), registry, worker.Options{})
		if want := fmt.Sprintf("a-%d", rig.At("11:00").Unix()); len(called) != 2 || called[1] != want {
			t.Errorf("called %q; want %s again", called, want)
		}
	})
}
