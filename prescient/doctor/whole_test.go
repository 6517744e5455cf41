package doctor

import (
	"fmt"
	"strings"
	"testing"
	"time"

	"prescient/prescient/internal/rig"
)

// "ok" is said of what was looked at whole: of a part the finding says which.
func TestADoctorSaysOkOnlyOfWhatItLookedAtWhole(t *testing.T) {
	eachFlavour(t, func(t *testing.T, r *testRig) {
		r.Needs(t, rig.ColumnDefaults)
		looks := []string{"overdue", "put_off", "schedules", "long_runs", "events", "audit", "leases", "leases.far", "agents", "rows", "invariants"}
		for _, code := range looks {
			wantFinding(t, r.examine(rig.At("13:00"), Options{Use: UseOwner}), code, SeverityOK)
		}
		const n = " WITH RECURSIVE a AS (SELECT 0 AS i UNION ALL SELECT i + 1 FROM a WHERE i < 249), n AS (SELECT x.i * 250 + y.i AS i FROM a x, a y)"
		r.Exec("INSERT INTO p_future_job (entity_name, entity_key, job_exec, due_at)" + n +
			fmt.Sprintf(" SELECT 'many', CONCAT(i), 'check', '2026-11-20 13:05:00' + INTERVAL (i DIV 40) SECOND FROM n WHERE i <= %d", putOffProbe))
		r.Exec("INSERT INTO p_slot_run (slot, bucket, buckets, finished_at)" + n +
			fmt.Sprintf(" SELECT '2026-11-20 13:00:00', i, 65535, '2026-11-20 13:00:00' FROM n WHERE i <= %d", ledgerProbe))
		r.Exec("INSERT INTO p_event_outbox (shard, event_key, id, topic, generated_at, inserted_at, payload)" + n +
			fmt.Sprintf(" SELECT 0, CONCAT(i), CONCAT(i), 't', '2026-11-20 12:59:59', '2026-11-20 12:59:59', '{}' FROM n WHERE i <= %d", outboxProbe))
		found := r.examine(rig.At("13:00"), Options{Use: UseOwner})
		for _, want := range []struct{ code, says string }{
			{"put_off", fmt.Sprintf("Among the first %s rows to come", many(comingProbe))}, {"long_runs", fmt.Sprintf("the first %s rows of the next slots", many(longRunProbe))},
			{"schedules", fmt.Sprintf("the first %s rows that are due", many(timerProbe))}, {"events", fmt.Sprintf("the first %s events", many(outboxProbe))},
			{"leases", fmt.Sprintf("the latest %s rows of the ledger", many(ledgerProbe))}, {"leases.far", fmt.Sprintf("the latest %s rows of the ledger", many(ledgerProbe))},
			{"rows", fmt.Sprintf("the first %s pending rows", many(sampleSize))}, {"invariants", fmt.Sprintf("the first %s pending rows", many(sampleSize))},
		} {
			wantFinding(t, found, want.code, SeverityPart, want.says, "the rest was not read")
		}
		wantFinding(t, found, "overdue", SeverityOK)
		// Behind more rows than are looked at, some of each slot are.
		r.Exec("INSERT INTO p_future_job (entity_name, entity_key, job_exec, due_at, put_off_count, last_error) VALUES ('order', '1', 'mispelt', '2026-11-20 20:00:00', 3, 'x')")
		wantFinding(t, r.examine(rig.At("13:00"), Options{}), "put_off", SeverityWarn, "1 or more checks of job_exec mispelt")
	})
}

// Whom a backlog hides, as rows of a job_exec that nobody has, are found behind it.
func TestADoctorFindsWhatABacklogHides(t *testing.T) {
	eachFlavour(t, func(t *testing.T, r *testRig) {
		r.Needs(t, rig.ColumnDefaults)
		r.Exec("INSERT INTO p_future_job (entity_name, entity_key, job_exec, due_at)" +
			" WITH RECURSIVE a AS (SELECT 0 AS i UNION ALL SELECT i + 1 FROM a WHERE i < 223)" +
			" SELECT 'many', CONCAT(x.i, '-', y.i), 'check', '2026-11-20 12:45:00' + INTERVAL 900 * (x.i % 3) SECOND FROM a x, a y")
		r.Exec(`INSERT INTO p_future_job (entity_name, entity_key, job_exec, due_at, put_off_count, last_error) VALUES
			('order', '1', 'mispelt', '2026-11-20 13:00:00', 3, 'no function'), ('order', '2', 'mistpelt', '2026-11-20 13:15:00', 2, 'no function')`)
		names := ""
		for _, f := range r.examine(rig.At("13:01"), Options{}) {
			if f.Code == "put_off" {
				names += f.Text
			}
		}
		if !strings.Contains(names, "job_exec mispelt") || !strings.Contains(names, "job_exec mistpelt") {
			t.Errorf("put_off says %q", names)
		}
	})
}

// What was not looked at is not ok: it has a word of its own, and says who would look.
func TestADoctorSaysWhoWouldLook(t *testing.T) {
	eachFlavour(t, func(t *testing.T, r *testRig) {
		found, err := Examine(t.Context(), r.As("app", time.Time{}), Options{Prefix: "p_", Dialect: r.Setting, Use: UseApp})
		r.Must(err)
		for code, do := range map[string]string{"missed": "operator, worker, oncall or owner", "paused": "operator, worker, oncall or owner", "leases": "owner",
			"coverage": "--assignments", "blocking": "GRANT PROCESS ON *.*"} {
			wantFinding(t, found, code, SeverityUnseen)
			if f := finding(found, code); !strings.Contains(f.Do, do) || strings.Contains(f.Text, "not looked at") {
				t.Errorf("%+v", f)
			}
		}
		wantFinding(t, found, "schema", SeverityPart, "cannot see")
		wantFinding(t, found, "grants.surplus", SeverityPart, "other accounts")
	})
}
