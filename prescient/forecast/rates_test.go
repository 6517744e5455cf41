package forecast

import (
	"fmt"
	"testing"
	"time"

	"prescient/prescient/internal/rig"
)

// execsAt are what a forecast knows of job_execs by a server whose clock stands still.
func (r *testRig) execsAt(clock string) map[string]exec {
	r.T.Helper()
	m := r.maker(rig.At(clock))
	execs, err := (&reader{ctx: r.T.Context(), db: m.db, tables: &m.tables, now: rig.At(clock)}).execs()
	r.Must(err)
	return execs
}

// A job_exec that has calls in one slot a day is known, however many lines the slots around it have.
func TestANightlyJobExecIsKnown(t *testing.T) {
	eachServer(t, func(t *testing.T, r *testRig) {
		digits := "(SELECT 0 AS n UNION ALL SELECT 1 UNION ALL SELECT 2 UNION ALL SELECT 3 UNION ALL SELECT 4 UNION ALL SELECT 5 UNION ALL SELECT 6 UNION ALL SELECT 7 UNION ALL SELECT 8 UNION ALL SELECT 9)"
		r.Exec("INSERT INTO p_exec_run (slot, bucket, job_exec, entity_name, calls, run_ms, run_buckets, lateness_buckets) SELECT '2026-11-20 12:45:00' - INTERVAL 15 * (a.n + 10 * b.n) MINUTE, c.n + 10 * d.n, 'check', 'order', 1, 1000, '{}', '{}' FROM " +
			digits + " a, " + digits + " b, " + digits + " c, " + digits + " d")
		r.Exec("INSERT INTO p_exec_run (slot, bucket, job_exec, entity_name, calls, run_ms, run_buckets, lateness_buckets) VALUES ('2026-11-20 03:00:00', 200, 'nightly', 'order', 1, 5000, '{}', '{}')")
		execs := r.execsAt("13:00")
		if e := execs["nightly"]; !e.known || e.run != 5000 {
			t.Errorf("%+v", execs)
		}
	})
}

// Long runs tell nothing of how long a slot takes, and are read within the limit.
func TestLongRunsAreNoRunTimes(t *testing.T) {
	eachServer(t, func(t *testing.T, r *testRig) {
		r.Exec("INSERT INTO p_exec_run (slot, bucket, job_exec, entity_name, calls, run_ms, run_buckets, lateness_buckets) VALUES ('2026-11-20 12:30:00', 3, 'check', 'order', 2, 40, '{}', '{}')")
		for i := range 60 {
			r.Exec("INSERT INTO p_exec_run (slot, bucket, job_exec, entity_name, calls, run_ms, run_buckets, lateness_buckets) VALUES ('2026-11-20 12:30:00', 65535, ?, 'order', 1, 3600000, '{}', '{}'), ('2026-11-20 12:30:00', 65535, 'check', ?, 1, 3600000, '{}', '{}')", fmt.Sprint("long", i), fmt.Sprint("kind", i))
		}
		if execs := r.execsAt("13:00"); execs["check"].run != 20 || execs["long1"].known {
			t.Errorf("%+v", execs)
		}
		r.Needs(t, rig.ReadPlans)
		conn, err := r.Pool(time.Time{}).Conn(t.Context())
		r.Must(err)
		defer conn.Close()
		m := r.maker(rig.At("13:00"))
		if read := rig.Reads(t, conn, m.tables.Stmt.Get("forecast/calls"), rig.At("12:00"), rig.At("13:00"), 20); read > 25 {
			t.Errorf("%d entries were read for 20 lines", read)
		}
	})
}
