package prune

import (
	"testing"
	"time"

	"prescient/prescient/internal/rig"
)

// Bulk runs go with the audit, of which they are a part; those under way stay, and their checks with them.
func TestBulkRunsArePrunedWithTheAudit(t *testing.T) {
	eachFlavour(t, func(t *testing.T, r *testRig) {
		run := func(number, cutoff, started, ended string) {
			r.Exec("INSERT INTO p_bulk_run (number, deed, filter, cutoff, person, reason, host, matched, is_exact, token, token_until, started_at, ended_at) VALUES (" + number +
				", 'cancel', '{}', " + cutoff + ", 'a', '', '', 0, 1, REPEAT('x', 32), '2026-11-20', " + started + ", " + ended + ")")
			r.Exec("INSERT INTO p_bulk_check (number, job_key) VALUES (" + number + ", REPEAT('a', 16)), (" + number + ", REPEAT('b', 16))")
		}
		const old, young = "'2026-06-01 12:00:00'", "'2026-11-19 12:00:00'"
		run("1", old, old, old)
		run("2", old, "NULL", "NULL") // a preview
		run("3", old, old, "NULL")    // under way
		r.Exec("INSERT INTO p_duty (name, token, worker) VALUES ('bulk/1', 1, 'w'), ('bulk/3', 1, 'w')")
		run("4", old, old, old)
		run("5", young, young, young)
		report := r.prune(rig.At("10:05"), Options{Keep: 30 * 24 * time.Hour, KeepAudit: 60 * 24 * time.Hour, TrustClock: true})
		if n := r.Count("SELECT COUNT(*) FROM p_duty WHERE name LIKE 'bulk/%'"); n != 1 {
			t.Errorf("%d leases", n)
		}
		if n := r.Count("SELECT SUM(number) FROM p_bulk_run"); n != 3+5 {
			t.Errorf("%d, %+v", n, report)
		}
		if n := r.Count("SELECT COUNT(*) FROM p_bulk_check"); n != 4 || report.AuditRows < 9 {
			t.Errorf("%d, %+v", n, report)
		}
		r.Exec("UPDATE p_bulk_run SET ended_at = started_at WHERE number = 3")
		r.prune(rig.At("10:06"), Options{Keep: 30 * 24 * time.Hour, KeepAudit: 60 * 24 * time.Hour, TrustClock: true})
		if n := r.Count("SELECT SUM(number) FROM p_bulk_run"); n != 5 || r.Count("SELECT COUNT(*) FROM p_bulk_check") != 2 {
			t.Errorf("%d", n)
		}
	})
}
