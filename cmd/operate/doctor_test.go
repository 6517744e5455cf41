package operate_test

import (
	"strings"
	"testing"

	"prescient/cmd"
	"prescient/cmd/internal/rig"
	"prescient/prescient/doctor"
)

func TestDoctor(t *testing.T) {
	rig.EachFlavour(t, func(r *rig.Rig) {
		got := r.Execute("doctor")
		if got.Code != cmd.ExitBad || !strings.Contains(got.Out, "bad   tables: the tables are not ready") || got.Err != "" {
			r.Error(got)
		}
		// Whatever is asked for, missing tables count.
		got = r.Execute("doctor", "--only", "overdue")
		if got.Code != cmd.ExitBad || !strings.Contains(got.Out, "bad   tables: the tables are not ready") {
			r.Error(got)
		}
		r.Execute("doctor", "--ignore", "tables").Wants(r.T, cmd.ExitUsage, "--ignore", "tables cannot be ignored")
		r.OK("migrate")
		r.Exec("UPDATE slot_config SET migrated_to = migrated_to - 1")
		got = r.Execute("doctor", "--only", "overdue,leases", "--ignore", "schema")
		if got.Code != cmd.ExitBad || !strings.Contains(got.Out, "bad   tables: ") {
			r.Error(got)
		}
		r.Exec("UPDATE slot_config SET migrated_to = migrated_to + 1")
		// What is new is healthy; what the tests' servers are set to is theirs.
		for _, role := range []string{"worker", "owner", "operator", "app"} {
			got = r.Execute("doctor", "--use", role, "--ignore", "durability", "--ignore", "time_zone,binlog")
			if got.Code != cmd.ExitOK || strings.Contains(got.Out, "time_zone") || !strings.Contains(got.Out, "ok    clock: ") {
				r.Error(got)
			}
		}
		for _, flag := range []string{"--only", "--ignore"} {
			r.Execute("doctor", flag, "overdue,overdoe").Wants(r.T, cmd.ExitUsage, flag, `no finding has the code "overdoe"`, "coverage.unserved, durability")
		}
		r.Execute("doctor", "--use", "app", "--only", "missed").Wants(r.T, cmd.ExitUsage, "missed: not looked at", "slot_run")
		r.Exec("UPDATE slot_config SET changed_at = changed_at - INTERVAL 1 DAY")
		got = r.Execute("doctor") // nothing was served yet
		if got.Code != cmd.ExitWarn || !strings.Contains(got.Out, "warn  missed: ") || !strings.Contains(got.Out, "\n      → ") {
			r.Error(got)
		}
		r.Exec("ALTER TABLE slot_run DROP COLUMN takeovers")
		got = r.Execute("doctor", "--only", "overdue")
		if got.Code != cmd.ExitBad || !strings.Contains(got.Out, "bad   schema.column: slot_run lacks the column takeovers") {
			r.Error(got)
		}
		r.Exec("ALTER TABLE slot_run ADD COLUMN takeovers INT UNSIGNED NOT NULL DEFAULT 0")
		got = r.Execute("doctor", "--json", "--assignments", "0,30;15", "--slots-resolution", "15m")
		found := rig.Lines[doctor.Finding](r.T, got.Out)
		unserved := false
		for _, f := range found {
			unserved = unserved || f.Code == "coverage.unserved" && f.Severity == doctor.SeverityBad
		}
		if got.Code != cmd.ExitBad || !unserved {
			r.Error(got)
		}
		got = r.Execute("doctor", "--assignments", "1/2;2/2")
		if got.Code != cmd.ExitWarn || !strings.Contains(got.Out, "served exactly once") {
			r.Error(got)
		}
		got = r.Execute("doctor", "--slots-resolution", "5m")
		if got.Code != cmd.ExitBad || !strings.Contains(got.Out, "bad   resolution: ") {
			r.Error(got)
		}
		r.Execute("doctor", "--only", "rows,schema,leases").Wants(r.T, cmd.ExitOK)
		r.Execute("doctor", "--only", "purge.transaction").Wants(r.T, cmd.ExitUsage, "purge.transaction: not looked at", "GRANT PROCESS ON *.*")
		if got := r.Execute("doctor", "--ignore", "purge"); strings.Contains(got.Out, "purge:") || strings.Contains(got.Out, "purge.") {
			r.Error(got)
		}
		r.Execute("doctor", "--only", "missed").Wants(r.T, cmd.ExitWarn)
		r.Execute("doctor", "--only", "coverage.unserved", "--assignments", "0,30").Wants(r.T, cmd.ExitBad)
		if got := r.Execute("doctor", "--use", "owner", "--only", "invariants"); got.Code != cmd.ExitOK || !strings.Contains(got.Out, "pending and ended") {
			r.Error(got)
		}
		r.Execute("doctor", "--use", "king").Wants(r.T, cmd.ExitUsage, "app, operator, worker, oncall and owner")
		r.Execute("doctor", "--assignments", "0,30;61").Wants(r.T, cmd.ExitUsage, "--assignments")
	})
}

// An account of any role may ask, and is refused nothing that its role need not see.
func TestEachRoleMayAskTheDoctor(t *testing.T) {
	rig.EachFlavour(t, func(r *rig.Rig) {
		r.Begin()
		for _, role := range []string{"analyst", "app-sql", "app", "app-reschedule", "operator", "worker"} {
			env := map[string]string{"PRESCIENT_DSN": r.Account(role)}
			got := rig.Execute(r.Context(), r.Options, env, "", "doctor", "--ignore", "durability,time_zone,binlog,missed")
			if got.Code != cmd.ExitOK || strings.Contains(got.Out, "could not be looked at") || !strings.Contains(got.Out, "as "+role) && role != "app" {
				r.Errorf("%s: %v", role, got)
			}
		}
	})
}
