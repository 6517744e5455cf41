package prescient

import (
	"context"
	"testing"
	"time"
)

func TestADoctorFindsWhatMustNeverBe(t *testing.T) {
	eachServer(t, func(t *testing.T, r *rig) {
		r.needs(t, columnDefaults)
		slot := r.insertDue(3)
		settled := registry("check", func(context.Context, FutureJob) (*time.Time, error) { return nil, nil }, Guards{})
		_, err := r.worker(time.Time{}, settled, WorkerOptions{}).Run(t.Context())
		r.must(err)
		if n := r.count(countEnded); n != 3 {
			t.Fatalf("%d rows ended", n)
		}
		look := func() []Finding { return r.examine(time.Time{}, DoctorOptions{MaxChecks: 5}) }
		wantFinding(t, look(), "invariants", SeverityOK)

		r.exec("INSERT INTO p_future_job (entity_name, entity_key, job_exec, due_at, check_count, revision) SELECT entity_name, entity_key, job_exec, due_at, 6, revision FROM p_job_history WHERE entity_key = '1'")
		found := look()
		wantFinding(t, found, "invariants.both", SeverityBad, "check of order/1", stamp(slot))
		wantFinding(t, found, "rows.checks", SeverityWarn, "6 times", "allows 5")
		r.exec("DELETE FROM p_future_job")

		var key, revision string
		r.must(r.root.QueryRow("SELECT HEX(job_key), revision FROM p_job_history WHERE entity_key = '2'").Scan(&key, &revision))
		r.exec("UPDATE p_job_history SET ended_at = ended_at + INTERVAL 1 SECOND, revision = ?, job_key = UNHEX(?), entity_key = '2' WHERE entity_key = '0'", revision, key)
		wantFinding(t, look(), "invariants.twice", SeverityBad, "check of order/2")
		r.exec("DELETE FROM p_job_history WHERE entity_key = '2' LIMIT 1")
		wantFinding(t, look(), "invariants", SeverityOK)

		r.exec("DELETE FROM p_slot_run")
		wantFinding(t, look(), "invariants.ledger", SeverityBad, stamp(slot))
		r.exec("INSERT INTO p_slot_run (slot, bucket, buckets) VALUES (?, 0, 1), ('2026-01-01 12:00', 7, 8)", slot.Format(secondLayout))
		wantFinding(t, look(), "invariants.unfinished", SeverityWarn, "bucket 7", "2026-01-01T12:00:00Z")

		// Who may not read history is told so.
		found, err = Doctor(t.Context(), r.as("worker", time.Time{}), DoctorOptions{Prefix: "p_"})
		r.must(err)
		wantFinding(t, found, "invariants.unfinished", SeverityWarn)
		r.exec("UPDATE p_slot_run SET finished_at = UTC_TIMESTAMP()")
		found, err = Doctor(t.Context(), r.as("worker", time.Time{}), DoctorOptions{Prefix: "p_"})
		r.must(err)
		wantFinding(t, found, "invariants", SeverityOK)
	})
}
