package rollup

import (
	"slices"
	"testing"
	"time"

	"prescient/prescient"
	"prescient/prescient/internal/rig"
)

// A day keeps its lines where those of its hours are gone, and is made of all its hours where a part of them was summed again.
func TestADayIsNotMadeOfAPartOfItsHours(t *testing.T) {
	eachFlavour(t, func(t *testing.T, r *testRig) {
		r.someHours()
		next := midnight.Add(50 * time.Hour)
		r.rollAt(next)
		pruned := func() {
			for _, table := range []string{"stats", "stats_bucket", "stats_reason"} {
				r.Exec("DELETE FROM p_" + table + " WHERE grain = 'hour' AND start < '2026-11-21'")
			}
		}
		pruned()
		engine := New(r.As("worker", next), r.tables, "w")
		engine.Redo([]time.Time{rig.At("11:00")}) // of 24; the process dies
		r.roll(engine)
		r.balanced("day", midnight, midnight.Add(24*time.Hour))
		r.balanced("hour", midnight, midnight.Add(24*time.Hour))
		pruned()
		r.Exec("DELETE FROM p_job_history")
		r.Exec("UPDATE p_stats_hour SET day_at = NULL WHERE start = '2026-11-20 11:00'")
		r.rollAt(next)
		if n := r.Count("SELECT CAST(COALESCE(SUM(ends), 0) AS SIGNED) FROM p_stats WHERE grain = 'day'"); n != 40 {
			t.Errorf("the day has %d ends; it had 40", n)
		}
		if r.Count("SELECT COUNT(*) FROM p_stats_hour WHERE day_at IS NULL AND start < '2026-11-21'") != 0 {
			t.Error("the day is due for ever")
		}
	})
}

// However old the ends are that an app writes, an hour or a day is never made of a part of the history that it was made of.
func TestWhatIsKeptIsNotReplacedByLess(t *testing.T) {
	eachFlavour(t, func(t *testing.T, r *testRig) {
		r.someHours()
		next := midnight.Add(50 * time.Hour)
		r.rollAt(next)
		r.Exec("DELETE FROM p_job_history WHERE ended_at < '2026-11-20 13:00'")
		r.end(rig.At("11:30"), "old", prescient.Done, nil)
		r.end(midnight.AddDate(0, 0, -9), "older", prescient.Done, nil) // history begins here, it seems
		hours, left, err := Rebuildable(t.Context(), r.As("operator", next), r.tables, midnight, midnight.Add(24*time.Hour))
		if r.Must(err); left != 3 || slices.ContainsFunc(hours, rig.At("11:00").Equal) {
			t.Errorf("%d hours are left alone, summed again: %v", left, hours)
		}
		engine := New(r.As("worker", next), r.tables, "w")
		engine.Redo(append(hours, rig.At("11:00")))
		r.roll(engine)
		ends := func() (n int) {
			return r.Count("SELECT CAST(SUM(ends) AS SIGNED) FROM p_stats WHERE grain = 'day' AND start = '2026-11-20'")
		}
		if n := r.Count("SELECT CAST(SUM(ends) AS SIGNED) FROM p_stats WHERE grain = 'hour' AND start < '2026-11-21'"); n != 40 || ends() != 40 {
			t.Errorf("hours of %d ends, and a day of %d; want 40", n, ends())
		}
		for _, table := range []string{"stats WHERE grain = 'hour' AND", "stats_bucket WHERE grain = 'hour' AND", "stats_reason WHERE grain = 'hour' AND", "stats_hour WHERE"} {
			r.Exec("DELETE FROM p_" + table + " start < '2026-11-21'")
		}
		much := next.Add(HoursKept + 48*time.Hour)
		c, err := Compare(t.Context(), r.As("operator", much), r.tables, time.Time{}, next)
		r.Must(err)
		engine = New(r.As("worker", much), r.tables, "w")
		engine.Redo(c.Again(much))
		if r.roll(engine); ends() != 40 {
			t.Errorf("a day of %d ends; want 40", ends())
		}
		// The end of 11:30 is in no sum of a day, and that shows as long as history has it.
		c, err = Compare(t.Context(), r.As("operator", much), r.tables, time.Time{}, next)
		r.Must(err)
		if len(c.Differ) == 0 || !c.Differ[0].Hour.Equal(rig.At("11:00")) || slices.ContainsFunc(c.Differ, func(d Difference) bool { return !d.Outside }) {
			t.Errorf("%+v", c.Differ)
		}
		_, left, err = Rebuildable(t.Context(), r.As("operator", much), r.tables, midnight, midnight.Add(24*time.Hour))
		if r.Must(err); left != len(c.Differ) {
			t.Errorf("%d hours are left alone; want %d", left, len(c.Differ))
		}
		r.balanced("day", midnight.AddDate(0, 0, -9), midnight.AddDate(0, 0, -8))
	})
}

// What ends long before all else, or comes late to the first day of history, is summed up, though the hours of that time have no lines.
func TestLateEndsAreInTheirDayHoweverOldItIs(t *testing.T) {
	eachFlavour(t, func(t *testing.T, r *testRig) {
		r.someHours()
		first := midnight.AddDate(0, 0, -200)
		much := midnight.Add(HoursKept + 72*time.Hour)
		for _, tt := range []struct {
			about string
			late  func()
		}{
			{"nothing is late", func() {}},
			{"the first day of history", func() { r.end(rig.At("11:30"), "late", prescient.Done, nil) }},
			{"long before", func() { r.end(first.Add(5*time.Hour), "early", prescient.Failed, nil) }},
			{"one more of that day", func() { r.end(first.Add(7*time.Hour), "early", prescient.Done, nil) }},
		} {
			tt.late()
			r.rollAt(much)
			c, err := Compare(t.Context(), r.As("operator", much), r.tables, time.Time{}, much)
			r.Must(err)
			engine := New(r.As("worker", much), r.tables, "w")
			engine.Redo(c.Again(much))
			r.roll(engine)
			r.balanced("day", first, midnight.Add(24*time.Hour))
			for _, table := range []string{"stats", "stats_bucket", "stats_reason"} {
				r.Exec("DELETE FROM p_" + table + " WHERE grain = 'hour'")
			}
			if c, err = Compare(t.Context(), r.As("operator", much), r.tables, time.Time{}, midnight.Add(24*time.Hour)); err != nil || len(c.Differ) > 0 {
				t.Errorf("%s: %+v, %v", tt.about, c.Differ, err)
			}
		}
	})
}
