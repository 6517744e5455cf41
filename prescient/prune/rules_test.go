package prune

import (
	"testing"
	"time"

	"prescient/prescient/internal/rig"
)

// What a rule said goes that was deleted longer ago than history is kept: it counts no longer. That of one that a pending check names stays, since the
// check goes by it, and so does that of one that is not old enough, or only off.
func TestWhatADeletedRuleSaidGoesWhenNoCheckNamesIt(t *testing.T) {
	eachServer(t, func(t *testing.T, r *testRig) {
		r.Exec(`INSERT INTO p_rule (name, version, occasion, job_exec, state, since, created_at, updated_at) VALUES
			('gone', 2, 'placed', 'check', 'deleted', '2026-01-01', '2026-01-01', '2026-09-01'), ('named', 2, 'placed', 'check', 'deleted', '2026-01-01', '2026-01-01', '2026-09-01'),
			('recent', 2, 'placed', 'check', 'deleted', '2026-01-01', '2026-01-01', '2026-11-19'), ('off', 2, 'placed', 'check', 'off', '2026-01-01', '2026-01-01', '2026-09-01')`)
		for _, name := range []string{"gone", "named", "recent", "off"} {
			r.Exec(`INSERT INTO p_rule_version (rule, version, created_at, state, delay, spread, on_pending, ends) VALUES ('` + name + `', 1, '2026-01-01', 'on', 60, 0, 'keep', ''), ('` + name + `', 2, '2026-09-01', 'on', 60, 0, 'keep', '')`)
		}
		for key, tag := range map[string]string{"1": "rule:named", "2": "rule:off", "3": ""} {
			r.Exec("INSERT INTO p_future_job (entity_name, entity_key, job_exec, tag, due_at, job_key, first_check_at, next_check_at, rule_version, occasion_at) VALUES ('order', ?, 'check', ?, '2026-11-21', UNHEX(LEFT(SHA2(?, 256), 32)), '2026-11-21', '2026-11-21', 1, '2026-11-20')", key, tag, key)
		}
		left := func(want int) {
			t.Helper()
			if n := r.Count("SELECT COUNT(*) FROM p_rule JOIN p_rule_version says ON says.rule = name"); n != want || r.Count("SELECT COUNT(*) FROM p_rule_version") != want {
				t.Errorf("%d versions are left; want %d", n, want)
			}
		}
		r.prune(rig.At("10:05"), Options{Keep: 30 * 24 * time.Hour})
		left(6)
		r.Exec("DELETE FROM p_future_job WHERE tag = 'rule:named'")
		r.prune(rig.At("10:06"), Options{Keep: 30 * 24 * time.Hour})
		left(4)
	})
}
