package prescient

import (
	"context"
	"errors"
	"fmt"
	"strings"
	"testing"
	"time"
)

func (r *rig) pause(names ...string) {
	r.t.Helper()
	for _, name := range names {
		r.must(r.client.Pause(r.t.Context(), r.pool(time.Time{}), Paused{JobExec: name, By: "me", Reason: "it's \\ down"}))
	}
}

func (r *rig) resume(names ...string) (resumed int) {
	r.t.Helper()
	resumed, err := r.client.Resume(r.t.Context(), r.pool(time.Time{}), names...)
	r.must(err)
	return resumed
}

// twoExecs has "good", which ends, and "held", which must not be called while hold is true.
func twoExecs(t *testing.T, hold *bool, calls map[string]int) *Registry {
	registry := NewRegistry()
	for _, name := range []string{"good", "held"} {
		registry.MustRegister(name, func(context.Context, FutureJob) (*time.Time, error) {
			if name == "held" && *hold {
				t.Errorf("%s is called while it is paused", name)
			}
			calls[name]++
			return nil, nil
		}, Guards{Concurrency: 1})
	}
	return registry
}

func TestRowsOfAPausedJobExecMoveOnAsTheyAre(t *testing.T) {
	eachServer(t, func(t *testing.T, r *rig) {
		hold, calls := true, make(map[string]int)
		registry := twoExecs(t, &hold, calls)
		for i := range 5 {
			for _, name := range []string{"good", "held"} {
				r.insert(at("12:00"), NewJob{Entity: order(fmt.Sprint(i)), JobExec: name, DueAt: at("13:00")})
			}
		}
		r.exec("UPDATE p_future_job SET error_count = 2, put_off_count = 3, last_error = 'it''s \"bad\"', check_count = 1 WHERE job_exec = 'held' AND entity_key = '0'")
		r.pause("held", "another")
		for i, slot := range []string{"13:00", "13:15", "13:30"} {
			figures := r.runAt(at(slot), registry, WorkerOptions{})
			if figures.PutOff != 5 || figures.Done != map[int]int{0: 5}[i] || figures.Paused {
				t.Errorf("%s: %+v", slot, figures)
			}
		}
		rows := r.pending()
		if len(rows) != 5 || len(r.history()) != 5 {
			t.Fatalf("%d rows are pending, %d ended", len(rows), len(r.history()))
		}
		for _, job := range rows {
			if !job.NextCheckAt.Equal(at("13:45")) || !job.DueAt.Equal(at("13:00")) {
				t.Errorf("%+v", job)
			}
			if job.EntityKey == "0" && (job.ErrorCount != 2 || job.PutOffCount != 3 || job.LastError != `it's "bad"` || job.CheckCount != 1) ||
				job.EntityKey != "0" && (job.ErrorCount != 0 || job.PutOffCount != 0 || job.LastError != "" || job.CheckCount != 0) {
				t.Errorf("%+v is not as it was", job)
			}
		}
		wantFinding(t, r.examine(time.Time{}, DoctorOptions{}), "paused", SeverityWarn, `by "me"`)
		if n := r.resume("held", "unheard-of"); n != 1 {
			t.Errorf("%d pauses ended; want 1", n)
		}
		hold = false
		if figures := r.runAt(at("13:45"), registry, WorkerOptions{}); figures.Done != 5 || calls["held"] != 5 {
			t.Errorf("after resume: %+v, %v", figures, calls)
		}
		r.balanced()
	})
}

func TestAPauseOfEverythingLeavesRowsToTheSweeperAfterwards(t *testing.T) {
	eachServer(t, func(t *testing.T, r *rig) {
		h := new(hooks)
		calls := make(map[string]int)
		hold := true
		registry := twoExecs(t, &hold, calls)
		for _, slot := range []string{"12:30", "13:00"} {
			r.insert(at("12:00"), NewJob{Entity: order(slot), JobExec: "held", DueAt: at(slot)})
		}
		r.pause(AllExecs)
		w := r.hookedWorker(at("13:00"), h, registry, WorkerOptions{})
		start := len(h.log)
		figures, err := w.Run(t.Context())
		r.must(err)
		swept, err := w.Sweep(t.Context())
		r.must(err)
		if !figures.Paused || figures.Buckets != 0 || len(swept) != 0 {
			t.Errorf("figures %+v, swept %+v", figures, swept)
		}
		for _, statement := range h.log[start:] {
			if !strings.Contains(statement, "JSON_ARRAYAGG") {
				t.Errorf("a paused worker sends %s", statement)
			}
		}
		if n := r.count("SELECT COUNT(*) FROM p_slot_run"); n != 0 || len(r.pending()) != 2 {
			t.Errorf("%d rows in the ledger, pending %+v", n, r.pending())
		}
		// Apps do not notice.
		r.insert(at("12:00"), NewJob{Entity: order("new"), JobExec: "held", DueAt: at("13:00")})
		r.resume(AllExecs)
		hold = false
		late := r.worker(at("14:00"), registry, WorkerOptions{})
		swept, err = late.Sweep(t.Context())
		r.must(err)
		if len(swept) != 2 || calls["held"] != 3 || len(r.pending()) != 0 {
			t.Errorf("swept %+v, calls %v, pending %+v", swept, calls, r.pending())
		}
		r.balanced()
	})
}

// A pause that comes in the middle of a sweep ends it before the next slot.
func TestAPauseOfEverythingEndsASweep(t *testing.T) {
	eachServer(t, func(t *testing.T, r *rig) {
		for _, slot := range []string{"12:30", "12:45", "13:00"} {
			r.insert(at("12:00"), NewJob{Entity: order(slot), JobExec: "check", DueAt: at(slot)})
		}
		var h hooks
		h.once("SELECT entity_name", func() { r.pause(AllExecs) }) // with the first slot, before its calls
		var c calls
		w := r.hookedWorker(at("14:00"), &h, registry("check", c.count, Guards{}), WorkerOptions{})
		swept, err := w.Sweep(t.Context())
		r.must(err)
		if len(swept) != 1 || len(r.pending()) != 2 {
			t.Errorf("swept %+v, pending %+v", swept, r.pending())
		}
		// An operator may still move what waits.
		if moved, err := w.RollForward(t.Context(), nil); err != nil || moved.Moved != 2 {
			t.Errorf("rolled %d forward, %v", moved, err)
		}
	})
}

func TestPausesAreListed(t *testing.T) {
	eachServer(t, func(t *testing.T, r *rig) {
		r.pause("b", AllExecs, "a")
		before, err := r.client.Pauses(t.Context(), r.pool(time.Time{}))
		r.must(err)
		r.must(r.client.Pause(t.Context(), r.pool(time.Time{}), Paused{JobExec: "b", By: "you", Reason: "another"}))
		after, err := r.client.Pauses(t.Context(), r.pool(time.Time{}))
		r.must(err)
		if len(before) != 3 || before[0].JobExec != AllExecs || before[1].Reason != `it's \ down` || time.Since(before[1].Since).Abs() > time.Hour {
			t.Errorf("%+v", before)
		}
		if len(after) != 3 || after[2].By != "you" || !after[2].Since.Equal(before[2].Since) {
			t.Errorf("%+v", after)
		}
		for _, wrong := range []Paused{{JobExec: ""}, {JobExec: "a b"}, {JobExec: "a", Reason: strings.Repeat("x", 1001)}, {JobExec: "a", By: "\xff"}} {
			wantErr(t, fmt.Sprintf("%.40q", wrong), r.client.Pause(t.Context(), r.pool(time.Time{}), wrong), ErrInvalid)
		}
		_, err = r.client.Resume(t.Context(), r.pool(time.Time{}), "a' OR 1 = 1")
		wantErr(t, "resume", err, ErrInvalid)
		if n := r.resume("a", AllExecs, "b"); n != 3 {
			t.Errorf("%d pauses ended", n)
		}
		if n := r.resume(); n != 0 {
			t.Errorf("%d pauses ended", n)
		}
	})
}

func TestWhatIsPausedIsReadOrRefused(t *testing.T) {
	for text, want := range map[string]int{"": 0, `["a", "*"]`: 2, `[]`: 0} {
		if p, err := readPauses([]byte(text)); err != nil || len(p) != want {
			t.Errorf("%q: %v, %v", text, p, err)
		}
	}
	if _, err := readPauses([]byte(`["a`)); err == nil || errors.Is(err, ErrInvalid) {
		t.Errorf("cut short: %v", err)
	}
}
