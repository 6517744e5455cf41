package stats

import (
	"testing"
	"time"

	"prescient/prescient"
	"prescient/prescient/internal/rig"
	"prescient/prescient/internal/rig/whole"
)

func TestWhatBecameOfChecksIsToldByDay(t *testing.T) {
	eachFlavour(t, func(t *testing.T, r *whole.Rig) {
		rolledUp(t, r)
		day := rig.At("00:00")
		rollUp(t, r, day.Add(24*time.Hour+30*time.Minute))
		tables := r.Tables()
		days := func(jobExec string, from, before time.Time) DaysReport {
			t.Helper()
			report, err := Days(t.Context(), r.As("analyst", time.Time{}), tables, from, before, jobExec)
			r.Must(err)
			return report
		}
		all := days("", day.Add(-time.Hour), day.Add(25*time.Hour))
		if len(all.Days) != 2 || !all.From.Equal(day.AddDate(0, 0, -1)) || !all.Before.Equal(day.AddDate(0, 0, 1)) || all.Cut {
			t.Fatalf("%+v", all)
		}
		bad, good := all.Days[0], all.Days[1]
		if bad.JobExec != "bad" || !bad.Start.Equal(day) || bad.Ends[prescient.Failed] != 10 || bad.Calls != 10 || bad.Errors != 10 || bad.Unknown != 10 || bad.Checks() != 10 || bad.Lateness.LongestMS == 0 {
			t.Errorf("%+v", bad)
		}
		if good.Ends[prescient.Done] != 30 || good.AtOnce != 30 || good.Share() != 0 || len(good.Repeats) != 1 || good.Repeats[0] != (Repeats{0, 30}) {
			t.Errorf("%+v", good)
		}
		r.Exec(`INSERT INTO p_stats VALUES ('day', '2026-11-19', 'good', 'order', 'done', 8, 14, 0, 6, 3, 8, 1, 1, 1, 1), ('day', '2026-11-19', 'good', 'parcel', 'max_checks', 2, 12, 0, 12, 2, 2, 1, 1, 1, 1),
			('day', '2026-11-19', 'good', 'order', 'cancelled', 5, 0, 0, 0, 0, 0, 0, 0, 0, 0), ('hour', '2026-11-19', 'good', 'order', 'done', 99, 99, 0, 0, 0, 0, 0, 0, 0, 0)`)
		r.Exec(`INSERT INTO p_stats_bucket VALUES ('day', '2026-11-19', 'good', 'order', 'checks', 0, 5), ('day', '2026-11-19', 'good', 'order', 'checks', 15, 3), ('day', '2026-11-19', 'good', 'parcel', 'checks', 33, 2)`)
		one := days("good", day.AddDate(0, 0, -34), day.AddDate(0, 0, 1))
		if len(one.Days) != 2 {
			t.Fatalf("%+v", one)
		}
		first := one.Days[0]
		if first.NotYet != (NotYet{AtOnce: 5, Later: 3, Never: 2, Answers: 18, Waited: 5}) || first.Ends[prescient.Cancelled] != 5 || first.NotYet.Share() != 0.5 {
			t.Errorf("%+v", first)
		}
		if len(first.Repeats) != 3 || first.Repeats[2] != (Repeats{5, 2}) || Near(first.Repeats, 5) != 2 || Near(first.Repeats, 2) != 5 || Near(first.Repeats, 0) != 0 {
			t.Errorf("%+v", first.Repeats)
		}
		for what, wrong := range map[string]struct {
			days    int
			jobExec string
		}{"too many of all": {MaxDaysOfAll + 1, ""}, "too many of one": {MaxDays + 1, "good"}, "none": {0, "good"}, "a name that is none": {1, "a b"}} {
			_, err := Days(t.Context(), r.As("analyst", time.Time{}), tables, day, day.AddDate(0, 0, wrong.days), wrong.jobExec)
			rig.WantErr(t, what, err, prescient.ErrInvalid)
		}
	})
}
