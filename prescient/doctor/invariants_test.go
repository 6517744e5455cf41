package doctor

import (
	"context"
	"testing"
	"time"

	"prescient/prescient"
	"prescient/prescient/internal/literal"
	"prescient/prescient/internal/rig"
	"prescient/prescient/worker"
	"prescient/slots"
)

func TestADoctorFindsWhatMustNeverBe(t *testing.T) {
	eachFlavour(t, func(t *testing.T, r *testRig) {
		r.Needs(t, rig.ColumnDefaults)
		slot := r.InsertDue(3)
		settled := rig.Registry("check", func(context.Context, prescient.FutureJob) (*time.Time, error) { return nil, nil }, prescient.Guards{})
		_, err := r.Worker(time.Time{}, settled, worker.Options{}).Run(t.Context())
		r.Must(err)
		if n := r.Count(rig.CountEnded); n != 3 {
			t.Fatalf("%d rows ended", n)
		}
		look := func() []Finding { return r.examine(time.Time{}, Options{MaxChecks: 5}) }
		wantFinding(t, look(), "invariants", SeverityOK)

		r.Exec("INSERT INTO p_future_job (entity_name, entity_key, job_exec, due_at, check_count, revision) SELECT entity_name, entity_key, job_exec, due_at, 6, revision FROM p_job_history WHERE entity_key = '1'")
		found := look()
		wantFinding(t, found, "invariants.both", SeverityBad, "check of order/1", slots.Stamp(slot))
		wantFinding(t, found, "rows.checks", SeverityWarn, "6 times", "allows 5")
		r.Exec("UPDATE p_future_job SET entity_name = 'schedule', job_exec = 'schedule.fire', job_key = job_key") // the timer of a schedule goes on for ever
		for _, f := range look() {
			if f.Code == "rows.checks" {
				t.Error(f)
			}
		}
		r.Exec("DELETE FROM p_future_job")

		var key, revision string
		r.Must(r.Root.QueryRow("SELECT HEX(job_key), revision FROM p_job_history WHERE entity_key = '2'").Scan(&key, &revision))
		r.Exec("UPDATE p_job_history SET ended_at = ended_at + INTERVAL 1 SECOND, revision = ?, job_key = UNHEX(?), entity_key = '2' WHERE entity_key = '0'", revision, key)
		wantFinding(t, look(), "invariants.twice", SeverityBad, "check of order/2")
		r.Exec("DELETE FROM p_job_history WHERE entity_key = '2' LIMIT 1")
		wantFinding(t, look(), "invariants", SeverityOK)

		r.Exec("DELETE FROM p_slot_run")
		wantFinding(t, look(), "invariants.ledger", SeverityBad, slots.Stamp(slot))
		// A change ends rows before their slot is in the ledger.
		for _, outcome := range prescient.Outcomes() {
			if outcome.ByApp() {
				r.Exec("UPDATE p_job_history SET outcome = ?", string(outcome))
				wantFinding(t, look(), "invariants", SeverityOK)
			}
		}
		r.Exec("INSERT INTO p_slot_run (slot, bucket, buckets) VALUES (?, 0, 1), ('2026-01-01 12:00', 7, 8)", slot.Format(literal.SecondLayout))
		wantFinding(t, look(), "invariants.unfinished", SeverityWarn, "Bucket 7 of slot ", "2026-01-01T12:00:00Z")

		// Who may not read history is told so.
		r.Account("worker")
		r.Exec("REVOKE SELECT ON p_job_history FROM '" + r.User("worker") + "'@'%'")
		found, err = Examine(t.Context(), r.As("worker", time.Time{}), Options{Prefix: "p_", Dialect: r.Setting})
		r.Must(err)
		wantFinding(t, found, "invariants.unfinished", SeverityWarn)
		r.Exec("UPDATE p_slot_run SET finished_at = UTC_TIMESTAMP()")
		found, err = Examine(t.Context(), r.As("worker", time.Time{}), Options{Prefix: "p_", Dialect: r.Setting})
		r.Must(err)
		wantFinding(t, found, "invariants", SeverityPart, "The ledger is sound; the rest takes job_history")
	})
}
