package schedule_test

import (
	"bytes"
	"context"
	"errors"
	"slices"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"prescient/prescient"
	"prescient/prescient/internal/rig"
	"prescient/prescient/schedule"
)

// What was due before a pause fires: each kind, by its way to catch up, whether its slot has begun, or its timer is late.
func TestWhatWasDueBeforeAPauseFires(t *testing.T) {
	long := bytes.Repeat([]byte("\x00'\xff"), 2000)
	eachServer(t, func(t *testing.T, r *testRig) {
		for _, tc := range []struct {
			name            string
			one             schedule.Schedule
			pause           string
			events, waiting []string // their times
			passedOver      int64
		}{
			{name: "its slot has begun", one: schedule.Schedule{Topic: "t"}, pause: "11:01", events: []string{"11:00"}},
			{name: "its slot has begun, and it runs", one: schedule.Schedule{JobExec: "digest"}, pause: "11:01", waiting: []string{"11:00"}},
			{name: "its slot is to begin", one: schedule.Schedule{Topic: "t", Crontabs: []string{"7 * * * *"}}, pause: "10:08", events: []string{"10:07"}},
			{name: "nothing is due", one: schedule.Schedule{Topic: "t"}, pause: "10:59"},
			{name: "the earliest of what was missed", one: schedule.Schedule{Topic: "t"}, pause: "14:45", events: []string{"11:00"}, passedOver: 1},
			{name: "the earliest run", one: schedule.Schedule{JobExec: "digest"}, pause: "14:45", waiting: []string{"11:00"}, passedOver: 1},
			{name: "none of what was missed", one: schedule.Schedule{Topic: "t", CatchUp: schedule.Skip}, pause: "14:45", passedOver: 1},
			{name: "all of it", one: schedule.Schedule{Topic: "t", CatchUp: schedule.All}, pause: "14:45", events: []string{"11:00", "12:00", "13:00", "14:00"}},
			{name: "all runs", one: schedule.Schedule{JobExec: "digest", CatchUp: schedule.All}, pause: "14:45",
				waiting: []string{"11:00", "12:00", "13:00", "14:00"}},
			{name: "all, with a long payload", one: schedule.Schedule{Topic: "t", CatchUp: schedule.All, Payload: long}, pause: "12:30",
				events: []string{"11:00", "12:00"}},
			{name: "what has expired does not", one: schedule.Schedule{Topic: "t", ExpiresAfter: time.Minute}, pause: "11:02", passedOver: 1},
		} {
			id := tc.name
			tc.one.ID = id
			if tc.one.Crontabs == nil {
				tc.one.Crontabs = []string{"0 * * * *"}
			}
			r.create("10:00", tc.one)
			r.Did(r.schedules.Pause(t.Context(), r.app(tc.pause), id))
			r.wantTimer(id, "")
			events := slices.DeleteFunc(r.events(), func(event string) bool { return !strings.HasPrefix(event, id+"-") })
			if want := idsOf(id, tc.events...); !slices.Equal(events, want) {
				t.Errorf("%s: %q; want %q", id, events, want)
			}
			if waiting := r.waiting(id); len(waiting) != len(tc.waiting) || slices.ContainsFunc(tc.waiting, func(at string) bool { return waiting[unix(at)] == "" }) {
				t.Errorf("%s: %v; want %v", id, waiting, tc.waiting)
			}
			stored, err := r.schedules.Get(t.Context(), r.app(tc.pause), id)
			if r.Must(err); stored.Enabled || stored.PassedOver != tc.passedOver {
				t.Errorf("%s: %+v", id, stored)
			}
			// None of it a second time.
			r.Did(r.schedules.Resume(t.Context(), r.app(tc.pause), id))
			if timer := r.timer(id); !timer.DueAt.After(rig.At(tc.pause)) {
				t.Errorf("%s: %+v", id, timer)
			}
		}
		if n := r.Count("SELECT COUNT(*) FROM p_event_outbox WHERE payload = ?", long); n != 2 {
			t.Errorf("%d events have the long payload", n)
		}
	})
}

// A catch-up that was left to the next slot ends with the pause.
func TestAPauseEndsACatchUp(t *testing.T) {
	eachServer(t, func(t *testing.T, r *testRig) {
		r.create("10:00", schedule.Schedule{ID: "a", Crontabs: []string{"*/15 * * * *"}, Topic: "t", CatchUp: schedule.All})
		r.schedules.Bound(2, 1<<20)
		r.sweep("12:10")
		if n := len(r.events()); n == 0 || n > 3 {
			t.Fatalf("%d events", n)
		}
		r.Did(r.schedules.Pause(t.Context(), r.app("12:11"), "a"))
		if want := idsOf("a", slots("10:15", "12:00")...); !slices.Equal(r.events(), want) {
			t.Errorf("%q; want %q", r.events(), want)
		}
		if n := r.Count("SELECT COUNT(*) FROM p_schedule WHERE caught_up IS NOT NULL"); n != 0 {
			t.Error("the catch-up goes on")
		}
	})
}

// Long payloads are read some at a time.
func TestPayloadsThatAreLongAreNotInMemoryTogether(t *testing.T) {
	eachFlavour(t, func(t *testing.T, r *testRig) {
		long := bytes.Repeat([]byte("x"), schedule.MaxPayload)
		var all []schedule.Schedule
		var ids []string
		var jobs []prescient.FutureJob
		for i := range 24 {
			one := schedule.Schedule{ID: string(rune('a' + i)), Crontabs: []string{"0 * * * *"}, JobExec: "digest", Payload: long}
			if i%5 == 4 {
				one.Payload = []byte(one.ID)
			}
			all, ids = append(all, one), append(ids, one.ID)
			jobs = append(jobs, prescient.FutureJob{EntityName: prescient.ScheduleEntity, EntityKey: one.ID, Tag: unix("11:00")})
		}
		for some := range slices.Chunk(all, 4) {
			_, err := r.schedules.CreateMany(t.Context(), r.app("10:00"), some)
			r.Must(err)
		}
		// What is deleted while the first are worked on is not there any more when the last are read.
		var got []string
		r.Must(r.schedules.Each(t.Context(), r.app("10:00"), ids, func(one schedule.Stored) error {
			if len(got) == 0 {
				r.Exec("DELETE FROM p_schedule WHERE id = 'v'")
			}
			if want := all[one.ID[0]-'a']; string(one.Payload) != string(want.Payload) {
				t.Errorf("%s has %d bytes", one.ID, len(one.Payload))
			}
			got = append(got, one.ID)
			return nil
		}))
		if want := slices.DeleteFunc(slices.Clone(ids), func(id string) bool { return id == "v" }); !slices.Equal(got, want) {
			t.Errorf("%q", got)
		}
		_, err := r.schedules.Runs(t.Context(), r.app("10:00"), jobs...)
		rig.WantErr(t, "one was deleted", err, schedule.ErrNotFound)
		n := 0
		r.Must(r.schedules.EachRun(t.Context(), r.app("10:00"), jobs[:10], func(i int, run schedule.Run) error {
			if n++; run.Schedule != ids[i] || run.ID != ids[i]+"-"+unix("11:00") || string(run.Payload) != string(all[i].Payload) {
				t.Errorf("%d: %s with %d bytes", i, run.ID, len(run.Payload))
			}
			return nil
		}))
		if n != 10 {
			t.Errorf("%d runs", n)
		}
		// The same definition, by its hash, and another one of the same length.
		n, err = r.schedules.CreateMany(t.Context(), r.app("10:01"), all[:3])
		if r.Must(err); n != 0 {
			t.Errorf("%d were created", n)
		}
		other := all[0]
		other.Payload = bytes.Repeat([]byte("y"), len(long))
		_, err = r.schedules.Create(t.Context(), r.app("10:01"), other)
		rig.WantErr(t, "another payload", err, schedule.ErrExists)
		created, changed, err := r.schedules.Put(t.Context(), r.app("10:02"), []schedule.Wanted{{Schedule: other}, {Schedule: all[1]}}, true)
		if r.Must(err); created != 0 || changed != 1 {
			t.Errorf("%d were created, %d changed", created, changed)
		}
		page, err := r.schedules.List(t.Context(), r.app("10:03"), schedule.Filter{Payloads: true})
		if r.Must(err); len(page) != 23 || page[0].Payload[0] != 'y' || string(page[4].Payload) != "e" {
			t.Errorf("%d on the page", len(page))
		}
	})
}

// A change on a pool meets rows that others have locked: it is begun again, and comes to nothing only after some seconds.
func TestAChangeOnAPoolIsBegunAgain(t *testing.T) {
	eachServer(t, func(t *testing.T, r *testRig) {
		r.create("10:00", schedule.Schedule{ID: "a", Crontabs: []string{"0 * * * *"}, JobExec: "digest"})
		holds, err := r.Root.Begin()
		r.Must(err)
		defer func() { _ = holds.Rollback() }()
		_, err = holds.Exec("UPDATE p_schedule SET version = version WHERE id = 'a'")
		r.Must(err)
		var hooks rig.Hooks
		pool := r.HookedAs("app-reschedule", rig.At("10:01"), &hooks, "innodb_lock_wait_timeout=1")
		var first sync.Once
		hooks.OnStatement(func(string) (err error) {
			if hooks.LockWaits() == 2 { // in vain for the second time
				first.Do(func() { err = holds.Rollback() })
			}
			return err
		})
		r.Did(r.schedules.Pause(t.Context(), pool.DB, "a"))
		r.wantTimer("a", "")
	})
}

// The clock was put back: what has fired before a pause does not fire again.
func TestResumeRepeatsNothingAfterTheClockWasPutBack(t *testing.T) {
	eachServer(t, func(t *testing.T, r *testRig) {
		hourly := schedule.Schedule{Crontabs: []string{"0 * * * *"}, Topic: "t"}
		for _, id := range []string{"after", "before", "changed", "far"} {
			hourly.ID = id
			r.create("10:00", hourly)
		}
		r.run("11:00")
		r.run("12:00")
		pause := func(clock, id string) { r.Did(r.schedules.Pause(t.Context(), r.app(clock), id)) }
		pause("12:30", "after")
		pause("10:45", "before") // its timer waits for 13:00
		pause("12:30", "changed")
		hourly.ID, hourly.Crontabs = "changed", []string{"0,30 * * * *"}
		r.update("10:50", hourly)
		for id, want := range map[string]string{"after": "13:00", "before": "13:00", "changed": "13:00"} {
			r.Did(r.schedules.Resume(t.Context(), r.app("10:55"), id))
			r.wantTimer(id, want)
		}
		// A clock that was wrong by more than a day does not keep it silent for as long.
		r.Did(r.schedules.Pause(t.Context(), r.AppAt(rig.At("12:30").AddDate(10, 0, 0)), "far"))
		r.Did(r.schedules.Resume(t.Context(), r.app("12:40"), "far"))
		r.wantTimer("far", "13:00")
		// By a clock that is right, from now on.
		pause("13:05", "after")
		r.Did(r.schedules.Resume(t.Context(), r.app("14:30"), "after"))
		r.wantTimer("after", "15:00")
	})
}

// Of many who pause a schedule at once one changes it, and is told so.
func TestWhoPausesFirstIsToldThatItWasChanged(t *testing.T) {
	eachServer(t, func(t *testing.T, r *testRig) {
		r.create("10:00", schedule.Schedule{ID: "a", Crontabs: []string{"0 * * * *"}, JobExec: "digest"})
		for what, do := range map[string]func(ctx context.Context, db prescient.DB, id string) (bool, error){"1 pause": r.schedules.Pause, "2 resume": r.schedules.Resume} {
			if what == "2 resume" {
				r.Did(r.schedules.Pause(t.Context(), r.app("10:00"), "a")) // in whatever order the map has them
			} else {
				r.Did(r.schedules.Resume(t.Context(), r.app("10:00"), "a"))
			}
			var changed atomic.Int64
			var all sync.WaitGroup
			app := r.app("10:01")
			for range 8 {
				all.Go(func() {
					did, err := do(t.Context(), app, "a")
					if err != nil {
						t.Errorf("%s: %v", what, err)
					}
					if did {
						changed.Add(1)
					}
				})
			}
			all.Wait()
			if n := changed.Load(); n != 1 {
				t.Errorf("%s: %d say that they changed it", what, n)
			}
		}
		if did, err := r.schedules.Pause(t.Context(), r.app("10:02"), "none"); did || !errors.Is(err, schedule.ErrNotFound) {
			t.Errorf("%t, %v", did, err)
		}
	})
}
