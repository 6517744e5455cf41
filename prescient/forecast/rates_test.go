package forecast

import (
	"fmt"
	"testing"
	"time"

	"prescient/prescient/internal/rig"
	"prescient/slots"
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
	eachFlavour(t, func(t *testing.T, r *testRig) {
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
	eachFlavour(t, func(t *testing.T, r *testRig) {
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

// What part of a day an agent has is told by slots of all the day, whatever it is that it serves.
func TestTheAgentsOfADayAreThoseOfAllOfIt(t *testing.T) {
	for _, resolution := range []time.Duration{time.Second, 15 * time.Second, 20 * time.Second, time.Minute, 5 * time.Minute, 15 * time.Minute} {
		grid := rig.GridOf(t, resolution)
		want := make(map[string]float64)
		for minute := 0; minute < 60; minute += max(int(resolution/time.Minute), 1) {
			want[fmt.Sprintf("minutes %d", minute)] = max(resolution.Minutes(), 1) / 60
		}
		for _, n := range []int{1, 2, 3, 4, 8, 12} {
			for k := range n {
				want[fmt.Sprintf("share %d/%d", k+1, n)] = 1 / float64(n)
			}
		}
		for text, part := range want {
			assigned, err := slots.Parse(grid, text)
			rig.Fatal(t, err)
			for _, from := range []string{"00:00", "10:20"} {
				served := ofDay([]crew{{assigned, []float64{60}}}, grid, rig.At(from), rig.Day.Add(24*time.Hour))
				if is := sumOf(served[0].calls) / 60; is < part/2 || is > 2*part {
					t.Errorf("%s of %s from %s: %.3f of the day; want %.3f", text, resolution, from, is, part)
				}
			}
		}
	}
	// What is left of a day before its end is told by itself.
	assigned, err := slots.Parse(rig.GridOf(t, time.Minute), "minutes 59")
	rig.Fatal(t, err)
	if served := ofDay([]crew{{assigned, []float64{60}}}, rig.GridOf(t, time.Minute), rig.At("23:58"), rig.Day.Add(24*time.Hour)); sumOf(served[0].calls) != 30 {
		t.Error(served)
	}
}

// A row that no worker has written, by its guards or its time, keeps nothing from being known.
func TestRowsThatNoWorkerWroteAreNotCounted(t *testing.T) {
	eachFlavour(t, func(t *testing.T, r *testRig) {
		insert := func(exec, guards, seen string) {
			r.Exec("INSERT INTO p_exec_known (job_exec, fingerprint, form, guards, worker, first_at, seen_at) VALUES (?, '12345678', 'func', ?, 'w', '2026-11-20', ?)", exec, guards, seen)
		}
		insert("check", `{"concurrency": 3, "sla_ms": 5000}`, "2026-11-20 12:30:00")
		insert("list", `[]`, "2026-11-20 12:31:00")
		insert("text", `{"concurrency": "many"}`, "2026-11-20 12:32:00")
		insert("late", `{"concurrency": 3}`, "2026-11-20 13:00:01")
		execs := r.execsAt("13:00")
		if len(execs) != 1 || execs["check"].limit != 3 || execs["check"].sla != 5*time.Second {
			t.Errorf("%+v", execs)
		}
		r.makeAt(rig.At("13:00"))
		r.Exec("UPDATE IGNORE p_forecast_fit SET made_at = '0000-00-00'")
		if report := r.makeAt(rig.At("13:00:30")); report.Age != 0 || !report.MadeAt.Equal(rig.At("13:00:30")) {
			t.Errorf("%+v", report)
		}
	})
}
