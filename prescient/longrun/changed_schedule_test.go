package longrun_test

import (
	"context"
	"database/sql"
	"testing"
	"time"

	"prescient/prescient/internal/rig"
	"prescient/prescient/longrun"
	"prescient/prescient/schedule"
)

func (r *testRig) changes(clock string, s schedule.Schedule) {
	r.T.Helper()
	changed, err := r.schedules.Update(r.T.Context(), r.AppAt(rig.At(clock)), s)
	r.Must(err)
	if !changed {
		r.T.Errorf("%s did not change", s.ID)
	}
}

// One run is under way as its schedule is changed, the next one waits: the one ends as superseded and is not called again, the other goes on.
func TestAnUpdateSupersedesTheLongRunThatIsUnderWay(t *testing.T) {
	eachServer(t, 30*time.Second, longrun.Options{Capacity: 1}, func(t *testing.T, r *testRig) {
		one := schedule.Schedule{ID: "A", Crontabs: []string{"@every 30s"}, JobExec: "export", Long: true, Overlap: longrun.Queue, Quota: schedule.NoQuota, Payload: []byte("old")}
		r.create("12:00:00", one)
		r.slot("12:00:30")
		r.running("A 12:00:30")
		r.slot("12:01:00") // its run waits for the other
		one.Payload = []byte("new")
		r.changes("12:01:05", one)
		r.answers("A 12:00:30", "12:01:10", ran)
		r.wantOutcome("A 12:00:30", "superseded")
		r.running("A 12:01:00") // before a slot run may have it locked
		r.slot("12:01:30")
		r.answers("A 12:01:00", "12:01:35", ran)
		r.wantOutcome("A 12:01:00", "done")
		for _, clock := range []string{"12:02:00", "12:02:30", "12:03:00"} {
			r.slot(clock)
		}
		if r.isRunning("A 12:00:30") {
			t.Error("it is called again")
		}
		r.Balanced()
	})
}

// Its agent lets it lapse, so that nobody is there to end it.
func TestAnUpdateSupersedesTheLongRunThatLapsed(t *testing.T) {
	eachServer(t, 30*time.Second, longrun.Options{Capacity: 1}, func(t *testing.T, r *testRig) {
		one := schedule.Schedule{ID: "A", Crontabs: []string{"@every 10m"}, JobExec: "export", Long: true, Quota: schedule.NoQuota, Payload: []byte("old")}
		inPool := heavy("B", longrun.Forbid)
		inPool.Crontabs = one.Crontabs
		r.create("12:00:00", one)
		r.create("12:00:00", inPool)
		r.slot("12:10:00")
		r.at("12:10:02")
		r.serving("agent-2", ofHeavy)
		r.forget("A 12:10:00")
		r.forget("B 12:10:00")
		r.Exec("UPDATE p_long_run SET agent = 'dead'") // its process was killed, as far as the table knows
		one.Payload, one.CatchUp = []byte("new"), schedule.Skip
		r.changes("12:10:05", one)
		inPool.Payload = one.Payload
		r.changes("12:10:05", inPool)
		r.at("12:11:10")
		r.serving("agent-3", ofHeavy)
		r.wantOutcome("B 12:10:00", "superseded")
		r.slotOf(r.another("agent-4"), "agent-4", "12:12:00")
		r.wantOutcome("A 12:10:00", "superseded")
		r.slot("12:12:30")
		if r.isRunning("A 12:10:00") || r.isRunning("B 12:10:00") {
			t.Error("it is called again")
		}
		r.Balanced()
	})
}

// A schedule that somebody has locked, one whose run somebody has locked, and one between them: the last one starts, in the same slot.
func TestWhatIsLockedOfOneScheduleHoldsUpNoOther(t *testing.T) {
	eachServer(t, 30*time.Second, longrun.Options{Capacity: 10}, func(t *testing.T, r *testRig) {
		for _, id := range []string{"locked", "its run", "free"} {
			r.create("12:00:00", schedule.Schedule{ID: id, Crontabs: []string{"@every 30s"}, JobExec: "export", Long: true})
		}
		r.slot("12:00:30")
		for _, id := range []string{"locked", "its run", "free"} {
			r.answers(id+" 12:00:30", "12:00:40", ran)
		}
		tx, err := r.Root.BeginTx(context.WithoutCancel(t.Context()), &sql.TxOptions{Isolation: sql.LevelReadCommitted})
		r.Must(err)
		defer tx.Rollback()
		var n int
		r.Must(tx.QueryRow("SELECT 1 FROM p_schedule WHERE id = 'locked' FOR UPDATE").Scan(&n))
		var key []byte
		r.Must(tx.QueryRow("SELECT job_key FROM p_long_run WHERE schedule_id = 'its run'").Scan(&key))
		r.Must(tx.QueryRow("SELECT 1 FROM p_long_run WHERE job_key = ? FOR UPDATE", key).Scan(&n))
		slot := make(chan struct{})
		go func() {
			defer close(slot)
			r.slot("12:01:00")
		}()
		r.running("free 12:01:00")
		if r.isRunning("locked 12:01:00") || r.isRunning("its run 12:01:00") {
			t.Error("what is locked was started")
		}
		r.Must(tx.Rollback())
		r.running("locked 12:01:00")
		r.running("its run 12:01:00")
		<-slot
		for _, id := range []string{"locked", "its run", "free"} {
			r.answers(id+" 12:01:00", "12:01:10", ran)
			r.wantOutcome(id+" 12:01:00", "done")
		}
		r.Balanced()
	})
}
