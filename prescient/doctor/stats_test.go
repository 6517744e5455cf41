package doctor

import (
	"testing"
	"time"

	"prescient/prescient"
	"prescient/prescient/internal/rig"
	"prescient/prescient/internal/rollup"
)

func TestADoctorSaysHowFarHistoryIsSummedUp(t *testing.T) {
	eachFlavour(t, func(t *testing.T, r *testRig) {
		r.Needs(t, rig.ColumnDefaults)
		look := func(at time.Time) []Finding {
			t.Helper()
			found, err := Examine(t.Context(), r.As("operator", at), Options{Prefix: "p_", Dialect: r.Setting})
			r.Must(err)
			return found
		}
		roll := func(at time.Time) {
			t.Helper()
			engine := rollup.New(r.As("worker", at), r.Tables(), "w")
			for more := true; more; {
				var err error
				more, err = engine.Step(t.Context(), time.Minute)
				r.Must(err)
			}
		}
		r.Insert(rig.At("10:00"), prescient.NewJob{Entity: rig.Order("1"), JobExec: "check", DueAt: rig.At("12:00")})
		if n, err := r.Client.Cancel(t.Context(), r.AppAt(rig.At("10:10")), rig.Order("1")); err != nil || n != 1 {
			t.Fatalf("%d, %v", n, err)
		}
		wantFinding(t, look(rig.At("13:59")), "stats", SeverityOK)
		wantFinding(t, look(rig.At("14:30")), "stats", SeverityWarn, "What ended since 2026-11-20T10:10:00Z is not summed up yet", "4h20m0s behind")
		next := rig.At("12:30").Add(24 * time.Hour)
		roll(next)
		wantFinding(t, look(next), "stats", SeverityOK)
		r.Exec("UPDATE p_stats SET ends = 2 WHERE grain = 'hour'")
		wantFinding(t, look(next), "stats", SeverityWarn, "2026-11-20 10:00: 1 ends were summed up, its lines have 2")
		r.Exec("UPDATE p_stats_hour SET ends = 0")
		wantFinding(t, look(next), "stats", SeverityWarn, "2026-11-20 10:00: 0 ends were summed up, history has 1")
	})
}
