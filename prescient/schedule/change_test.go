package schedule_test

import (
	"maps"
	"slices"
	"strings"
	"testing"

	"prescient/prescient"
	"prescient/prescient/internal/rig"
	"prescient/prescient/schedule"
	"prescient/prescient/worker"
)

func (r *testRig) update(clock string, s schedule.Schedule) {
	r.T.Helper()
	changed, err := r.schedules.Update(r.T.Context(), r.app(clock), s)
	r.Must(err)
	if !changed {
		r.T.Errorf("%s did not change", s.ID)
	}
}

func (r *testRig) wantWaiting(id string, want map[string]string) {
	r.T.Helper()
	if waiting := r.waiting(id); !maps.Equal(waiting, want) {
		r.T.Errorf("%s waits for %v; want %v", id, waiting, want)
	}
}

func TestAnUpdateSupersedesWhatWaits(t *testing.T) {
	eachServer(t, func(t *testing.T, r *testRig) {
		one := schedule.Schedule{ID: "a", Crontabs: []string{"0 * * * *"}, JobExec: "digest", Payload: []byte("old")}
		r.create("10:00", one)
		changed, err := r.schedules.Update(t.Context(), r.app("10:01"), one)
		if r.Must(err); changed {
			t.Error("the same definition is a change")
		}
		// The timeline stays, and with it the next occurrence; its run is another.
		one.Payload = []byte("new")
		r.update("10:02", one)
		r.wantTimer("a", "11:00")
		r.wantWaiting("a", map[string]string{unix("11:00"): "11:00"})
		r.run("11:00")
		if len(r.runs) != 1 || string(r.runs[0].Payload) != "new" {
			t.Errorf("%+v", r.runs)
		}
		r.wantCalled(idsOf("a", "11:00")...)
		// Another timeline.
		one.Crontabs = []string{"30 * * * *"}
		r.update("11:02", one)
		r.wantTimer("a", "11:30")
		r.wantWaiting("a", map[string]string{unix("11:30"): "11:30"})
		// An event in the place of a run.
		one.JobExec, one.Topic = "", "t"
		r.update("11:03", one)
		r.wantWaiting("a", map[string]string{})
		r.run("11:30")
		if want := idsOf("a", "11:30"); !slices.Equal(r.events(), want) {
			t.Errorf("%q", r.events())
		}
		stored, err := r.schedules.Get(t.Context(), r.app("11:31"), "a")
		if r.Must(err); stored.Version != 4 || !stored.Enabled || !stored.CreatedAt.Equal(rig.At("10:00")) {
			t.Errorf("%+v", stored)
		}
		if want := (map[string]int{"digest done": 1, "digest superseded": 3, "schedule.fire superseded": 3}); !maps.Equal(r.ends(), want) {
			t.Errorf("%v; want %v", r.ends(), want)
		}
		_, err = r.schedules.Update(t.Context(), r.app("11:31"), schedule.Schedule{ID: "none", Crontabs: []string{"0 * * * *"}, Topic: "t"})
		rig.WantErr(t, "update of none", err, schedule.ErrNotFound)
	})
}

func TestTheAnswerOfARunThatAnUpdateMetIsDropped(t *testing.T) {
	eachServer(t, func(t *testing.T, r *testRig) {
		one := schedule.Schedule{ID: "a", Crontabs: []string{"0 * * * *"}, JobExec: "digest"}
		r.create("10:00", one)
		// The timer's call comes beside the run's: whichever is first.
		r.on = func(run schedule.Run) {
			r.on = nil
			one.Payload = []byte("new")
			r.update("11:00:02", one)
		}
		figures := r.run("11:00")
		if figures.Dropped == 0 || figures.Done != 0 {
			t.Errorf("%+v", figures)
		}
		r.wantCalled(idsOf("a", "11:00")...)
		r.run("11:15")
		r.run("12:00")
		// None twice: the run of 11:00 had begun, and is not made again.
		r.wantCalled(idsOf("a", "12:00")...)
		r.wantTimer("a", "13:00")
		r.Balanced()
	})
}

// The clock was put back by more than an hour: what the new timeline has in common with the old one does not fire again.
func TestAChangeRepeatsNothingAfterTheClockWasPutBack(t *testing.T) {
	eachServer(t, func(t *testing.T, r *testRig) {
		one := schedule.Schedule{ID: "a", Crontabs: []string{"0 * * * *"}, Topic: "t"}
		r.create("10:00", one)
		r.run("11:00")
		r.run("12:00")
		r.wantTimer("a", "13:00")
		one.Crontabs = []string{"0,30 * * * *"}
		r.update("10:45", one)
		r.wantTimer("a", "13:00")
		r.run("13:00")
		r.wantTimer("a", "13:30")
		if got, want := r.events(), idsOf("a", "11:00", "12:00", "13:00"); !slices.Equal(got, want) {
			t.Errorf("%v; want %v", got, want)
		}
		one.Crontabs = []string{"15 * * * *"} // by a clock that is right, from now on
		r.update("13:05", one)
		r.wantTimer("a", "13:15")
	})
}

// Whichever of the two is first, the timer's call or the change: there is one timer, and the runs are those of the new definition.
func TestAChangeMeetsTheTimersCall(t *testing.T) {
	eachServer(t, func(t *testing.T, r *testRig) {
		app := r.app("11:00:02")
		changes := map[string]func(id string) error{
			"update": func(id string) error {
				_, err := r.schedules.Update(t.Context(), app, schedule.Schedule{ID: id, Crontabs: []string{"0 * * * *"}, JobExec: "digest", Payload: []byte("new")})
				return err
			},
			"delete": func(id string) error { _, err := r.schedules.Delete(t.Context(), app, id); return err },
			"pause":  func(id string) error { _, err := r.schedules.Pause(t.Context(), app, id); return err },
		}
		for _, name := range slices.Sorted(maps.Keys(changes)) {
			r.create("10:00", schedule.Schedule{ID: name, Crontabs: []string{"0 * * * *"}, JobExec: "digest", Payload: []byte("old")})
		}
		var hooks rig.Hooks
		done := make(chan error, len(changes))
		// The call has its timers locked, and has read the schedules.
		hooks.Once("INSERT INTO p_future_job", func() {
			for name, change := range changes {
				go func() { done <- change(name) }()
			}
			r.Eventually("the changes wait for the timer's call", func() bool {
				return r.Sessions("db = DATABASE() AND user = ? AND (info LIKE 'INSERT INTO p_job_history%' OR info LIKE '%FOR UPDATE%')", r.User("app-reschedule")) == len(changes)
			})
		})
		_, err := r.HookedWorker(rig.At("11:00:01"), &hooks, r.registry, worker.Options{}).Run(t.Context())
		r.Must(err)
		for range changes {
			r.Must(<-done)
		}
		r.wantTimer("update", "12:00")
		r.wantWaiting("update", map[string]string{unix("12:00"): "12:00"})
		r.wantTimer("delete", "")
		r.wantWaiting("delete", map[string]string{})
		r.wantTimer("pause", "")
		if waiting := r.waiting("pause"); waiting[unix("12:00")] != "" {
			t.Errorf("a paused schedule waits for %v", waiting)
		}
		r.ids()
		r.run("12:00")
		r.wantCalled(idsOf("update", "12:00")...)
	})
}

func TestDeletingTakesTimerAndRunsAlong(t *testing.T) {
	eachServer(t, func(t *testing.T, r *testRig) {
		for _, id := range []string{"a", "b", "c"} {
			owner := rig.Order("7")
			if id == "c" {
				owner = prescient.Entity{}
			}
			r.create("10:00", schedule.Schedule{ID: id, Crontabs: []string{"0 * * * *"}, JobExec: "digest", Owner: owner})
		}
		tx, err := r.app("10:01").Begin()
		r.Must(err)
		n, err := r.schedules.DeleteOwner(t.Context(), tx, rig.Order("7"))
		if r.Must(err); n != 2 {
			t.Errorf("deleted %d", n)
		}
		r.Must(tx.Rollback())
		if len(r.Pending()) != 6 {
			t.Errorf("%d rows after a rollback", len(r.Pending()))
		}
		tx, err = r.app("10:01").Begin()
		r.Must(err)
		n, err = r.schedules.DeleteOwner(t.Context(), tx, rig.Order("7"))
		if r.Must(err); n != 2 {
			t.Errorf("deleted %d", n)
		}
		r.Must(tx.Commit())
		if left := r.Pending(); len(left) != 2 || left[0].EntityKey != "c" {
			t.Errorf("%+v", left)
		}
		n, err = r.schedules.Delete(t.Context(), r.app("10:02"), "c", "c", "none")
		if r.Must(err); n != 1 || len(r.Pending()) != 0 {
			t.Errorf("deleted %d, %d rows are left", n, len(r.Pending()))
		}
		if want := (map[string]int{"digest cancelled": 3, "schedule.fire cancelled": 3}); !maps.Equal(r.ends(), want) {
			t.Errorf("%v", r.ends())
		}
		// The id is free again.
		r.create("10:03", schedule.Schedule{ID: "c", Crontabs: []string{"0 * * * *"}, JobExec: "digest"})
	})
}

func TestAPausedScheduleFiresNothingAndMissesNothing(t *testing.T) {
	eachServer(t, func(t *testing.T, r *testRig) {
		r.create("10:00", schedule.Schedule{ID: "a", Crontabs: []string{"*/15 * * * *"}, JobExec: "digest"})
		r.err = errNotYet
		r.run("10:15")
		r.wantCalled(idsOf("a", "10:15")...)
		r.Did(r.schedules.Pause(t.Context(), r.app("10:16"), "a"))
		r.Did(r.schedules.Pause(t.Context(), r.app("10:16"), "a"))
		// What has begun goes on with its retries.
		r.wantTimer("a", "")
		r.wantWaiting("a", map[string]string{unix("10:15"): "10:30"})
		r.err = nil
		r.run("10:30")
		r.wantCalled(idsOf("a", "10:15")...)
		r.update("10:40", schedule.Schedule{ID: "a", Crontabs: []string{"*/15 * * * *"}, JobExec: "digest", Payload: []byte("x")})
		r.wantTimer("a", "")
		r.Did(r.schedules.Resume(t.Context(), r.app("11:01"), "a"))
		r.Did(r.schedules.Resume(t.Context(), r.app("11:01"), "a"))
		r.wantTimer("a", "11:15")
		r.run("11:15")
		r.wantCalled(idsOf("a", "11:15")...)
	})
}

func TestARunByHand(t *testing.T) {
	eachServer(t, func(t *testing.T, r *testRig) {
		r.create("10:00", schedule.Schedule{ID: "a", Crontabs: []string{"0 * * * *"}, JobExec: "digest", Payload: []byte("x")})
		r.create("10:00", schedule.Schedule{ID: "e", Crontabs: []string{"0 * * * *"}, Topic: "t"})
		id, err := r.schedules.RunNow(t.Context(), r.app("10:01"), "a")
		if r.Must(err); id != "a-m"+unix("10:01") {
			t.Errorf("%q", id)
		}
		_, err = r.schedules.RunNow(t.Context(), r.app("10:01"), "a")
		rig.WantErr(t, "a second one within the second", err, prescient.ErrPending)
		_, err = r.schedules.RunNow(t.Context(), r.app("10:01"), "none")
		rig.WantErr(t, "none", err, schedule.ErrNotFound)
		_, err = r.schedules.RunNow(t.Context(), r.app("10:01"), "e")
		r.Must(err)
		for _, clock := range []string{"10:01", "10:01:00.9", "10:00:59"} {
			_, err = r.schedules.RunNow(t.Context(), r.app(clock), "e")
			rig.WantErr(t, "a second event at "+clock, err, prescient.ErrPending)
		}
		r.run("10:15")
		r.wantCalled(id)
		if events := r.events(); len(events) != 1 || !strings.HasPrefix(events[0], "e-m") {
			t.Errorf("%q", events)
		}
		r.wantTimer("a", "11:00")
	})
}

func TestListsGoByOwnerAndPage(t *testing.T) {
	eachServer(t, func(t *testing.T, r *testRig) {
		var many []schedule.Schedule
		for _, id := range []string{"c", "a", "b", "ä ' \\"} {
			one := schedule.Schedule{ID: id, Crontabs: []string{"0 8 * * *", "@every 2h"}, Zone: "Asia/Tokyo", JobExec: "digest", Payload: []byte("p" + id)}
			if id != "c" {
				one.Owner = prescient.Entity{Name: "user", Key: "Größe"}
			}
			many = append(many, one)
		}
		n, err := r.schedules.CreateMany(t.Context(), r.app("10:00"), many)
		if r.Must(err); n != 4 {
			t.Errorf("%d were created", n)
		}
		list := func(f schedule.Filter) (ids string) {
			t.Helper()
			page, err := r.schedules.List(t.Context(), r.app("10:00"), f)
			r.Must(err)
			for _, one := range page {
				ids += one.ID + ","
				if f.Payloads != (string(one.Payload) == "p"+one.ID) {
					t.Errorf("payload %q of %s", one.Payload, one.ID)
				}
			}
			return ids
		}
		if got := list(schedule.Filter{Payloads: true}); got != "a,b,c,ä ' \\," {
			t.Errorf("%q", got)
		}
		if got := list(schedule.Filter{Owner: prescient.Entity{Name: "user", Key: "Größe"}}); got != "a,b,ä ' \\," {
			t.Errorf("%q", got)
		}
		if got := list(schedule.Filter{Limit: 2, After: "a"}); got != "b,c," {
			t.Errorf("%q", got)
		}
		_, err = r.schedules.List(t.Context(), r.app("10:00"), schedule.Filter{Limit: -1})
		rig.WantErr(t, "limit", err, prescient.ErrInvalid)
	})
}

func TestTheProcedureDeletesTheSchedulesOfAnOwner(t *testing.T) {
	eachServer(t, func(t *testing.T, r *testRig) {
		r.Needs(t, rig.StoredProcedures)
		for _, id := range []string{"b", "a", "other"} {
			owner := prescient.Entity{Name: "user", Key: "Größe '7'"}
			if id == "other" {
				owner.Key = "8"
			}
			r.create("10:00", schedule.Schedule{ID: id, Crontabs: []string{"0 * * * *"}, JobExec: "digest", Owner: owner})
		}
		call := func(db prescient.DB, name, key any) (deleted int, err error) {
			rows, err := db.QueryContext(t.Context(), "CALL p_delete_schedules(?, ?)", name, key)
			if err != nil {
				return 0, err
			}
			defer rows.Close()
			if rows.Next() {
				r.Must(rows.Scan(&deleted))
			}
			return deleted, rows.Err()
		}
		for _, key := range []any{"", nil} {
			if _, err := call(r.app("10:01"), "user", key); !rig.Contains(err, "owner") {
				t.Errorf("key %v: %v", key, err)
			}
		}
		tx, err := r.AppAs("app-sql", rig.At("10:01")).Begin()
		r.Must(err)
		n, err := call(tx, "user", "Größe '7'")
		if r.Must(err); n != 2 {
			t.Errorf("deleted %d", n)
		}
		r.Must(tx.Rollback())
		if len(r.Pending()) != 6 {
			t.Errorf("%d rows after a rollback", len(r.Pending()))
		}
		n, err = call(r.app("10:01"), "user", "Größe '7'")
		if r.Must(err); n != 2 {
			t.Errorf("deleted %d", n)
		}
		if left := r.Pending(); len(left) != 2 || left[0].EntityKey != "other" || r.Count("SELECT COUNT(*) FROM p_schedule") != 1 {
			t.Errorf("%+v", left)
		}
		if want := (map[string]int{"digest cancelled": 2, "schedule.fire cancelled": 2}); !maps.Equal(r.ends(), want) {
			t.Errorf("%v", r.ends())
		}
	})
}
