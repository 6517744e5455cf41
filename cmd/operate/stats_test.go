package operate_test

import (
	"encoding/json"
	"fmt"
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
		for ago := 1; ago <= 30; ago++ {
			bucket := 124 // 400 ms
			if ago <= 2 {
				bucket = 140
			}
			r.Exec(fmt.Sprintf("INSERT INTO stats_bucket (grain, start, job_exec, entity_name, measure, bucket, n) VALUES ('day', '2026-11-20' - INTERVAL %d DAY, 'export', 'order', 'run', %d, 90)", ago, bucket))
		}
		r.Says(r.OK("stats"), "\nslower than before\n", "export", "sudden", "2026-11-18", "ms")
		var slow struct{ Slower []stats.Slower }
		if err := json.Unmarshal([]byte(r.OK("stats", "--json", "--exec", "export")), &slow); err != nil || len(slow.Slower) != 1 || slow.Slower[0].FromMS < 390 || slow.Slower[0].ToMS > 950 {
			r.Errorf("%v: %+v", err, slow)
		}
		r.Says(r.OK("stats", "--exec", "another"), "Nothing became of any check")
		for _, test := range []struct{ line, says string }{{"--from now", "must be earlier"}, {"--from soon", "--from"}, {"--before 25:00", "--before"}} {
			r.Execute(append([]string{"stats"}, strings.Fields(test.line)...)...).Wants(r.T, cmd.ExitUsage, test.says)
		}
	})
}

func TestHoursAreSummedUpByWhatRunsSlots(t *testing.T) {
	rig.EachFlavour(t, func(r *rig.Rig) {
		r.Begin()
		r.At("15:00")
		r.Says(r.OK("stats", "percentiles"), "No end is summed up: ends from 2026-11-13 15:00:00 to before 2026-11-20 15:00:00 (UTC).\n")
		r.Exec(`INSERT INTO job_history (entity_name, entity_key, job_exec, tag, due_at, job_key, first_check_at, next_check_at, check_count, error_count, put_off_count, total_ms, revision,
			inserted_at, slot, outcome, error, started_at, ended_at, run_ms, lateness_ms, worker) VALUES ('order', '42', 'order-unshipped', '', '2026-11-20 11:00:00', REPEAT('k', 16), '2026-11-20 11:00:00', '2026-11-20 11:00:00', 0, 1, 0, 40, 1,
			'2026-11-20 10:00:00', '2026-11-20 11:00:00', 'failed', 'order 42 is gone', '2026-11-20 11:00:02', '2026-11-20 11:00:03', 40, 2000, 'w')`)
		for sweeps := 0; r.Count("SELECT COUNT(*) FROM stats_hour WHERE start = '2026-11-20 13:00:00'") == 0; sweeps++ {
			if r.OK("sweep"); sweeps == 20 { // each a second
				r.Errorf("it is not summed up")
				return
			}
		}
		r.Says(r.OK("stats", "verify"), "0 differ")
		out := r.OK("stats", "percentiles", "--from", "now-1d")
		r.Says(out, "order-unshipped", "  40ms  ", "  2.02s  ")
		var times []stats.Times
		if err := json.Unmarshal([]byte(r.OK("stats", "percentiles", "--exec", "order-unshipped", "--json")), &times); err != nil || len(times) != 1 || times[0].Ends != 1 {
			r.Errorf("%v: %+v", err, times)
		}
		r.Exec("UPDATE stats_hour SET ends = 0 WHERE ends = 1")
		r.Exec("DELETE FROM stats")
		got := r.Execute("stats", "verify", "--from", "2026-11-20 11:00")
		if r.Says(got.Out, "2026-11-20 11:00: 0 ends were summed up, history has 1"); got.Code != cmd.ExitBad {
			r.Errorf("%v", got)
		}
		r.Execute("stats", "rebuild").Wants(r.T, cmd.ExitUsage, "--from")
		r.Says(r.OK("stats", "rebuild", "--from", "2026-11-20 11:00", "--before", "2026-11-20 12:00", "--reason", "a test"), "1 hour was summed again; 0 were left alone")
		r.Says(r.OK("stats", "verify"), "0 differ")
		if n := r.Count("SELECT COUNT(*) FROM stats WHERE grain = 'hour' AND outcome = 'failed'"); n != 1 {
			r.Errorf("%d lines", n)
		}
	})
}
