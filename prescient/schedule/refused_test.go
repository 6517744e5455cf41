package schedule_test

import (
	"slices"
	"testing"

	"prescient/prescient"
	"prescient/prescient/internal/rig"
	"prescient/prescient/schedule"
)

// schedule_refused is to be what an index on disabled_at would be: each way on which a schedule loses its disabled_at ends its entry.
func TestTheListOfThoseThatAreNoGoodIsTheOneOfTheirRows(t *testing.T) {
	eachServer(t, func(t *testing.T, r *testRig) {
		good := func(id string) schedule.Schedule {
			return schedule.Schedule{ID: id, Crontabs: []string{"0 * * * *"}, JobExec: "digest", Owner: prescient.Entity{Name: "user", Key: id}}
		}
		ids := []string{"called", "deleted", "left", "owner's", "put", "resumed", "updated"}
		for _, id := range append(ids, "good") {
			r.create("10:00", good(id))
		}
		r.Exec("UPDATE p_schedule SET crontabs = '61 * * * *', version = 0 WHERE id <> 'good'")
		r.run("11:00")
		wantRefused := func(want ...string) {
			t.Helper()
			for name, query := range map[string]string{"schedule_refused": "SELECT schedule_id FROM p_schedule_refused", "schedule": "SELECT id FROM p_schedule WHERE disabled_at IS NOT NULL"} {
				rows, err := r.Root.Query(query)
				r.Must(err)
				defer rows.Close()
				var got []string
				for rows.Next() {
					var id string
					r.Must(rows.Scan(&id))
					got = append(got, id)
				}
				r.Must(rows.Err())
				if slices.Sort(got); !slices.Equal(got, want) {
					t.Errorf("%s has %q; want %q", name, got, want)
				}
			}
			for _, owner := range []prescient.Entity{{}, {Name: "user", Key: want[0]}} {
				found, err := r.schedules.List(t.Context(), r.app("11:01"), schedule.Filter{Troubled: true, Owner: owner})
				r.Must(err)
				if len(found) != len(want) && owner.Name == "" || len(found) == 0 || found[0].ID != want[0] {
					t.Errorf("listed %+v; want %q", found, want)
				}
			}
		}
		wantRefused(ids...)
		page, err := r.schedules.List(t.Context(), r.app("11:01"), schedule.Filter{Troubled: true, After: "left", Limit: 2})
		r.Must(err)
		if len(page) != 2 || page[0].ID != "owner's" || page[1].ID != "put" || !page[0].UpdatedAt.After(page[0].CreatedAt) {
			t.Errorf("%+v", page)
		}

		_, err = r.schedules.Update(t.Context(), r.app("11:01"), good("updated"))
		r.Must(err)
		_, _, err = r.schedules.Put(t.Context(), r.app("11:01"), []schedule.Wanted{{Schedule: good("put"), Paused: true}}, true)
		r.Must(err)
		r.Did(r.schedules.Pause(t.Context(), r.app("11:01"), "left"))
		r.Exec("UPDATE p_schedule SET crontabs = '30 * * * *' WHERE id = 'resumed'")
		r.Did(r.schedules.Resume(t.Context(), r.app("11:01"), "resumed"))
		_, err = r.schedules.Delete(t.Context(), r.app("11:01"), "deleted", "good")
		r.Must(err)
		_, err = r.schedules.DeleteOwner(t.Context(), r.app("11:01"), prescient.Entity{Name: "user", Key: "owner's"})
		r.Must(err)
		wantRefused("called", "left")
		t.Run("by the procedure", func(t *testing.T) {
			r.Needs(t, rig.StoredProcedures)
			_, err := r.app("11:01").ExecContext(t.Context(), "CALL p_delete_schedules('user', 'called')")
			r.Must(err)
			wantRefused("left")
		})
	})
}
