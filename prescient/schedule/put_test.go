package schedule_test

import (
	"database/sql"
	"errors"
	"fmt"
	"slices"
	"testing"
	"time"

	"prescient/prescient"
	"prescient/prescient/client"
	"prescient/prescient/internal/rig"
	"prescient/prescient/schedule"
)

func wanted(id, crontab string, paused bool) schedule.Wanted {
	return schedule.Wanted{Schedule: schedule.Schedule{ID: id, Crontabs: []string{crontab}, JobExec: "digest"}, Paused: paused}
}

func (r *testRig) put(clock string, update bool, wanted ...schedule.Wanted) (created, changed int) {
	r.T.Helper()
	created, changed, err := r.schedules.Put(r.T.Context(), r.app(clock), wanted, update)
	r.Must(err)
	return created, changed
}

func (r *testRig) get(id string) schedule.Stored {
	r.T.Helper()
	one, err := r.schedules.Get(r.T.Context(), r.app("10:00"), id)
	r.Must(err)
	return one
}

func TestPutMakesSchedulesAsTheyAreWanted(t *testing.T) {
	eachServer(t, func(t *testing.T, r *testRig) {
		// One that is paused from the first may have no more occurrences.
		all := []schedule.Wanted{wanted("same", "0 * * * *", false), wanted("other", "0 * * * *", false), wanted("stops", "0 * * * *", false),
			wanted("paused", "0 * * * *", true), wanted("over", "@at 2000-01-01T00:00:00Z", true)}
		if created, changed := r.put("10:00", false, all...); created != 5 || changed != 0 {
			t.Errorf("%d, %d", created, changed)
		}
		r.wantTimer("other", "11:00")
		r.wantTimer("paused", "")
		r.wantTimer("over", "")
		if created, changed := r.put("10:01", false, all...); created != 0 || changed != 0 {
			t.Errorf("again: %d, %d", created, changed)
		}
		all[1], all[2].Paused = wanted("other", "30 * * * *", false), true
		all[3].Paused, all[3].Payload = false, []byte("new") // what is paused stays so, also where it is changed
		all[4].Payload = []byte("new")
		all = append(all, wanted("new", "15 * * * *", false))
		_, _, err := r.schedules.Put(t.Context(), r.app("10:02"), all, false)
		if !errors.Is(err, schedule.ErrExists) {
			t.Errorf("%v", err)
		}
		r.wantTimer("new", "")
		if created, changed := r.put("10:03", true, all...); created != 1 || changed != 4 {
			t.Errorf("%d, %d", created, changed)
		}
		for id, clock := range map[string]string{"same": "11:00", "other": "10:30", "stops": "", "paused": "", "over": "", "new": "10:15"} {
			r.wantTimer(id, clock)
			if one := r.get(id); one.Enabled != (clock != "") || (id == "other" || id == "paused" || id == "over") != (one.Version > 1 && one.UpdatedAt.After(one.CreatedAt) && id != "stops") {
				t.Errorf("%s: %+v", id, one)
			}
		}
		if one := r.get("paused"); string(one.Payload) != "new" || !one.CreatedAt.Equal(rig.At("10:00")) {
			t.Errorf("%+v", one)
		}
		r.wantWaiting("other", map[string]string{unix("10:30"): "10:30"})
		r.wantWaiting("stops", map[string]string{})
		r.Balanced()
	})
}

func TestPutOfManyIsAllOrNothing(t *testing.T) {
	eachServer(t, func(t *testing.T, r *testRig) {
		const many = 1203
		var all []schedule.Wanted
		for i := range many {
			all = append(all, wanted(fmt.Sprintf("s%04d", i), "0 * * * *", i%3 == 0))
		}
		all[many-1].Crontabs = []string{"* * * * *"} // finer than the slots
		if _, _, err := r.schedules.Put(t.Context(), r.app("10:00"), all, true); !errors.Is(err, prescient.ErrInvalid) {
			t.Errorf("%v", err)
		}
		if n := r.Count("SELECT (SELECT COUNT(*) FROM p_schedule) + (SELECT COUNT(*) FROM p_future_job)"); n != 0 {
			t.Errorf("%d rows were left", n)
		}
		all[many-1].Crontabs = []string{"0 * * * *"}
		if created, changed := r.put("10:00", true, all...); created != many || changed != 0 {
			t.Errorf("%d, %d", created, changed)
		}
		for i := range all {
			all[i].Crontabs = []string{"30 * * * *"}
		}
		if created, changed := r.put("10:00", true, all...); created != 0 || changed != many {
			t.Errorf("%d, %d", created, changed)
		}
		paused := many / 3
		if n := r.Count("SELECT COUNT(*) FROM p_schedule WHERE crontabs = '30 * * * *' AND version = 2 AND enabled"); n != many-paused {
			t.Errorf("%d are changed and enabled", n)
		}
		if n := r.Count("SELECT COUNT(*) FROM p_future_job WHERE job_exec = ?", schedule.TimerExec); n != many-paused {
			t.Errorf("%d timers", n)
		}
		for _, twice := range [][]schedule.Wanted{{all[0], all[0]}, {{Schedule: schedule.Schedule{ID: "a"}}}} {
			if _, _, err := r.schedules.Put(t.Context(), r.app("10:00"), twice, true); !errors.Is(err, prescient.ErrInvalid) {
				t.Errorf("%v", err)
			}
		}
		r.Balanced()
	})
}

func TestAnEditChangesWhatItTouches(t *testing.T) {
	eachServer(t, func(t *testing.T, r *testRig) {
		r.create("10:00", schedule.Schedule{ID: "a", Crontabs: []string{"0 * * * *"}, JobExec: "digest", Payload: []byte("p"), Jitter: time.Minute})
		edit := func(id string, do func(s *schedule.Schedule) error) (before, after schedule.Schedule, err error) {
			return r.schedules.Edit(t.Context(), r.app("10:01"), id, do)
		}
		before, after, err := edit("a", func(s *schedule.Schedule) error {
			s.Crontabs[0], s.Jitter = "30 * * * *", 0
			return nil
		})
		r.Must(err)
		if before.Crontabs[0] != "0 * * * *" || after.Crontabs[0] != "30 * * * *" || string(after.Payload) != "p" || after.Zone != "UTC" {
			t.Errorf("%+v, %+v", before, after)
		}
		r.wantTimer("a", "10:30")
		if waits := r.waiting("a"); len(waits) != 2 || waits[unix("10:30")] != "10:30" { // the other one was due before, by its jitter
			t.Errorf("%v", waits)
		}
		if one := r.get("a"); one.Version != 2 || one.Jitter != 0 || string(one.Payload) != "p" {
			t.Errorf("%+v", one)
		}
		_, _, err = edit("a", func(*schedule.Schedule) error { return nil })
		r.Must(err)
		if one := r.get("a"); one.Version != 2 {
			t.Errorf("an edit of nothing: %+v", one)
		}
		for _, test := range []struct {
			id   string
			do   func(s *schedule.Schedule) error
			want error
		}{
			{"none", func(*schedule.Schedule) error { return nil }, schedule.ErrNotFound},
			{"a", func(*schedule.Schedule) error { return errNotYet }, errNotYet},
			{"a", func(s *schedule.Schedule) error { s.ID = "b"; return nil }, prescient.ErrInvalid},
			{"a", func(s *schedule.Schedule) error { s.Crontabs = []string{"60 * * * *"}; return nil }, prescient.ErrInvalid},
			{"a", func(s *schedule.Schedule) error { s.Crontabs = []string{"* * * * *"}; return nil }, prescient.ErrInvalid},
		} {
			if _, _, err := edit(test.id, test.do); !errors.Is(err, test.want) {
				t.Errorf("%v; want %v", err, test.want)
			}
		}
		r.wantTimer("a", "10:30")
	})
}

func TestWhatCreateWouldRefuseIsSaidBefore(t *testing.T) {
	eachServer(t, func(t *testing.T, r *testRig) {
		for crontab, good := range map[string]bool{"0 * * * *": true, "* * * * *": false, "60 * * * *": false, "@at 2000-01-01T00:00:00Z": false} {
			err := r.schedules.Check(schedule.Schedule{ID: "a", Crontabs: []string{crontab}, Topic: "t"}, rig.At("10:00"))
			if (err == nil) != good || !good && !errors.Is(err, prescient.ErrInvalid) {
				t.Errorf("%s: %v", crontab, err)
			}
		}
	})
}

func TestFindReturnsThoseThatAreThere(t *testing.T) {
	eachServer(t, func(t *testing.T, r *testRig) {
		r.put("10:00", false, wanted("b", "@every 1h", false), wanted("a", "0 * * * *", true))
		found, err := r.schedules.Find(t.Context(), r.app("10:00"), "none", "b", "a", "b")
		r.Must(err)
		if len(found) != 2 || found[0].ID != "a" || found[1].ID != "b" {
			t.Errorf("%+v", found)
		}
		times, err := found[1].After(rig.At("11:00"))
		r.Must(err)
		var next []string
		for at := range times {
			if next = append(next, at.Format("15:04")); len(next) == 2 {
				break
			}
		}
		if !slices.Equal(next, []string{"12:00", "13:00"}) {
			t.Errorf("%q", next)
		}
		if _, err := r.schedules.Find(t.Context(), r.app("10:00"), ""); !errors.Is(err, prescient.ErrInvalid) {
			t.Error(err)
		}
	})
}

// What the snapshot of the caller's transaction shows is not what is there.
func TestPutGoesByWhatIsThereNow(t *testing.T) {
	eachServer(t, func(t *testing.T, r *testRig) {
		r.put("10:00", false, wanted("a", "0 * * * *", false))
		tx := rig.Begin(t, r.app("10:01"), sql.LevelRepeatableRead)
		defer func() { _ = tx.Rollback() }()
		var n int
		r.Must(tx.QueryRow("SELECT COUNT(*) FROM p_schedule").Scan(&n))
		r.put("10:02", true, wanted("a", "30 * * * *", false))
		_, changed, err := r.schedules.Put(t.Context(), tx, []schedule.Wanted{wanted("a", "0 * * * *", false)}, true)
		switch {
		case client.BeginAgain(err): // MariaDB with innodb_snapshot_isolation says so itself
		case err != nil || changed != 1:
			t.Errorf("%d changed, %v", changed, err)
		default:
			r.Must(tx.Commit())
			r.wantTimer("a", "11:00")
		}
	})
}

// Two who create what is there already get in nobody's way.
func TestTwoCreatesOfOneScheduleDoNotDeadlock(t *testing.T) {
	eachServer(t, func(t *testing.T, r *testRig) {
		one := wanted("a", "0 * * * *", false).Schedule
		r.create("10:00", one)
		first, second := rig.Begin(t, r.app("10:01"), sql.LevelReadCommitted), rig.Begin(t, r.app("10:01"), sql.LevelReadCommitted)
		for _, tx := range []*sql.Tx{first, second} {
			created, err := r.schedules.Create(t.Context(), tx, one)
			if r.Must(err); created {
				t.Error("it was created again")
			}
		}
		r.Must(first.Commit())
		r.Must(second.Commit())
	})
}

func TestPlainSQLCannotInsertAnIDThatEndsInABlank(t *testing.T) {
	eachServer(t, func(t *testing.T, r *testRig) {
		r.Needs(t, rig.ColumnDefaults)
		for _, values := range []string{"'a ', '', ''", "'a', 'o ', 'o'"} {
			if _, err := r.Root.Exec("INSERT INTO p_schedule (id, owner_key, owner_name, crontabs, topic) VALUES (" + values + ", '0 * * * *', 't')"); !rig.Contains(err, "schedule_named") {
				t.Errorf("%s: %v", values, err)
			}
		}
	})
}
