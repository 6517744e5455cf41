package stats

import (
	"context"
	"fmt"
	"strings"
	"testing"
	"time"

	"prescient/prescient"
	"prescient/prescient/internal/rig"
	"prescient/prescient/internal/rig/whole"
	"prescient/prescient/internal/tally"
	"prescient/prescient/worker"
)

func TestWholeDaysAreTakenFromTheDays(t *testing.T) {
	t.Parallel()
	at := func(text string) time.Time {
		when, err := time.Parse("2 15:04", text)
		if err != nil {
			t.Fatal(err)
		}
		return when
	}
	for span, want := range map[[3]string]string{
		{"3 00:00", "6 00:00", "9 00:00"}: "day 3 00:00 to 6 00:00",
		{"3 10:20", "6 11:01", "9 00:00"}: "hour 3 10:00 to 4 00:00, day 4 00:00 to 6 00:00, hour 6 00:00 to 6 12:00",
		{"3 10:20", "6 11:01", "4 00:00"}: "hour 3 10:00 to 4 00:00, day 4 00:00 to 5 00:00, hour 5 00:00 to 6 12:00",
		{"3 10:20", "4 11:00", "9 00:00"}: "hour 3 10:00 to 4 11:00",
		{"3 10:00", "6 11:00", "1 00:00"}: "hour 3 10:00 to 6 11:00",
	} {
		var got []string
		for _, s := range spansOf(at(span[0]), at(span[1]), at(span[2])) {
			got = append(got, s.grain+" "+s.from.Format("2 15:04")+" to "+s.before.Format("2 15:04"))
		}
		if got := strings.Join(got, ", "); got != want {
			t.Errorf("%v: %s; want %s", span, got, want)
		}
	}
}

// rolledUp is an installation in which a slot ran, and was summed up.
func rolledUp(t *testing.T, r *whole.Rig) {
	registry := rig.Registry("good", rig.NothingToDo, prescient.Guards{})
	r.Must(registry.Register("bad", func(context.Context, prescient.FutureJob) (*time.Time, error) { return nil, fmt.Errorf("it is empty") }, prescient.Guards{MaxErrors: prescient.None}))
	r.ManyDue(rig.At("13:15"), "good", 0, 30)
	r.ManyDue(rig.At("13:15"), "bad", 100, 110)
	r.RunAt(rig.At("13:15"), registry, worker.Options{})
	rollUp(t, r, rig.At("15:00"))
}

// rollUp has a rollup served by the clock of a time until nothing is left to do.
func rollUp(t *testing.T, r *whole.Rig, at time.Time) {
	engine, err := New(t.Context(), r.As("worker", at), Options{Prefix: "p_", Dialect: r.Setting, Worker: "w"})
	r.Must(err)
	ctx, stop := context.WithCancel(t.Context())
	served := make(chan struct{})
	go func() {
		defer close(served)
		engine.Serve(ctx)
	}()
	last := at.Add(-time.Hour - 5*time.Minute).Truncate(time.Hour)
	r.Eventually("it is summed up", func() bool {
		return r.Count("SELECT COUNT(*) FROM p_stats_hour WHERE start = ?", last) == 1 && r.Count("SELECT COUNT(*) FROM p_duty WHERE allocated_until IS NULL") == 1
	})
	stop()
	<-served
}

func TestPercentilesAreThoseOfHistory(t *testing.T) {
	eachFlavour(t, func(t *testing.T, r *whole.Rig) {
		rolledUp(t, r)
		check := func(about string, now, from, before time.Time) {
			t.Helper()
			all, err := Percentiles(t.Context(), r.As("analyst", now), "p_", r.Setting, from, before)
			if r.Must(err); len(all) != 2 || all[0].JobExec != "bad" || all[0].Ends != 10 || all[1].Ends != 30 {
				t.Fatalf("%s: %+v", about, all)
			}
			for _, e := range all {
				longest := int64(r.Count("SELECT MAX(lateness_ms) FROM p_job_history WHERE job_exec = ?", e.JobExec))
				if up := tally.UpTo(tally.BucketOf(longest)); e.Lateness.LongestMS != up || e.Lateness.P50MS > up || e.DueLateness.LongestMS < e.Lateness.LongestMS {
					t.Errorf("%s: %+v; the longest is %d", about, e, longest)
				}
			}
		}
		check("of an hour", rig.At("15:00"), rig.At("13:00"), rig.At("14:00"))
		r.Exec("INSERT INTO p_stats VALUES ('day', '2098-01-01', 'far', 'order', 'done', 1, 1, 0, 0, 0, 1, 1, 1, 1, 1)") // apps write any ended_at
		check("of today", rig.At("15:00"), rig.At("00:00"), rig.At("00:00").Add(24*time.Hour))
		rollUp(t, r, rig.At("00:30").Add(24*time.Hour))
		r.Exec("DELETE FROM p_stats_bucket WHERE grain = 'hour'")
		check("of a day", rig.At("00:30").Add(24*time.Hour), rig.At("00:00"), rig.At("00:00").Add(24*time.Hour))
		if _, err := Percentiles(t.Context(), r.As("analyst", time.Time{}), "p_", r.Setting, rig.At("13:00"), rig.At("13:00")); !rig.Contains(err, "earlier") {
			t.Errorf("an empty span: %v", err)
		}
	})
}

func TestHoursAreVerifiedAndRebuilt(t *testing.T) {
	eachFlavour(t, func(t *testing.T, r *whole.Rig) {
		rolledUp(t, r)
		verify := func() Comparison {
			t.Helper()
			c, err := Verify(t.Context(), r.As("analyst", rig.At("15:10")), "p_", r.Setting, time.Time{}, time.Time{})
			r.Must(err)
			return c
		}
		if c := verify(); c.Hours != 24 || c.Pruned != 0 || len(c.Differ) != 0 {
			t.Errorf("%+v", c)
		}
		r.Exec("DELETE FROM p_stats WHERE job_exec = 'bad'")
		if c := verify(); len(c.Differ) != 1 || c.Differ[0].String() != "2026-11-20 13:00: 40 ends were summed up, its lines have 30" {
			t.Errorf("lines are lacking: %+v", c)
		}
		ended := r.Count("SELECT ends FROM p_stats_hour WHERE ends > 0")
		r.Exec("UPDATE p_stats_hour SET ends = 39 WHERE ends > 0")
		r.Exec("UPDATE p_stats_hour SET ends = 7 WHERE start = '2026-11-20 11:00'") // of which history is gone
		r.Exec("DELETE FROM p_stats")
		if c := verify(); c.Pruned != 1 || len(c.Differ) != 1 || c.Differ[0].String() != "2026-11-20 13:00: 39 ends were summed up, history has 40" || ended != 40 {
			t.Errorf("%+v", c)
		}
		done, err := Rebuild(t.Context(), r.As("worker", rig.At("15:10")), "p_", r.Setting, rig.At("00:00"), rig.At("15:00"))
		if r.Must(err); done.Hours != 1 || done.Left != 1 || r.Count("SELECT CAST(SUM(ends) AS SIGNED) FROM p_stats WHERE grain = 'hour'") != 40 {
			t.Errorf("%+v", done)
		}
		if n := r.Count("SELECT COUNT(*) FROM p_audit_log WHERE verb = 'stats-rebuild'"); n != 1 {
			t.Errorf("%d entries of the audit", n)
		}
		if c := verify(); len(c.Differ) != 0 {
			t.Errorf("%+v", c)
		}
	})
}

// Where workers are timers, an hour is summed that takes longer than the second that each of them has.
func TestOnceGoesOnWithTheHourThatItBegan(t *testing.T) {
	eachFlavour(t, func(t *testing.T, r *whole.Rig) {
		const n = "(SELECT 0 n UNION ALL SELECT 1 UNION ALL SELECT 2 UNION ALL SELECT 3 UNION ALL SELECT 4 UNION ALL SELECT 5 UNION ALL SELECT 6 UNION ALL SELECT 7 UNION ALL SELECT 8 UNION ALL SELECT 9 UNION ALL SELECT 10)"
		r.ManyDue(rig.At("13:15"), "good", 0, 1)
		r.RunAt(rig.At("13:15"), rig.Registry("good", rig.NothingToDo, prescient.Guards{}), worker.Options{})
		r.Exec(`INSERT INTO p_job_history (entity_name, entity_key, job_exec, tag, due_at, job_key, first_check_at, next_check_at, check_count, error_count, put_off_count, total_ms, revision,
			inserted_at, slot, outcome, started_at, ended_at, run_ms, lateness_ms, worker)
			SELECT entity_name, entity_key, job_exec, tag, due_at, SUBSTRING(UNHEX(SHA2(CONCAT_WS('.', a.n, b.n, c.n, d.n), 256)), 1, 16), first_check_at, next_check_at, check_count, error_count, put_off_count, total_ms, 1,
			inserted_at, slot, outcome, started_at, ended_at, run_ms, lateness_ms, worker
			FROM p_job_history, ` + n + " a, " + n + " b, " + n + " c, " + n + " d")
		rollUp(t, r, rig.At("13:06"))
		hooks := &rig.Hooks{}
		hooks.OnStatement(func(query string) error {
			if strings.Contains(query, "SELECT ended_at, job_key, revision, job_exec") {
				time.Sleep(StepTime)
			}
			return nil
		})
		engine, err := New(t.Context(), r.HookedAs("worker", rig.At("14:06"), hooks), Options{Prefix: "p_", Dialect: r.Setting, Worker: "w"})
		r.Must(err)
		engine.Once(t.Context())
		if n := r.Count("SELECT COALESCE(MAX(ends), 0) FROM p_stats_hour WHERE start = '2026-11-20 13:00'"); n != 14642 {
			t.Errorf("%d ends are summed up of an hour that takes longer", n)
		}
	})
}
