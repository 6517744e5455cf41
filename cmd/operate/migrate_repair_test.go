package operate_test

import (
	"strings"
	"testing"

	"prescient/cmd"
	"prescient/cmd/internal/rig"
)

// A migration does not put back what slot_config held; the statement that the repair prints does.
func TestAnEmptySlotConfigIsPutBackAsTheRepairSays(t *testing.T) {
	rig.EachFlavour(t, func(r *rig.Rig) {
		r.OK("migrate")
		for _, damage := range []string{"DELETE FROM slot_config", "UPDATE slot_config SET migrated_to = 0"} {
			r.Exec(damage)
			r.Execute("migrate").Wants(r.T, cmd.ExitTables, "All migrations were applied", "`prescient migrate --repair` prints the statement")
			got := r.Execute("migrate", "--repair")
			_, statement, says := strings.Cut(strings.TrimSpace(got.Out), "      → ")
			if got.Code != cmd.ExitTables || !says {
				r.Fatal(got)
			}
			r.Exec(statement)
			r.OK("pending")
			r.OK("migrate", "--repair")
		}
	})
}

func TestMigrateRepair(t *testing.T) {
	rig.EachFlavour(t, func(r *rig.Rig) {
		r.Execute("migrate", "--repair", "--dry-run").Wants(r.T, cmd.ExitTables, "migrations are missing")
		if out := r.OK("migrate", "--repair"); !strings.Contains(out, "applied 00036") || !strings.Contains(out, "there was nothing to restore") {
			r.Error(out)
		}
		r.Account("worker")
		r.Exec("DROP VIEW history_times")
		r.Exec("DROP PROCEDURE cancel")
		got := r.Execute("doctor", "--use", "owner", "--only", "schema")
		if got.Code != cmd.ExitBad || !strings.Contains(got.Out, "Run `migrate --repair`, which sends: CREATE OR REPLACE SQL SECURITY INVOKER VIEW history_times") {
			r.Error(got)
		}
		if out := r.OK("migrate", "--repair", "--dry-run"); !strings.Contains(out, "-- view history_times is missing\nCREATE OR REPLACE") || !strings.Contains(out, "DELIMITER //\n") {
			r.Error(out)
		}
		if out := r.OK("migrate", "--repair"); !strings.Contains(out, "restored the procedure cancel\n") || !strings.Contains(out, "restored the view history_times\n") ||
			!strings.Contains(out, "grants --role app-sql") {
			r.Error(out)
		}
		r.Execute("doctor", "--use", "owner", "--only", "schema").Wants(r.T, cmd.ExitOK)
		r.Exec("DROP TABLE slot_run")
		r.Exec("DROP VIEW history_times")
		got = r.Execute("migrate", "--repair")
		if got.Code != cmd.ExitTables || !strings.Contains(got.Out, "restored the view history_times") || !strings.Contains(got.Out, "not restored: the table slot_run: ") {
			r.Error(got)
		}
		r.Exec("DROP TABLE slot_config")
		got = r.Execute("migrate", "--repair", "--json")
		if got.Code != cmd.ExitTables || !strings.Contains(got.Out, `"what":"the table slot_config"`) {
			r.Error(got)
		}
	})
}
