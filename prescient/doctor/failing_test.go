package doctor

import (
	"context"
	"errors"
	"testing"
	"time"

	"prescient/prescient"
	"prescient/prescient/internal/rig"
	"prescient/prescient/worker"
)

func TestADoctorNamesWhatFails(t *testing.T) {
	eachFlavour(t, func(t *testing.T, r *testRig) {
		registry := rig.Registry("good", rig.NothingToDo, prescient.Guards{})
		fails := func(_ context.Context, job prescient.FutureJob) (*time.Time, error) {
			return nil, errors.New("order " + job.EntityKey + " has no row")
		}
		r.Must(registry.Register("bad", fails, prescient.Guards{}))
		r.Must(registry.Register("rarely", fails, prescient.Guards{}))
		r.ManyDue(rig.At("13:15"), "good", 0, 30)
		r.ManyDue(rig.At("13:15"), "bad", 100, 112)
		r.ManyDue(rig.At("13:15"), "rarely", 200, 205)
		r.RunAt(rig.At("13:15"), registry, worker.Options{})
		found := r.examine(rig.At("13:20"), Options{})
		wantFinding(t, found, "failing", SeverityBad, "bad: 12 of 12 calls since 2026-11-20", "failed (100.0 %), some in each slot since 2026-11-20T13:15:00Z", "of 12: order … has no row", "order 1")
		for _, f := range found {
			if f.Code == "failing" && f.Text[:3] != "bad" {
				t.Errorf("%+v", f)
			}
		}
		wantFinding(t, r.examine(rig.At("13:20"), Options{FailingCalls: 13}), "failing", SeverityOK, "no job_exec has 13 failed calls")
		// It is mended: that is told at once, and the figures of the hour stay until it is over.
		r.Exec("DELETE FROM p_future_job")
		r.ManyDue(rig.At("13:30"), "bad", 300, 301)
		r.RunAt(rig.At("13:30"), rig.Registry("bad", rig.NothingToDo, prescient.Guards{}), worker.Options{})
		wantFinding(t, r.examine(rig.At("13:35"), Options{}), "failing", SeverityWarn, "bad: 12 of 13 calls", "none in its latest slot: the last did in that of 2026-11-20T13:15:00Z",
			"this is said until 2026-11-20T14:15:00Z at the latest")
		wantFinding(t, r.examine(rig.At("14:15:01"), Options{}), "failing", SeverityOK) // it is over
	})
}

// While a new version takes the place of another, both are there; after an hour of that somebody should know.
func TestADoctorNamesJobExecsThatWorkersHaveInTwoWays(t *testing.T) {
	eachFlavour(t, func(t *testing.T, r *testRig) {
		one := rig.Registry("check", rig.NothingToDo, prescient.Guards{MaxChecks: 3})
		two := rig.Registry("check", rig.NothingToDo, prescient.Guards{MaxChecks: 4})
		for _, at := range []string{"12:00", "12:30", "13:00", "13:30"} {
			r.RunAt(rig.At(at), one, worker.Options{Name: "first"})
		}
		wantFinding(t, r.examine(rig.At("13:31"), Options{}), "execs", SeverityOK)
		r.RunAt(rig.At("13:30"), two, worker.Options{Name: "second"})
		wantFinding(t, r.examine(rig.At("13:31"), Options{}), "execs", SeverityOK)
		r.RunAt(rig.At("14:30"), one, worker.Options{Name: "first"})
		r.RunAt(rig.At("14:30"), two, worker.Options{Name: "second"})
		wantFinding(t, r.examine(rig.At("14:45"), Options{}), "execs", SeverityWarn, "the job_exec check in 2 ways, since 2026-11-20T13:30:00Z", "first", "second")
		r.RunAt(rig.At("15:30"), two, worker.Options{Name: "second"})
		wantFinding(t, r.examine(rig.At("16:00"), Options{}), "execs", SeverityOK)
		// So it is with limits that long runs alone have.
		one, two = rig.Registry("export", rig.NothingToDo, prescient.Guards{}), rig.Registry("export", rig.NothingToDo, prescient.Guards{})
		one.SetLong("export", prescient.Long{Lease: time.Minute})
		two.SetLong("export", prescient.Long{Lease: time.Hour})
		for _, at := range []string{"18:00", "19:00"} {
			r.RunAt(rig.At(at), one, worker.Options{Name: "first"})
			r.RunAt(rig.At(at), two, worker.Options{Name: "second"})
		}
		wantFinding(t, r.examine(rig.At("19:15"), Options{}), "execs", SeverityWarn, "the job_exec export in 2 ways")
	})
}
