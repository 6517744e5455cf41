package forecast

import (
	"fmt"
	"testing"
	"time"

	"prescient/prescient/internal/rig"
	"prescient/prescient/internal/rig/whole"
	"prescient/prescient/localserver/servertest"
)

const digits = "(SELECT 0 AS n UNION ALL SELECT 1 UNION ALL SELECT 2 UNION ALL SELECT 3 UNION ALL SELECT 4 UNION ALL SELECT 5 UNION ALL SELECT 6 UNION ALL SELECT 7 UNION ALL SELECT 8 UNION ALL SELECT 9)"

// tenThousand are the numbers 0 to 9,999.
const tenThousand = "(SELECT a.n + 10 * b.n + 100 * c.n + 1000 * d.n AS n FROM " + digits + " a, " + digits + " b, " + digits + " c, " + digits + " d) numbers"

// pend makes 10,000 checks pending, or those of a condition on the number n.
func (r *testRig) pend(key, exec, due, where string) {
	r.T.Helper()
	r.Exec("INSERT INTO p_future_job (entity_name, entity_key, job_exec, due_at) SELECT 'order', CONCAT('" + key + "', n), " + exec + ", " + due + " FROM " + tenThousand + " WHERE " + where)
}

// Where nothing is pending a forecast costs a few statements a minute, and who finds one that is fresh sends one.
func TestAForecastOfNothingIsCheap(t *testing.T) {
	eachFlavour(t, func(t *testing.T, r *testRig) {
		first, again, h := r.sends(rig.At("13:00"))
		t.Logf("%d statements, and %d where another has made it", first, again)
		if first > 22 || again != 1 || h.Count("FOR UPDATE") != 1 || h.Count("SHARE MODE") > 0 {
			t.Errorf("%d statements, and %d where another has made it", first, again)
		}
	})
}

// sends is how many statements a forecast sends, and how many whoever finds it does.
func (r *testRig) sends(now time.Time) (first, again int, h *rig.Hooks) {
	r.T.Helper()
	h = &rig.Hooks{}
	m, err := New(r.T.Context(), r.HookedPool(now, h), Options{Prefix: "p_", Dialect: r.Setting})
	r.Must(err)
	before := h.Count("")
	made, err := m.Make(r.T.Context())
	r.Must(err)
	if !made {
		r.T.Fatal("no forecast was made")
	}
	first = h.Count("") - before
	_, err = m.Make(r.T.Context())
	r.Must(err)
	return first, h.Count("") - before - first, h
}

// However many rows, slots, days, job_execs and lines of the books there are, a forecast sends few statements, so that it ends in time where the
// server is far away; and it has a temporary table for none.
func TestAForecastSendsFewStatements(t *testing.T) {
	t.Parallel()
	servertest.EachOfAFlavour(t, func(t *testing.T, d servertest.Database) {
		r := &testRig{whole.New(t, d, time.Minute)}
		r.Needs(t, rig.ColumnDefaults)
		r.Exec("INSERT INTO p_exec_known (job_exec, fingerprint, form, guards, worker, first_at, seen_at) SELECT CONCAT('exec', n), '12345678', 'func', '{\"sla_ms\": 1}', 'w', '2026-11-20', '2026-11-20 12:59:00' FROM " + tenThousand + " WHERE n < 400")
		r.Exec("INSERT INTO p_exec_run (slot, bucket, job_exec, entity_name, calls, run_ms, run_buckets, lateness_buckets) SELECT '2026-11-20 12:45:00' - INTERVAL 15 * (n DIV 100) MINUTE, n MOD 100, CONCAT('exec', n MOD 400), 'order', 1, 600000, '{}', '{}' FROM " + tenThousand)
		r.lives("a", 4, rig.At("13:00"))
		counts := make(map[string]int)
		for i := range 3 {
			r.pend(fmt.Sprint("soon", i), "CONCAT('exec', n MOD 400)", "TIMESTAMP'2026-11-20 12:00:00' + INTERVAL n * 12 SECOND", "n < 2000")
			r.pend(fmt.Sprint("days", i), "CONCAT('exec', n MOD 400)", "TIMESTAMP'2026-11-20 13:00:00' + INTERVAL n * 10 MINUTE", "n < 4000")
			r.analyze()
			counts[fmt.Sprint(6_000*(i+1), " rows")], _, _ = r.sends(rig.At(fmt.Sprintf("13:%02d", 2*i)))
		}
		// With 50 ms of round trip 60 take 3 s.
		if first, last := counts["6000 rows"], counts["18000 rows"]; last > first+2 || last > 60 {
			t.Errorf("%d and %d statements", first, last)
		}
	})
}

// The fullest slot of a day is told of where it will not end in time, also where the rest of its half of the day has less to do than the other half;
// and so is one with few calls that take long.
func TestTheFullestSlotOfADayIsToldOf(t *testing.T) {
	eachFlavour(t, func(t *testing.T, r *testRig) {
		r.Needs(t, rig.ColumnDefaults)
		r.Exec("INSERT INTO p_exec_run (slot, bucket, job_exec, entity_name, calls, run_ms, run_buckets, lateness_buckets) VALUES ('2026-11-20 12:30:00', 3, 'quick', 'order', 1, 2500, '{}', '{}'), ('2026-11-20 12:30:00', 3, 'slow', 'order', 1, 600000, '{}', '{}')")
		r.lives("a", 8, rig.At("13:00"))
		for _, day := range []string{"23", "24"} {
			r.pend("morning"+day, "'quick'", "TIMESTAMP'2026-11-"+day+" 00:00:00' + INTERVAL 15 * (n MOD 48) MINUTE", "TRUE")
			r.pend("full"+day, "'quick'", "'2026-11-"+day+" 17:00:00'", "n < 3000")
		}
		r.pend("few", "'few'", "'2026-11-26 09:00:00'", "n < 7")
		r.pend("slow", "'slow'", "'2026-11-24 21:00:00'", "n < 400")
		r.analyze()
		report := r.makeAt(rig.At("13:00"))
		for _, at := range []time.Time{rig.At("17:00").AddDate(0, 0, 3), rig.At("17:00").AddDate(0, 0, 4), rig.At("21:00").AddDate(0, 0, 4)} {
			if p := partAt(t, report.Slots, at); p.Verdict != Next || p.How != Sampled {
				t.Errorf("%+v", p)
			}
		}
		for day, want := range map[int]int64{3: 13_000, 4: 13_400, 5: 0, 6: 7} {
			p := partAt(t, report.Days, rig.Day.AddDate(0, 0, day))
			if 2*p.Low-p.Due > want || 2*p.High-p.Due < want { // four standard errors
				t.Errorf("%+v; want %d", p, want)
			}
			if few := day > 4; few != (p.How == Exact) {
				t.Errorf("%+v", p)
			}
		}
	})
}

// The sample goes by what the index has, with what is not committed: an open transaction of an app does not send the server to each row.
func TestASampleNeedsNoVersions(t *testing.T) {
	eachFlavour(t, func(t *testing.T, r *testRig) {
		r.Needs(t, rig.ColumnDefaults)
		day := rig.Day.AddDate(0, 0, 5)
		r.pend("there/", "'check'", "'2026-11-25 09:00:00'", "n < 2000")
		tx, err := r.As("app", rig.At("13:00")).BeginTx(t.Context(), nil)
		r.Must(err)
		defer func() { _ = tx.Rollback() }()
		_, err = tx.ExecContext(t.Context(), "INSERT INTO p_future_job (entity_name, entity_key, job_exec, due_at) SELECT 'order', CONCAT('open/', n), 'check', '2026-11-25 10:00:00' FROM "+tenThousand+" WHERE n < 500")
		r.Must(err)
		if p := partAt(t, r.makeAt(rig.At("13:00")).Days, day); p.Due != 2500 {
			t.Errorf("%+v", p)
		}
	})
}

// Agents that serve other slots are not held up by what one is late with.
func TestABacklogIsThatOfItsAgents(t *testing.T) {
	eachFlavour(t, func(t *testing.T, r *testRig) {
		r.Exec("INSERT INTO p_exec_run (slot, bucket, job_exec, entity_name, calls, run_ms, run_buckets, lateness_buckets) VALUES ('2026-11-20 12:30:00', 3, 'slow', 'order', 1, 600000, '{}', '{}')")
		r.lives("a", 8, rig.At("13:00"))
		r.lives("b", 8, rig.At("13:00"))
		r.Exec("UPDATE p_agent SET assignment = IF(name = 'a', 'minutes 0,30', 'minutes 15,45')")
		r.ManyDue(rig.At("13:30"), "slow", 0, 40)
		r.ManyDue(rig.At("13:45"), "slow", 100, 104)
		r.ManyDue(rig.At("14:00"), "slow", 200, 204)
		report := r.makeAt(rig.At("13:01"))
		for clock, want := range map[string]string{"13:30": "13:30", "13:45": "13:45", "14:00": "15:10"} {
			if p := partAt(t, report.Slots, rig.At(clock)); !p.BeginsAt.Equal(rig.At(want)) {
				t.Errorf("%s begins at %s; want %s", clock, p.BeginsAt, want)
			}
		}
	})
}
