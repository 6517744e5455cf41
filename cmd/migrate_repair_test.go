package cmd_test

import (
	"strings"
	"testing"

	"prescient/cmd"
)

func TestMigrateRepair(t *testing.T) {
	eachServer(t, func(r *rig) {
		r.execute("migrate", "--dry-run").wants(r.T, cmd.ExitUsage, "--repair")
		r.execute("migrate", "--repair", "--dry-run").wants(r.T, cmd.ExitTables, "migrations are missing")
		if out := r.ok("migrate", "--repair"); !strings.Contains(out, "applied 00001") || !strings.Contains(out, "there was nothing to restore") {
			r.Error(out)
		}
		r.account("worker")
		r.exec("DROP VIEW history_times")
		r.exec("DROP PROCEDURE cancel")
		got := r.execute("doctor", "--use", "owner", "--only", "schema")
		if got.code != cmd.ExitBad || !strings.Contains(got.out, "run migrate --repair, which does: CREATE OR REPLACE SQL SECURITY INVOKER VIEW history_times") {
			r.Error(got)
		}
		if out := r.ok("migrate", "--repair", "--dry-run"); !strings.Contains(out, "-- view history_times is missing\nCREATE OR REPLACE") || !strings.Contains(out, "DELIMITER //\n") {
			r.Error(out)
		}
		if out := r.ok("migrate", "--repair"); !strings.Contains(out, "restored the procedure cancel\n") || !strings.Contains(out, "restored the view history_times\n") ||
			!strings.Contains(out, "grants --role app-sql") {
			r.Error(out)
		}
		r.execute("doctor", "--use", "owner", "--only", "schema").wants(r.T, cmd.ExitOK)
		r.exec("DROP TABLE slot_run")
		r.exec("DROP VIEW history_times")
		got = r.execute("migrate", "--repair")
		if got.code != cmd.ExitTables || !strings.Contains(got.out, "restored the view history_times") || !strings.Contains(got.out, "not restored: the table slot_run: ") {
			r.Error(got)
		}
		r.exec("DROP TABLE slot_config")
		got = r.execute("migrate", "--repair", "--json")
		if got.code != cmd.ExitTables || !strings.Contains(got.out, `"what":"the table slot_config"`) {
			r.Error(got)
		}
	})
}
