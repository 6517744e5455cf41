package cmd_test

import (
	"strings"
	"testing"

	"prescient/cmd"
	"prescient/prescient/doctor"
)

func TestDoctor(t *testing.T) {
	eachServer(t, func(r *rig) {
		got := r.execute("doctor")
		if got.code != cmd.ExitBad || !strings.Contains(got.out, "bad   tables: migrations are missing") || got.err != "" {
			r.Error(got)
		}
		// Whatever is asked for, missing tables count.
		got = r.execute("doctor", "--only", "overdue")
		if got.code != cmd.ExitBad || !strings.Contains(got.out, "bad   tables: migrations are missing") {
			r.Error(got)
		}
		r.execute("doctor", "--ignore", "tables").wants(r.T, cmd.ExitUsage, "--ignore", "tables cannot be ignored")
		r.ok("migrate")
		r.exec("UPDATE slot_config SET schema_version = schema_version - 1")
		got = r.execute("doctor", "--only", "overdue,leases", "--ignore", "schema")
		if got.code != cmd.ExitBad || !strings.Contains(got.out, "bad   tables: ") {
			r.Error(got)
		}
		r.exec("UPDATE slot_config SET schema_version = schema_version + 1")
		// What is new is healthy; what the tests' servers are set to is theirs.
		for _, role := range []string{"worker", "owner", "operator", "app"} {
			got = r.execute("doctor", "--use", role, "--ignore", "durability", "--ignore", "time_zone,binlog")
			if got.code != cmd.ExitOK || strings.Contains(got.out, "time_zone") || !strings.Contains(got.out, "ok    clock: ") {
				r.Error(got)
			}
		}
		for _, flag := range []string{"--only", "--ignore"} {
			r.execute("doctor", flag, "overdue,overdoe").wants(r.T, cmd.ExitUsage, flag, `no finding has the code "overdoe"`, "coverage.unserved, durability")
		}
		r.execute("doctor", "--use", "app", "--only", "missed").wants(r.T, cmd.ExitUsage, "missed: not looked at", "slot_run")
		r.exec("UPDATE slot_config SET changed_at = changed_at - INTERVAL 1 DAY")
		got = r.execute("doctor") // nothing was served yet
		if got.code != cmd.ExitWarn || !strings.Contains(got.out, "warn  missed: ") || !strings.Contains(got.out, "\n      → ") {
			r.Error(got)
		}
		r.exec("ALTER TABLE slot_run DROP COLUMN takeovers")
		got = r.execute("doctor", "--only", "overdue")
		if got.code != cmd.ExitBad || !strings.Contains(got.out, "bad   schema.column: slot_run lacks the column takeovers") {
			r.Error(got)
		}
		r.exec("ALTER TABLE slot_run ADD COLUMN takeovers INT UNSIGNED NOT NULL DEFAULT 0")
		got = r.execute("doctor", "--json", "--assignments", "0,30;15", "--slots-resolution", "15m")
		found := lines[doctor.Finding](r.T, got.out)
		unserved := false
		for _, f := range found {
			unserved = unserved || f.Code == "coverage.unserved" && f.Severity == doctor.SeverityBad
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
