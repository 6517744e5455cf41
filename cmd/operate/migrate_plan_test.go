package operate_test

import (
	"encoding/json"
	"strings"
	"testing"

	"prescient/cmd"
	"prescient/cmd/internal/rig"
	"prescient/prescient/localserver/servertest"
	"prescient/sql"
)

// A dry run changes nothing, and says all that migrate does: applied by hand it makes the same tables.
func TestMigrateDryRun(t *testing.T) {
	rig.EachFlavour(t, func(r *rig.Rig) {
		script := r.OK("migrate", "--dry-run")
		for _, want := range []string{"-- 00036_baseline.sql\n-- ", "\n-- What is pending, clustered by slot", "CREATE TABLE IF NOT EXISTS future_job",
			"DELIMITER //\nCREATE PROCEDURE cancel"} {
			if !strings.Contains(script, want) {
				r.Errorf("there is no %q in\n%s", want, script)
			}
		}
		r.Execute("migrate", "status").Wants(r.T, cmd.ExitTables)
		var plan struct {
			Missing    int
			Migrations []struct {
				Name, About string
				Statements  []string
			}
		}
		if err := json.Unmarshal([]byte(r.OK("migrate", "--dry-run", "--json")), &plan); err != nil || plan.Missing != len(plan.Migrations) {
			r.Fatalf("%+v, %v", plan, err)
		}
		if want := sql.SchemaVersion - 36 + 1; plan.Missing != want { // 36 is the baseline
			r.Fatalf("%d migrations are planned; want %d", plan.Missing, want)
		}
		conn, err := servertest.Open(r.T, r.Account("owner"), "").Conn(r.Context()) // one for all: some prepare a statement
		r.Must(err)
		defer conn.Close()
		for _, m := range plan.Migrations {
			if !strings.Contains(m.About, "Locks") || strings.Contains(m.About, "{") || len(m.Statements) == 0 {
				r.Errorf("%s does not say what it locks, or does nothing", m.Name)
			}
			for _, statement := range m.Statements {
				if _, err := conn.ExecContext(r.Context(), statement); err != nil {
					r.Errorf("%s: %s: %v", m.Name, statement, err)
				}
			}
		}
		if out := r.OK("migrate"); strings.Count(out, "applied ") != plan.Missing {
			r.Error(out)
		}
		r.Execute("doctor", "--use", "owner", "--only", "schema").Wants(r.T, cmd.ExitOK)
		if out := r.OK("migrate", "--dry-run"); out != "the tables are up to date\n" {
			r.Error(out)
		}
		r.Variables["PRESCIENT_SLOTS_RESOLUTION"] = "1h"
		r.Execute("migrate", "--dry-run").Wants(r.T, cmd.ExitTables, "the tables have 15m, not 1h")
	})
}
