package cmd_test

import (
	"strings"
	"testing"

	"prescient/cmd"
	"prescient/prescient"
)

func TestDoctor(t *testing.T) {
	eachServer(t, func(r *rig) {
		got := r.execute("doctor")
		if got.code != cmd.ExitBad || !strings.Contains(got.out, "bad   tables: migrations are missing") || got.err != "" {
			r.Error(got)
		}
		r.ok("migrate")
		got = r.execute("doctor") // nothing was served yet
		if got.code != cmd.ExitWarn || !strings.Contains(got.out, "warn  missed: ") || !strings.Contains(got.out, "\n      → ") {
			r.Error(got)
		}
		got = r.execute("doctor", "--json", "--assignments", "0,30;15", "--slots-resolution", "15m")
		found := lines[prescient.Finding](r.T, got.out)
		unserved := false
		for _, f := range found {
			unserved = unserved || f.Code == "coverage.unserved" && f.Severity == prescient.SeverityBad
		}
		if got.code != cmd.ExitBad || !unserved {
			r.Error(got)
		}
		got = r.execute("doctor", "--assignments", "1/2;2/2")
		if got.code != cmd.ExitWarn || !strings.Contains(got.out, "served exactly once") {
			r.Error(got)
		}
		got = r.execute("doctor", "--slots-resolution", "5m")
		if got.code != cmd.ExitBad || !strings.Contains(got.out, "bad   resolution: ") {
			r.Error(got)
		}
		r.execute("doctor", "--only", "rows,schema,leases").wants(r.T, cmd.ExitOK)
		r.execute("doctor", "--only", "missed").wants(r.T, cmd.ExitWarn)
		r.execute("doctor", "--only", "coverage.unserved", "--assignments", "0,30").wants(r.T, cmd.ExitBad)
		if got := r.execute("doctor", "--use", "owner", "--only", "invariants"); got.code != cmd.ExitOK || !strings.Contains(got.out, "pending and ended") {
			r.Error(got)
		}
		r.execute("doctor", "--use", "king").wants(r.T, cmd.ExitUsage, "app, operator, worker or owner")
		r.execute("doctor", "--assignments", "0,30;61").wants(r.T, cmd.ExitUsage, "--assignments")
	})
}
