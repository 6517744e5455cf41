package cmd_test

import (
	"strings"
	"testing"

	"prescient/cmd"
	"prescient/sql"
)

func TestGrantsPrintsWhatCanBeRun(t *testing.T) {
	eachServer(t, func(r *rig) {
		r.ok("migrate", "--table-prefix", "p_")
		user := "cmd" + r.dsn[len(r.dsn)-10:]
		_, err := r.db.Exec("CREATE USER '" + user + "'@'%' IDENTIFIED BY 'Secret-42'")
		r.must(err)
		defer r.db.Exec("DROP USER '" + user + "'@'%'")
		server, err := sql.ServerOf(r.Context(), r.db)
		r.must(err)
		args := []string{"grants", "--role", "worker", "--user", user, "--table-prefix", "p_"}
		if server == sql.TiDB {
			args = append(args, "--tidb")
		}
		out := r.ok(args...)
		if !strings.HasPrefix(out, "-- A worker: ") {
			r.Error(out)
		}
		for line := range strings.Lines(out) {
			if !strings.HasPrefix(line, "-- ") {
				_, err := r.db.Exec(line)
				r.must(err)
			}
		}
		dsn := user + ":Secret-42" + r.dsn[strings.LastIndex(r.dsn, "@"):]
		run := func(args ...string) result {
			return execute(r.Context(), cmd.Options{}, map[string]string{"PRESCIENT_DSN": dsn, "PRESCIENT_TABLE_PREFIX": "p_"}, "", args...)
		}
		run("run").wants(r.T, cmd.ExitOK)
		run("sweep").wants(r.T, cmd.ExitOK)
		if got := run("prune", "--keep", "90d"); got.code == cmd.ExitOK {
			r.Errorf("%v", got)
		}
		run("history").wants(r.T, cmd.ExitFailure, "denied")
	})
}

func TestGrantsAsksNoDatabase(t *testing.T) {
	run := func(args ...string) result {
		return execute(t.Context(), cmd.Options{}, nil, "", append([]string{"grants"}, args...)...)
	}
	got := run("--role", "app-sql", "--user", "shop", "--host", "10.0.%", "--database", "shop", "--json")
	if want := "{\"role\":\"app-sql\",\"statements\":[\"GRANT SELECT, INSERT (entity_name, entity_key, job_exec, tag, due_at, payload) ON `shop`.`future_job` TO 'shop'@'10.0.%'\",\"GRANT EXECUTE ON PROCEDURE `shop`.`cancel` TO 'shop'@'10.0.%'\"]}\n"; got.out != want {
		t.Errorf("%v\nwant %s", got, want)
	}
	run("--role", "app", "--user", "shop").wants(t, cmd.ExitUsage, "the database is not given", "--database")
	run("--role", "app").wants(t, cmd.ExitUsage, "--user")
	run("--role", "root", "--user", "shop", "--database", "shop").wants(t, cmd.ExitUsage, "analyst, app-sql, app, app-reschedule, operator, worker, owner")
	run("--role", "app", "--user", "o'", "--database", "shop").wants(t, cmd.ExitUsage, "user")
}
