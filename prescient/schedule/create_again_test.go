package schedule_test

import (
	"database/sql"
	"testing"

	"prescient/prescient"
	"prescient/prescient/client"
	"prescient/prescient/internal/rig"
	"prescient/prescient/schedule"
)

// The clock was put back: what has fired before a schedule was deleted does not fire again, with the same id, of one that is created
// again.
func TestAScheduleThatIsCreatedAgainRepeatsNothingAfterTheClockWasPutBack(t *testing.T) {
	eachServer(t, func(t *testing.T, r *testRig) {
		hourly := func(id string) schedule.Schedule {
			return schedule.Schedule{ID: id, Crontabs: []string{"0 * * * *"}, Topic: "t"}
		}
		ids := []string{"again", "by_owner", "far", "hidden", "twice"}
		for _, id := range ids {
			one := hourly(id)
			one.Owner.Name, one.Owner.Key = "user", id
			r.create("10:00", one)
		}
		r.create("10:00", schedule.Schedule{ID: "run", Crontabs: []string{"0 * * * *"}, JobExec: "digest"})
		r.run("11:00")
		r.run("12:00")
		hidden, err := r.app("10:55").BeginTx(t.Context(), &sql.TxOptions{Isolation: sql.LevelRepeatableRead})
		r.Must(err)
		defer hidden.Rollback()
		var n int
		r.Must(hidden.QueryRow("SELECT COUNT(*) FROM p_schedule").Scan(&n)) // its snapshot
		_, err = r.schedules.Delete(t.Context(), r.app("12:30"), "again", "hidden", "run", "twice")
		r.Must(err)
		_, err = r.schedules.DeleteOwner(t.Context(), r.app("12:30"), prescient.Entity{Name: "user", Key: "by_owner"})
		r.Must(err)
		_, err = r.schedules.Delete(t.Context(), r.AppAt(rig.At("12:30").AddDate(10, 0, 0)), "far")
		r.Must(err)

		r.create("10:55", hourly("again"))
		r.wantTimer("again", "13:00")
		r.create("10:55", hourly("by_owner"))
		r.wantTimer("by_owner", "13:00")
		if _, err = r.schedules.Create(t.Context(), hidden, hourly("hidden")); client.BeginAgain(err) { // by what that snapshot does not show
			r.Must(hidden.Rollback())
			r.create("10:55", hourly("hidden"))
		} else {
			r.Must(err)
			r.Must(hidden.Commit())
		}
		r.wantTimer("hidden", "13:00")
		r.create("10:55", schedule.Schedule{ID: "run", Crontabs: []string{"0 * * * *"}, JobExec: "digest"})
		r.wantTimer("run", "13:00")
		if n := r.Count("SELECT COUNT(*) FROM p_future_job WHERE entity_key = 'run' AND job_exec = 'digest' AND due_at = ?", rig.At("13:00")); n != 1 {
			t.Errorf("%d runs at 13:00; want one, ahead", n)
		}
		// Deleted again, by the clock that was put back: until 12:30 it has fired all the same.
		r.create("10:55", hourly("twice"))
		_, err = r.schedules.Delete(t.Context(), r.app("11:10"), "twice")
		r.Must(err)
		r.create("11:20", hourly("twice"))
		r.wantTimer("twice", "13:00")
		// A clock that was wrong by more than a day does not keep one silent for as long.
		r.create("12:40", hourly("far"))
		r.wantTimer("far", "13:00")
		// By a clock that is right, from now on.
		_, err = r.schedules.Delete(t.Context(), r.app("13:10"), "again")
		r.Must(err)
		r.create("14:30", hourly("again"))
		r.wantTimer("again", "15:00")
	})
}
