package cmd_test

import (
	"fmt"
	"strings"
	"testing"
	"time"

	"prescient/cmd"
	"prescient/cmd/internal/rig"
	"prescient/prescient/localserver/servertest"
	"prescient/sql"
	"prescient/sql/migrate"
)

func TestWithoutItsMigrationsEveryCommandSaysWhatToDo(t *testing.T) {
	rig.EachFlavour(t, func(r *rig.Rig) {
		r.Needs(rig.ColumnDefaults)
		owner := servertest.Open(r.T, r.Account("owner"), "")
		_, err := migrate.Up(r.Context(), owner, migrate.Schema{Resolution: 15 * time.Minute})
		r.Must(err)
		for _, statement := range []string{"UPDATE slot_config SET migrated_to = 0", "DELETE FROM schema_version WHERE version_id > 0"} { // as where it was broken off
			_, err := r.DB.Exec(statement)
			r.Must(err)
		}
		_, err = r.DB.Exec("INSERT INTO future_job (entity_name, entity_key, job_exec, due_at) VALUES ('order', '42', 'unshipped', UTC_TIMESTAMP(6) - INTERVAL 1 HOUR)")
		r.Must(err)
		needs := fmt.Sprintf("this program needs version %d. Run `prescient migrate`", sql.SchemaVersion)
		for _, args := range append(rig.LinesThatAsk("tables"), []string{"cancel", "--entity", "order/42"}) {
			got := r.Execute(args...)
			got.Wants(r.T, cmd.ExitTables, "slot_config they are of version 0", needs)
			lines := 1
			if args[0] == "run" || args[0] == "work" || args[0] == "sweep" {
				lines = 2 // why a service ends stands in its log, too
			}
			if strings.Count(got.Err, "\n") != lines || got.Out != "" {
				r.Errorf("%v\nwant %d lines", got, lines)
			}
		}
		r.Execute("reslot", "--resolution", "1h").Wants(r.T, cmd.ExitTables, "Run `prescient migrate`")
		if got := r.Execute("migrate", "status"); got.Code != cmd.ExitTables || !strings.Contains(got.Out, fmt.Sprintf("migrations are missing (%d). Run `prescient migrate`", sql.SchemaVersion-baseline+1)) {
			r.Errorf("%v", got)
		}
		if got := r.Execute("doctor"); got.Code != cmd.ExitBad || !strings.Contains(got.Out, "Run `migrate`.") {
			r.Errorf("%v", got)
		}
		r.OK("migrate")
		if jobs := r.Jobs(); len(jobs) != 1 || len(r.History()) != 0 {
			r.Errorf("%+v", jobs)
		}
		r.OK("sweep")
	})
}

func TestOnTablesOfALaterVersionNothingIsMigrated(t *testing.T) {
	rig.EachFlavour(t, func(r *rig.Rig) {
		r.OK("migrate")
		for _, statement := range []string{"ALTER TABLE future_job ADD COLUMN further INT NOT NULL DEFAULT 0",
			fmt.Sprintf("UPDATE slot_config SET migrated_to = %d", sql.SchemaVersion+1),
			fmt.Sprintf("INSERT INTO schema_version (version_id, is_applied) VALUES (%d, 1)", sql.SchemaVersion+1)} {
			_, err := r.DB.Exec(statement)
			r.Must(err)
		}
		r.OK("insert", "--entity", "order/42", "--exec", "x", "--in", "3h")
		r.OK("run")
		if out := r.OK("migrate"); out != "the tables are up to date\n" {
			r.Error(out)
		}
		if got := r.Execute("doctor"); !strings.Contains(got.Out, fmt.Sprintf("warn  version: The tables have schema version %d, and this program knows version %d", sql.SchemaVersion+1, sql.SchemaVersion)) {
			r.Errorf("%v", got)
		}
	})
}

// baseline is the version of the first migration.
const baseline = 36

// Tables of a version from before the baseline are refused, until they are dropped.
func TestTablesFromBeforeTheBaselineAreToBeDropped(t *testing.T) {
	rig.EachFlavour(t, func(r *rig.Rig) {
		r.OK("migrate")
		for _, statement := range []string{"ALTER TABLE slot_config CHANGE migrated_to schema_version INT UNSIGNED NOT NULL DEFAULT 0",
			fmt.Sprintf("DELETE FROM schema_version WHERE version_id > %d", baseline),
			fmt.Sprintf("UPDATE schema_version SET version_id = %d WHERE version_id = %d", baseline-1, baseline)} {
			_, err := r.DB.Exec(statement)
			r.Must(err)
		}
		says := fmt.Sprintf("schema_version has version %d, and the earliest that it can is %d. Nothing was changed. Go on with the program that made these tables", baseline-1, baseline)
		for _, args := range [][]string{{"migrate"}, {"migrate", "--dry-run"}, {"migrate", "status"}} {
			r.Execute(args...).Wants(r.T, cmd.ExitTables, says)
		}
		const choices = "This program cannot bring tables of such a version up to date. Go on with the program that made these tables"
		r.Execute("jobs").Wants(r.T, cmd.ExitTables, "slot_config is of an earlier version", choices)
		if got := r.Execute("doctor"); got.Code != cmd.ExitBad || !strings.Contains(got.Out, choices) || strings.Contains(got.Out, "Run `migrate`") {
			r.Error(got)
		}
		r.OK("migrate", "down", "--yes")
		r.OK("migrate")
		r.OK("jobs")
	})
}
