package rollup

import (
	"context"
	"fmt"
	"testing"
	"time"

	"prescient/prescient"
	"prescient/prescient/internal/rig"
	"prescient/prescient/internal/store"
)

// someHours gives history ends of some hours.
func (r *testRig) someHours() {
	for n := range 40 {
		at := rig.At("10:59:30").Add(time.Duration(n) * 7 * time.Minute)
		switch n % 4 {
		case 0:
			r.end(at, "a", prescient.Done, nil)
		case 1:
			r.end(at, "b", prescient.MaxChecks, func(e *store.End) { e.Job.CheckCount = 3 })
		case 2:
			r.end(at, "a", prescient.Expired, func(e *store.End) { e.Started, e.Ran, e.Reason = time.Time{}, 0, "" })
		default:
			r.end(at, "c", prescient.Failed, func(e *store.End) { e.Job.ErrorCount, e.Job.EntityName = 4, "parcel" })
		}
	}
}

func TestSumsAreThoseOfHistory(t *testing.T) {
	eachFlavour(t, func(t *testing.T, r *testRig) {
		r.someHours()
		r.rollAt(rig.At("14:04:59"))
		if r.Count("SELECT COUNT(*) FROM p_stats WHERE start >= '2026-11-20 13:00'") != 0 {
			t.Error("an hour was summed before it was over for 5 minutes")
		}
		r.balanced("hour", midnight, rig.At("13:00"))
		r.rollAt(rig.At("16:30"))
		r.balanced("hour", midnight, rig.At("16:00"))
		if r.Count("SELECT COUNT(*) FROM p_stats WHERE grain = 'day' AND start = '2026-11-20'") != 0 {
			t.Error("the day was made before it was over")
		}
		r.rollAt(midnight.Add(24*time.Hour + 5*time.Minute))
		r.balanced("day", midnight, midnight.Add(24*time.Hour))
		r.balanced("hour", midnight, midnight.Add(24*time.Hour))
		if n := r.Count("SELECT CAST(SUM(not_yet) AS SIGNED) FROM p_stats WHERE grain = 'day' AND job_exec = 'b'"); n != 40 {
			t.Errorf("not yet %d times; want 40", n)
		}
		if r.Count("SELECT COUNT(*) FROM p_stats_hour WHERE day_at IS NULL AND start < '2026-11-21'") != 0 || r.Count("SELECT COUNT(*) FROM p_duty WHERE allocated_until IS NULL") != 1 {
			t.Error("hours are in no day, or the duty was not given back")
		}
	})
}

// An end may be committed long after its time, and a requeued check ends twice.
func TestWhatIsCommittedLateIsSummed(t *testing.T) {
	eachFlavour(t, func(t *testing.T, r *testRig) {
		r.end(rig.At("12:10"), "a", prescient.Done, nil)
		r.rollAt(rig.At("13:06"))
		late := func() { r.end(rig.At("12:20"), "late", prescient.Done, nil) }
		summed := func() int { return r.Count("SELECT COUNT(*) FROM p_stats WHERE job_exec = 'late'") }
		late()
		r.rollAt(rig.At("13:59:59"))
		if summed() != 0 {
			t.Error("an hour is looked at all the time")
		}
		r.rollAt(rig.At("14:00"))
		r.balanced("hour", midnight, rig.At("13:00"))
		again := r.made // the same check, requeued
		late()
		r.Exec("UPDATE p_job_history SET entity_key = ?, job_key = (SELECT * FROM (SELECT job_key FROM p_job_history WHERE entity_key = ?) one) WHERE entity_key = ?", again, again, r.made)
		r.rollAt(rig.At("19:00"))
		r.balanced("hour", midnight, rig.At("13:00"))
		if n := r.Count("SELECT ends FROM p_stats WHERE job_exec = 'late'"); n != 2 {
			t.Errorf("%d ends of a check that was requeued; want 2", n)
		}
		next := midnight.Add(37 * time.Hour) // the day was made before
		r.rollAt(next.Add(-time.Hour))
		late()
		r.rollAt(next)
		r.balanced("hour", midnight, rig.At("13:00"))
		r.balanced("day", midnight, midnight.Add(24*time.Hour))
		late()
		r.rollAt(next.Add(48 * time.Hour))
		c, err := Compare(t.Context(), r.As("operator", time.Time{}), r.tables, midnight, rig.At("14:00"))
		if r.Must(err); len(c.Differ) != 1 || c.Differ[0] != (Difference{Hour: rig.At("12:00"), Summed: 4, History: 5, Lines: 4}) || c.Pruned != 0 || c.Hours != 14 {
			t.Errorf("%+v", c)
		}
		engine := New(r.As("worker", next.Add(48*time.Hour)), r.tables, "w")
		engine.Redo(c.Again(next))
		r.roll(engine)
		r.balanced("day", midnight, midnight.Add(24*time.Hour))
	})
}

func TestOneSumsUpAtATime(t *testing.T) {
	eachFlavour(t, func(t *testing.T, r *testRig) {
		r.someHours()
		at := rig.At("16:30")
		first, second := New(r.As("worker", at), r.tables, "first"), New(r.As("worker", at), r.tables, "second")
		r.Must(first.take(t.Context()))
		if more, err := first.one(t.Context()); err != nil || !more || first.hour == nil {
			t.Fatalf("%t, %v", more, err)
		}
		if more, err := second.Step(t.Context(), time.Minute); err != nil || more || r.hours() != 0 {
			t.Errorf("two at a time: %t, %v", more, err)
		}
		r.Exec("UPDATE p_duty SET allocated_until = '2026-11-20 16:29'") // the first one hangs
		r.roll(second)
		r.balanced("hour", midnight, rig.At("16:00"))
		r.Exec("DELETE FROM p_stats")
		if more, err := first.Step(t.Context(), time.Minute); err != nil || more {
			t.Errorf("who lost the duty: %t, %v", more, err)
		}
		if n := r.Count("SELECT COUNT(*) FROM p_stats"); n != 0 {
			t.Errorf("who lost the duty wrote %d lines", n)
		}
	})
}

func TestAWriteThatFailsLeavesNothing(t *testing.T) {
	eachFlavour(t, func(t *testing.T, r *testRig) {
		r.someHours()
		at := rig.At("16:30")
		for _, step := range []string{"SELECT token FROM p_duty", "DELETE FROM p_stats_reason", "INSERT INTO p_stats (", "INSERT INTO p_stats_bucket", "INSERT INTO p_stats_hour", "COMMIT"} {
			hooks := &rig.Hooks{}
			hooks.OnStatement(rig.FirstTime(step, rig.ErrConnection))
			engine := New(r.HookedAs("worker", at, hooks), r.tables, "w")
			if _, err := engine.Step(t.Context(), time.Minute); err == nil {
				t.Errorf("%s: no error", step)
			}
			if n := r.Count("SELECT COUNT(*) FROM p_stats") + r.Count("SELECT COUNT(*) FROM p_stats_bucket") + r.Count("SELECT COUNT(*) FROM p_stats_hour WHERE ends > 0"); n != 0 {
				t.Errorf("%s: %d rows are left", step, n)
			}
			r.Must(engine.Close(context.Background()))
			for _, table := range []string{"stats", "stats_bucket", "stats_reason", "stats_hour"} {
				r.Exec("DELETE FROM p_" + table)
			}
		}
		hooks := &rig.Hooks{}
		hooks.OnAnswer(rig.FirstTime("COMMIT", rig.ErrConnection)) // it went through
		engine := New(r.HookedAs("worker", at, hooks), r.tables, "w")
		if _, err := engine.Step(t.Context(), time.Minute); err == nil || r.hours() == 0 {
			t.Errorf("%v, %d hours", err, r.hours())
		}
		r.rollAt(at)
		r.balanced("hour", midnight, rig.At("16:00"))
	})
}

// Apps may write any names into history, and an outcome that is none. That stops nobody, and all is counted.
func TestWhatIsNoNameIsSummed(t *testing.T) {
	eachFlavour(t, func(t *testing.T, r *testRig) {
		for range 4 {
			r.end(rig.At("12:10"), "a", prescient.Failed, nil)
		}
		r.Exec("UPDATE p_job_history SET job_exec = 'a ', entity_name = 'order ' WHERE entity_key = '2'")
		r.Exec("UPDATE p_job_history SET entity_name = '' WHERE entity_key = '3'")
		r.Exec("UPDATE IGNORE p_job_history SET outcome = 'no such' WHERE entity_key = '4'")
		if r.Count("SELECT COUNT(*) FROM p_job_history WHERE outcome = ''") != 1 {
			t.Fatal("the outcome is one")
		}
		r.rollAt(midnight.Add(25 * time.Hour))
		want := map[string]int{"a order failed": 2, "a (other) failed": 1, "(other) (other) failed": 1}
		for _, grain := range []string{"hour", "day"} {
			got := r.Tally("SELECT CONCAT_WS(' ', job_exec, entity_name, outcome), CAST(SUM(ends) AS SIGNED) FROM p_stats WHERE grain = '" + grain + "' GROUP BY 1")
			if fmt.Sprint(got) != fmt.Sprint(want) {
				t.Errorf("%s: %v; want %v", grain, got, want)
			}
		}
	})
}

// A row that is no whole hour is refused; where it is there, it keeps no other from being looked at.
func TestHoursAreWhole(t *testing.T) {
	eachFlavour(t, func(t *testing.T, r *testRig) {
		r.end(rig.At("12:10"), "a", prescient.Done, nil)
		r.rollAt(rig.At("13:06"))
		const insert = "INSERT INTO p_stats_hour (start, ends, summed_at) VALUES ('2026-11-20 11:30', 0, '2026-11-20')"
		if _, err := r.Root.ExecContext(t.Context(), insert); err == nil {
			t.Fatal("half an hour is an hour")
		}
		r.Exec("ALTER TABLE p_stats_hour DROP CONSTRAINT p_stats_hour_whole")
		r.Exec(insert)
		engine := New(r.As("worker", rig.At("13:06")), r.tables, "w")
		if r.Must(engine.look(t.Context(), rig.At("11:00"))); engine.hour == nil || !engine.hour.hour.Equal(rig.At("11:00")) {
			t.Error("the hour is not looked at")
		}
	})
}

func TestYearsWithoutEndsAreNotWalked(t *testing.T) {
	eachFlavour(t, func(t *testing.T, r *testRig) {
		r.end(rig.At("10:00").AddDate(-6, 0, 0).Add(time.Minute), "a", prescient.Done, nil)
		r.end(rig.At("10:00").AddDate(-2, 0, 0), "a", prescient.Done, nil)
		r.rollAt(rig.At("13:06"))
		if n := r.hours(); n != 2+25 {
			t.Errorf("%d hours", n)
		}
		if n := r.Count("SELECT COUNT(*) FROM p_stats WHERE grain = 'day'"); n != 2 {
			t.Errorf("%d days", n)
		}
		r.balanced("hour", midnight.AddDate(-7, 0, 0), rig.At("13:00"))
	})
}

// However many checks end in an hour, and at once, they are read page by page.
func TestAnHourIsReadInPages(t *testing.T) {
	eachFlavour(t, func(t *testing.T, r *testRig) {
		const n = "(SELECT 0 n UNION ALL SELECT 1 UNION ALL SELECT 2 UNION ALL SELECT 3 UNION ALL SELECT 4 UNION ALL SELECT 5 UNION ALL SELECT 6 UNION ALL SELECT 7 UNION ALL SELECT 8 UNION ALL SELECT 9)"
		r.end(rig.At("12:10"), "a", prescient.Done, nil)
		r.Exec(`INSERT INTO p_job_history (entity_name, entity_key, job_exec, tag, due_at, job_key, first_check_at, next_check_at, check_count, error_count, put_off_count, total_ms, revision,
			inserted_at, slot, outcome, started_at, ended_at, run_ms, lateness_ms, worker)
			SELECT entity_name, entity_key, job_exec, tag, due_at, SUBSTRING(UNHEX(SHA2(CONCAT_WS('.', a.n, b.n, c.n, d.n, e.n), 256)), 1, 16), first_check_at, next_check_at, check_count, error_count, put_off_count, total_ms, 1,
			inserted_at, slot, outcome, started_at, ended_at + INTERVAL e.n SECOND, a.n * 100, lateness_ms, worker
			FROM p_job_history, ` + n + " a, " + n + " b, " + n + " c, " + n + " d, " + n + " e WHERE e.n < 6")
		r.rollAt(rig.At("13:06"))
		r.balanced("hour", midnight, rig.At("13:00"))
		counted, err := Count(t.Context(), r.As("worker", time.Time{}), r.tables, rig.At("12:00"))
		if r.Must(err); counted != 60001 || r.Count("SELECT ends FROM p_stats_hour WHERE start = '2026-11-20 12:00'") != 60001 {
			t.Errorf("%d are counted", counted)
		}
	})
}

func TestNoStatementOfARollupScansOrSorts(t *testing.T) {
	eachServer(t, func(t *testing.T, r *testRig) {
		r.Needs(t, rig.ReadPlans)
		f := r.Fill()
		r.rollAt(midnight.Add(25 * time.Hour))
		for _, table := range []string{"stats", "stats_bucket", "stats_reason", "stats_hour"} {
			r.Exec("ANALYZE TABLE p_" + table)
		}
		conn, err := r.As("worker", time.Time{}).Conn(t.Context())
		r.Must(err)
		defer conn.Close()
		get := f.Tables.Stmt.Get
		hour, end := rig.At("04:00"), rig.At("05:00")
		at := beginning(rig.At("04:00"))
		ends, hours := map[string]string{"p_job_history": "PRIMARY 8"}, map[string]string{"p_stats_hour": "PRIMARY 5"}
		row := "('hour','2026-11-20','a','b',"
		rig.CheckPlans(t, conn, []rig.Explained{
			{Statement: "rollup/first_end", Query: get("rollup/first_end"), Args: []any{rig.At("04:10")}, Reached: ends},
			{Statement: "rollup/page", Query: get("rollup/page"), Args: at.args(100), Reached: ends},
			{Statement: "rollup/few", Query: get("rollup/few"), Args: []any{at.at, at.before, 100}, Reached: ends},
			{Statement: "rollup/skip", Query: get("rollup/skip"), Args: at.args(100), Reached: ends},
			{Statement: "rollup/rest", Query: get("rollup/rest"), Args: at.args(), Reached: ends},
			{Statement: "rollup/hours", Query: get("rollup/hours"), Args: []any{hour, end, 10}, Reached: map[string]string{"hours": "PRIMARY 5", "of_hour": "PRIMARY 6"}},
			{Statement: "rollup/day_ends", Query: get("rollup/day_ends"), Args: []any{midnight}, Reached: map[string]string{"p_stats": "PRIMARY 6"}},
			{Statement: "rollup/hour", Query: get("rollup/hour"), Args: []any{hour, 1, nil}},
			{Statement: "rollup/looked", Query: get("rollup/looked"), Args: []any{nil, hour}, Reached: hours},
			{Statement: "rollup/in_day", Query: get("rollup/in_day"), Args: []any{hour, end}, Reached: hours},
			{Statement: "rollup/clear_lines", Query: get("rollup/clear_lines"), Args: []any{"hour", hour}, Reached: map[string]string{"p_stats": "PRIMARY 6"}},
			{Statement: "rollup/clear_buckets", Query: get("rollup/clear_buckets"), Args: []any{"hour", hour}, Reached: map[string]string{"p_stats_bucket": "PRIMARY 6"}},
			{Statement: "rollup/clear_reasons", Query: get("rollup/clear_reasons"), Args: []any{"hour", hour}, Reached: map[string]string{"p_stats_reason": "PRIMARY 6"}},
			{Statement: "rollup/lines", Query: f.Tables.Fill("rollup/lines", "{rows}", row+"'done',1,1,1,1,1,1,1,1,1,1)")},
			{Statement: "rollup/buckets", Query: f.Tables.Fill("rollup/buckets", "{rows}", row+"'run',1,1)")},
			{Statement: "rollup/reasons", Query: f.Tables.Fill("rollup/reasons", "{rows}", row+"1)")},
		}, f.Tables.Stmt, []string{"rollup"}, "rollup/state", "rollup/day_lines", "rollup/day_buckets", "rollup/day_reasons") // an entry each; those of a day, in groups
	})
}
