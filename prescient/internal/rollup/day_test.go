package rollup

import (
	"testing"
	"time"

	"prescient/prescient/internal/rig"
)

// A day keeps its lines where those of its hours are gone, and is made of all its hours where a part of them was summed again.
func TestADayIsNotMadeOfAPartOfItsHours(t *testing.T) {
	eachServer(t, func(t *testing.T, r *testRig) {
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
