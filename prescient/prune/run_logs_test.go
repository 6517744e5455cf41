package prune

import (
	"testing"
	"time"

	"prescient/prescient/internal/rig"
)

// The log of a run goes with those of its steps once it is old, unless somebody has it still.
func TestLogsOfJobsArePruned(t *testing.T) {
	eachFlavour(t, func(t *testing.T, r *testRig) {
		const old, young = "'2026-08-01 12:00:00'", "'2026-11-19 12:00:00'"
		run := func(occurrence, at, ended string, key string) {
			r.Exec("INSERT INTO p_job_run_log (job, occurrence, job_key, scheduled_at, started_at, ended_at) VALUES ('j', '" + occurrence + "', UNHEX(LPAD('" + key + "', 32, '0')), " + at + ", " + at + ", " + ended + ")")
			r.Exec("INSERT INTO p_step_run_log (job, occurrence, seq, position, step, job_exec, attempt, scheduled_at, started_at, ended_at, agent) VALUES ('j', '" + occurrence + "', 1, 1, 's', 'x', 1, " + at + ", " + at + ", " + ended + ", 'a')")
		}
		run("old", old, old, "1")
		run("young", young, young, "2")
		run("goes on", old, "NULL", "3")
		run("nobody ends it", old, "NULL", "4")
		r.Exec("INSERT INTO p_long_run (job_key, agent, token, slot, due_at, inserted_at, check_count) VALUES (UNHEX(LPAD('3', 32, '0')), 'a', 1, " + old + ", " + old + ", " + old + ", 0)")
		r.Exec("UPDATE p_long_run SET allocated_until = '2026-11-20 10:30:00'")
		report := r.prune(rig.At("10:05"), Options{Keep: 30 * 24 * time.Hour, TrustClock: true})
		if report.RunLogRows != 4 {
			t.Errorf("%+v", report)
		}
		for _, table := range []string{"p_job_run_log", "p_step_run_log"} {
			if n := r.Count("SELECT COUNT(*) FROM " + table + " WHERE occurrence IN ('young', 'goes on')"); n != 2 || r.Count("SELECT COUNT(*) FROM "+table) != 2 {
				t.Errorf("%s: %d are left", table, n)
			}
		}
	})
}
