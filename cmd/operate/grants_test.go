package operate_test

import (
	"strings"
	"testing"

	"prescient/cmd"
	"prescient/cmd/internal/rig"
	"prescient/prescient/audit"
	"prescient/sql"
)

func TestGrantsPrintsWhatCanBeRun(t *testing.T) {
	rig.EachFlavour(t, func(r *rig.Rig) {
		r.OK("migrate", "--table-prefix", "p_")
		user := "cmd" + r.DSN[len(r.DSN)-10:]
		_, err := r.DB.Exec("CREATE USER '" + user + "'@'%' IDENTIFIED BY 'Secret-42'")
		r.Must(err)
		defer r.DB.Exec("DROP USER '" + user + "'@'%'")
		server, err := sql.ServerOf(r.Context(), r.DB)
		r.Must(err)
		args := []string{"grants", "--role", "worker", "--user", user, "--table-prefix", "p_"}
		if server == sql.TiDB {
			args = append(args, "--tidb")
		}
		out := r.OK(args...)
		if !strings.HasPrefix(out, "-- A worker: ") {
			r.Error(out)
		}
		for line := range strings.Lines(out) {
			if !strings.HasPrefix(line, "-- ") {
				_, err := r.DB.Exec(line)
				r.Must(err)
			}
		}
		dsn := user + ":Secret-42" + r.DSN[strings.LastIndex(r.DSN, "@"):]
		run := func(args ...string) rig.Result {
			return rig.Execute(r.Context(), cmd.Options{}, map[string]string{"PRESCIENT_DSN": dsn, "PRESCIENT_TABLE_PREFIX": "p_"}, "", args...)
		}
		said := rig.Lines[audit.Stored](r.T, r.OK("audit", "--verb", "grant", "--json", "--table-prefix", "p_"))
		if want := `{"role":"worker","user":"` + user + `","host":"%"}`; len(said) != 1 || string(said[0].After) != want || said[0].Kind != audit.Installation {
			r.Errorf("the audit has %+v; want %s", said, want)
		}
		run("run").Wants(r.T, cmd.ExitOK)
		run("sweep").Wants(r.T, cmd.ExitOK)
		if got := run("prune", "--keep", "90d"); got.Code == cmd.ExitOK {
			r.Errorf("%v", got)
		}
		run("history").Wants(r.T, cmd.ExitFailure, "denied", "prescient grants prints")
	})
}

func TestGrantsAsksNoDatabase(t *testing.T) {
	run := func(args ...string) rig.Result {
		return rig.Execute(t.Context(), cmd.Options{}, nil, "", append([]string{"grants"}, args...)...)
	}
	got := run("--role", "app-sql", "--user", "shop", "--host", "10.0.%", "--database", "shop", "--json")
	if want := "{\"role\":\"app-sql\",\"statements\":[\"GRANT SELECT, INSERT (entity_name, entity_key, job_exec, tag, due_at, payload, expires_at) ON `shop`.`future_job` TO 'shop'@'10.0.%'\",\"GRANT SELECT, INSERT (id, crontabs, zone, payload, job_exec, topic, owner_name, owner_key, catch_up, catch_up_within, expires_after, jitter, may_coalesce, long_run, overlap, tolerance, quota, pool) ON `shop`.`schedule` TO 'shop'@'10.0.%'\",\"GRANT SELECT ON `shop`.`schedule_refused` TO 'shop'@'10.0.%'\",\"GRANT INSERT ON `shop`.`event_outbox` TO 'shop'@'10.0.%'\",\"GRANT INSERT ON `shop`.`event_seen` TO 'shop'@'10.0.%'\",\"GRANT EXECUTE ON PROCEDURE `shop`.`cancel` TO 'shop'@'10.0.%'\",\"GRANT EXECUTE ON PROCEDURE `shop`.`delete_schedules` TO 'shop'@'10.0.%'\",\"" +
		"INSERT INTO `shop`.`audit_log` (stream, kind, id, verb, command, after_change) VALUES (SUBSTRING(UNHEX(SHA2(CONCAT('installation', UNHEX('00'), 'prescient'), 256)), 1, 16), 'installation', 'prescient', 'grant', 'grants', '{\\\"role\\\":\\\"app-sql\\\",\\\"user\\\":\\\"shop\\\",\\\"host\\\":\\\"10.0.%\\\"}')\"]}\n"; got.Out != want {
		t.Errorf("%v\nwant %s", got, want)
	}
	run("--role", "app", "--user", "shop").Wants(t, cmd.ExitUsage, "the database is not given", "--database")
	run("--role", "app").Wants(t, cmd.ExitUsage, "--user")
	run("--role", "root", "--user", "shop", "--database", "shop").Wants(t, cmd.ExitUsage, "analyst, app-sql, app, app-reschedule, operator, worker, owner")
	run("--role", "app", "--user", "o'", "--database", "shop").Wants(t, cmd.ExitUsage, "user")
}
