package operate_test

import (
	"encoding/json"
	"strings"
	"testing"

	"prescient/cmd"
	"prescient/cmd/internal/rig"
	"prescient/prescient/attest"
)

func TestAttest(t *testing.T) {
	rig.EachFlavour(t, func(r *rig.Rig) {
		r.Begin()
		for _, clock := range []string{"10:15:01", "10:30:02", "11:00:01"} {
			r.At(clock)
			r.OK("run")
		}
		r.At("11:10")
		out := r.OK("attest", "--from", "2026-11-20 10:10", "--before", "now-30m")
		r.Says(out, "Slots from 2026-11-20 10:10:00 to before 2026-11-20 10:40:00 (UTC), 15m0s apart; the database's time is 2026-11-20 11:10:00\n",
			"2026-11-20 10:15–10:30: 2 slots served by run (", "begun at most 2.0 s late, 0 ended\n", "Proven: 2 slots: 2 served; 0 ended\n", "Rests on the ledger", "Rests on history: 0 ends", "Cannot see ")

		got := r.Execute("attest", "--from", "now-1h")
		if got.Code != cmd.ExitBad || !strings.Contains(got.Out, "2026-11-20 10:45: missed\n") || !strings.Contains(got.Out, "Refuted: 4 slots: 3 served, 1 missed; 0 ended") || got.Err != "" {
			r.Error(got)
		}
		var report attest.Report
		got = r.Execute("attest", "--from", "now-1h", "--json", "--ends", "0")
		if err := json.Unmarshal([]byte(got.Out), &report); err != nil || got.Code != cmd.ExitBad || strings.Count(got.Out, "\n") != 1 || report.Verdict != attest.Refuted ||
			len(report.Spans) != 3 || report.Spans[1].State != attest.Missed || report.Spans[0].Slots != 2 || report.Ends.Compared {
			r.Errorf("%v: %+v", err, report)
		}
		// It is a day by default; of the time before the tables nothing is known.
		got = r.Execute("attest", "--before", "2026-11-20 10:40")
		if got.Code != cmd.ExitWarn || !strings.Contains(got.Out, "2026-11-19 10:45 – 2026-11-20 10:00: 94 slots not known: before the tables were made\n") || !strings.Contains(got.Out, "Not proven: ") {
			r.Error(got)
		}
		if got = r.Execute("attest", "--from", "2026-11-20 10:20", "--before", "2026-11-20 10:40", "--late", "1s"); got.Code != cmd.ExitWarn || !strings.Contains(got.Out, "10:30: served late by run") {
			r.Error(got)
		}
		for _, test := range []struct{ line, says string }{
			{"--from now", "--from: "}, {"--from now-1h --before now-2h", "--from: "}, {"--before now+1m", "--before: "}, {"--from now-400d", "366 days"}, {"--from soon", "--from: "}, {"--before 25:00", "--before: "},
			{"--late 0s", "--late "}, {"--late soon", "--late: "}, {"--ends -1", "--ends "},
		} {
			r.Execute(append([]string{"attest"}, strings.Fields(test.line)...)...).Wants(r.T, cmd.ExitUsage, test.says)
		}

		r.At("11:14")
		r.OK("pause", "--all")
		r.At("11:15:01")
		r.OK("run")
		r.At("11:29")
		r.OK("resume", "--all")
		r.At("11:30:01")
		r.OK("run")
		r.At("11:40")
		got = r.Execute("attest", "--from", "2026-11-20 11:15")
		if got.Code != cmd.ExitWarn || !strings.Contains(got.Out, "2026-11-20 11:15: not served, as everything was paused\n2026-11-20 11:30: served by run") {
			r.Error(got)
		}
	})
}
