package acceptance

import (
	"fmt"
	"strings"
	"testing"
	"time"

	"prescient/prescient"
	"prescient/prescient/internal/rig"
	"prescient/prescient/internal/store"
	"prescient/prescient/prune"
	"prescient/sql/migrate"
)

// ended writes ends with these outcomes, check counts, run times and latenesses.
func (r *testRig) ended(exec string, rows ...endedAs) {
	r.T.Helper()
	var values []byte
	for i, row := range rows {
		ended := rig.At("10:00").Add(time.Duration(i)*time.Second).AddDate(0, 0, row.day)
		slot := ended.Add(-row.late)
		job := prescient.FutureJob{EntityName: "order", EntityKey: fmt.Sprint(i), JobExec: exec, DueAt: slot, FirstCheckAt: slot, NextCheckAt: slot,
			InsertedAt: slot, Revision: 1, CheckCount: row.checks}
		h := store.End{Job: job, Key: job.Key(), Outcome: row.outcome, Ended: ended, Started: ended, Ran: row.ran, Worker: "w"}
		if row.outcome == prescient.Cancelled {
			h.Started = time.Time{}
		}
		if i > 0 {
			values = append(values, ',')
		}
		values = store.AppendEnd(values, h)
	}
	_, err := r.Pool(rig.At("10:05")).ExecContext(r.T.Context(), r.Tables().Fill("slotrun/history_insert", "{rows}", string(values)))
	r.Must(err)
}

type endedAs struct {
	day       int
	outcome   prescient.Outcome
	checks    int
	ran, late time.Duration
}

// table returns what a query shows, a line a row.
func (r *testRig) table(query string) string {
	r.T.Helper()
	rows, err := r.Root.QueryContext(r.T.Context(), query)
	r.Must(err)
	defer rows.Close()
	columns, err := rows.Columns()
	r.Must(err)
	var lines []string
	for rows.Next() {
		values := make([]any, len(columns))
		for i := range values {
			values[i] = new(*string)
		}
		r.Must(rows.Scan(values...))
		var cells []string
		for _, v := range values {
			cell := "NULL"
			if p := *v.(**string); p != nil {
				cell = *p
			}
			cells = append(cells, cell)
		}
		lines = append(lines, strings.Join(cells, " "))
	}
	r.Must(rows.Err())
	return strings.Join(lines, "\n")
}

func TestAnalystViews(t *testing.T) {
	besideOthers(t, func(t *testing.T, r *testRig) {
		var runs []endedAs
		for i := range 100 { // 1 to 100 ms, and 1 to 100 s late, the other way round
			runs = append(runs, endedAs{outcome: prescient.Done, ran: time.Duration(i+1) * time.Millisecond, late: time.Duration(100-i) * time.Second})
		}
		r.ended("many", runs...)
		const ms = time.Millisecond
		r.ended("unshipped",
			endedAs{0, prescient.Done, 0, 10 * ms, 2 * time.Second},
			endedAs{0, prescient.Done, 0, 20 * ms, 5 * time.Minute},
			endedAs{0, prescient.Done, 2, 30 * ms, 5*time.Minute + ms},
			endedAs{0, prescient.MaxChecks, 5, 40 * ms, time.Second},
			endedAs{0, prescient.Cancelled, 4, 0, 0},
			endedAs{1, prescient.Done, 0, 7 * ms, 25 * time.Hour},
			endedAs{1, prescient.TimedOut, 1, 9 * ms, 0},
		)
		for _, test := range []struct{ query, want string }{
			{"SELECT * FROM p_history_outcomes ORDER BY day, job_exec, outcome", `
2026-11-20 many done 100
2026-11-20 unshipped done 3
2026-11-20 unshipped cancelled 1
2026-11-20 unshipped max_checks 1
2026-11-21 unshipped done 1
2026-11-21 unshipped timed_out 1`},
			{"SELECT * FROM p_history_times ORDER BY day, job_exec", `
2026-11-20 many 100 50 95 99 100 50000 95000 99000 100000
2026-11-20 unshipped 4 20 40 40 40 2000 300001 300001 300001
2026-11-21 unshipped 2 7 9 9 9 0 90000000 90000000 90000000`},
			{"SELECT * FROM p_history_checks ORDER BY job_exec, check_count", `
many 0 100 0 100.00 100
unshipped 0 3 0 50.00 6
unshipped 1 1 0 16.67 3
unshipped 2 1 0 16.67 2
unshipped 5 1 1 16.67 1`},
			{"SELECT * FROM p_history_checks_daily ORDER BY day, job_exec, check_count", `
2026-11-20 many 0 100 0 100.00 100
2026-11-20 unshipped 0 2 0 50.00 4
2026-11-20 unshipped 2 1 0 25.00 2
2026-11-20 unshipped 5 1 1 25.00 1
2026-11-21 unshipped 0 1 0 50.00 2
2026-11-21 unshipped 1 1 0 50.00 1`},
			{"SELECT * FROM p_history_not_yet ORDER BY day, job_exec", `
2026-11-20 many 100 100 0 0 0 0 0.00
2026-11-20 unshipped 4 2 1 1 0 8 50.00
2026-11-21 unshipped 2 1 0 0 1 1 50.00`},
			{"SELECT * FROM p_history_lateness ORDER BY day, job_exec", `
2026-11-20 many 100 90 40 0 0 0 0
2026-11-20 unshipped 4 2 2 1 0 0 0
2026-11-21 unshipped 2 1 1 1 1 1 1`},
		} {
			if got := "\n" + r.table(test.query); got != test.want {
				t.Errorf("%s:%s\nwant%s", test.query, got, test.want)
			}
		}
	})
}

// What is asked of a day costs what that day has, however much history there is.
func TestAViewReadsTheDaysThatItIsAskedFor(t *testing.T) {
	besideOthers(t, func(t *testing.T, r *testRig) {
		r.Needs(t, rig.ReadPlans)
		const days, ends = 10, 60
		for day := range days {
			var rows []endedAs
			for i := range ends {
				rows = append(rows, endedAs{day, prescient.Done, 0, time.Duration(i%3) * time.Millisecond, time.Duration(i%3) * time.Second})
			}
			r.ended("check", rows...)
		}
		_, err := prune.KeepPartitions(t.Context(), r.Pool(rig.At("00:00").AddDate(0, 0, 14)), prune.Options{Prefix: "p_"})
		r.Must(err)
		conn, err := r.As("analyst", time.Time{}).DB.Conn(t.Context())
		r.Must(err)
		defer conn.Close()
		for _, view := range []string{"outcomes", "times", "checks_daily", "not_yet", "lateness"} {
			all := rig.Reads(t, conn, "SELECT * FROM p_history_"+view)
			none := rig.Reads(t, conn, "SELECT * FROM p_history_"+view+" WHERE day = '1999-12-31'")
			for condition, asked := range map[string]int{
				"day = '2026-11-22'": 1, "day = '2026-11-22' AND job_exec = 'check'": 1, "day >= '2026-11-22' AND day < '2026-11-24'": 2,
				"day BETWEEN '2026-11-20' AND '2026-11-21'": 2, "day > '2026-11-27'": 2,
			} {
				read := rig.Reads(t, conn, "SELECT * FROM p_history_"+view+" WHERE "+condition)
				if limit := none + (all-none)*asked/days*3/2 + 100; read > limit {
					t.Errorf("%s where %s: %d entries were read; %d at most are wanted, of %d for all days and %d for none", view, condition, read, limit, all, none)
				}
			}
			if all-none < days*ends {
				t.Errorf("%s: only %d entries were read for all days, and %d for none", view, all, none)
			}
		}
	})
}

func TestViewsAndProcedureGoWithTheirMigrations(t *testing.T) {
	besideOthers(t, func(t *testing.T, r *testRig) {
		schema := migrate.Schema{Prefix: "p_", Resolution: 15 * time.Minute, Dialect: r.Setting}
		made := `SELECT (SELECT COUNT(*) FROM information_schema.TABLES WHERE TABLE_SCHEMA = DATABASE() AND TABLE_NAME <> 'p_schema_version')
			+ (SELECT COUNT(*) FROM information_schema.ROUTINES WHERE ROUTINE_SCHEMA = DATABASE())`
		before := r.Count(made)
		// Interrupted after its work and before its note, a migration is run again.
		_, err := r.Root.Exec("DELETE FROM p_schema_version WHERE version_id > 0")
		r.Must(err)
		_, err = migrate.Up(t.Context(), r.Root, schema)
		r.Must(err)
		_, err = migrate.Down(t.Context(), r.Root, schema)
		r.Must(err)
		if n := r.Count(made); n != 0 || before < 10 {
			t.Errorf("%d things before, %d left", before, n)
		}
	})
}
