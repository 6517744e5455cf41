package prune

import (
	"errors"
	"fmt"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	"github.com/go-sql-driver/mysql"

	"prescient/prescient"
	"prescient/prescient/connect"
	"prescient/prescient/internal/duty"
	"prescient/prescient/internal/rig"
	"prescient/prescient/localserver/servertest"
	"prescient/scripts/chaos/wire"
)

const days = 24 * time.Hour

// sums is how many ends are in the sums of days, or of hours.
func (r *testRig) sums(grain string) int {
	r.T.Helper()
	return r.Count("SELECT CAST(COALESCE(SUM(ends), 0) AS SIGNED) FROM p_stats WHERE grain = ?", grain)
}

func TestWhatPruneDropsIsSummedUpBefore(t *testing.T) {
	eachFlavour(t, func(t *testing.T, r *testRig) {
		r.keepPartitions(rig.Day.AddDate(0, 0, -100), Options{})
		for _, ago := range []int{99, 95, 40, 20, 4} {
			r.end(ago, "of a day")
		}
		report := r.prune(rig.At("10:05"), Options{Keep: 30 * days})
		if r.Count("SELECT COUNT(*) FROM p_job_history") != 2 || report.UnsummedFrom != nil || r.sums("day") != 5 {
			t.Errorf("%d days' ends, %+v", r.sums("day"), report)
		}
		// Hours of more than 90 days ago have gone; their days stay.
		if r.sums("hour") != 3 || report.StatsRows == 0 {
			t.Errorf("%d ends of hours, %+v", r.sums("hour"), report)
		}
		// An end that comes as late as that is summed, too; what was pruned stays summed.
		r.end(39, "late")
		r.end(60, "very late")
		report = r.prune(rig.At("10:05"), Options{Keep: 30 * days})
		if r.Count("SELECT COUNT(*) FROM p_job_history") != 4 || r.sums("day") != 7 {
			t.Errorf("%d days' ends, %+v", r.sums("day"), report)
		}
		report = r.prune(rig.At("10:05").AddDate(5, 0, 0), Options{Keep: 30 * days, TrustClock: true})
		if n := r.Count("SELECT COUNT(*) FROM p_stats WHERE start < '2026-11-21'") + r.Count("SELECT COUNT(*) FROM p_stats_hour WHERE start < '2026-11-21'"); n != 0 {
			t.Errorf("%d rows are left after five years, %+v", n, report)
		}
	})
}

// Whoever makes a day of its hours has all of them: prune deletes none meanwhile.
func TestPruneDeletesNoSumsWhileAnotherSumsUp(t *testing.T) {
	eachFlavour(t, func(t *testing.T, r *testRig) {
		r.keepPartitions(rig.Day.AddDate(0, 0, -100), Options{})
		r.end(99, "of a day")
		r.prune(rig.At("10:05").AddDate(0, 0, -20), Options{Keep: 30 * days, TrustClock: true}) // its hour is not old yet
		another, err := duty.Try(t.Context(), r.Pool(rig.At("10:05")), r.Tables(), duty.Rollup, "another", time.Minute)
		r.Must(err)
		report := r.prune(rig.At("10:05"), Options{Keep: 30 * days, TrustClock: true, Patience: 100 * time.Millisecond})
		if report.StatsRows != 0 || !report.StatsLeft || r.sums("hour") != 1 {
			t.Errorf("%d ends of hours, %+v", r.sums("hour"), report)
		}
		r.Must(another.Release(t.Context()))
		report = r.prune(rig.At("10:05"), Options{Keep: 30 * days, TrustClock: true})
		if report.StatsRows == 0 || report.StatsLeft || r.sums("hour") != 0 || r.sums("day") != 1 || r.Count("SELECT COUNT(*) FROM p_duty WHERE allocated_until IS NULL") != 1 {
			t.Errorf("%d ends of hours, %+v", r.sums("hour"), report)
		}
	})
}

// Summing up may take longer than a connection may idle. That which locks out other prunes is kept meanwhile.
func TestPruneKeepsItsConnectionWhileItSumsUp(t *testing.T) {
	eachFlavour(t, func(t *testing.T, r *testRig) {
		const idles = time.Second
		plan, err := wire.NewPlan(fmt.Sprintf(`[{"Match": "COALESCE(lateness_ms, 0)", "Nth": 1, "After": true, "Do": "delay", "Wait": %d}]`, 3*idles), 1)
		r.Must(err)
		var delayed atomic.Int32
		plan.Tell = func(string, string, time.Duration) { delayed.Add(1) }
		network := "slow-" + r.D.Name
		mysql.RegisterDialContext(network, plan.Dial)
		t.Cleanup(func() { mysql.DeregisterDialContext(network) })
		dsn := servertest.WithParams(r.Account("owner"), rig.FixedClock(rig.At("10:05")))
		db, err := connect.Open(strings.Replace(dsn, "@tcp(", "@"+network+"(", 1), 2*idles)
		r.Must(err)
		t.Cleanup(func() { _ = db.Close() })
		r.keepPartitions(rig.Day.AddDate(0, 0, -100), Options{})
		r.end(60, "of a day")
		report, err := Run(t.Context(), db, Options{Prefix: "p_", Keep: 30 * days, TrustClock: true})
		if err != nil || delayed.Load() != 1 || r.Count("SELECT COUNT(*) FROM p_job_history") != 0 || r.sums("day") != 1 {
			t.Errorf("%d delays, %v, %+v", delayed.Load(), err, report)
		}
	})
}

func TestPruneDropsNothingThatIsNotSummedUp(t *testing.T) {
	eachFlavour(t, func(t *testing.T, r *testRig) {
		r.keepPartitions(rig.Day.AddDate(0, 0, -100), Options{})
		r.end(60, "of a day")
		another, err := duty.Try(t.Context(), r.Pool(rig.At("10:05")), r.Tables(), duty.Rollup, "another", time.Minute)
		r.Must(err)
		report := r.prune(rig.At("10:05"), Options{Keep: 30 * days, TrustClock: true, Patience: 100 * time.Millisecond})
		if report.UnsummedFrom == nil || !report.UnsummedFrom.Equal(rig.At("10:00").AddDate(0, 0, -60)) || r.Count("SELECT COUNT(*) FROM p_job_history") != 1 {
			t.Errorf("%+v", report)
		}
		r.Must(another.Release(t.Context()))
		r.Exec("RENAME TABLE p_stats_reason TO gone")
		report, err = Run(t.Context(), r.Pool(rig.At("10:05")), Options{Prefix: "p_", Keep: 30 * days, TrustClock: true})
		if err == nil || r.Count("SELECT COUNT(*) FROM p_job_history") != 1 {
			t.Errorf("%v, %+v", err, report)
		}
		r.Exec("RENAME TABLE gone TO p_stats_reason")
		report = r.prune(rig.At("10:05"), Options{Keep: 30 * days, TrustClock: true})
		if report.UnsummedFrom != nil || r.Count("SELECT COUNT(*) FROM p_job_history") != 0 || r.sums("day") != 1 {
			t.Errorf("%+v", report)
		}
		_, err = Run(t.Context(), r.Pool(time.Time{}), Options{Prefix: "p_", Keep: MinKeep, KeepStats: MinKeepStats - 1})
		if !errors.Is(err, prescient.ErrInvalid) {
			t.Error(err)
		}
	})
}
