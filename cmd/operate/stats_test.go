package operate_test

import (
	"encoding/json"
	"strings"
	"testing"

	"prescient/cmd"
	"prescient/cmd/internal/rig"
	"prescient/prescient/stats"
)

func TestStats(t *testing.T) {
	rig.EachFlavour(t, func(r *rig.Rig) {
		r.Begin()
		r.At("11:10")
		r.Says(r.OK("stats"), "Nothing became of any check: slots from 2026-11-20 10:10:00 to before 2026-11-20 11:10:00 (UTC).\n")
		for _, slot := range []string{"10:00", "10:30", "10:45", "11:00"} {
			errors, reason := "0", "NULL, 0, NULL"
			if slot > "10:30" {
				errors, reason = "3", `'order … has no row', 2, '{"entity_key": "42", "due_at": "2026-11-20T10:45:00Z", "check_count": 0, "at": "2026-11-20T10:45:01Z", "error": "order 42 has no row\\u001b"}'`
			}
			r.Exec("INSERT INTO exec_run (slot, bucket, job_exec, entity_name, calls, errors, done, failed, run_ms, longest_run_ms, run_buckets, lateness_buckets, reason, reason_checks, example) VALUES ('2026-11-20 " +
				slot + "', 0, 'order-unshipped', 'order', 10, " + errors + ", 7, " + errors + `, 1000, 100, '{"95": 10}', '{"0": 10}', ` + reason + ")")
		}
		out := r.OK("stats")
		r.Says(out, "slots from 2026-11-20 10:10:00 to before 2026-11-20 11:10:00 (UTC)\n", "order-unshipped", "20.0 %", "2026-11-20 10:45:00", "100ms", "\nwhy\n", "order … has no row", "42", `order 42 has no row\x1b`)
		if strings.Count(out, "\n") != 7 {
			r.Errorf("%s", out)
		}
		var report stats.Report
		if err := json.Unmarshal([]byte(r.OK("stats", "--from", "2026-11-20 10:00", "--before", "2026-11-20 10:31", "--exec", "order-unshipped", "--json")), &report); err != nil ||
			len(report.Execs) != 1 || report.Execs[0].Calls != 20 || report.Execs[0].FailsSince != nil || report.Cut {
			r.Errorf("%v: %+v", err, report)
		}
		r.Says(r.OK("stats", "--exec", "another"), "Nothing became of any check")
		for _, test := range []struct{ line, says string }{{"--from now", "must be earlier"}, {"--from soon", "--from"}, {"--before 25:00", "--before"}} {
			r.Execute(append([]string{"stats"}, strings.Fields(test.line)...)...).Wants(r.T, cmd.ExitUsage, test.says)
		}
	})
}
