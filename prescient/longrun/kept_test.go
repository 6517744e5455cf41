package longrun_test

import (
	"errors"
	"fmt"
	"slices"
	"strings"
	"testing"
	"time"

	"prescient/prescient"
	"prescient/prescient/internal/rig"
	"prescient/prescient/longrun"
)

// keep has a table of the app keep the rows of an entity from being deleted.
func (r *testRig) keep(key string) {
	r.T.Helper()
	r.Exec("CREATE TABLE p_note (job_key BINARY(16) NOT NULL, CONSTRAINT p_keeps FOREIGN KEY (job_key) REFERENCES p_future_job (job_key))")
	r.Exec("INSERT INTO p_note SELECT job_key FROM p_future_job WHERE entity_key = ? AND job_exec <> 'schedule.fire'", key)
}

// life calls what waits, slot by slot, until it is kept, and returns after how many slots each came.
func (r *testRig) life(name string, from time.Time, answer prescient.Answer) (waits []int) {
	r.T.Helper()
	for slot := from; ; {
		clock := slot.Format("15:04:05")
		r.slot(clock)
		r.answers(name, clock, answer)
		job := r.One()
		waits = append(waits, int(job.NextCheckAt.Sub(slot)/(30*time.Second)))
		if slot = job.NextCheckAt; prescient.IsKept(job) || len(waits) > 10 {
			return waits
		}
	}
}

// A foreign key of the app keeps the check of a long run: a call counts as an error, and there are as many as may fail. Then it is put off, and
// named; it ends once nothing keeps it.
func TestALongRunThatCannotEndCountsAsAnErrorAndIsCalledAsOftenAsItMayFail(t *testing.T) {
	for name, c := range map[string]struct {
		answer prescient.Answer
		waits  []int
		errors int
	}{
		"done":        {prescient.Answer{}, []int{1, 2, 1}, 3},
		"past return": {prescient.Answer{Next: prescient.At(rig.At("11:00"))}, []int{1, 2, 1}, 3},
		"failed":      {prescient.Answer{Err: errors.New("no luck")}, []int{1, 2, 1}, 3},
	} {
		t.Run(name, func(t *testing.T) {
			runs(t, func(t *testing.T, r *testRig) {
				r.insert("11:59:30", "a", "12:00")
				r.keep("a")
				if waits := r.life("a", rig.At("12:00"), c.answer); !slices.Equal(waits, c.waits) {
					t.Errorf("it waited for %v slots; want %v", waits, c.waits)
				}
				job := r.One()
				if job.ErrorCount != c.errors || !strings.Contains(job.LastError, "foreign key constraint fails") {
					t.Errorf("%+v", job)
				}
				slot := job.NextCheckAt
				for range 3 { // it is not called: answers would wait for that
					r.slot(slot.Format("15:04:05"))
					slot = r.One().NextCheckAt
				}
				if r.isRunning("a") || len(r.History()) != 0 {
					t.Error("it was called, or ended")
				}
				r.Exec("DROP TABLE p_note")
				r.slot(slot.Format("15:04:05"))
				r.wantOutcome("a", "failed")
				r.Balanced()
			})
		})
	}
}

// An occurrence that is not to run, and cannot end, does not run either; the run of its schedule goes on.
func TestAnOccurrenceThatCannotEndUncalledIsPutOff(t *testing.T) {
	runs(t, func(t *testing.T, r *testRig) {
		r.create("11:59:00", long("s", longrun.Forbid))
		r.slot("12:00:00")
		r.running("s 12:00:00")
		r.keep("s")
		for _, clock := range []string{"12:01:00", "12:01:30", "12:02:00"} {
			r.Exec("UPDATE p_long_run SET allocated_until = '2026-11-20 12:05:00' WHERE agent <> ''")
			r.slot(clock)
		}
		if n := r.Count("SELECT COUNT(*) FROM p_future_job WHERE due_at = '2026-11-20 12:01:00' AND last_error LIKE 'not called any more%' AND put_off_count > 0"); n != 1 {
			t.Errorf("%+v", r.Pending())
		}
		if n := r.Count("SELECT COUNT(*) FROM p_long_run WHERE due_at > '2026-11-20 12:00:00' AND ended_at IS NULL"); n != 0 {
			t.Errorf("%d runs that did not end", n)
		}
		r.Exec("DROP TABLE p_note")
		r.answers("s 12:00:00", "12:02:10", prescient.Answer{})
		r.wantOutcome("s 12:00:00", "done")
		for _, clock := range []string{"12:02:30", "12:03:00", "12:03:30", "12:04:00", "12:04:30", "12:05:00"} {
			r.slot(clock)
		}
		r.wantOutcome("s 12:01:00", "failed")
		r.Balanced()
	})
}

// An agent puts off what it has claimed, and may not call and cannot end; it claims that once.
func TestARunOfAPoolThatIsToEndUncalledAndCannotIsPutOff(t *testing.T) {
	runs(t, func(t *testing.T, r *testRig) {
		s := heavy("s", longrun.Forbid)
		s.ExpiresAfter, s.Crontabs = 2*time.Minute, []string{"0 12 * * *"}
		r.create("11:59:00", s)
		r.slot("12:00:00")
		r.keep("s")
		r.at("12:03:00")
		r.serving("agent-2", ofHeavy)
		r.Eventually("its run has ended", func() bool {
			return r.Count("SELECT COUNT(*) FROM p_long_run WHERE ended_at IS NOT NULL AND outcome = 'expired'") == 1
		})
		job := r.pendingAt("12:00")
		if !prescient.IsKept(job) || !strings.Contains(job.LastError, "foreign key constraint fails") || len(r.History()) != 0 {
			t.Errorf("%+v", job)
		}
		r.Exec("DROP TABLE p_note")
		r.slot(job.NextCheckAt.Format("15:04:05"))
		r.wantOutcome("s 12:00:00", "failed")
		r.Balanced()
	})
}

// Runs that ended, and that the app keeps, do not keep the next one of their schedule from starting where they left off.
func TestARunThatTheAppKeepsHoldsUpNoLaterOne(t *testing.T) {
	runs(t, func(t *testing.T, r *testRig) {
		r.create("11:59:00", long("s", longrun.Forbid))
		r.Exec("CREATE TABLE p_note (job_key BINARY(16) NOT NULL, CONSTRAINT p_keeps FOREIGN KEY (job_key) REFERENCES p_long_run (job_key))")
		for i, clock := range []string{"12:00:00", "12:01:00", "12:02:00", "12:03:00"} {
			r.slot(clock)
			name := "s " + clock
			c := r.running(name)
			if want := fmt.Sprint("until ", i-1); i > 0 && string(c.run.Checkpoint()) != want {
				t.Errorf("at %s it goes on from %q; want %q", clock, c.run.Checkpoint(), want)
			}
			r.Must(c.run.Save(t.Context(), fmt.Appendf(nil, "until %d", i)))
			if i < 2 {
				r.Exec("INSERT INTO p_note SELECT job_key FROM p_long_run WHERE ended_at IS NULL")
			}
			r.answers(name, clock, prescient.Answer{Err: prescient.Final(errors.New("no luck"))})
			r.wantOutcome(name, "failed")
		}
		if n := r.Count("SELECT COUNT(*) FROM p_long_run"); n != 3 {
			t.Errorf("%d runs are left; want the two that are kept, and the last", n)
		}
	})
}
