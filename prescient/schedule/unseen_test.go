package schedule_test

import (
	"fmt"
	"testing"

	"prescient/prescient"
	"prescient/prescient/internal/rig"
	"prescient/prescient/schedule"
	text "prescient/sql"
)

// Rows of schedules are the room's own: a client and the procedure refuse them.
func TestAScheduleWhoseNamesCannotBeSeenIsNotCreated(t *testing.T) {
	eachServer(t, func(t *testing.T, r *testRig) {
		good := schedule.Schedule{ID: "a", Crontabs: []string{"0 * * * *"}, JobExec: "digest"}
		r.create("10:00", good)
		if r.Dialect != text.Plain { // as where there was such a name before the tables had these
			r.Exec("ALTER TABLE p_schedule DROP CONSTRAINT p_schedule_seen")
			r.Exec("ALTER TABLE p_future_job DROP CONSTRAINT p_future_job_seen")
		}
		for _, name := range rig.Unseen() {
			owned, named := good, good
			owned.Owner, named.ID = rig.Order(name), name
			for _, one := range []schedule.Schedule{owned, named} {
				one.ID += "b"
				_, err := r.schedules.Create(t.Context(), r.App, one)
				rig.WantErr(t, fmt.Sprintf("creating %+q", name), err, prescient.ErrInvalid)
				_, _, err = r.schedules.Put(t.Context(), r.App, []schedule.Wanted{{Schedule: one}}, true)
				rig.WantErr(t, fmt.Sprintf("putting %+q", name), err, prescient.ErrInvalid)
			}
			_, err := r.schedules.Update(t.Context(), r.App, owned)
			rig.WantErr(t, fmt.Sprintf("changing the owner to %+q", name), err, prescient.ErrInvalid)
			if r.Server == text.Vitess { // a row whose place is another would have to go to another shard
				continue
			}
			// What is there under such a name is changed and deleted.
			place := prescient.Entity{Name: prescient.ScheduleEntity, Key: name}.KeyspaceID()
			r.Exec("UPDATE p_schedule SET id = ?, place = ? WHERE id = 'a'", name, place[:])
			r.Exec("DELETE FROM p_future_job")
			named.Payload = []byte(name)
			if changed, err := r.schedules.Update(t.Context(), r.App, named); err != nil || !changed {
				t.Errorf("%+q: %t, %v", name, changed, err)
			}
			if n, err := r.schedules.Delete(t.Context(), r.App, name); err != nil || n != 1 {
				t.Errorf("%+q: %d, %v", name, n, err)
			}
			r.create("10:00", good)
		}
	})
}
