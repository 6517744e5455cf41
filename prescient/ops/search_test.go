package ops_test

import (
	"errors"
	"fmt"
	"slices"
	"strings"
	"testing"
	"time"

	"prescient/prescient"
	"prescient/prescient/internal/rig"
	"prescient/prescient/internal/rig/served"
	"prescient/prescient/ops"
	"prescient/prescient/ops/definition"
	"prescient/prescient/schedule"
)

func TestSchedulesAndJobsAreSearchedFor(t *testing.T) {
	eachFlavour(t, func(t *testing.T, r *served.Rig) {
		o, by, viewer := r.OpsAt(rig.At("10:00")), served.By(ops.Operator), served.By(ops.Viewer)
		for _, one := range []definition.Schedule{{ID: "Digest/1", JobExec: "mail", Owner: "user/7"}, {ID: "digest/2", Topic: "news.Mail"}, {ID: "other", JobExec: "ship"}} {
			one.Timing = daily("30 12 * * *")
			_, err := ops.CreateSchedule.Do(t.Context(), o, by, one)
			r.Must(err)
		}
		_, err := ops.CreateJob.Do(t.Context(), o, by, definition.Job{Name: "nightly", Timing: daily("0 4 * * *"), Steps: []definition.Step{{Name: "dump", JobExec: "mysqldump"}}})
		r.Must(err)
		_, err = ops.PauseSchedule.Do(t.Context(), o, by, ops.ScheduleAsked{ID: "other"})
		r.Must(err)
		list := func(a ops.SchedulesAsked) string {
			var ids []string
			for {
				page, err := ops.ListSchedules.Do(t.Context(), o, viewer, a)
				r.Must(err)
				for _, row := range page.Rows {
					ids = append(ids, row.ID)
				}
				if a.After = page.Next; a.After == "" {
					return strings.Join(ids, " ")
				}
			}
		}
		for search, want := range map[string]string{"DIGEST": "Digest/1 digest/2", "mail": "Digest/1 digest/2", "user/7": "Digest/1", "none": "", "%": ""} {
			for _, limit := range []int{1, 10} {
				if got := list(ops.SchedulesAsked{Search: search, Paging: ops.Paging{Limit: limit}}); got != want {
					t.Errorf("%s by %d: %s; want %s", search, limit, got, want)
				}
			}
		}
		if got := list(ops.SchedulesAsked{Paused: true, Paging: ops.Paging{Limit: 10}}); got != "other" {
			t.Error(got)
		}
		for asked, want := range map[ops.JobsAsked]int{{Search: "NIGHT"}: 1, {Search: "dump"}: 1, {Search: "none"}: 0, {Paused: true}: 0} {
			asked.Limit = 10
			page, err := ops.ListJobs.Do(t.Context(), o, viewer, asked)
			r.Must(err)
			if len(page.Rows) != want {
				t.Errorf("%+v: %+v", asked, page)
			}
		}
		_, err = ops.ListSchedules.Do(t.Context(), o, viewer, ops.SchedulesAsked{Search: "a\xff", Paging: ops.Paging{Limit: 1}})
		if !errors.Is(err, prescient.ErrInvalid) {
			t.Error(err)
		}
	})
}

func TestAScheduleOfAnotherVersionIsNotUpdated(t *testing.T) {
	eachFlavour(t, func(t *testing.T, r *served.Rig) {
		o, by := r.OpsAt(rig.At("10:00")), served.By(ops.Operator)
		one := definition.Schedule{ID: "a", Timing: daily("30 12 * * *"), JobExec: "mail"}
		_, err := ops.CreateSchedule.Do(t.Context(), o, by, one)
		r.Must(err)
		one.Crontabs = []string{"0 13 * * *"}
		if _, err := ops.UpdateSchedule.Do(t.Context(), o, by, ops.ScheduleUpdate{Schedule: one, Version: 2}); !errors.Is(err, schedule.ErrStale) || !strings.Contains(err.Error(), "version 1 by now, not 2") {
			t.Error(err)
		}
		did, err := ops.UpdateSchedule.Do(t.Context(), o, by, ops.ScheduleUpdate{Schedule: one, Version: 1})
		if err != nil || !did.Changed {
			t.Errorf("%+v, %v", did, err)
		}
	})
}

func TestAPreviewOfAScheduleThatIsThere(t *testing.T) {
	eachFlavour(t, func(t *testing.T, r *served.Rig) {
		o, viewer := r.OpsAt(rig.At("10:00")), served.By(ops.Viewer)
		asked := definition.Previewed{Crontabs: []string{"@every 1h"}, Zone: "Europe/Berlin", Count: 2, MadeAt: rig.At("08:20")}
		got, err := ops.PreviewSchedule.Do(t.Context(), o, viewer, asked)
		r.Must(err)
		change := time.Date(2027, 3, 28, 1, 0, 0, 0, time.UTC)
		if !got.Times[0].At.Equal(rig.At("10:20")) || !slices.Equal(got.Words, []string{"every 1h, counted from when the schedule was made"}) || got.ClocksChange == nil || !got.ClocksChange.Equal(change) {
			t.Errorf("%+v", got)
		}
		asked.Zone, asked.ID, asked.JitterMS = "UTC", "a", 600_000
		s := definition.Schedule{ID: "a", Timing: daily("20 * * * *"), JobExec: "mail"}
		s.JitterMS = asked.JitterMS
		_, err = ops.CreateSchedule.Do(t.Context(), o, served.By(ops.Operator), s)
		r.Must(err)
		is, err := ops.GetSchedule.Do(t.Context(), o, viewer, ops.ScheduleAsked{ID: "a"})
		r.Must(err)
		asked.Crontabs = s.Crontabs
		got, err = ops.PreviewSchedule.Do(t.Context(), o, viewer, asked)
		r.Must(err)
		if !got.Times[0].At.Equal(*is.Next) || got.ClocksChange != nil || got.Times[0].At.Equal(rig.At("10:20")) {
			t.Errorf("%s; the timer waits for %s: %s", fmt.Sprint(got.Times), is.Next, got.ClocksChange)
		}
	})
}
