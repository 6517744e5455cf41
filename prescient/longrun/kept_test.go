package longrun_test

import (
	"errors"
	"slices"
	"strings"
	"testing"
	"time"

	"prescient/prescient"
	"prescient/prescient/internal/rig"
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
