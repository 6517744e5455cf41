package schedule_test

import (
	"testing"
	"time"

	"prescient/prescient"
	"prescient/prescient/internal/rig"
	"prescient/prescient/schedule"
	"prescient/prescient/worker"
)

// stays are ways in which an app's tables keep the timer of a schedule from moving.
var stays = map[string]struct {
	statements []string
	letGo      string
}{
	"a foreign key on the primary key": {[]string{"CREATE TABLE p_note (at DATETIME NOT NULL, job_key BINARY(16) NOT NULL, CONSTRAINT p_keeps FOREIGN KEY (at, job_key) REFERENCES p_future_job (next_check_at, job_key))",
		"INSERT INTO p_note SELECT next_check_at, job_key FROM p_future_job WHERE entity_key = 'a' AND job_exec = 'schedule.fire'"}, "DROP TABLE p_note"},
	"a trigger on updates": {[]string{"CREATE TRIGGER p_stays BEFORE UPDATE ON p_future_job FOR EACH ROW BEGIN IF OLD.entity_key = 'a' AND OLD.job_exec = 'schedule.fire' THEN " +
		"SIGNAL SQLSTATE '45000' SET MESSAGE_TEXT = 'p_keeps it'; END IF; END"}, "DROP TRIGGER p_stays"},
}

// A timer that cannot be moved never ends, holds up no other, and fires once nothing keeps it.
func TestATimerThatTheAppKeepsFromMovingStaysAndFiresLater(t *testing.T) {
	for name, c := range stays {
		t.Run(name, func(t *testing.T) {
			eachServer(t, func(t *testing.T, r *testRig) {
				if name == "a trigger on updates" {
					r.Needs(t, rig.Triggers)
				}
				for _, id := range []string{"a", "b"} {
					r.create("11:50", schedule.Schedule{ID: id, Crontabs: []string{"*/15 * * * *"}, Topic: "t"})
				}
				for _, s := range c.statements {
					r.Exec(s)
				}
				w := r.Worker(rig.At("12:01"), r.registry, worker.Options{})
				for range 3 {
					_, err := w.Sweep(t.Context())
					r.Must(err)
				}
				if timer := r.timer("a"); timer == nil || timer.ErrorCount > 1 || len(r.events()) != 1 {
					t.Errorf("%+v, %v; want it to stay, and to be called once", timer, r.events())
				}
				r.Exec(c.letGo)
				r.sweep("12:01")
				if timer := r.timer("a"); timer == nil || !timer.DueAt.Equal(rig.At("12:15")) || timer.LastError != "" || len(r.events()) != 2 {
					t.Errorf("%+v, %v", timer, r.events())
				}
			})
		})
	}
}

// The last occurrence of a schedule whose timer cannot be deleted fires, once.
func TestATimerThatTheAppKeepsFromEndingFiresForTheLastTimeOnce(t *testing.T) {
	eachServer(t, func(t *testing.T, r *testRig) {
		r.create("11:50", schedule.Schedule{ID: "a", Crontabs: []string{"@at 2026-11-20T12:00:00Z"}, Topic: "t"})
		r.Exec("CREATE TABLE p_note (job_key BINARY(16) NOT NULL, CONSTRAINT p_keeps FOREIGN KEY (job_key) REFERENCES p_future_job (job_key))")
		r.Exec("INSERT INTO p_note SELECT job_key FROM p_future_job")
		for slot, n := rig.At("12:00"), 0; n < 4; n++ {
			r.run(slot.Format("15:04"))
			if timer := r.timer("a"); timer == nil || !prescient.IsKept(*timer) || len(r.events()) != 1 || timer.NextCheckAt.Sub(slot) != 15*time.Minute<<n {
				t.Fatalf("%d: %+v, %v", n, timer, r.events())
			}
			slot = r.timer("a").NextCheckAt
		}
		r.Exec("DROP TABLE p_note")
		r.run(r.timer("a").NextCheckAt.Format("15:04"))
		if timer := r.timer("a"); timer != nil || len(r.events()) != 1 {
			t.Errorf("%+v, %v", timer, r.events())
		}
	})
}
