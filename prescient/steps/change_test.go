package steps_test

import (
	"encoding/json"
	"errors"
	"fmt"
	"strings"
	"testing"
	"time"

	"prescient/prescient"
	"prescient/prescient/internal/rig"
	"prescient/prescient/longrun"
	"prescient/prescient/schedule"
	"prescient/prescient/steps"
)

func TestAJobIsReadAsItWasWritten(t *testing.T) {
	eachFlavour(t, func(t *testing.T, r *testRig) {
		whole := steps.Job{Name: "nightly.2", Crontabs: []string{"0 3 * * *", "@weekly"}, Zone: "Europe/Berlin", CatchUp: schedule.All, CatchUpWithin: time.Hour,
			ExpiresAfter: 2 * time.Hour, Jitter: time.Minute, MayCoalesce: true, Overlap: longrun.Queue, Tolerance: time.Second, Quota: 90 * time.Minute, Pool: "heavy", Heartbeat: "mornings",
			Steps: []steps.Step{
				{Name: "a", JobExec: "one", Arguments: json.RawMessage("{\"text\": \"<b>\\\\ ä €\\u0000'\", \"n\": 12345678901234567890}"), Timeout: 1500 * time.Millisecond,
					Retries: 3, RetryWait: time.Second, OnFailure: steps.Continue},
				{Name: "b", JobExec: "two"}}}
		r.create(whole)
		got, err := r.jobs.Get(t.Context(), r.app(), "nightly.2")
		r.Must(err)
		whole.Steps[0].Arguments = json.RawMessage("{\"text\":\"<b>\\\\ ä €\\u0000'\",\"n\":12345678901234567890}") // but for blanks
		whole.Steps[1].OnFailure = steps.Stop
		if fmt.Sprintf("%+v", got.Job) != fmt.Sprintf("%+v", whole) || got.Version != 1 || !got.Schedule.Enabled || got.Schedule.ID != "job/nightly.2" {
			t.Errorf("%+v\nwant\n%+v", got, whole)
		}
		created, err := r.jobs.Create(t.Context(), r.app(), whole)
		if created || err != nil {
			t.Errorf("the same again: %v, %v", created, err)
		}
		whole.Steps[1].JobExec = "three"
		if _, err := r.jobs.Create(t.Context(), r.app(), whole); !errors.Is(err, steps.ErrExists) {
			t.Errorf("another: %v", err)
		}
		if _, err := r.jobs.Get(t.Context(), r.app(), "none"); !errors.Is(err, steps.ErrNotFound) {
			t.Error(err)
		}
		r.create(job(func(j *steps.Job) { j.Name = "another" }))
		all, err := r.jobs.List(t.Context(), r.app(), "", 10)
		r.Must(err)
		if len(all) != 2 || all[0].Name != "another" || all[1].Name != "nightly.2" {
			t.Errorf("%+v", all)
		}
	})
}

func TestEachChangeMakesAVersion(t *testing.T) {
	eachFlavour(t, func(t *testing.T, r *testRig) {
		r.create(job(nil))
		update := func(version uint64, change func(j *steps.Job)) (bool, error) {
			return r.jobs.Update(t.Context(), r.app(), job(change), version)
		}
		if changed, err := update(1, nil); changed || err != nil {
			t.Errorf("the same: %v, %v", changed, err)
		}
		if changed, err := update(1, func(j *steps.Job) { j.Steps = j.Steps[:2] }); !changed || err != nil {
			t.Errorf("%v, %v", changed, err)
		}
		if _, err := update(1, func(j *steps.Job) { j.Steps = j.Steps[:1] }); !errors.Is(err, steps.ErrStale) || !strings.Contains(err.Error(), "has version 2 by now, not 1") {
			t.Errorf("of a version that is over: %v", err)
		}
		if changed, err := update(0, func(j *steps.Job) { j.Steps = j.Steps[:1] }); !changed || err != nil {
			t.Errorf("%v, %v", changed, err)
		}
		if _, err := r.jobs.Update(t.Context(), r.app(), job(func(j *steps.Job) { j.Name = "none" }), 0); !errors.Is(err, steps.ErrNotFound) {
			t.Error(err)
		}
		versions := func() (said []string) {
			all, err := r.jobs.Versions(t.Context(), r.app(), "nightly", 10)
			r.Must(err)
			for _, v := range all {
				said = append(said, fmt.Sprintf("%d: %d steps", v.Version, len(v.Steps)))
			}
			return said
		}
		if got := fmt.Sprint(versions()); got != "[3: 1 steps 2: 2 steps 1: 3 steps]" {
			t.Error(got)
		}
		n, err := r.jobs.Delete(t.Context(), r.app(), "nightly", "none")
		if n != 1 || err != nil {
			t.Errorf("%d, %v", n, err)
		}
		r.create(job(nil)) // the numbers go on: logs of runs name them
		if got := fmt.Sprint(versions()); got != "[4: 3 steps 3: 1 steps 2: 2 steps 1: 3 steps]" {
			t.Error(got)
		}
		if _, err := r.jobs.GetVersion(t.Context(), r.app(), "nightly", 5); !errors.Is(err, steps.ErrNotFound) {
			t.Error(err)
		}
	})
}

// An app may write versions, but no number that it takes stops a job from being changed, or from being made again.
func TestAVersionThatAnAppHasWrittenStopsNoChange(t *testing.T) {
	eachFlavour(t, func(t *testing.T, r *testRig) {
		r.Needs(t, rig.ColumnDefaults) // of place, on Vitess
		r.create(job(nil))
		r.Exec("INSERT INTO p_job_version (job, version, definition, created_at) VALUES ('nightly', 2, '{}', '2026-11-20'), ('nightly', 18446744073709551615, '{}', '2026-11-20')")
		change := func(n int) {
			t.Helper()
			changed, err := r.jobs.Update(t.Context(), r.app(), job(func(j *steps.Job) { j.Steps = j.Steps[:n] }), 0)
			if !changed || err != nil {
				t.Errorf("%v, %v", changed, err)
			}
		}
		version := func() (v uint64) {
			t.Helper()
			r.Must(r.Root.QueryRow("SELECT version FROM p_job_definition JOIN p_job_version USING (version) WHERE job = name AND p_job_version.definition <> '{}'").Scan(&v))
			return v
		}
		change(2)
		if v := version(); v < 3 {
			t.Errorf("version %d is the app's", v)
		}
		r.Exec("UPDATE p_job_definition SET version = 18446744073709551615")
		change(1)
		if v := version(); v < 4 || v > 1<<62 {
			t.Errorf("it goes on with version %d", v)
		}
		_, err := r.jobs.Delete(t.Context(), r.app(), "nightly")
		r.Must(err)
		before := r.Count("SELECT MAX(version) FROM p_job_version WHERE version < 1 << 61")
		r.Exec("INSERT INTO p_job_version (job, version, definition, created_at) VALUES ('nightly', ?, '{}', '2026-11-20')", before+2)
		r.create(job(nil))
		if v := version(); v <= uint64(before) || v > 1<<62 {
			t.Errorf("it begins again with version %d", v)
		}
		change(2)
	})
}

func TestAChangeOfASharedStepIsOneOfAllJobsThatHaveIt(t *testing.T) {
	eachFlavour(t, func(t *testing.T, r *testRig) {
		r.Needs(t, rig.OnePool) // of shared steps
		put := func(version uint64, step steps.Step) (bool, []string) {
			r.T.Helper()
			changed, jobs, err := r.jobs.PutStep(t.Context(), r.app(), step, version)
			r.Must(err)
			return changed, jobs
		}
		sharing := func(name string) steps.Job {
			return job(func(j *steps.Job) {
				j.Name, j.Crontabs, j.Steps = name, []string{"@hourly"}, []steps.Step{{Name: "own", JobExec: "one"}, {Name: "export", Shared: true}}
			})
		}
		if _, err := r.jobs.Create(t.Context(), r.app(), sharing("x")); !errors.Is(err, prescient.ErrInvalid) || !strings.Contains(err.Error(), `job "x", step 2: there is no shared step "export"`) {
			t.Error(err)
		}
		if changed, jobs := put(0, steps.Step{Name: "export", JobExec: "two"}); !changed || jobs != nil {
			t.Errorf("%v, %q", changed, jobs)
		}
		r.create(sharing("x"))
		r.create(sharing("y"))
		r.create(job(nil))
		if changed, jobs := put(1, steps.Step{Name: "export", JobExec: "two"}); changed || jobs != nil {
			t.Errorf("%v, %q", changed, jobs)
		}
		a := r.agent("a")
		a.slot("12:00:00") // of x and y, which have version 1
		r.answers("own", prescient.Answer{})
		r.answers("own", prescient.Answer{})
		if changed, jobs := put(1, steps.Step{Name: "export", JobExec: "three", Timeout: time.Second}); !changed || fmt.Sprint(jobs) != "[x y]" {
			t.Errorf("%v, %q", changed, jobs)
		}
		if _, _, err := r.jobs.PutStep(t.Context(), r.app(), steps.Step{Name: "export", JobExec: "one"}, 1); !errors.Is(err, steps.ErrStale) {
			t.Error(err)
		}
		for range 2 {
			if c := r.running("export"); c.job.JobExec != "two" {
				t.Errorf("a run under way calls %s", c.job.JobExec)
			} else {
				c.answer <- prescient.Answer{}
			}
		}
		got, err := r.jobs.Get(t.Context(), r.app(), "x")
		r.Must(err)
		if got.Version != 2 || !got.Steps[1].Shared || got.Steps[1].JobExec != "" {
			t.Errorf("%+v", got)
		}
		version, err := r.jobs.GetVersion(t.Context(), r.app(), "y", 2)
		r.Must(err)
		if s := version.Steps[1]; !s.Shared || s.JobExec != "three" || s.Timeout != time.Second {
			t.Errorf("%+v", s)
		}
		if err := r.jobs.DeleteStep(t.Context(), r.app(), "export"); !errors.Is(err, steps.ErrInUse) || !strings.Contains(err.Error(), "x, y") {
			t.Error(err)
		}
		stored, err := r.jobs.GetStep(t.Context(), r.app(), "export")
		r.Must(err)
		if stored.Version != 2 || fmt.Sprint(stored.Jobs) != "[x y]" {
			t.Errorf("%+v", stored)
		}
		if _, err := r.jobs.Delete(t.Context(), r.app(), "x"); err != nil {
			t.Error(err)
		}
		_, err = r.jobs.Update(t.Context(), r.app(), job(func(j *steps.Job) { j.Name, j.Crontabs = "y", []string{"@hourly"} }), 0)
		r.Must(err)
		r.Must(r.jobs.DeleteStep(t.Context(), r.app(), "export"))
		if err := r.jobs.DeleteStep(t.Context(), r.app(), "export"); !errors.Is(err, steps.ErrNotFound) {
			t.Error(err)
		}
	})
}

func TestTheScheduleOfAJobIsChangedWithTheJobAlone(t *testing.T) {
	eachFlavour(t, func(t *testing.T, r *testRig) {
		schedules := schedule.New(r.Client)
		r.create(job(nil))
		stored, err := schedules.Get(t.Context(), r.app(), "job/nightly")
		r.Must(err)
		ctx, of := t.Context(), stored.Schedule
		other := of
		other.JobExec, other.Long, other.Overlap, other.Quota = "two", false, "", 0
		for name, do := range map[string]func() error{
			"create": func() error {
				_, err := schedules.Create(ctx, r.app(), schedule.Schedule{ID: "mine", Crontabs: of.Crontabs, JobExec: steps.Exec})
				return err
			},
			"update":      func() error { _, err := schedules.Update(ctx, r.app(), of); return err },
			"update away": func() error { _, err := schedules.Update(ctx, r.app(), other); return err },
			"edit": func() error {
				_, _, err := schedules.Edit(ctx, r.app(), of.ID, func(s *schedule.Schedule) error { return nil })
				return err
			},
			"put": func() error {
				_, _, err := schedules.Put(ctx, r.app(), []schedule.Wanted{{Schedule: of}}, true)
				return err
			},
			"put away": func() error {
				_, _, err := schedules.Put(ctx, r.app(), []schedule.Wanted{{Schedule: other}}, true)
				return err
			},
			"delete": func() error { _, err := schedules.Delete(ctx, r.app(), of.ID); return err },
			"pause":  func() error { _, err := schedules.Pause(ctx, r.app(), of.ID); return err },
			"resume": func() error { _, err := schedules.Resume(ctx, r.app(), of.ID); return err },
		} {
			if err := do(); !errors.Is(err, schedule.ErrOfJob) {
				t.Errorf("%s: %v", name, err)
			}
		}
		// And a schedule is no job.
		_, err = schedules.Create(ctx, r.app(), schedule.Schedule{ID: "job/other", Crontabs: []string{"@daily"}, JobExec: "one"})
		r.Must(err)
		if _, err := r.jobs.Create(ctx, r.app(), job(func(j *steps.Job) { j.Name = "other" })); !errors.Is(err, schedule.ErrExists) {
			t.Error(err)
		}
		if n := r.Count("SELECT COUNT(*) FROM p_job_definition WHERE name = 'other'") + r.Count("SELECT COUNT(*) FROM p_job_version WHERE job = 'other'"); n != 0 {
			t.Error("something of a job that was refused is there")
		}
		if _, err := r.jobs.Pause(ctx, r.app(), "other"); !errors.Is(err, steps.ErrNotFound) {
			t.Error(err)
		}
		if n, err := r.jobs.Delete(ctx, r.app(), "other"); n != 0 || err != nil {
			t.Errorf("%d, %v", n, err)
		}
		// What is left of a job whose definition somebody has deleted goes with a delete of that job.
		r.Exec("DELETE FROM p_job_definition")
		if n, err := r.jobs.Delete(ctx, r.app(), "nightly", "other"); n != 1 || err != nil {
			t.Errorf("%d, %v", n, err)
		}
		if n := r.Count("SELECT COUNT(*) FROM p_schedule"); n != 1 {
			t.Errorf("%d schedules are left; want that which is no job's", n)
		}
	})
}

func TestAJobIsPausedResumedAndRunByHand(t *testing.T) {
	eachFlavour(t, func(t *testing.T, r *testRig) {
		r.create(job(func(j *steps.Job) { j.Steps = j.Steps[:1] }))
		r.Did(r.jobs.Pause(t.Context(), r.app(), "nightly"))
		a := r.agent("a")
		a.slot("12:00:00")
		if log := r.log(""); len(log) != 0 {
			t.Errorf("%q", log)
		}
		occurrence, err := r.jobs.RunNow(t.Context(), r.app(), "nightly")
		r.Must(err)
		if !strings.HasPrefix(occurrence, "m") {
			t.Error(occurrence)
		}
		a.slot("12:00:30")
		r.answers("first", prescient.Answer{})
		r.wantLog("12:00 v1 a done", "  1 first 1 a done")
		r.at("12:01:30")
		r.Did(r.jobs.Resume(t.Context(), r.app(), "nightly"))
		a.slot("12:02:00")
		r.answers("first", prescient.Answer{})
		r.wantLog("12:02 v1 a done", "  1 first 1 a done", "12:00 v1 a done", "  1 first 1 a done")
		_, noPause := r.jobs.Pause(t.Context(), r.app(), "none")
		_, noResume := r.jobs.Resume(t.Context(), r.app(), "none")
		for _, err := range []error{noPause, noResume} {
			if !errors.Is(err, steps.ErrNotFound) {
				t.Error(err)
			}
		}
		if _, err := r.jobs.RunNow(t.Context(), r.app(), "none"); !errors.Is(err, steps.ErrNotFound) {
			t.Error(err)
		}
	})
}

func TestARunOfAJobThatIsDeletedIsNeverShownAsRunningForEver(t *testing.T) {
	eachFlavour(t, func(t *testing.T, r *testRig) {
		r.create(job(nil))
		a := r.agent("a")
		a.slot("12:00:00")
		r.running("first")
		r.at("12:03:00") // the agent is gone
		r.wantLog("12:00 v1 a lapsed", "  1 first 1 a called")
		_, err := r.jobs.Delete(t.Context(), r.app(), "nightly")
		r.Must(err)
		r.wantLog("12:00 v1 a cancelled", "  1 first 1 a cancelled")
		r.create(job(func(j *steps.Job) { j.Crontabs = []string{"10 * * * *"} }))
		a.slot("12:10:00")
		r.answers("first", prescient.Answer{Next: prescient.At(rig.At("12:20"))})
		waiting := "12:10 v2 a waiting"
		r.wantLog(waiting, "  1 first 1 a again", "12:00 v1 a cancelled", "  1 first 1 a cancelled")
		_, err = r.jobs.Delete(t.Context(), r.app(), "nightly")
		r.Must(err)
		r.wantLog("12:10 v2 a cancelled", "  1 first 1 a again", "12:00 v1 a cancelled", "  1 first 1 a cancelled")
	})
}

// What overlaps, or comes too soon, has its line, too.
func TestAnOccurrenceThatIsNotRunIsLogged(t *testing.T) {
	eachFlavour(t, func(t *testing.T, r *testRig) {
		r.create(job(nil))
		a := r.agent("a")
		a.slot("12:00:00")
		first := r.running("first")
		r.Exec("UPDATE p_long_run SET allocated_until = '2026-11-20 12:01:30'") // it is renewed
		a.slot("12:01:00")
		r.wantLog("12:01 v0 a overlapped", "12:00 v1 a running", "  1 first 1 a called")
		first.answer <- prescient.Answer{Err: errors.New("no")}
		r.wantLog("12:01 v0 a overlapped", "12:00 v1 a failed", "  1 first 1 a failed")
		runs, err := r.jobs.Runs(t.Context(), r.operator(), steps.RunFilter{Since: rig.At("12:01"), Before: rig.At("12:02")})
		r.Must(err)
		if len(runs) != 1 || runs[0].StartedAt != nil || runs[0].EndedAt == nil || !strings.Contains(runs[0].Error, "the run before it is not over") {
			t.Errorf("%+v", runs)
		}
	})
}
