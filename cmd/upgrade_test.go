package cmd_test

import (
	"fmt"
	"strings"
	"testing"
	"time"

	"prescient/cmd"
	"prescient/sql"
)

func TestWithoutItsMigrationsEveryCommandSaysWhatToDo(t *testing.T) {
	eachServer(t, func(r *rig) {
		r.needs(columnDefaults)
		newest, err := sql.Version()
		r.must(err)
		_, err = sql.Up(r.Context(), r.db, sql.Schema{Resolution: 15 * time.Minute, UpTo: newest - 1})
		r.must(err)
		_, err = r.db.Exec("INSERT INTO future_job (entity_name, entity_key, job_exec, due_at) VALUES ('order', '42', 'unshipped', UTC_TIMESTAMP(6) - INTERVAL 1 HOUR)")
		r.must(err)
		needs := fmt.Sprintf("this program needs %d: run the migrations first (prescient migrate applies them)", newest)
		for _, args := range append(linesThatAsk("tables"), []string{"cancel", "--entity", "order/42"}) {
			got := r.execute(args...)
			got.wants(r.T, cmd.ExitTables, "schema version", needs)
			lines := 1
			if args[0] == "run" || args[0] == "work" || args[0] == "sweep" {
				lines = 2 // why a service ends stands in its log, too
			}
			if strings.Count(got.err, "\n") != lines || got.out != "" {
				r.Errorf("%v\nwant %d lines", got, lines)
			}
		}
		r.execute("reslot", "--resolution", "1h").wants(r.T, cmd.ExitTables, "prescient migrate applies them")
		if got := r.execute("migrate", "status"); got.code != cmd.ExitTables || !strings.Contains(got.out, "1 migrations are missing; prescient migrate applies them") {
			r.Errorf("%v", got)
		}
		if got := r.execute("doctor"); got.code != cmd.ExitBad || !strings.Contains(got.out, "run migrate") {
			r.Errorf("%v", got)
		}
		r.ok("migrate")
		if jobs := r.jobs(); len(jobs) != 1 || len(r.history()) != 0 {
			r.Errorf("%+v", jobs)
		}
		r.ok("sweep")
	})
}

func TestOnTablesOfALaterVersionNothingIsMigrated(t *testing.T) {
	eachServer(t, func(r *rig) {
		r.ok("migrate")
		newest, err := sql.Version()
		r.must(err)
		for _, statement := range []string{"ALTER TABLE future_job ADD COLUMN further INT NOT NULL DEFAULT 0",
			fmt.Sprintf("UPDATE slot_config SET schema_version = %d", newest+1),
			fmt.Sprintf("INSERT INTO schema_version (version_id, is_applied) VALUES (%d, 1)", newest+1)} {
			_, err := r.db.Exec(statement)
			r.must(err)
		}
		r.ok("insert", "--entity", "order/42", "--exec", "x", "--in", "3h")
		r.ok("run")
		if out := r.ok("migrate"); out != "the tables are up to date\n" {
			r.Error(out)
		}
		if got := r.execute("doctor"); !strings.Contains(got.out, fmt.Sprintf("warn  version: the tables have schema version %d, this program knows %d", newest+1, newest)) {
			r.Errorf("%v", got)
		}
	})
}
