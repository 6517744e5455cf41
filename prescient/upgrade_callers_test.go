package prescient

import (
	"strings"
	"testing"
	"time"

	text "prescient/sql"
)

// A migration that makes the procedure anew takes it from nobody: who called it before still may, or it is said that they
// have to be granted it again.
func TestAMigrationLeavesTheProcedureToItsCallers(t *testing.T) {
	eachServer(t, func(t *testing.T, r *rig) {
		r.needs(t, columnDefaults)
		app := r.appAs("app-sql", at("12:00"))
		back := func() {
			r.exec("DELETE FROM p_schema_version WHERE version_id >= 13")
			r.exec("UPDATE p_slot_config SET schema_version = 11")
		}
		lost := func(list []text.Migrated) (lost bool) {
			for _, m := range list {
				lost = lost || m.CallersLost && strings.Contains(m.Name, "cancel")
			}
			return lost
		}
		r.call(app, 0, "order", "1", nil)
		back()
		list, err := text.Up(t.Context(), r.root, text.Schema{Prefix: "p_", Resolution: 15 * time.Minute})
		if err != nil || len(list) == 0 || lost(list) {
			t.Errorf("%+v, %v", list, err)
		}
		r.call(app, 0, "order", "1", nil)
		// MySQL lets nobody but another such account drop what root made.
		r.exec("DROP PROCEDURE p_cancel")
		r.repair()
		back()
		list, err = text.Up(t.Context(), r.pool(time.Time{}).DB, text.Schema{Prefix: "p_", Resolution: 15 * time.Minute})
		if err != nil || !lost(list) {
			t.Errorf("the owner may not read who calls it: %+v, %v", list, err)
		}
	})
}
