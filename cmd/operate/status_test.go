package operate_test

import (
	"encoding/json"
	"strings"
	"testing"

	"prescient/cmd"
	"prescient/cmd/internal/rig"
	"prescient/prescient/status"
)

func TestStatus(t *testing.T) {
	rig.EachFlavour(t, func(r *rig.Rig) {
		r.Begin()
		r.At("11:10")
		r.Exec(`INSERT INTO exec_run (slot, bucket, job_exec, entity_name, calls, errors, done, failed, run_buckets, lateness_buckets, reason, reason_checks, example) VALUES
			('2026-11-20 11:00', 0, 'charge', 'order', 40, 30, 10, 30, '{}', '{}', 'no account has order …', 30, '{"entity_key": "42", "due_at": "2026-11-20T11:00:00Z", "check_count": 0, "at": "2026-11-20T11:00:01Z", "error": "no account has order 42\\u001b"}'),
			('2026-11-20 11:00', 0, 'fine', 'order', 40, 0, 40, 0, '{}', '{}', NULL, 0, NULL)`)
		r.Exec("INSERT INTO agent (name, instance, kind, host, assignment, seen_at, started_at, pid, version, pools, concurrency, busy, long_runs, memory_bytes, clock_ms) VALUES ('w1', 1, 'work', 'h1', 'every slot', '2026-11-20 11:05', '2026-11-20 10:00', 7, 'v1', '{}', 64, 0.5, 0, 1000000, 0)")
		r.Exec("INSERT INTO event_outbox (shard, id, topic, event_key, generated_at, payload, inserted_at) VALUES (1, 'e1', 'mail', 'k', '2026-11-20 11:00', '{}', '2026-11-20 11:09')")
		night := r.Execute("status")
		night.Wants(r.T, cmd.ExitBad, "")
		r.Says(night.Out, "2026-11-20 11:10:00 (UTC), slots of 15m0s: ", "\nWho works\n", "w1", "dead", "warn  agents.slots: No live agent serves any slot", "      → Start `work`",
			"\nWhat is late\nnothing\n", "\nWhat fails\n", "charge", "75.0 %", "no account has order …", "bad   failing: charge: 30 of 40 calls", `no account has order 42\x1b`,
			"\nWhat waits\n", "events of the topic mail  ", "1m0s", "\nWhat comes next\nNo forecast was made yet.\n", "\nNot looked at\n", "blocking", "PROCESS")
		if strings.Contains(night.Out, "fine") {
			r.Errorf("%s", night.Out)
		}
		var report status.Report
		if err := json.Unmarshal([]byte(r.Execute("status", "--json").Out), &report); err != nil || len(report.Fails) != 1 || report.Severity != "bad" || report.Findings[0].Section != status.Works {
			r.Errorf("%v: %+v", err, report)
		}
		r.Watch("Who works", 2, "status", "--watch").Wants(r.T, cmd.ExitOK)
		r.Execute("status", "all").Wants(r.T, cmd.ExitUsage, "")
	})
}
