package acceptance

import (
	"context"
	"errors"
	"fmt"
	"strings"
	"testing"
	"time"

	"prescient/prescient"
	"prescient/prescient/doctor"
	"prescient/prescient/internal/rig"
	"prescient/prescient/internal/store"
	"prescient/prescient/worker"
)

func (r *testRig) pause(names ...string) {
	r.T.Helper()
	for _, name := range names {
		r.Must(r.Client.Pause(r.T.Context(), r.Pool(time.Time{}), prescient.Paused{JobExec: name, By: "me", Reason: "it's \\ down"}))
	}
}

func (r *testRig) resume(names ...string) (resumed int) {
	r.T.Helper()
	resumed, err := r.Client.Resume(r.T.Context(), r.Pool(time.Time{}), names...)
	r.Must(err)
	return resumed
}

// twoExecs has "good", which ends, and "held", which must not be called while hold is true.
func twoExecs(t *testing.T, hold *bool, calls map[string]int) *prescient.Registry {
	registry := prescient.NewRegistry()
	for _, name := range []string{"good", "held"} {
		registry.MustRegister(name, func(context.Context, prescient.FutureJob) (*time.Time, error) {
			if name == "held" && *hold {
				t.Errorf("%s is called while it is paused", name)
			}
			calls[name]++
			return nil, nil
		}, prescient.Guards{Concurrency: 1})
	}
	return registry
}

func TestRowsOfAPausedJobExecMoveOnAsTheyAre(t *testing.T) {
	eachServer(t, func(t *testing.T, r *testRig) {
		hold, calls := true, make(map[string]int)
		registry := twoExecs(t, &hold, calls)
		for i := range 5 {
			for _, name := range []string{"good", "held"} {
				r.Insert(rig.At("12:00"), prescient.NewJob{Entity: rig.Order(fmt.Sprint(i)), JobExec: name, DueAt: rig.At("13:00")})
			}
		}
		r.Exec("UPDATE p_future_job SET error_count = 2, put_off_count = 3, last_error = 'it''s \"bad\"', check_count = 1 WHERE job_exec = 'held' AND entity_key = '0'")
		r.pause("held", "another")
		for i, slot := range []string{"13:00", "13:15", "13:30"} {
			figures := r.RunAt(rig.At(slot), registry, worker.Options{})
			if figures.PutOff != 5 || figures.Done != map[int]int{0: 5}[i] || figures.Paused {
				t.Errorf("%s: %+v", slot, figures)
			}
		}
		rows := r.Pending()
		if len(rows) != 5 || len(r.History()) != 5 {
			t.Fatalf("%d rows are pending, %d ended", len(rows), len(r.History()))
		}
		for _, job := range rows {
			if !job.NextCheckAt.Equal(rig.At("13:45")) || !job.DueAt.Equal(rig.At("13:00")) {
				t.Errorf("%+v", job)
			}
			if job.EntityKey == "0" && (job.ErrorCount != 2 || job.PutOffCount != 3 || job.LastError != `it's "bad"` || job.CheckCount != 1) ||
				job.EntityKey != "0" && (job.ErrorCount != 0 || job.PutOffCount != 0 || job.LastError != "" || job.CheckCount != 0) {
				t.Errorf("%+v is not as it was", job)
			}
		}
		wantFound(t, r.examine(time.Time{}, doctor.Options{}), "paused", doctor.SeverityWarn, `by "me"`)
		if n := r.resume("held", "unheard-of"); n != 1 {
			t.Errorf("%d pauses ended; want 1", n)
		}
		hold = false
		if figures := r.RunAt(rig.At("13:45"), registry, worker.Options{}); figures.Done != 5 || calls["held"] != 5 {
			t.Errorf("after resume: %+v, %v", figures, calls)
		}
		r.Balanced()
	})
}

func TestAPauseOfEverythingLeavesRowsToTheSweeperAfterwards(t *testing.T) {
	eachServer(t, func(t *testing.T, r *testRig) {
		h := new(rig.Hooks)
		calls := make(map[string]int)
		hold := true
		registry := twoExecs(t, &hold, calls)
		for _, slot := range []string{"12:30", "13:00"} {
			r.Insert(rig.At("12:00"), prescient.NewJob{Entity: rig.Order(slot), JobExec: "held", DueAt: rig.At(slot)})
		}
		r.pause(prescient.AllExecs)
		w := r.HookedWorker(rig.At("13:00"), h, registry, worker.Options{})
		start := len(h.Log)
		figures, err := w.Run(t.Context())
		r.Must(err)
		swept, err := w.Sweep(t.Context())
		r.Must(err)
		if !figures.Paused || figures.Buckets != 0 || len(swept) != 0 {
			t.Errorf("figures %+v, swept %+v", figures, swept)
		}
		for _, statement := range h.Log[start:] {
			if !strings.Contains(statement, "JSON_ARRAYAGG") {
				t.Errorf("a paused worker sends %s", statement)
			}
		}
		if n := r.Count("SELECT COUNT(*) FROM p_slot_run"); n != 0 || len(r.Pending()) != 2 {
			t.Errorf("%d rows in the ledger, pending %+v", n, r.Pending())
		}
		// Apps do not notice.
		r.Insert(rig.At("12:00"), prescient.NewJob{Entity: rig.Order("new"), JobExec: "held", DueAt: rig.At("13:00")})
		r.resume(prescient.AllExecs)
		hold = false
		late := r.Worker(rig.At("14:00"), registry, worker.Options{})
		swept, err = late.Sweep(t.Context())
		r.Must(err)
		if len(swept) != 2 || calls["held"] != 3 || len(r.Pending()) != 0 {
			t.Errorf("swept %+v, calls %v, pending %+v", swept, calls, r.Pending())
		}
		r.Balanced()
	})
}

// A pause that comes in the middle of a sweep ends it before the next slot.
func TestAPauseOfEverythingEndsASweep(t *testing.T) {
	eachServer(t, func(t *testing.T, r *testRig) {
		for _, slot := range []string{"12:30", "12:45", "13:00"} {
			r.Insert(rig.At("12:00"), prescient.NewJob{Entity: rig.Order(slot), JobExec: "check", DueAt: rig.At(slot)})
		}
		var h rig.Hooks
		h.Once("SELECT entity_name", func() { r.pause(prescient.AllExecs) }) // with the first slot, before its calls
		var c rig.Calls
		w := r.HookedWorker(rig.At("14:00"), &h, rig.Registry("check", c.Count, prescient.Guards{}), worker.Options{})
		swept, err := w.Sweep(t.Context())
		r.Must(err)
		if len(swept) != 1 || len(r.Pending()) != 2 {
			t.Errorf("swept %+v, pending %+v", swept, r.Pending())
		}
		// An operator may still move what waits.
		if moved, err := w.RollForward(t.Context(), nil); err != nil || moved.Moved != 2 {
			t.Errorf("rolled %+v forward, %v", moved, err)
		}
	})
}

func TestPausesAreListed(t *testing.T) {
	eachServer(t, func(t *testing.T, r *testRig) {
		r.pause("b", prescient.AllExecs, "a")
		before, err := r.Client.Pauses(t.Context(), r.Pool(time.Time{}))
		r.Must(err)
		r.Must(r.Client.Pause(t.Context(), r.Pool(time.Time{}), prescient.Paused{JobExec: "b", By: "you", Reason: "another"}))
		after, err := r.Client.Pauses(t.Context(), r.Pool(time.Time{}))
		r.Must(err)
		if len(before) != 3 || before[0].JobExec != prescient.AllExecs || before[1].Reason != `it's \ down` || time.Since(before[1].Since).Abs() > time.Hour {
			t.Errorf("%+v", before)
		}
		if len(after) != 3 || after[2].By != "you" || !after[2].Since.Equal(before[2].Since) {
			t.Errorf("%+v", after)
		}
		for _, wrong := range []prescient.Paused{{JobExec: ""}, {JobExec: "a b"}, {JobExec: "a", Reason: strings.Repeat("x", 1001)}, {JobExec: "a", By: "\xff"}} {
			rig.WantErr(t, fmt.Sprintf("%.40q", wrong), r.Client.Pause(t.Context(), r.Pool(time.Time{}), wrong), prescient.ErrInvalid)
		}
		_, err = r.Client.Resume(t.Context(), r.Pool(time.Time{}), "a' OR 1 = 1")
		rig.WantErr(t, "resume", err, prescient.ErrInvalid)
		if n := r.resume("a", prescient.AllExecs, "b"); n != 3 {
			t.Errorf("%d pauses ended", n)
		}
		if n := r.resume(); n != 0 {
			t.Errorf("%d pauses ended", n)
		}
	})
}

func TestWhatIsPausedIsReadOrRefused(t *testing.T) {
	for text, want := range map[string]int{"": 0, `["a", "*"]`: 2, `[]`: 0} {
		if p, err := store.ReadPauses([]byte(text)); err != nil || len(p) != want {
			t.Errorf("%q: %v, %v", text, p, err)
		}
	}
	if _, err := store.ReadPauses([]byte(`["a`)); err == nil || errors.Is(err, prescient.ErrInvalid) {
		t.Errorf("cut short: %v", err)
	}
}
