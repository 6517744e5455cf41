package doctor

import (
	"strings"
	"testing"
	"time"

	"prescient/prescient/connect"
	"prescient/prescient/internal/rig"
	"prescient/prescient/prune"
	text "prescient/sql"
)

// Each role is told what it can see, and fails for nothing that it need not have.
func TestADoctorLooksAtWhatARoleSees(t *testing.T) {
	eachServer(t, func(t *testing.T, r *testRig) {
		r.Needs(t, rig.ColumnDefaults)
		_, err := prune.KeepPartitions(t.Context(), r.Pool(time.Time{}), prune.Options{Prefix: "p_"})
		r.Must(err)
		unseen := map[string]string{"analyst": "paused overdue put_off schedules rules long_runs events rows", "app-sql": "version paused overdue put_off failing slower forecast execs stats schedules rules long_runs events notify audit missed leases leases.far agents rows invariants partitions",
			"app": "paused failing slower forecast execs stats rules long_runs events notify audit missed leases leases.far agents invariants", "app-reschedule": "paused failing slower forecast execs stats rules long_runs events notify audit missed leases leases.far agents invariants",
			"serve-door": "paused overdue put_off failing slower forecast execs stats schedules rules long_runs events notify audit missed leases leases.far agents rows invariants partitions"}
		everyone := "purge.transaction blocking" // without the right PROCESS, which no role has
		if r.Server == text.MySQL {
			everyone = "purge purge.transaction blocking"
		}
		look := func(role string) []Finding {
			found, err := Examine(t.Context(), r.As(role, time.Time{}), Options{Prefix: "p_", Dialect: r.Setting, Use: Use(role), Resolution: 15 * time.Minute})
			r.Must(err)
			return found
		}
		for _, role := range text.Roles() {
			var not []string
			for _, f := range look(role) {
				switch f.Code {
				case "durability", "settings", "time_zone", "binlog": // the server's at hand
				default:
					if f.Severity.Wrong() {
						t.Errorf("%s: %+v", role, f)
					}
				}
				if f.Severity == SeverityUnseen && f.Code != "coverage" {
					not = append(not, f.Code)
				}
			}
			if got, want := strings.Join(not, " "), strings.TrimSpace(unseen[role]+" "+everyone); got != want {
				t.Errorf("%s does not look at %q; want %q", role, got, want)
			}
		}
		r.Exec("REVOKE SELECT ON p_history_times FROM '" + r.User("analyst") + "'@'%'")
		wantFinding(t, look("analyst"), "grants", SeverityBad, "SELECT on p_history_times")
		r.Exec("REVOKE EXECUTE ON PROCEDURE p_cancel FROM '" + r.User("app-sql") + "'@'%'")
		wantFinding(t, look("app-sql"), "grants", SeverityBad, "EXECUTE on PROCEDURE p_cancel")
		r.Exec("REVOKE SELECT ON p_slot_run FROM '" + r.User("worker") + "'@'%'")
		wantFinding(t, look("worker"), "missed", SeverityWarn, "could not be looked at")
	})
}

func TestADoctorMissesRights(t *testing.T) {
	eachServer(t, func(t *testing.T, r *testRig) {
		user := "px_" + r.D.Name[len(r.D.Name)-8:]
		r.Exec("CREATE USER '" + user + "'@'%' IDENTIFIED BY 'Px-secret-9'")
		t.Cleanup(func() { r.Exec("DROP USER '" + user + "'@'%'") })
		r.Exec("GRANT SELECT ON " + r.D.Name + ".* TO '" + user + "'@'%'")
		r.Exec("GRANT UPDATE ON " + r.D.Name + ".p_slot_run TO '" + user + "'@'%'")
		dsn := user + ":Px-secret-9" + r.D.DSN[strings.LastIndex(r.D.DSN, "@"):]
		db, err := connect.Open(dsn, 0)
		r.Must(err)
		defer db.Close()
		examine := func(use Use) []Finding {
			found, err := Examine(t.Context(), db, Options{Prefix: "p_", Dialect: r.Setting, Use: use})
			r.Must(err)
			return found
		}
		found := examine(UseWorker)
		wantFinding(t, found, "grants", SeverityBad, user, "DELETE on p_future_job", "INSERT on p_job_history", "INSERT on p_slot_run")
		if text := finding(found, "grants").Text; strings.Contains(text, "SELECT") || strings.Contains(text, "UPDATE on p_slot_run") {
			t.Errorf("it has these: %s", text)
		}
		found = examine(UseApp)
		wantFinding(t, found, "grants", SeverityBad, "INSERT on p_future_job")
		if text := finding(found, "grants").Text; strings.Contains(text, "UPDATE") {
			t.Errorf("an app has no UPDATE by `grants --role app`: %s", text)
		}
		wantFinding(t, examine(UseOwner), "grants", SeverityBad, "ALTER on "+r.D.Name)
	})
}
