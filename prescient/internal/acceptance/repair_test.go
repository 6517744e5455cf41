package acceptance

import (
	"errors"
	"slices"
	"strings"
	"testing"
	"time"

	"prescient/prescient/doctor"
	"prescient/prescient/internal/rig"
	text "prescient/sql"
	"prescient/sql/migrate"
)

// repair repairs as the owner does, who has configured another resolution than the tables have.
func (r *testRig) repair() migrate.Repaired {
	r.T.Helper()
	did, err := migrate.Repair(r.T.Context(), r.Pool(time.Time{}).DB, migrate.Schema{Prefix: "p_", Resolution: time.Hour})
	r.Must(err)
	return did
}

func whats(damages []migrate.Damage) (list []string) {
	for _, d := range damages {
		list = append(list, d.What())
	}
	return list
}

func TestARepairRestoresAllButRowsAndValues(t *testing.T) {
	t.Parallel()
	eachServerAt(t, 5*time.Minute, func(t *testing.T, r *testRig) {
		r.Needs(t, rig.ColumnDefaults)
		insert := func(key string) error {
			_, err := r.Root.ExecContext(t.Context(), "INSERT INTO p_future_job (entity_name, entity_key, job_exec, due_at) VALUES ('order', ?, 'check', '2030-01-01 12:04:00.5')", key)
			return err
		}
		r.Must(insert("1"))
		if did := r.repair(); len(did.Done)+len(did.Left) != 0 {
			t.Errorf("whole tables were repaired: %+v", did)
		}
		for _, statement := range []string{"DROP PROCEDURE p_cancel", "DROP VIEW p_history_times", "DROP VIEW p_history_checks",
			"CREATE VIEW p_history_checks AS SELECT worker FROM p_job_history", "ALTER TABLE p_job_history RENAME COLUMN worker TO another",
			"ALTER TABLE p_job_history DROP KEY job_key", "ALTER TABLE p_future_job DROP KEY job_key", "ALTER TABLE p_slot_run ALTER COLUMN token SET DEFAULT 7",
			"ALTER TABLE p_future_job ALTER COLUMN tag DROP DEFAULT, ALTER COLUMN job_key DROP DEFAULT, ALTER COLUMN first_check_at DROP DEFAULT, ALTER COLUMN next_check_at SET DEFAULT '2001-01-01', ALTER COLUMN revision SET DEFAULT 1, DROP CONSTRAINT p_future_job_on_grid",
			"ALTER TABLE p_slot_config DROP CONSTRAINT p_slot_config_one_row, ADD CONSTRAINT p_slot_config_one_row CHECK (id < 5)"} {
			r.Exec(statement)
		}
		found := r.examine(time.Time{}, doctor.Options{})
		for code, is := range map[string]string{"procedure": "p_cancel", "view": "p_history_", "index": "job_key", "default": "p_future_job.", "check": "p_future_job_on_grid", "column": "worker"} {
			wantFound(t, found, "schema."+code, doctor.SeverityBad, is)
			f := foundIn(found, "schema."+code)
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
		r.Exec("ALTER TABLE p_job_history RENAME COLUMN another TO worker")
		r.repair()
		if did := r.repair(); len(did.Done)+len(did.Left) != 0 {
			t.Errorf("a second repair did %+v", did)
		}
		wantFound(t, r.examine(time.Time{}, doctor.Options{}), "schema", doctor.SeverityOK)
		r.Must(insert("2"))
		if n := r.Count("SELECT COUNT(*) FROM p_future_job WHERE next_check_at = '2030-01-01 12:05:00' AND first_check_at = next_check_at AND tag = '' AND revision > 1"); n != 2 {
			t.Errorf("%d rows are at their slot", n)
		}
		app := r.AppAs("app", rig.At("12:00"))
		r.Exec("GRANT EXECUTE ON PROCEDURE p_cancel TO '" + r.User("app") + "'@'%'") // which went with the procedure
		r.call(app, 1, "order", "2", nil)
	})
}

// A CHECK that rows break is not restored, and which rows is said.
func TestARepairSaysWhatRowsRefuse(t *testing.T) {
	besideOthers(t, func(t *testing.T, r *testRig) {
		r.Needs(t, rig.ColumnDefaults)
		r.Exec("ALTER TABLE p_future_job DROP CONSTRAINT p_future_job_on_grid")
		r.Exec("INSERT INTO p_future_job (entity_name, entity_key, job_exec, due_at, next_check_at) VALUES ('a', 'b', 'c', '2030-01-01 12:00:00', '2030-01-01 12:01:00')")
		did := r.repair()
		if len(did.Done) != 0 || len(did.Left) != 1 || !strings.Contains(did.Left[0].Lost, "reslot --resolution 15m0s") {
			t.Errorf("%+v", did)
		}
		r.reslotTo(15 * time.Minute) // as it says
		wantFound(t, r.examine(time.Time{}, doctor.Options{}), "schema", doctor.SeverityOK)
		r.Exec("UPDATE p_slot_config SET resolution_to_s = 300")
		if _, err := migrate.Repair(t.Context(), r.Root, migrate.Schema{Prefix: "p_", Resolution: time.Hour}); !errors.Is(err, migrate.ErrReslotting) {
			t.Errorf("%v; want ErrReslotting", err)
		}
		// Under the eyes of reslot another resolution is no damage that a repair mends.
		r.Exec("UPDATE p_slot_config SET resolution_to_s = NULL, resolution_s = 300")
		if did := r.repair(); len(did.Done)+len(did.Left) != 0 {
			t.Errorf("%+v", did)
		}
		wantFound(t, r.examine(time.Time{}, doctor.Options{}), "schema.grid", doctor.SeverityBad, "15m0s", "5m0s")
		r.Exec("DELETE FROM p_slot_config")
		if did := r.repair(); len(did.Left) != 1 || !strings.Contains(did.Left[0].Text, "empty") {
			t.Errorf("%+v", did)
		}
	})
}

func TestARepairGivesAProcedureWhoseDefinerIsGoneAnother(t *testing.T) {
	besideOthers(t, func(t *testing.T, r *testRig) {
		r.Needs(t, rig.ColumnDefaults)
		user := r.User("gone")
		r.Exec("CREATE USER '" + user + "'@'%'")
		r.Exec("GRANT ALL ON " + r.D.Name + ".* TO '" + user + "'@'%'")
		m, err := migrate.Schema{Prefix: "p_", Resolution: time.Hour}.Objects()
		r.Must(err)
		cancel := m[slices.IndexFunc(m, func(o migrate.Object) bool { return o.Name == "p_cancel" })]
		app, looks := r.AppAs("app-sql", rig.At("12:00")), r.As("app", time.Time{}) // both may call it
		r.Exec("DROP PROCEDURE p_cancel")
		r.Exec(strings.Replace(cancel.Create, "CREATE PROCEDURE", "CREATE DEFINER = '"+user+"'@'%' PROCEDURE", 1))
		for _, role := range []string{"app", "app-sql"} {
			r.Exec("GRANT EXECUTE ON PROCEDURE p_cancel TO '" + r.User(role) + "'@'%'")
		}
		r.call(app, 0, "order", "1", nil)
		wantFound(t, r.examine(time.Time{}, doctor.Options{}), "schema", doctor.SeverityOK)

		r.Exec("REVOKE ALL ON " + r.D.Name + ".* FROM '" + user + "'@'%'")
		wantFound(t, r.examine(time.Time{}, doctor.Options{}), "schema.definer", doctor.SeverityBad, "p_cancel", user)
		r.Exec("DROP USER '" + user + "'@'%'")
		found, err := doctor.Examine(t.Context(), looks, doctor.Options{Prefix: "p_", Use: doctor.UseApp})
		r.Must(err)
		wantFound(t, found, "schema.definer", doctor.SeverityBad, "p_cancel", "account")

		// Whoever may read and grant it lets the callers call it again; on MariaDB that never went.
		did, err := migrate.Repair(t.Context(), r.Root, migrate.Schema{Prefix: "p_", Resolution: time.Hour})
		r.Must(err)
		if len(did.Done) != 1 || did.CallersUnknown || r.Server != text.MariaDB && (len(did.Callers) != 2 || !strings.Contains(strings.Join(did.Callers, " "), "app-sql")) {
			t.Errorf("%+v", did)
		}
		r.call(app, 0, "order", "1", nil)
		wantFound(t, r.examine(time.Time{}, doctor.Options{}), "schema", doctor.SeverityOK)
	})
}

// Of every procedure it is found out whether it comes as far as its tables, whatever its arguments are, and nothing is written by that.
func TestAProcedureWhoseDefinerLacksARightIsFound(t *testing.T) {
	besideOthers(t, func(t *testing.T, r *testRig) {
		r.Needs(t, rig.StoredProcedures)
		user := r.User("less")
		r.Exec("CREATE USER '" + user + "'@'%'")
		schema := migrate.Schema{Prefix: "p_", Resolution: 15 * time.Minute, Server: r.Server}
		objects, err := schema.Objects()
		r.Must(err)
		var names []string
		for _, o := range objects {
			if o.Kind == "procedure" && strings.Contains(o.Create, "SQL SECURITY DEFINER") {
				names = append(names, o.Name)
				r.Exec("DROP PROCEDURE " + o.Name)
				r.Exec(strings.Replace(o.Create, "CREATE PROCEDURE", "CREATE DEFINER = '"+user+"'@'%' PROCEDURE", 1))
				r.Exec("GRANT EXECUTE ON PROCEDURE " + o.Name + " TO '" + user + "'@'%'")
			}
		}
		for _, lacks := range []string{"its rights", "itself"} {
			if lacks == "itself" {
				r.Exec("DROP USER '" + user + "'@'%'")
			}
			compared, err := schema.Compare(t.Context(), r.Root)
			r.Must(err)
			var found []string
			for _, d := range compared.Damages {
				if d.Kind == migrate.DamagedDefiner {
					found = append(found, d.Of)
				}
			}
			slices.Sort(found)
			slices.Sort(names)
			if !slices.Equal(found, names) || len(names) < 7 {
				t.Errorf("whose definer lacks %s: %v; want %v", lacks, found, names)
			}
		}
		if n := r.Count("SELECT COUNT(*) FROM p_future_job") + r.Count("SELECT COUNT(*) FROM p_event_outbox"); n != 0 {
			t.Errorf("%d rows were written", n)
		}
	})
}
