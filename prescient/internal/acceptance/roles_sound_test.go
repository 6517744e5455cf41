package acceptance

import (
	"strings"
	"testing"
	"time"

	"github.com/jmoiron/sqlx"

	"prescient/prescient/doctor"
	"prescient/prescient/internal/rig"
	"prescient/prescient/prune"
	"prescient/sql/migrate"
)

// What a user may not see is not taken for missing.
func TestADoctorFindsTheSchemaSoundWhateverItsUserMaySee(t *testing.T) {
	besideOthers(t, func(t *testing.T, r *testRig) {
		var db *sqlx.DB
		for role, use := range map[string]doctor.Use{"app": doctor.UseApp, "app-reschedule": doctor.UseApp, "operator": doctor.UseOperator, "worker": doctor.UseWorker, "owner": doctor.UseOwner} {
			as := r.As(role, time.Time{})
			if use == doctor.UseOperator {
				db = as
			}
			found, err := doctor.Examine(t.Context(), as, doctor.Options{Prefix: "p_", Dialect: r.Setting, Use: use})
			r.Must(err)
			if use == doctor.UseApp {
				wantFound(t, found, "schema", doctor.SeverityPart)
				if f := foundIn(found, "schema"); !strings.Contains(f.Text, "cannot see p_job_history, p_slot_run, p_job_pause") && !strings.Contains(f.Text, "cannot see p_slot_run, p_job_pause") {
					t.Errorf("%s: %+v", role, f)
				}
			}
			for _, f := range found {
				if f.Severity == doctor.SeverityBad {
					t.Errorf("%s: %+v", role, f)
				}
			}
		}
		r.Needs(t, rig.ColumnDefaults)
		r.Exec("ALTER TABLE p_future_job DROP CONSTRAINT p_future_job_on_grid")
		found, err := doctor.Examine(t.Context(), db, doctor.Options{Prefix: "p_", Dialect: r.Setting, Use: doctor.UseOperator})
		r.Must(err)
		wantFound(t, found, "schema.check", doctor.SeverityBad, "p_future_job_on_grid")
		r.reslotTo(15 * time.Minute)
		r.Exec("DROP TABLE p_job_pause")
		found, err = doctor.Examine(t.Context(), r.Pool(time.Time{}), doctor.Options{Prefix: "p_", Dialect: r.Setting})
		r.Must(err)
		wantFound(t, found, "schema.table", doctor.SeverityBad, "p_job_pause")
	})
}

func TestTheRoleOwnerMigratesAndPrunes(t *testing.T) {
	besideOthers(t, func(t *testing.T, r *testRig) {
		r.Needs(t, rig.StoredProcedures)
		db := r.As("owner", time.Time{})
		schema := migrate.Schema{Prefix: "q_", Resolution: time.Hour}
		_, err := migrate.Up(t.Context(), db.DB, schema)
		r.Must(err)
		report, err := prune.Run(t.Context(), db, prune.Options{Prefix: "q_", Keep: 90 * 24 * time.Hour})
		if err != nil || len(report.Made) != prune.PartitionsAhead+1 {
			t.Errorf("%+v, %v", report, err)
		}
		if _, err := db.ExecContext(t.Context(), "CALL q_cancel('order', '42', NULL)"); err != nil {
			t.Error(err)
		}
		_, err = migrate.Down(t.Context(), db.DB, schema)
		r.Must(err)
	})
}
