package steps_test

import (
	"errors"
	"testing"

	"prescient/prescient"
	"prescient/prescient/internal/rig"
	"prescient/prescient/longrun"
	"prescient/prescient/steps"
)

// written are rows that an app may write by plain SQL, or could before CHECKs held them, and that no client writes.
var written = map[string][]string{
	"a job of no definition":   {"INSERT INTO p_job_definition (name, version, definition, created_at, updated_at) VALUES ('aaa', 1, 'none', '2026-01-01', '2026-01-01')"},
	"a step of no definition":  {"INSERT INTO p_step_definition (name, version, definition, created_at, updated_at) VALUES ('aaa', 1, 'none', '2026-01-01', '2026-01-01')"},
	"a step of another name":   {`INSERT INTO p_step_definition (name, version, definition, created_at, updated_at) VALUES ('zzz', 1, '{"name": "a", "job_exec": "one"}', '2026-01-01', '2026-01-01')`},
	"a version of no job":      {"INSERT INTO p_job_version (job, version, definition, created_at) VALUES ('nightly', 2305843009213693951, 'none', '2026-01-01')"},
	"the use of a step":        {"INSERT INTO p_job_step (step, job) VALUES ('s', 'nobody'), ('s', 'a b'), ('s', 'nightly'), ('s', 'later')"},
	"the last version":         {`INSERT INTO p_job_definition (name, version, definition, created_at, updated_at) VALUES ('aaa', 18446744073709551615, '{"steps": [{"name": "s", "shared": true}]}', '2026-01-01', '2026-01-01')`, "INSERT INTO p_job_step (step, job) VALUES ('s', 'aaa')"},
	"a step that is not there": {`INSERT INTO p_job_definition (name, version, definition, created_at, updated_at) VALUES ('aaa', 1, '{"steps": [{"name": "s", "shared": true}, {"name": "gone", "shared": true}]}', '2026-01-01', '2026-01-01')`, "INSERT INTO p_job_step (step, job) VALUES ('s', 'aaa')"},
	"the use by a job of no definition": {"INSERT INTO p_job_definition (name, version, definition, created_at, updated_at) VALUES ('aaa', 1, 'none', '2026-01-01', '2026-01-01')",
		"INSERT INTO p_job_step (step, job) VALUES ('s', 'aaa')"},
	"zero dates": {"SET sql_mode = ''", "INSERT INTO p_job_definition (name, version, definition, created_at, updated_at) VALUES ('aaa', 1, '{}', '0000-00-00', '2026-00-00')",
		"INSERT INTO p_step_definition (name, version, definition, created_at, updated_at) VALUES ('bbb', 1, '{}', '0000-00-00', '2026-00-00')",
		"INSERT INTO p_job_version (job, version, definition, created_at) VALUES ('nightly', 7, '{}', '0000-00-00')"},
}

// What an app writes by plain SQL holds up no other job and no list, and can be replaced and deleted.
func TestWhatPlainSQLWritesOfJobsStopsNoOther(t *testing.T) {
	for name, statements := range written {
		t.Run(name, func(t *testing.T) {
			eachFlavour(t, func(t *testing.T, r *testRig) {
				r.Needs(t, rig.OnePool) // of shared steps
				ctx, app := t.Context(), r.app()
				r.Unchecked("p_job_definition", "p_step_definition", "p_job_step", "p_job_version")
				_, _, err := r.jobs.PutStep(ctx, app, changed("s", -1), 0)
				r.Must(err)
				r.create(job(nil))
				r.create(sharing("sharing", func(j *steps.Job) { j.Steps = []steps.Step{{Name: "s", Shared: true}} }))
				c, err := r.AppAs("app", r.clock()).Conn(ctx)
				r.Must(err)
				defer c.Close()
				for _, s := range statements {
					_, err := c.ExecContext(ctx, s)
					r.Must(err)
				}
				all, err := r.jobs.List(ctx, app, "", 10)
				r.Must(err)
				for _, one := range all {
					if wrong := one.Wrong != nil; one.Name != "aaa" && (wrong || len(one.Steps) == 0) || wrong && !errors.Is(one.Wrong, steps.ErrUnreadable) {
						t.Errorf("%+v", one)
					}
				}
				shared, err := r.jobs.ListSteps(ctx, app, "", 10)
				r.Must(err)
				for i, one := range shared {
					if one.Name == "" || i > 0 && one.Name <= shared[i-1].Name || one.Name == "s" && one.JobExec == "" {
						t.Errorf("%+v", shared)
					}
				}
				for n := range 3 {
					if _, err := r.jobs.Update(ctx, app, job(func(j *steps.Job) {
						j.Steps = []steps.Step{{Name: "s", Shared: true}, {Name: "own", JobExec: "one", Retries: n}}
					}), 0); err != nil {
						t.Errorf("update %d: %v", n, err)
					}
					if _, jobs, err := r.jobs.PutStep(ctx, app, changed("s", n), 0); err != nil || len(jobs) < 2 {
						t.Errorf("put %d: %v, of %v", n, err, jobs)
					}
				}
				r.create(sharing("later", func(j *steps.Job) { j.Steps = []steps.Step{{Name: "s", Shared: true}} }))
				versions, err := r.jobs.Versions(ctx, app, "nightly", 3)
				r.Must(err)
				if len(versions) != 3 {
					t.Errorf("%+v", versions)
				}
				if _, err := r.jobs.Delete(ctx, app, "aaa", "sharing", "nightly", "later"); err != nil {
					t.Errorf("delete: %v", err)
				}
				for _, one := range append(shared, steps.StoredStep{Step: steps.Step{Name: "aaa"}}) {
					if _, _, err := r.jobs.PutStep(ctx, app, changed(one.Name, 1), 0); err != nil {
						t.Errorf("put %s: %v", one.Name, err)
					}
					if err := r.jobs.DeleteStep(ctx, app, one.Name); err != nil {
						t.Errorf("delete %s: %v", one.Name, err)
					}
				}
			})
		})
	}
}

// The run of a job that plain SQL inserts with a tag of its own is logged by the time for which it is due, and ends.
func TestARunOfAJobWhoseTagIsNoTimeEnds(t *testing.T) {
	eachFlavour(t, func(t *testing.T, r *testRig) {
		r.create(job(func(j *steps.Job) { j.Crontabs, j.Overlap, j.Steps = []string{"0 0 1 1 *"}, longrun.Allow, j.Steps[:1] }))
		tags := []string{"253402300800", "9223372036854775807", "-99999999999999", "m99999999999999", "99999999999999999999", "x", "-"}
		for _, tag := range tags {
			_, err := r.AppAs("app", r.clock()).Exec("INSERT INTO p_future_job (entity_name, entity_key, job_exec, tag, due_at) VALUES ('schedule', 'job/nightly', 'steps.run', ?, '2026-11-20 12:00:00')", tag)
			r.Must(err)
		}
		r.agent("agent-1").slot("12:00:00")
		for range tags {
			r.answers("first", prescient.Answer{})
		}
		r.Eventually("all have ended", func() bool {
			return r.Count("SELECT COUNT(*) FROM p_job_history WHERE outcome = 'done'") == len(tags)
		})
		if n := r.Count("SELECT COUNT(*) FROM p_job_run_log WHERE result = 'done' AND scheduled_at = '2026-11-20 12:00:00'"); n != len(tags) {
			t.Errorf("%d are logged; want %d", n, len(tags))
		}
	})
}
