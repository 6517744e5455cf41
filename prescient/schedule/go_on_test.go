package schedule_test

import (
	"maps"
	"slices"
	"testing"
	"time"

	"prescient/prescient"
	"prescient/prescient/schedule"
)

// updates are changes of a schedule while one of its runs waits. None ends that.
var updates = map[string]func(s *schedule.Schedule){
	"its payload":                func(*schedule.Schedule) {},
	"when it expires":            func(s *schedule.Schedule) { s.ExpiresAfter = 5 * 3600e9 },
	"its policy":                 func(s *schedule.Schedule) { s.CatchUp = schedule.Skip; s.CatchUpWithin = 3600e9 },
	"its owner":                  func(s *schedule.Schedule) { s.Owner = prescient.Entity{Name: "user", Key: "7"} },
	"its times":                  func(s *schedule.Schedule) { s.Crontabs = []string{"50 * * * *"} },
	"its job_exec":               func(s *schedule.Schedule) { s.JobExec = "other" },
	"its job_exec and its times": func(s *schedule.Schedule) { s.JobExec, s.Crontabs = "other", []string{"50 * * * *"} },
}

// afresh empties the tables between the cases of one test.
func (r *testRig) afresh() {
	r.T.Helper()
	r.Clear()
	for _, table := range []string{"schedule", "slot_run", "event_outbox"} {
		r.Exec("DELETE FROM p_" + table)
	}
}

// The update read the time before it waited for rows whose slot was run meanwhile: the timer waits for the next occurrence already.
func TestAnOccurrenceThatATimerLeftBehindIsNotLost(t *testing.T) {
	eachServer(t, func(t *testing.T, r *testRig) {
		for what, change := range updates {
			r.afresh()
			one := schedule.Schedule{ID: what, Crontabs: []string{"5 * * * *"}, JobExec: "digest", Payload: []byte("old")}
			r.create("10:00", one)
			r.err = errNotYet
			r.run("10:15")
			r.ids()
			one.Payload = []byte("new")
			change(&one)
			r.update("10:04", one)
			if waits := r.waiting(what); waits[unix("10:05")] == "" {
				t.Errorf("%s: %v waits, the run of 10:05 is lost", what, waits)
			}
		}
		r.afresh()
		one := schedule.Schedule{ID: "a", Crontabs: []string{"5 * * * *"}, JobExec: "digest"}
		r.create("10:00", one)
		r.run("10:15")
		one.JobExec, one.Topic = "", "t"
		r.update("10:04", one)
		if got := r.events(); !slices.Equal(got, idsOf("a", "10:05")) {
			t.Errorf("%s were sent", got)
		}
	})
}

// A run was called once without success, and waits to be tried again; of another its slot has begun, and nobody runs it. Both go on under the
// new definition, with their counts.
func TestWhatWaitsGoesOnUnderTheNewDefinition(t *testing.T) {
	eachServer(t, func(t *testing.T, r *testRig) {
		r.registry.MustRegister("other", r.schedules.Func(r.Pool(time.Time{}), r.called), prescient.Guards{})
		for what, change := range updates {
			r.afresh()
			one := schedule.Schedule{ID: what, Crontabs: []string{"5 * * * *"}, JobExec: "digest", Payload: []byte("old")}
			r.create("10:00", one)
			r.err = errNotYet
			r.run("10:15") // the run of 10:05, which is tried again at 10:30
			r.wantCalled(idsOf(what, "10:05")...)
			r.wantWaiting(what, map[string]string{unix("10:05"): "10:30", unix("11:05"): "11:15"})
			one.Payload = []byte("new")
			change(&one)
			r.update("10:31", one)
			next := "11:05"
			if one.Crontabs[0] != "5 * * * *" {
				next = "10:50"
			}
			r.wantTimer(what, next)
			if waits := r.waiting(what); len(waits) != 2 || waits[unix("10:05")] != "10:30" || waits[unix(next)] == "" {
				t.Errorf("%s: %v waits", what, waits)
			}
			for _, job := range r.Pending() {
				if job.Tag == unix("10:05") && (job.JobExec != one.JobExec || job.ErrorCount != 1 || job.LastError == "") {
					t.Errorf("%s: %+v goes on", what, job)
				}
			}
			r.err = nil
			r.mu.Lock()
			r.runs = nil
			r.mu.Unlock()
			r.run("10:30")
			r.mu.Lock()
			if len(r.runs) != 1 || string(r.runs[0].Payload) != "new" || r.runs[0].Job.ErrorCount != 1 || r.runs[0].Job.JobExec != one.JobExec {
				t.Errorf("%s: called %+v", what, r.runs)
			}
			r.mu.Unlock()
			r.wantCalled(idsOf(what, "10:05")...)
			if ends := r.ends(); ends[one.JobExec+" done"] != 1 {
				t.Errorf("%s: %v", what, ends)
			}
			r.Balanced()
		}
	})
}

// The same for events: of one that is due, and whose timer nobody has called yet, by the new definition.
func TestAnEventThatWaitsIsSentByTheNewDefinition(t *testing.T) {
	eachServer(t, func(t *testing.T, r *testRig) {
		for what, change := range map[string]func(s *schedule.Schedule){
			"its payload": func(*schedule.Schedule) {},
			"its times":   func(s *schedule.Schedule) { s.Crontabs = []string{"50 * * * *"} },
			"its topic":   func(s *schedule.Schedule) { s.Topic = "u" },
		} {
			r.afresh()
			one := schedule.Schedule{ID: what, Crontabs: []string{"5 * * * *"}, Topic: "t", Payload: []byte("old")}
			r.create("10:00", one)
			one.Payload = []byte("new")
			change(&one)
			r.update("10:06", one)
			r.run("10:15")
			if got := r.events(); !slices.Equal(got, idsOf(what, "10:05")) {
				t.Errorf("%s: %q", what, got)
			}
			if got := r.Tally("SELECT CONCAT(topic, ' ', payload), 1 FROM p_event_outbox"); !maps.Equal(got, map[string]int{one.Topic + " new": 1}) {
				t.Errorf("%s: %v", what, got)
			}
		}
	})
}

// From runs to events and back: what was due fires once, as the new definition says.
func TestWhatWaitsBecomesWhatTheNewDefinitionFires(t *testing.T) {
	eachServer(t, func(t *testing.T, r *testRig) {
		one := schedule.Schedule{ID: "a", Crontabs: []string{"5 * * * *"}, JobExec: "digest"}
		r.create("10:00", one)
		one.JobExec, one.Topic = "", "t"
		r.update("10:06", one)
		r.run("10:15")
		if got := r.events(); !slices.Equal(got, idsOf("a", "10:05")) {
			t.Errorf("%q", got)
		}
		one.JobExec, one.Topic, one.Crontabs = "digest", "", []string{"50 * * * *"}
		r.update("11:06", one)
		r.run("11:15")
		r.wantCalled(idsOf("a", "11:05")...)
		if got := r.events(); !slices.Equal(got, idsOf("a", "10:05")) {
			t.Errorf("%q", got)
		}
		r.wantTimer("a", "11:50")
		r.Balanced()
	})
}

// A run is under way as its schedule is changed, in whatever way: it ends as superseded, and is not repeated.
func TestARunThatAnUpdateMetEndsAsSuperseded(t *testing.T) {
	eachServer(t, func(t *testing.T, r *testRig) {
		r.registry.MustRegister("other", r.schedules.Func(r.Pool(time.Time{}), r.called), prescient.Guards{})
		for what, change := range updates {
			r.afresh()
			one := schedule.Schedule{ID: what, Crontabs: []string{"0 * * * *"}, JobExec: "digest"}
			r.create("10:00", one)
			r.on = func(run schedule.Run) {
				r.on = nil
				one.Payload = []byte("new")
				change(&one)
				r.update("11:00:02", one)
			}
			if figures := r.run("11:00"); figures.Dropped == 0 || figures.Done != 0 {
				t.Errorf("%s: %+v", what, figures)
			}
			r.wantCalled(idsOf(what, "11:00")...)
			r.sweep("11:15")
			r.run("11:15")
			r.wantCalled()
			if n := r.Count("SELECT COUNT(*) FROM p_job_history WHERE tag = ? AND job_exec <> 'schedule.fire' AND outcome = 'superseded' AND run_ms >= 0 AND started_at IS NOT NULL", unix("11:00")); n != 1 {
				t.Errorf("%s: %v", what, r.ends())
			}
			if waits := r.waiting(what); len(waits) != 1 {
				t.Errorf("%s: %v waits", what, waits)
			}
			r.Balanced()
		}
	})
}
