package longrun_test

import (
	"testing"
	"time"

	"prescient/prescient"
	"prescient/prescient/internal/rig"
	"prescient/prescient/longrun"
	"prescient/prescient/schedule"
)

// Interval tasks of a minute on slots of half a minute, with a tolerance of 5 s. Minutes count from 12:00: the first occurrence is due at
// 0:30, and the agent has one place, which others keep busy for as long as a timeline says.
func timeline(t *testing.T, test func(t *testing.T, r *testRig)) {
	eachServer(t, 30*time.Second, longrun.Options{Capacity: 1}, func(t *testing.T, r *testRig) {
		r.create("11:59:30", schedule.Schedule{ID: "A", Crontabs: []string{"@every 60s"}, JobExec: "export", Long: true, Tolerance: 5 * time.Second})
		r.wantTimes("A", "12:00:30", "")
		test(t, r)
	})
}

// busy keeps the place of the agent from one slot on.
func (r *testRig) busy(name, from string) {
	r.T.Helper()
	r.insert("11:59:30", name, from)
}

// ran is the end of a run that was done.
var ran = prescient.Answer{}

func TestTimelineOne(t *testing.T) {
	timeline(t, func(t *testing.T, r *testRig) {
		r.busy("b1", "12:00")
		r.slot("12:00:00")
		r.slot("12:00:30") // enqueues A1
		r.wantTimes("A", "12:01:30", "")
		r.answers("b1", "12:00:35", ran)
		r.running("A 12:00:30")
		r.wantTimes("A", "12:01:30", "12:00:35")
		r.answers("A 12:00:30", "12:00:45", ran)
		r.slot("12:01:00") // nothing
		r.wantTimes("A", "12:01:30", "12:00:35")
		r.busy2("b2", "12:01:20", "12:01:30")
		r.slot("12:01:30") // enqueues A2
		r.wantTimes("A", "12:02:30", "12:00:35")
		r.answers("b2", "12:01:32", ran)
		r.running("A 12:01:30") // 57 s after the one before it, which is not below 55
		r.wantTimes("A", "12:02:30", "12:01:32")
		r.answers("A 12:01:30", "12:01:40", ran)
		r.wantOutcome("A 12:00:30", "done")
		r.wantOutcome("A 12:01:30", "done")
		r.Balanced()
	})
}

// busy2 keeps the place from a slot on: due before what is due in it.
func (r *testRig) busy2(name, clock, due string) {
	r.T.Helper()
	r.insert(clock, name, due)
	r.Exec("UPDATE p_future_job SET due_at = due_at - INTERVAL 1 SECOND WHERE entity_key = '" + name + "'")
}

func TestTimelineTwo(t *testing.T) {
	timeline(t, func(t *testing.T, r *testRig) {
		r.lateFirst()
		r.wantTimes("A", "12:02:30", "12:01:35")
		r.slot("12:02:00") // nothing
		r.wantTimes("A", "12:02:30", "12:01:35")
		r.slot("12:02:30") // enqueues A3
		r.wantTimes("A", "12:03:30", "12:01:35")
		r.answers("b2", "12:02:37", ran)
		r.running("A 12:01:30") // 62 s after
		r.wantTimes("A", "12:03:30", "12:02:37")
		r.answers("A 12:01:30", "12:02:40", ran)
		r.wantOutcome("A 12:01:30", "done")
		r.wantOutcome("A 12:02:30", "too_soon") // A3 came up when A2 had ended
		r.Balanced()
	})
}

// lateFirst is how the second and the third begin: A1 starts at 1:35, ends at 1:38, and A2 waits for a place.
func (r *testRig) lateFirst() {
	r.T.Helper()
	r.busy("b1", "12:00")
	r.slot("12:00:00")
	r.slot("12:00:30") // enqueues A1
	r.wantTimes("A", "12:01:30", "")
	r.slot("12:01:00") // nothing
	r.wantTimes("A", "12:01:30", "")
	r.busy2("b2", "12:01:20", "12:01:30")
	r.slot("12:01:30") // enqueues A2
	r.wantTimes("A", "12:02:30", "")
	r.next("12:00:30")
	r.answers("b1", "12:01:35", ran)
	r.running("A 12:00:30")
	r.wantTimes("A", "12:02:30", "12:01:35")
	r.next("12:01:29")
	r.answers("A 12:00:30", "12:01:38", ran)
	r.running("b2")
	r.next("12:01:30")
}

// next has a run that waits come up next, by when it was due, and puts the others off. The agent begins with what was due first as far as it knows
// of that by its last look, which may be a while ago on a busy machine.
func (r *testRig) next(due string) {
	r.T.Helper()
	r.Exec("UPDATE p_long_run SET allocated_until = IF(due_at = ?, due_at, ?) WHERE agent = '' AND ended_at IS NULL AND allocated_until IS NOT NULL",
		rig.At(due), rig.At("12:30"))
}

func TestTimelineThree(t *testing.T) {
	timeline(t, func(t *testing.T, r *testRig) {
		r.lateFirst()
		r.slot("12:02:00") // nothing
		r.wantTimes("A", "12:02:30", "12:01:35")
		if ended := r.outcomes()["A 12:01:30"]; ended != "" {
			t.Errorf("A2 has ended as %s before it came up", ended)
		}
		r.answers("b2", "12:02:03", ran) // A2 comes up 28 s after A1, and is dropped
		r.wantOutcome("A 12:01:30", "too_soon")
		r.wantTimes("A", "12:02:30", "12:01:35")
		r.busy2("b3", "12:02:10", "12:02:30")
		r.slot("12:02:30") // enqueues A3
		r.wantTimes("A", "12:03:30", "12:01:35")
		r.answers("b3", "12:02:56", ran)
		r.running("A 12:02:30")
		r.wantTimes("A", "12:03:30", "12:02:56")
		r.answers("A 12:02:30", "12:02:58", ran)
		r.wantOutcome("A 12:02:30", "done")
		r.Balanced()
	})
}

func TestTimelineFour(t *testing.T) {
	timeline(t, func(t *testing.T, r *testRig) {
		r.busy("b1", "12:00")
		r.slot("12:00:00")
		r.slot("12:00:30") // enqueues A1
		r.answers("b1", "12:00:35", ran)
		first := r.running("A 12:00:30")
		r.wantTimes("A", "12:01:30", "12:00:35")
		if left, ok := first.run.Left(); !ok || left > 30*time.Second || left < 25*time.Second {
			t.Errorf("%s are left, %v; want 30 s", left, ok)
		}
		r.slot("12:01:00") // nothing
		r.at("12:01:05")
		r.timeIsOver()
		r.wantOutcome("A 12:00:30", "quota")
		r.wantTimes("A", "12:01:30", "12:00:35")
		r.busy2("b2", "12:01:20", "12:01:30")
		r.slot("12:01:30") // enqueues A2
		r.wantTimes("A", "12:02:30", "12:00:35")
		r.answers("b2", "12:01:32", ran)
		r.running("A 12:01:30")
		r.wantTimes("A", "12:02:30", "12:01:32")
		r.answers("A 12:01:30", "12:01:40", ran)
		if at := r.Count("SELECT COUNT(*) FROM p_job_history WHERE outcome = 'quota' AND TIME_FORMAT(started_at, '%T') = '12:00:35' AND TIME_FORMAT(ended_at, '%T') = '12:01:05'"); at != 1 {
			t.Error("the run that used up its quota has other times")
		}
		r.Balanced()
	})
}

// timeIsOver ends the time of the call that began last of those which have a bound.
func (r *testRig) timeIsOver() {
	r.T.Helper()
	r.mu.Lock()
	ends := r.ends
	r.mu.Unlock()
	if len(ends) == 0 {
		r.T.Fatal("no call has a bound")
	}
	ends[len(ends)-1]()
}
