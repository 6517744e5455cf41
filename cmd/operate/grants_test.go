package operate_test

import (
	"strings"
	"testing"

	"prescient/cmd"
	"prescient/cmd/internal/rig"
	"prescient/prescient/audit"
	"prescient/sql"
	"prescient/sql/rights"
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
		if want := `{"roles":["worker"],"user":"` + user + `","host":"%"}`; len(said) != 1 || string(said[0].After) != want || said[0].Kind != audit.Installation {
			r.Errorf("the audit has %+v; want %s", said, want)
		}
		run("run").Wants(r.T, cmd.ExitOK)
		run("sweep").Wants(r.T, cmd.ExitOK)
		if got := run("prune", "--keep", "90d"); got.Code == cmd.ExitOK {
			r.Errorf("%v", got)
		}
		run("pause", "x").Wants(r.T, cmd.ExitDenied, "denied", "prescient grants prints")
	})
}

func TestGrantsAsksNoDatabase(t *testing.T) {
	run := func(args ...string) rig.Result {
		return rig.Execute(t.Context(), cmd.Options{}, nil, "", append([]string{"grants"}, args...)...)
	}
	got := run("--role", "app-sql", "--user", "shop", "--host", "10.0.%", "--database", "shop", "--json")
	if want := "{\"roles\":[\"app-sql\"],\"statements\":[\"GRANT INSERT (entity_name, entity_key, job_exec, tag, due_at, payload, expires_at, trace) ON `shop`.`future_job` TO 'shop'@'10.0.%'\",\"GRANT SELECT, INSERT (id, crontabs, zone, payload, job_exec, topic, owner_name, owner_key, catch_up, catch_up_within, expires_after, jitter, may_coalesce, is_long, overlap, tolerance, quota, pool, heartbeat) ON `shop`.`schedule` TO 'shop'@'10.0.%'\",\"GRANT SELECT ON `shop`.`schedule_refused` TO 'shop'@'10.0.%'\",\"GRANT INSERT (shard, id, topic, event_key, generated_at, payload, inserted_at, trace) ON `shop`.`event_outbox` TO 'shop'@'10.0.%'\",\"GRANT INSERT (consumer, id, seen_at) ON `shop`.`event_seen` TO 'shop'@'10.0.%'\",\"GRANT EXECUTE ON PROCEDURE `shop`.`cancel` TO 'shop'@'10.0.%'\",\"GRANT EXECUTE ON PROCEDURE `shop`.`pending` TO 'shop'@'10.0.%'\",\"GRANT EXECUTE ON PROCEDURE `shop`.`delete_schedules` TO 'shop'@'10.0.%'\",\"GRANT EXECUTE ON PROCEDURE `shop`.`put` TO 'shop'@'10.0.%'\",\"GRANT EXECUTE ON PROCEDURE `shop`.`reschedule` TO 'shop'@'10.0.%'\",\"GRANT EXECUTE ON PROCEDURE `shop`.`happened` TO 'shop'@'10.0.%'\",\"GRANT EXECUTE ON PROCEDURE `shop`.`ended` TO 'shop'@'10.0.%'\",\"GRANT EXECUTE ON PROCEDURE `shop`.`publish` TO 'shop'@'10.0.%'\",\"" +
		"INSERT INTO `shop`.`audit_log` (stream, kind, id, verb, command, after_change) VALUES (SUBSTRING(UNHEX(SHA2(CONCAT('installation', UNHEX('00'), 'prescient'), 256)), 1, 16), 'installation', 'prescient', 'grant', 'grants', '{\\\"roles\\\":[\\\"app-sql\\\"],\\\"user\\\":\\\"shop\\\",\\\"host\\\":\\\"10.0.%\\\"}')\"],\"not_looked\":\"there is no DSN to look by\"}\n"; got.Out != want {
		t.Errorf("%v\nwant %s", got, want)
	}
	run("--role", "app", "--user", "shop").Wants(t, cmd.ExitUsage, "the database is not given", "--database")
	run("--role", "app").Wants(t, cmd.ExitUsage, "--user")
	run("--role", "root", "--user", "shop", "--database", "shop").Wants(t, cmd.ExitUsage, "analyst, app-sql, app, app-reschedule, operator, worker, oncall, serve-door, serve-viewer, serve-operator, serve-admin, owner")
	run("--role", "app", "--user", "o'", "--database", "shop").Wants(t, cmd.ExitUsage, "user")
}

// wider is what an account may have from before, in the database d: more on tables, views and procedures than a role gives, on all of them,
// on a table that is not there any more, and to hand on.
var wider = []string{
	"ALL PRIVILEGES ON d.p_future_job TO u WITH GRANT OPTION",
	"SELECT, INSERT, UPDATE, DELETE ON d.p_event_outbox TO u",
	"INSERT, UPDATE (payload, crontabs), SELECT ON d.p_schedule TO u",
	"SELECT, DELETE ON d.p_job_history TO u",
	"SELECT ON d.p_history_times TO u",
	"SELECT, INSERT (name) ON d.p_agent TO u",
	"SELECT, DROP ON d.p_schema_version TO u",
	"EXECUTE, ALTER ROUTINE ON PROCEDURE d.p_cancel TO u",
	"SELECT, INSERT, DELETE ON d.* TO u",
}

// An account that had wider rights ends with exactly those of its roles, by the statements as they are printed; then nothing is left to be
// taken away, and the doctor finds nothing.
func TestGrantsNarrowsAnAccount(t *testing.T) {
	for _, roles := range [][]string{{"app-sql"}, {"app"}, {"worker"}, {"operator"}, {"analyst", "app-sql"}, {"owner"}} {
		t.Run(strings.Join(roles, " and "), func(t *testing.T) {
			rig.EachFlavour(t, func(r *rig.Rig) {
				r.Needs(rig.WaitingDDL)
				r.OK("migrate", "--table-prefix", "p_")
				env := map[string]string{"PRESCIENT_DSN": r.DSN, "PRESCIENT_TABLE_PREFIX": "p_"}
				short := r.DSN[len(r.DSN)-10:]
				had, fresh := "had"+short, "new"+short
				for _, user := range []string{had, fresh} {
					r.Exec("CREATE USER '" + user + "'@'%' IDENTIFIED BY 'Secret-42'")
					r.Cleanup(func() { r.Exec("DROP USER '" + user + "'@'%'") })
				}
				for _, grant := range wider {
					grant = strings.NewReplacer(" d.", " `"+r.Database()+"`.", "TO u", "TO '"+had+"'@'%'").Replace(grant)
					r.Exec("GRANT " + grant)
				}
				r.Exec("ALTER TABLE p_schema_version RENAME TO p_schema_version_later") // as a later version might, which drops it, too
				defer r.Exec("ALTER TABLE p_schema_version_later RENAME TO p_schema_version")
				give := func(user string) (statements []string) {
					args := []string{"grants", "--user", user, "--whole-database"}
					for _, role := range roles {
						args = append(args, "--role", role)
					}
					got := rig.Execute(r.Context(), r.Options, env, "", args...)
					got.Wants(t, cmd.ExitOK)
					for line := range strings.Lines(got.Out) {
						if !strings.HasPrefix(line, "--") {
							statements = append(statements, strings.TrimSuffix(line, ";\n"))
						}
					}
					return statements
				}
				run := func(statements []string) {
					for _, statement := range statements {
						if _, err := r.DB.Exec(statement); err != nil && !strings.Contains(err.Error(), "doesn't exist") {
							t.Errorf("%s: %v", statement, err)
						}
					}
				}
				run(give(fresh))
				run(give(had))
				of := func(user string) rights.Set {
					has, err := rights.Has(r.Context(), r.DB, "'"+user+"'@'%'")
					r.Must(err)
					return has
				}
				for what, more := range map[string]rights.Set{"more": of(had).Beyond(of(fresh)), "less": of(fresh).Beyond(of(had))} {
					if len(more) > 0 {
						t.Errorf("it ends with %s than its roles give: %v", what, more)
					}
				}
				for _, statement := range give(had) {
					if strings.HasPrefix(statement, "REVOKE") {
						t.Errorf("there is still %s", statement)
					}
				}
			})
		})
	}
}

// Rights on a database that has other tables are left to who reads it; who may not look is told so; the doctor names a surplus.
func TestASurplusOfRightsIsNamed(t *testing.T) {
	rig.EachFlavour(t, func(r *rig.Rig) {
		r.Needs(rig.WaitingDDL)
		r.Begin()
		user := "had" + r.DSN[len(r.DSN)-10:]
		r.Exec("CREATE USER '" + user + "'@'%' IDENTIFIED BY 'Secret-42'")
		defer r.Exec("DROP USER '" + user + "'@'%'")
		r.Exec("CREATE TABLE of_the_app (id INT)")
		root := map[string]string{"PRESCIENT_DSN": r.DSN}
		as := func(env map[string]string, args ...string) rig.Result {
			return rig.Execute(r.Context(), r.Options, env, "", args...)
		}
		for line := range strings.Lines(as(root, "grants", "--role", "app", "--user", user).Out) {
			if !strings.HasPrefix(line, "--") {
				r.Exec(line)
			}
		}
		if got := as(root, "doctor", "--use", "owner", "--only", "grants.surplus"); got.Code != cmd.ExitOK {
			t.Errorf("%v", got)
		}
		r.Exec("GRANT UPDATE ON future_job TO '" + user + "'@'%'")
		r.Exec("GRANT SELECT ON `" + r.Database() + "`.* TO '" + user + "'@'%'")
		got := as(root, "doctor", "--use", "owner", "--only", "grants.surplus")
		if got.Code != cmd.ExitWarn || !strings.Contains(got.Out, "UPDATE on `"+r.Database()+"`.`future_job`") || !strings.Contains(got.Out, "grants --role app --user "+user) {
			t.Errorf("%v", got)
		}
		got = as(root, "grants", "--role", "app", "--user", user)
		if !strings.Contains(got.Out, "\nREVOKE UPDATE ON") || !strings.Contains(got.Out, "\n-- REVOKE SELECT ON `"+r.Database()+"`.* ") {
			t.Errorf("%v", got)
		}
		// Who may not see it.
		got = as(map[string]string{"PRESCIENT_DSN": r.Account("operator")}, "grants", "--role", "app", "--user", user)
		if got.Code != cmd.ExitOK || !strings.Contains(got.Out, "was not looked at") || !strings.Contains(got.Out, "SELECT ON mysql.*") {
			t.Errorf("%v", got)
		}
		r.Execute("doctor", "--use", "operator", "--only", "grants.surplus").Wants(t, cmd.ExitOK)
	})
}

// What doctor advises, whoever is on call may do; an account that may not is told who may.
func TestWhoIsOnCallMayDoWhatDoctorAdvises(t *testing.T) {
	rig.EachFlavour(t, func(r *rig.Rig) {
		r.Begin()
		r.OK("schedule", "create", "a", "@daily", "--exec", "x")
		for _, key := range []string{"1", "2"} {
			r.OK("insert", "--entity", "order/"+key, "--exec", "x", "--in", "3h")
		}
		as := func(role string, args ...string) rig.Result {
			return rig.Execute(r.Context(), r.Options, map[string]string{"PRESCIENT_DSN": r.Account(role)}, "", args...)
		}
		for _, args := range [][]string{{"cancel", "--entity", "order/1"}, {"reschedule", "--entity", "order/1", "--exec", "x", "--in", "4h"}, {"run"}, {"schedule", "pause", "a"}} {
			as("operator", args...).Wants(r.T, cmd.ExitDenied, "denied", "oncall and owner have")
		}
		as("operator", "requeue", "--exec", "x", "--outcome", "failed", "--from", "now-2h", "--yes").Wants(r.T, cmd.ExitDenied, "oncall and owner have")
		as("operator", "requeue", "--entity", "order/1", "--outcome", "failed").Wants(r.T, cmd.ExitOK)
		as("worker", "pause", "x").Wants(r.T, cmd.ExitDenied, "(the account lacks this right, which the roles operator, oncall and owner have: use the account of such a role, or have an administrator run what prescient grants prints)")
		for _, args := range [][]string{{"reschedule", "--entity", "order/1", "--exec", "x", "--in", "4h"}, {"cancel", "--entity", "order/1"}, {"pause", "x"}, {"resume", "x"},
			{"schedule", "pause", "a"}, {"schedule", "resume", "a"}, {"requeue", "--exec", "x", "--outcome", "cancelled", "--from", "now-2h", "--yes"}, {"roll-forward"}, {"run"}, {"sweep"}, {"history"}, {"agents"},
			{"doctor", "--use", "oncall", "--only", "grants,grants.surplus"}} {
			as("oncall", args...).Wants(r.T, cmd.ExitOK)
		}
	})
}
