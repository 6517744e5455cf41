package acceptance

import (
	"strings"
	"testing"
	"time"

	"prescient/prescient"
	"prescient/prescient/internal/rig"
	"prescient/prescient/internal/rollup"
	text "prescient/sql"
)

// rollUp sums up all that is due at a time.
func (r *testRig) rollUp(at time.Time) {
	r.T.Helper()
	engine := rollup.New(r.As("worker", at), r.Tables(), "w")
	for more := true; more; {
		var err error
		more, err = engine.Step(r.T.Context(), time.Minute)
		r.Must(err)
	}
}

func TestAnalystsReadWhatWasSummedUp(t *testing.T) {
	besideOthers(t, func(t *testing.T, r *testRig) {
		const ms = time.Millisecond
		r.ended("unshipped",
			endedAs{0, prescient.Done, 0, 10 * ms, 2 * time.Second},
			endedAs{0, prescient.Done, 0, 20 * ms, 6 * time.Minute},
			endedAs{0, prescient.Done, 2, 30 * ms, 7 * time.Minute},
			endedAs{0, prescient.MaxChecks, 5, 40 * ms, time.Second},
			endedAs{0, prescient.Cancelled, 4, 0, 0},
			endedAs{1, prescient.Done, 0, 7 * ms, 26 * time.Hour},
			endedAs{1, prescient.TimedOut, 1, 9 * ms, 0},
		)
		r.Exec(`INSERT INTO p_exec_known (job_exec, fingerprint, form, guards, worker, first_at, seen_at) VALUES
			('unshipped', REPEAT('a', 8), 'func', '{"max_checks": 5}', 'w', '2026-11-20', '2026-11-20'), ('unshipped', REPEAT('b', 8), 'func', '{"max_checks": 500}', 'w', '2026-11-19', '2026-11-19')`)
		r.Exec(`INSERT INTO p_slot_run (slot, bucket, buckets, run_by, started_at) VALUES ('2026-11-20 10:00', 0, 2, 'work', '2026-11-20 10:00'), ('2026-11-20 10:00', 1, 2, 'sweep', '2026-11-20 10:01'), ('2026-11-20 10:15', 0, 1, 'sweep', '2026-11-20 10:20'),
			('2026-11-20 10:30', 0, 1, 'roll-forward', '2026-11-20 11:00'), ('2026-11-20 10:45', 0, 1, '', NULL)`)
		r.rollUp(rig.At("00:30").AddDate(0, 0, 2))
		for _, test := range []struct{ query, want string }{
			{"SELECT * FROM p_stats_outcomes WHERE grain = 'day' ORDER BY start, job_exec, outcome", `
day 2026-11-20 00:00:00 unshipped done 3 5 0 0
day 2026-11-20 00:00:00 unshipped cancelled 1 4 0 0
day 2026-11-20 00:00:00 unshipped max_checks 1 6 0 0
day 2026-11-21 00:00:00 unshipped done 1 1 0 0
day 2026-11-21 00:00:00 unshipped timed_out 1 2 0 0`},
			{"SELECT start, job_exec, reason, ends, percent FROM p_stats_reasons WHERE grain = 'day' ORDER BY start, job_exec, reason", `
2026-11-20 00:00:00 unshipped cancelled 1 50.00
2026-11-20 00:00:00 unshipped max_checks 1 50.00
2026-11-21 00:00:00 unshipped timed_out 1 100.00`},
			{"SELECT start, entity_name, job_exec, ends, done, unsettled, by_app, calls, errors, run_ms_mean FROM p_stats_entities WHERE grain = 'day' ORDER BY start", `
2026-11-20 00:00:00 order unshipped 5 3 1 1 15 0 25.0
2026-11-21 00:00:00 order unshipped 2 1 1 0 3 0 8.0`},
			{"SELECT start, job_exec, jobs, at_once, later, never, unknown_end, not_yet, percent_not_at_once FROM p_stats_not_yet WHERE grain = 'day' ORDER BY start", `
2026-11-20 00:00:00 unshipped 4 2 1 1 0 8 50.00
2026-11-21 00:00:00 unshipped 2 1 0 0 1 1 50.00`},
			{"SELECT start, job_exec, runs, over_10s, over_1m, over_5m, over_15m, over_1h, over_1d, due_over_5m, due_over_1d FROM p_stats_lateness WHERE grain = 'day' ORDER BY start", `
2026-11-20 00:00:00 unshipped 4 2 2 2 0 0 0 2 0
2026-11-21 00:00:00 unshipped 2 1 1 1 1 1 1 1 1`},
			{"SELECT start, job_exec, max_checks, ends, near FROM p_stats_near_guard WHERE grain = 'day' ORDER BY start", `
2026-11-20 00:00:00 unshipped 5 4 1
2026-11-21 00:00:00 unshipped 5 2 0`},
			{"SELECT day, served, by_sweep_alone, not_served FROM p_stats_slots", `
2026-11-20 3 2 93`},
			{"SELECT COUNT(*), SUM(ends) FROM p_stats_outcomes WHERE grain = 'hour' AND start = '2026-11-20 10:00'", `
3 5`},
		} {
			if got := "\n" + r.table(test.query); got != test.want {
				t.Errorf("%s:%s\nwant%s", test.query, got, test.want)
			}
		}
		if r.Dialect == text.Plain {
			return
		}
		r.Exec("INSERT INTO p_stats VALUES ('day', '2098-01-01', 'far', 'order', 'done', 1, 1, 0, 0, 0, 1, 1, 1, 1, 1)") // apps write any ended_at
		r.Exec("INSERT INTO p_stats_bucket VALUES ('hour', UTC_DATE(), 'today', 'order', 'run', 10, 1)")
		const both = "unshipped due_lateness 6 2020 97356678 97356678 97356678\nunshipped lateness 6 2020 97356678 97356678 97356678\nunshipped run 6 10 40 40 40"
		for span, want := range map[string]string{"'2026-11-20', '2026-11-22', NULL": both, "'2026-11-20 10:00', '2026-11-21 11:00', 'unshipped'": both, "'2026-11-20', '2026-11-21 10:00', NULL": "unshipped due_lateness 4 2020 432866 432866 432866\n",
			"'2026-11-20 10:00', '2026-11-20 11:00', NULL": "unshipped due_lateness 4 2020 432866 432866 432866\n", "'2026-11-20 10:30', '2026-11-20 10:40', NULL": "unshipped due_lateness 4 2020 432866 432866 432866\n", "UTC_DATE(), UTC_DATE() + INTERVAL 1 DAY, NULL": "today run 1 1 1 1 1",
			"'2026-11-20 11:00', '2026-11-21 10:00', NULL": "", "'2026-11-20', '2026-11-22', 'another'": ""} {
			if got := r.table("CALL p_stats_percentiles(" + span + ")"); !strings.HasPrefix(got, want) || (want == "") != (got == "") {
				t.Errorf("%s:\n%s\nwant\n%s", span, got, want)
			}
		}
	})
}

// What is asked of a day costs what that day has, however many there are.
func TestAViewOfSumsReadsWhatItIsAskedFor(t *testing.T) {
	besideOthers(t, func(t *testing.T, r *testRig) {
		r.Needs(t, rig.ReadPlans)
		const days = 40
		for day := range days {
			at := rig.Day.AddDate(0, 0, -day)
			r.Exec("INSERT INTO p_stats SELECT 'day', ?, CONCAT('e', n.n), 'order', 'done', 1, 1, 1, 1, 1, 1, 1, 1, 1, 1 FROM (SELECT 1 n UNION ALL SELECT 2 UNION ALL SELECT 3) n", at)
			r.Exec("INSERT INTO p_stats_bucket SELECT 'day', ?, CONCAT('e', n.n), 'order', m.n, 100, 1 FROM (SELECT 1 n UNION ALL SELECT 2 UNION ALL SELECT 3) n, (SELECT 1 n UNION ALL SELECT 2 UNION ALL SELECT 3 UNION ALL SELECT 4) m", at)
			r.Exec("INSERT INTO p_stats_reason VALUES ('day', ?, 'e1', 'why', 1)", at)
		}
		conn, err := r.As("analyst", time.Time{}).DB.Conn(t.Context())
		r.Must(err)
		defer conn.Close()
		for _, view := range []string{"outcomes", "reasons", "entities", "not_yet", "lateness", "near_guard"} {
			read := rig.Reads(t, conn, "SELECT * FROM p_stats_"+view+" WHERE grain = 'day' AND start >= '2026-11-18' AND start < '2026-11-20'")
			if all := rig.Reads(t, conn, "SELECT * FROM p_stats_"+view); read > all/4+20 && view != "near_guard" {
				t.Errorf("%s: %d entries were read for two days, %d for all", view, read, all)
			}
		}
	})
}
