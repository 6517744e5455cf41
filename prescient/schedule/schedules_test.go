package schedule_test

import (
	"fmt"
	"maps"
	"slices"
	"strings"
	"testing"
	"time"

	"prescient/prescient"
	"prescient/prescient/client"
	"prescient/prescient/internal/rig"
	"prescient/prescient/schedule"
	"prescient/prescient/worker"
)

// unix is the end of an id: the second of a time of the day.
func unix(clock string) string { return fmt.Sprint(rig.At(clock).Unix()) }

// idsOf are the ids of occurrences at times of the day.
func idsOf(id string, clocks ...string) (ids []string) {
	for _, clock := range clocks {
		ids = append(ids, id+"-"+unix(clock))
	}
	return ids
}

func (r *testRig) wantCalled(ids ...string) {
	r.T.Helper()
	called := r.ids()
	slices.Sort(called)
	slices.Sort(ids)
	if !slices.Equal(called, ids) {
		r.T.Errorf("called: %q; want %q", called, ids)
	}
}

func (r *testRig) wantTimer(id, clock string) {
	r.T.Helper()
	timer := r.timer(id)
	switch {
	case timer == nil && clock != "":
		r.T.Errorf("%s has no timer; want one for %s", id, clock)
	case timer != nil && (clock == "" || !timer.DueAt.Equal(rig.At(clock))):
		r.T.Errorf("the timer of %s is due at %s; want %q", id, timer.DueAt, clock)
	}
}

func TestEachRunIsInItsOwnSlot(t *testing.T) {
	eachServer(t, func(t *testing.T, r *testRig) {
		payload := []byte("\x00\xff not JSON: {\"a\":  1}")
		r.create("10:00", schedule.Schedule{ID: "daily digest/1", Crontabs: []string{"*/30 * * * *"}, JobExec: "digest", Payload: payload})
		r.wantTimer("daily digest/1", "10:30")
		r.run("10:15")
		r.wantCalled()
		r.run("10:30")
		if len(r.runs) != 1 || string(r.runs[0].Payload) != string(payload) || !r.runs[0].At.Equal(rig.At("10:30")) || r.runs[0].Schedule != "daily digest/1" {
			t.Errorf("%+v", r.runs)
		}
		r.wantCalled(idsOf("daily digest/1", "10:30")...)
		r.wantTimer("daily digest/1", "11:00")
		r.run("10:45")
		r.run("11:00")
		r.wantCalled(idsOf("daily digest/1", "11:00")...)
		if want := (map[string]int{"digest done": 2}); !maps.Equal(r.ends(), want) {
			t.Errorf("%v", r.ends())
		}
		for id, tag := range map[string]string{"daily digest/1": unix("11:00")} {
			schedule, of, err := schedule.ParseID(id + "-" + tag)
			if schedule != id || of != tag || err != nil {
				t.Errorf("%q, %q, %v", schedule, of, err)
			}
		}
		r.Balanced()
	})
}

func TestEventsGoIntoTheOutbox(t *testing.T) {
	eachServer(t, func(t *testing.T, r *testRig) {
		r.create("10:00", schedule.Schedule{ID: "a", Crontabs: []string{"*/15 * * * *", "*/30 * * * *"}, Topic: "reports/daily", Payload: []byte("\xff\x00")})
		for _, clock := range []string{"10:15", "10:30", "10:45"} {
			r.run(clock)
		}
		if want := idsOf("a", "10:15", "10:30", "10:45"); !slices.Equal(r.events(), want) {
			t.Errorf("%q; want %q", r.events(), want)
		}
		n := r.Count("SELECT COUNT(*) FROM p_event_outbox WHERE topic = 'reports/daily' AND event_key = 'a' AND payload = X'FF00' AND generated_at = ? AND shard < 64", rig.At("10:30").Format(time.DateTime))
		if n != 1 {
			t.Error("the event of 10:30 is another")
		}
		if len(r.ends()) != 0 {
			t.Errorf("an event adds to history: %v", r.ends())
		}
		r.Balanced()
	})
}

func TestASlowRunMakesNothingElseLate(t *testing.T) {
	eachServer(t, func(t *testing.T, r *testRig) {
		r.create("10:00", schedule.Schedule{ID: "a", Crontabs: []string{"*/15 * * * *"}, JobExec: "digest"})
		r.err = errNotYet
		r.run("10:15")
		r.run("10:30")
		// That of 10:15 was tried again in 10:30, beside the run of 10:30; those that wait are of three occurrences.
		r.wantCalled(append(idsOf("a", "10:15", "10:15"), idsOf("a", "10:30")...)...)
		if waiting := r.waiting("a"); len(waiting) != 3 || waiting[unix("10:45")] != "10:45" {
			t.Errorf("%v", waiting)
		}
		r.wantTimer("a", "10:45")
	})
}

func TestMissedOccurrencesAreCaughtUpAsThePolicySays(t *testing.T) {
	eachServer(t, func(t *testing.T, r *testRig) {
		for _, policy := range []schedule.CatchUp{schedule.Once, schedule.Skip, schedule.All} {
			r.create("10:00", schedule.Schedule{ID: string(policy), Crontabs: []string{"*/15 * * * *"}, JobExec: "digest", CatchUp: policy})
			r.create("10:00", schedule.Schedule{ID: "e" + string(policy), Crontabs: []string{"*/15 * * * *"}, Topic: "t", CatchUp: policy})
		}
		r.run("10:15")
		r.ids()
		// Nothing runs from 10:30 to 12:10, when the sweeper begins, and then all goes on. What is not older than 30 minutes
		// is late, and not missed.
		r.sweep("12:10")
		r.run("12:15")
		var want []string
		want = append(want, idsOf("once", "10:30", "11:45")...)
		want = append(want, idsOf("skip", "11:45")...)
		want = append(want, idsOf("all", "10:30", "10:45", "11:00", "11:15", "11:30", "11:45")...)
		r.wantCalled(want...)
		want = nil
		for _, id := range r.events() {
			if !strings.HasSuffix(id, unix("10:15")) {
				want = append(want, id)
			}
		}
		slices.Sort(want)
		all := slices.Concat(idsOf("eall", "10:30", "10:45", "11:00", "11:15", "11:30", "11:45", "12:00", "12:15"), idsOf("eonce", "10:30", "11:45", "12:00", "12:15"), idsOf("eskip", "11:45", "12:00", "12:15"))
		if slices.Sort(all); !slices.Equal(want, all) {
			t.Errorf("%q; want %q", want, all)
		}
		if ends := r.ends(); ends["digest missed"] != 1 {
			t.Errorf("%v", ends)
		}
		// Those of 12:00 and 12:15 were made pending with the others, in the next open slot.
		r.run("12:30")
		for _, id := range []string{"once", "skip", "all"} {
			r.wantTimer(id, "12:45")
		}
		want = slices.Concat(idsOf("once", "12:00", "12:15", "12:30"), idsOf("skip", "12:00", "12:15", "12:30"), idsOf("all", "12:00", "12:15", "12:30"))
		r.wantCalled(want...)
		stored, err := r.schedules.Get(t.Context(), r.app("12:31"), "skip")
		if r.Must(err); stored.PassedOver == 0 {
			t.Error("nobody can see that it passed over occurrences")
		}
		r.Balanced()
	})
}

func TestWhatIsOfNoUseAnyMoreEndsAsExpired(t *testing.T) {
	eachServer(t, func(t *testing.T, r *testRig) {
		r.create("10:00", schedule.Schedule{ID: "medicine", Crontabs: []string{"30 10,12 * * *"}, JobExec: "digest", ExpiresAfter: time.Hour})
		r.create("10:00", schedule.Schedule{ID: "event", Crontabs: []string{"30 10,12 * * *"}, Topic: "t", ExpiresAfter: time.Hour})
		r.sweep("11:31")
		r.wantCalled()
		if ends := r.ends(); ends["digest expired"] != 1 || len(r.events()) != 0 {
			t.Errorf("%v, %q", ends, r.events())
		}
		r.run("12:30")
		r.wantCalled(idsOf("medicine", "12:30")...)
		if want := idsOf("event", "12:30"); !slices.Equal(r.events(), want) {
			t.Errorf("%q", r.events())
		}
	})
}

func TestWhatIsOverIsDisabled(t *testing.T) {
	eachServer(t, func(t *testing.T, r *testRig) {
		r.create("10:00", schedule.Schedule{ID: "once", Crontabs: []string{"@at " + rig.At("10:30").Format(time.RFC3339)}, JobExec: "digest"})
		r.run("10:30")
		r.wantCalled(idsOf("once", "10:30")...)
		r.wantTimer("once", "")
		stored, err := r.schedules.Get(t.Context(), r.app("10:31"), "once")
		if r.Must(err); stored.Enabled || !stored.DisabledAt.IsZero() {
			t.Errorf("%+v", stored)
		}
		_, err = r.schedules.Resume(t.Context(), r.app("10:31"), "once")
		rig.WantErr(t, "resume", err, prescient.ErrInvalid)
		_, err = r.schedules.Create(t.Context(), r.app("10:31"), schedule.Schedule{ID: "late", Crontabs: []string{"@at " + rig.At("10:30").Format(time.RFC3339)}, JobExec: "digest"})
		rig.WantErr(t, "what is over", err, prescient.ErrInvalid)
	})
}

func TestCreatingTwiceIsNoErrorForTheSameDefinition(t *testing.T) {
	eachServer(t, func(t *testing.T, r *testRig) {
		one := schedule.Schedule{ID: "a", Crontabs: []string{"0 8 * * *"}, Zone: "Europe/Berlin", JobExec: "digest", Owner: rig.Order("7")}
		r.create("10:00", one)
		created, err := r.schedules.Create(t.Context(), r.app("10:01"), one)
		if r.Must(err); created {
			t.Error("it was created twice")
		}
		other := one
		other.Payload = []byte("x")
		_, err = r.schedules.Create(t.Context(), r.app("10:01"), other)
		rig.WantErr(t, "another definition", err, schedule.ErrExists)
		n, err := r.schedules.CreateMany(t.Context(), r.app("10:01"), []schedule.Schedule{{ID: "b", Crontabs: []string{"0 8 * * *"}, JobExec: "digest"}, one})
		if r.Must(err); n != 1 {
			t.Errorf("%d were created", n)
		}
		_, err = r.schedules.CreateMany(t.Context(), r.app("10:01"), []schedule.Schedule{{ID: "c", Crontabs: []string{"0 8 * * *"}, JobExec: "digest"}, other})
		rig.WantErr(t, "one that exists among others", err, schedule.ErrExists)
		if n := r.Count("SELECT COUNT(*) FROM p_schedule"); n != 2 || len(r.Pending()) != 4 {
			t.Errorf("%d schedules, %d rows", n, len(r.Pending()))
		}
	})
}

func TestWhatIsNoGoodIsRefused(t *testing.T) {
	eachServer(t, func(t *testing.T, r *testRig) {
		good := schedule.Schedule{ID: "a", Crontabs: []string{"0 8 * * *"}, JobExec: "digest"}
		for _, c := range []struct {
			name  string
			edit  func(s *schedule.Schedule)
			words []string
		}{
			{"a long payload", func(s *schedule.Schedule) { s.Payload = make([]byte, schedule.MaxPayload+1) }, []string{"1048577", "1048576"}},
			{"no id", func(s *schedule.Schedule) { s.ID = "" }, []string{"id", "empty"}},
			{"a long id", func(s *schedule.Schedule) { s.ID = strings.Repeat("ä", 129) }, []string{"129", "128"}},
			{"an id that ends in a blank", func(s *schedule.Schedule) { s.ID = "a " }, []string{"blank"}},
			{"an owner that ends in a blank", func(s *schedule.Schedule) { s.Owner = rig.Order("7 ") }, []string{"blank"}},
			{"what is over, with jitter", func(s *schedule.Schedule) { s.Crontabs, s.Jitter = []string{"@at 2020-01-01T00:00:00Z"}, time.Hour }, []string{"has no time after now"}},
			{"no crontab", func(s *schedule.Schedule) { s.Crontabs = nil }, []string{"0 crontabs", "1 to 32"}},
			{"a bad crontab", func(s *schedule.Schedule) { s.Crontabs = []string{"0 25 * * *"} }, []string{"0 25 * * *"}},
			{"what never fires", func(s *schedule.Schedule) { s.Crontabs = []string{"0 0 31 2 *"} }, []string{"0 0 31 2 *"}},
			{"a bad zone", func(s *schedule.Schedule) { s.Zone = "Europe/Bärlin" }, []string{"Europe/Bärlin"}},
			{"too fine", func(s *schedule.Schedule) { s.Crontabs = []string{"*/5 * * * *"} }, []string{"too fine", "15m"}},
			{"no target", func(s *schedule.Schedule) { s.JobExec = "" }, []string{"job_exec", "topic"}},
			{"two targets", func(s *schedule.Schedule) { s.Topic = "t" }, []string{"job_exec", "topic"}},
			{"a bad topic", func(s *schedule.Schedule) { s.JobExec, s.Topic = "", "a b" }, []string{"a b"}},
			{"the timer's job_exec", func(s *schedule.Schedule) { s.JobExec = schedule.TimerExec }, []string{"schedule.fire"}},
			{"a bad policy", func(s *schedule.Schedule) { s.CatchUp = "twice" }, []string{"twice", "once, skip or all"}},
			{"half a second", func(s *schedule.Schedule) { s.Jitter = time.Second / 2 }, []string{"jitter", "500ms"}},
			{"expiry before it is due", func(s *schedule.Schedule) { s.ExpiresAfter = -time.Second }, []string{"expires_after"}},
			{"a bad owner", func(s *schedule.Schedule) { s.Owner.Name = "order" }, []string{"owner"}},
		} {
			s := good
			c.edit(&s)
			_, err := r.schedules.Create(t.Context(), r.app("10:00"), s)
			rig.WantErr(t, c.name, err, prescient.ErrInvalid)
			if err != nil && !rig.Contains(err, c.words...) {
				t.Errorf("%s: %v; want %q in it", c.name, err, c.words)
			}
		}
		coalesces := good
		coalesces.Crontabs, coalesces.MayCoalesce = []string{"*/5 * * * *"}, true
		r.create("10:00", coalesces)
		r.run("10:15")
		r.wantCalled(idsOf("a", "10:05")...)
		r.wantTimer("a", "10:20")
	})
}

func TestClientsRefuseTheRowsOfSchedules(t *testing.T) {
	eachServer(t, func(t *testing.T, r *testRig) {
		r.create("10:00", schedule.Schedule{ID: "a", Crontabs: []string{"0 12 * * *"}, JobExec: "digest"})
		e := prescient.Entity{Name: "schedule", Key: "a"}
		app := r.app("10:01")
		job := prescient.NewJob{Entity: e, JobExec: "digest", DueAt: rig.At("11:00")}
		_, err := r.Client.Insert(t.Context(), app, job)
		rig.WantErr(t, "insert", err, prescient.ErrInvalid)
		_, err = r.Client.InsertMany(t.Context(), app, []prescient.NewJob{job})
		rig.WantErr(t, "insert many", err, prescient.ErrInvalid)
		_, err = r.Client.Cancel(t.Context(), app, e)
		rig.WantErr(t, "cancel", err, prescient.ErrInvalid)
		_, err = r.Client.CancelMany(t.Context(), app, []prescient.Entity{e})
		rig.WantErr(t, "cancel many", err, prescient.ErrInvalid)
		_, err = r.Client.Reschedule(t.Context(), app, e, "digest", unix("12:00"), rig.At("11:00"))
		rig.WantErr(t, "reschedule", err, prescient.ErrInvalid)
		_, err = r.Client.RescheduleMany(t.Context(), app, []client.NewTime{{Entity: e, JobExec: "digest", DueAt: rig.At("11:00")}})
		rig.WantErr(t, "reschedule many", err, prescient.ErrInvalid)
		if len(r.Pending()) != 2 {
			t.Errorf("%d rows", len(r.Pending()))
		}
	})
}

// Any language: a row of schedule, and its timer, due now, in one transaction.
func TestPlainSQLCreatesASchedule(t *testing.T) {
	eachServer(t, func(t *testing.T, r *testRig) {
		r.Needs(t, rig.ColumnDefaults)
		insert := func(id, crontab string) {
			t.Helper()
			tx, err := r.AppAs("app-sql", rig.At("10:00")).Begin()
			r.Must(err)
			_, err = tx.Exec("INSERT INTO p_schedule (id, crontabs, job_exec, payload) VALUES (?, ?, 'digest', 'hello')", id, crontab)
			r.Must(err)
			_, err = tx.Exec("INSERT INTO p_future_job (entity_name, entity_key, job_exec, due_at) VALUES ('schedule', ?, 'schedule.fire', UTC_TIMESTAMP(6))", id)
			r.Must(err)
			r.Must(tx.Commit())
		}
		insert("good", "*/30 * * * *")
		insert("bad", "61 * * * *")
		insert("fine", "*/5 * * * *")
		insert("over", "@at 2020-01-01T00:00:00Z")
		r.run("10:00")
		r.wantCalled()
		r.wantTimer("good", "10:30")
		r.run("10:30")
		r.wantCalled(idsOf("good", "10:30")...)
		troubled, err := r.schedules.List(t.Context(), r.app("10:31"), schedule.Filter{Troubled: true})
		r.Must(err)
		reasons := make(map[string]string)
		for _, one := range troubled {
			reasons[one.ID] = one.DisabledReason
			r.wantTimer(one.ID, "")
		}
		if len(reasons) != 3 || !strings.Contains(reasons["bad"], "61 * * * *") || !strings.Contains(reasons["fine"], "too fine") || !strings.Contains(reasons["over"], "has no time to come") {
			t.Errorf("%q", reasons)
		}
		changed, err := r.schedules.Update(t.Context(), r.app("10:31"), schedule.Schedule{ID: "bad", Crontabs: []string{"45 * * * *"}, JobExec: "digest"})
		if r.Must(err); !changed {
			t.Error("nothing changed")
		}
		r.run("10:45")
		r.wantCalled(idsOf("bad", "10:45")...)
	})
}

func TestJitterIsAScheduleOfItsOwn(t *testing.T) {
	eachServer(t, func(t *testing.T, r *testRig) {
		places := make(map[string]bool)
		for i := range 20 {
			id := fmt.Sprintf("j%d", i)
			r.create("10:00", schedule.Schedule{ID: id, Crontabs: []string{"0 12 * * *"}, Topic: "t", Jitter: 2 * time.Hour})
			due := r.timer(id).DueAt
			if due.Before(rig.At("12:00")) || !due.Before(rig.At("14:00")) || due.Nanosecond() != 0 {
				t.Errorf("%s is due at %s", id, due)
			}
			places[r.timer(id).NextCheckAt.Format("15:04")] = true
		}
		if len(places) < 4 {
			t.Errorf("20 schedules lie in %d slots", len(places))
		}
		id := "j7"
		due := r.timer(id).DueAt
		r.RunAt(r.timer(id).NextCheckAt.Add(time.Second), r.registry, worker.Options{})
		if timer := r.timer(id); !timer.DueAt.Equal(due.Add(24 * time.Hour)) {
			t.Errorf("from %s to %s", due, timer.DueAt)
		}
		if want := id + "-" + fmt.Sprint(due.Unix()); !slices.Contains(r.events(), want) {
			t.Errorf("%q; want %s among them", r.events(), want)
		}
	})
}

// A check of an app's own that has the name of the timers' job_exec fires nothing.
func TestOnlyATimerFires(t *testing.T) {
	eachServer(t, func(t *testing.T, r *testRig) {
		r.create("10:00", schedule.Schedule{ID: "a", Crontabs: []string{"0 12 * * *"}, Topic: "t"})
		r.Insert(rig.At("10:00"), prescient.NewJob{Entity: rig.Order("a"), JobExec: schedule.TimerExec, DueAt: rig.At("11:00")})
		r.run("11:00")
		if len(r.events()) != 0 {
			t.Errorf("%q", r.events())
		}
		r.wantTimer("a", "12:00")
		r.run("12:00")
		if want := idsOf("a", "12:00"); !slices.Equal(r.events(), want) {
			t.Errorf("%q", r.events())
		}
	})
}

// One that is there already is found by a statement that comes after others of the same call: what those inserted has its timers.
func TestCreatingManyAmongThoseThatAreThere(t *testing.T) {
	eachServer(t, func(t *testing.T, r *testRig) {
		var many []schedule.Schedule
		for i := range 400 {
			many = append(many, schedule.Schedule{ID: fmt.Sprintf("s%03d", i), Crontabs: []string{"0 12 * * *"}, JobExec: "digest", Payload: make([]byte, 4000)})
		}
		r.create("10:00", many[399])
		n, err := r.schedules.CreateMany(t.Context(), r.app("10:00"), many)
		if r.Must(err); n != 399 {
			t.Errorf("created %d", n)
		}
		if n := r.Count("SELECT COUNT(*) FROM p_future_job WHERE job_exec = 'schedule.fire'"); n != 400 || len(r.Pending()) != 800 {
			t.Errorf("%d timers, %d rows", n, len(r.Pending()))
		}
	})
}
