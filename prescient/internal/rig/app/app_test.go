package app_test

import (
	"fmt"
	"testing"
	"time"

	"prescient/prescient"
	"prescient/prescient/internal/rig"
	"prescient/prescient/internal/rig/app"
	"prescient/prescient/localserver/servertest"
)

func TestMain(m *testing.M) { servertest.Main(m) }

// Whoever gets the database of an earlier test finds none of its rows, accounts and numbers; where more than that was changed, nobody gets it.
func TestATestFindsNothingOfTheOneBefore(t *testing.T) {
	servertest.EachKind(t, func(t *testing.T, kind servertest.Kind) {
		var name, counts string
		next := func(what string, test func(t *testing.T, r *app.Rig)) {
			t.Run(what, func(t *testing.T) { test(t, app.New(t, kind.New(t), 15*time.Minute)) })
		}
		next("writes rows", func(_ *testing.T, r *app.Rig) {
			name, counts = r.D.Name, counted(r)
			r.Insert(rig.At("12:00"), prescient.NewJob{Entity: prescient.Entity{Name: "order", Key: "1"}, JobExec: "check", DueAt: rig.At("12:30")})
			r.Exec("DELETE FROM p_slot_config")
			r.Exec("CREATE USER '" + r.User("left") + "'@'%'")
			r.T.Cleanup(func() { r.Exec("DROP USER '" + r.User("left") + "'@'%'") })
		})
		next("finds none, and adds a table", func(t *testing.T, r *app.Rig) {
			if r.D.Name != name {
				t.Errorf("it has %s; want %s, which a test gave back", r.D.Name, name)
			}
			if got := counted(r); got != counts {
				t.Errorf("it finds %s; a new one has %s", got, counts)
			}
			r.Exec("CREATE TABLE more (id INT PRIMARY KEY)")
		})
		next("gets one without that table", func(t *testing.T, r *app.Rig) {
			if r.D.Name == name {
				t.Error("it has one that was changed")
			}
		})
	})
}

// counted is how many rows each table has that has any.
func counted(r *app.Rig) string {
	all := make(map[string]int)
	for table := range r.Tally("SELECT table_name, 1 FROM information_schema.tables WHERE table_schema = DATABASE() AND table_type = 'BASE TABLE'") {
		if n := r.Count("SELECT COUNT(*) FROM " + table); n > 0 {
			all[table] = n
		}
	}
	return fmt.Sprint(all)
}
