package operate_test

import (
	"encoding/json"
	"testing"

	"prescient/cmd"
	"prescient/cmd/internal/rig"
	"prescient/prescient/forecast"
)

func TestForecast(t *testing.T) {
	rig.EachFlavour(t, func(r *rig.Rig) {
		r.Begin()
		r.At("11:02")
		r.Execute("forecast").Wants(r.T, cmd.ExitNotFound, "no forecast was made yet")
		r.OK("insert", "--entity", "order/42", "--exec", "order-unshipped", "--at", "2026-11-20 11:40")
		r.OK("insert", "--entity", "order/43", "--exec", "order-unshipped", "--at", "2026-11-22 12:00")
		r.OK("sweep")
		out := r.OK("forecast")
		r.Says(out, "not in it: what apps are to insert", "2026-11-20 11:45:00", "exact", "no live agent serves it", "\nby job_exec\n", "order-unshipped")
		r.Says(r.OK("forecast", "--days"), "2026-11-20", "2026-11-22", "order-unshipped")
		var report forecast.Report
		if err := json.Unmarshal([]byte(r.OK("forecast", "--json")), &report); err != nil || len(report.Days) != 31 || report.Days[2].Due != 1 || report.Days[2].Lines[0].JobExec != "order-unshipped" {
			r.Errorf("%v: %+v", err, report)
		}
		// Whoever inserts into a slot that is full is told so.
		insert := []string{"insert", "--entity", "order/44", "--exec", "order-unshipped", "--at", "2026-11-20 11:40", "--on-pending", "replace"}
		silent := func(args ...string) {
			r.Helper()
			if got := r.Execute(args...); got.Code != cmd.ExitOK || got.Err != "" {
				r.Errorf("%v", got)
			}
		}
		silent(append(insert, "--warn")...)
		r.Exec("UPDATE forecast_fit SET verdict = 'next', over_ms = 90000, due = 5000000 WHERE grain = 'slot' AND start = '2026-11-20 11:45'")
		r.Execute(append(insert, "--warn")...).Wants(r.T, cmd.ExitOK, "by the forecast the slot 2026-11-20 11:45:00 ends 1m30s after the next begins: it has 5000000 checks")
		silent(insert...)
		r.Execute("insert", "--file", "-", "--exec", "x", "--in", "1h", "--warn").Wants(r.T, cmd.ExitUsage, "--file excludes --warn")
	})
}
