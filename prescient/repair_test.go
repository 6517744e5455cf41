package prescient

import (
	"errors"
	"slices"
	"strings"
	"testing"
	"time"

	text "prescient/sql"
)

// repair repairs as the owner does, who has configured another resolution than the tables have.
func (r *rig) repair() text.Repaired {
	r.t.Helper()
	did, err := text.Repair(r.t.Context(), r.pool(time.Time{}).DB, text.Schema{Prefix: "p_", Resolution: time.Hour})
	r.must(err)
	return did
}

func whats(damages []text.Damage) (list []string) {
	for _, d := range damages {
		list = append(list, d.What())
	}
	return list
}

func TestARepairRestoresAllButRowsAndValues(t *testing.T) {
	eachServerAt(t, 5*time.Minute, func(t *testing.T, r *rig) {
		r.needs(t, columnDefaults)
		insert := func(key string) error {
			_, err := r.root.ExecContext(t.Context(), "INSERT INTO p_future_job (entity_name, entity_key, job_exec, due_at) VALUES ('order', ?, 'check', '2030-01-01 12:04:00.5')", key)
			return err
		}
		r.must(insert("1"))
		if did := r.repair(); len(did.Done)+len(did.Left) != 0 {
			t.Errorf("whole tables were repaired: %+v", did)
		}
		for _, statement := range []string{"DROP PROCEDURE p_cancel", "DROP VIEW p_history_times", "DROP VIEW p_history_checks",
			"CREATE VIEW p_history_checks AS SELECT worker FROM p_job_history", "ALTER TABLE p_job_history RENAME COLUMN worker TO another",
			"ALTER TABLE p_job_history DROP KEY job_key", "ALTER TABLE p_future_job DROP KEY job_key", "ALTER TABLE p_slot_run ALTER COLUMN token SET DEFAULT 7",
			"ALTER TABLE p_future_job ALTER COLUMN tag DROP DEFAULT, ALTER COLUMN job_key DROP DEFAULT, ALTER COLUMN first_check_at DROP DEFAULT, ALTER COLUMN next_check_at SET DEFAULT '2001-01-01', ALTER COLUMN revision SET DEFAULT 1, DROP CONSTRAINT p_future_job_on_grid",
			"ALTER TABLE p_slot_config DROP CONSTRAINT p_slot_config_one_row, ADD CONSTRAINT p_slot_config_one_row CHECK (id < 5)"} {
			r.exec(statement)
		}
		found := r.examine(time.Time{}, DoctorOptions{})
		for code, is := range map[string]string{"procedure": "p_cancel", "view": "p_history_", "index": "job_key", "default": "p_future_job.", "check": "p_future_job_on_grid", "column": "worker"} {
			wantFinding(t, found, "schema."+code, SeverityBad, is)
			f := finding(found, "schema."+code)
			if strings.Contains(f.Do, "migrate --repair") != (code != "column") || len(f.DDL) == 0 {
				t.Errorf("%+v; want the command and its statements", f)
			}
		}
		did := r.repair()
		want := []string{"the check p_slot_config_one_row of p_slot_config", "the default tag of p_future_job", "the default job_key of p_future_job",
			"the default first_check_at of p_future_job", "the default next_check_at of p_future_job", "the default revision of p_future_job",
			"the index job_key of p_future_job", "the check p_future_job_on_grid of p_future_job", "the index job_key of p_job_history",
			"the default token of p_slot_run", "the view p_history_times"}
		for _, what := range want {
			if !slices.Contains(whats(did.Done), what) {
				t.Errorf("%s was not restored: %q", what, whats(did.Done))
			}
		}
		// What needs the column that is gone is left.
		if left := whats(did.Left); !slices.Contains(left, "the column worker of p_job_history") || did.Left[0].Lost == "" || !did.CallersUnknown {
			t.Errorf("%+v", did)
		}
		r.exec("ALTER TABLE p_job_history RENAME COLUMN another TO worker")
		r.repair()
		if did := r.repair(); len(did.Done)+len(did.Left) != 0 {
			t.Errorf("a second repair did %+v", did)
		}
		wantFinding(t, r.examine(time.Time{}, DoctorOptions{}), "schema", SeverityOK)
		r.must(insert("2"))
		if n := r.count("SELECT COUNT(*) FROM p_future_job WHERE next_check_at = '2030-01-01 12:05:00' AND first_check_at = next_check_at AND tag = '' AND revision > 1"); n != 2 {
			t.Errorf("%d rows are at their slot", n)
		}
		r.call(r.appAs("app", at("12:00")), 1, "order", "2", nil)
	})
}

// A CHECK that rows break is not restored, and which rows is said.
func TestARepairSaysWhatRowsRefuse(t *testing.T) {
	eachServer(t, func(t *testing.T, r *rig) {
		r.needs(t, columnDefaults)
		r.exec("ALTER TABLE p_future_job DROP CONSTRAINT p_future_job_on_grid")
		r.exec("INSERT INTO p_future_job (entity_name, entity_key, job_exec, due_at, next_check_at) VALUES ('a', 'b', 'c', '2030-01-01 12:00:00', '2030-01-01 12:01:00')")
		did := r.repair()
		if len(did.Done) != 0 || len(did.Left) != 1 || !strings.Contains(did.Left[0].Lost, "reslot --resolution 15m0s") {
			t.Errorf("%+v", did)
		}
		r.reslotTo(15 * time.Minute) // as it says
		wantFinding(t, r.examine(time.Time{}, DoctorOptions{}), "schema", SeverityOK)
		r.exec("UPDATE p_slot_config SET resolution_to_s = 300")
		if _, err := text.Repair(t.Context(), r.root, text.Schema{Prefix: "p_", Resolution: time.Hour}); !errors.Is(err, text.ErrReslotting) {
			t.Errorf("%v; want ErrReslotting", err)
		}
		// Under the eyes of reslot another resolution is no damage that a repair mends.
		r.exec("UPDATE p_slot_config SET resolution_to_s = NULL, resolution_s = 300")
		if did := r.repair(); len(did.Done)+len(did.Left) != 0 {
			t.Errorf("%+v", did)
		}
		wantFinding(t, r.examine(time.Time{}, DoctorOptions{}), "schema.grid", SeverityBad, "15m0s", "5m0s")
		r.exec("DELETE FROM p_slot_config")
		if did := r.repair(); len(did.Left) != 1 || !strings.Contains(did.Left[0].Text, "empty") {
			t.Errorf("%+v", did)
		}
	})
}

func TestARepairGivesAProcedureWhoseDefinerIsGoneAnother(t *testing.T) {
	eachServer(t, func(t *testing.T, r *rig) {
		r.needs(t, columnDefaults)
		user := r.user("gone")
		r.exec("CREATE USER '" + user + "'@'%'")
		r.exec("GRANT ALL ON " + r.d.Name + ".* TO '" + user + "'@'%'")
		m, err := text.Schema{Prefix: "p_", Resolution: time.Hour}.Objects()
		r.must(err)
		cancel := m[slices.IndexFunc(m, func(o text.Object) bool { return o.Name == "p_cancel" })]
		app := r.appAs("app-sql", at("12:00")) // may call it
		r.exec("DROP PROCEDURE p_cancel")
		r.exec(strings.Replace(cancel.Create, "CREATE PROCEDURE", "CREATE DEFINER = '"+user+"'@'%' PROCEDURE", 1))
		r.exec("GRANT EXECUTE ON PROCEDURE p_cancel TO '" + r.user("app-sql") + "'@'%'")
		r.call(app, 0, "order", "1", nil)
		wantFinding(t, r.examine(time.Time{}, DoctorOptions{}), "schema", SeverityOK)

		r.exec("REVOKE ALL ON " + r.d.Name + ".* FROM '" + user + "'@'%'")
		wantFinding(t, r.examine(time.Time{}, DoctorOptions{}), "schema.definer", SeverityBad, "p_cancel", user)
		r.exec("DROP USER '" + user + "'@'%'")
		found, err := Doctor(t.Context(), r.as("app", time.Time{}), DoctorOptions{Prefix: "p_", Use: UseApp})
		r.must(err)
		wantFinding(t, found, "schema.definer", SeverityBad, "p_cancel", "account")

		// Whoever may read and grant it lets the callers call it again; on MariaDB that never went.
		did, err := text.Repair(t.Context(), r.root, text.Schema{Prefix: "p_", Resolution: time.Hour})
		r.must(err)
		if len(did.Done) != 1 || did.CallersUnknown || r.server != text.MariaDB && (len(did.Callers) != 2 || !strings.Contains(strings.Join(did.Callers, " "), "app-sql")) {
			t.Errorf("%+v", did)
		}
		r.call(app, 0, "order", "1", nil)
		wantFinding(t, r.examine(time.Time{}, DoctorOptions{}), "schema", SeverityOK)
	})
}
