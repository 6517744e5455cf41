package acceptance

import (
	"fmt"
	"strings"
	"testing"
	"time"

	"prescient/prescient/internal/rig"
	text "prescient/sql"
	"prescient/sql/migrate"
)

// A migration that makes the procedure anew takes it from nobody: who called it before still may, or it is said that they
// have to be granted it again.
func TestAMigrationLeavesTheProcedureToItsCallers(t *testing.T) {
	besideOthers(t, func(t *testing.T, r *testRig) {
		r.Needs(t, rig.ColumnDefaults)
		app := r.AppAs("app-sql", rig.At("12:00"))
		schema := migrate.Schema{Prefix: "p_", Resolution: 15 * time.Minute, Set: laterSet(t, cancelAnew)}
		back := func() {
			r.Exec("DELETE FROM p_schema_version WHERE version_id > ?", newest)
		}
		lost := func(list []migrate.Migrated) (lost bool) {
			for _, m := range list {
				lost = lost || m.CallersLost && strings.Contains(m.Name, "later")
			}
			return lost
		}
		r.call(app, 0, "order", "1", nil)
		back()
		list, err := migrate.Up(t.Context(), r.Root, schema)
		if err != nil || len(list) == 0 || lost(list) {
			t.Errorf("%+v, %v", list, err)
		}
		r.call(app, 0, "order", "1", nil)
		// MySQL lets nobody but another such account drop what root made.
		r.Exec("DROP PROCEDURE p_cancel")
		r.Exec("DROP PROCEDURE p_delete_schedules")
		r.Exec("DROP PROCEDURE p_pending")
		r.repair()
		back()
		list, err = migrate.Up(t.Context(), r.Pool(time.Time{}).DB, schema)
		if err != nil || !lost(list) {
			t.Errorf("the owner may not read who calls it: %+v, %v", list, err)
		}
	})
}

// MySQL lets no owner replace what root made: it is told so, and nothing is half done that root could not do.
func TestAnOwnerIsToldThatRootMadeTheProcedure(t *testing.T) {
	besideOthers(t, func(t *testing.T, r *testRig) {
		r.Needs(t, rig.ColumnDefaults)
		app := r.AppAs("app-sql", rig.At("12:00"))
		schema := migrate.Schema{Prefix: "p_", Resolution: 15 * time.Minute, Set: laterSet(t, cancelAnew.with(further))}
		list, err := migrate.Up(t.Context(), r.Pool(time.Time{}).DB, schema)
		if r.Server == text.MariaDB { // where an owner may
			r.Must(err)
			return
		}
		if err == nil || len(list) > 0 || strings.Contains(err.Error(), "partial") || !strings.Contains(err.Error(), fmt.Sprintf("%05d_later.sql was not begun: what it replaces was made by an account with the right SYSTEM_USER", newest+1)) {
			t.Errorf("%+v, %v", list, err)
		}
		r.call(app, 0, "order", "1", nil)
		if list, err = migrate.Up(t.Context(), r.Root, schema); err != nil || len(list) != 1 {
			t.Errorf("%+v, %v", list, err)
		}
		r.call(app, 0, "order", "1", nil)
	})
}

// What was applied before a migration that fails is told then, since the next time it is not.
func TestAMigrationThatFailsTellsOfThoseBeforeIt(t *testing.T) {
	besideOthers(t, func(t *testing.T, r *testRig) {
		r.Needs(t, rig.ColumnDefaults)
		r.AppAs("app-sql", rig.At("12:00"))
		r.Exec("DROP PROCEDURE p_cancel")
		r.Exec("DROP PROCEDURE p_delete_schedules")
		r.Exec("DROP PROCEDURE p_pending")
		r.repair()
		r.Exec("RENAME TABLE p_future_job TO p_away")
		schema := migrate.Schema{Prefix: "p_", Resolution: 15 * time.Minute, Set: laterSet(t, cancelAnew, further)}
		list, err := migrate.Up(t.Context(), r.Pool(time.Time{}).DB, schema)
		if err == nil || len(list) != 1 || !list[0].CallersLost || !strings.Contains(err.Error(), fmt.Sprintf("%05d_later.sql: ", newest+2)) {
			t.Errorf("%+v, %v", list, err)
		}
		r.Exec("RENAME TABLE p_away TO p_future_job")
		if list, err = migrate.Up(t.Context(), r.Pool(time.Time{}).DB, schema); err != nil || len(list) != 1 {
			t.Errorf("%+v, %v", list, err)
		}
	})
}
