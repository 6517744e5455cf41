package page_test

import (
	"encoding/json"
	"net/http"
	"strings"
	"testing"
	"time"

	"prescient/prescient/internal/rig"
	"prescient/prescient/internal/rig/served"
	"prescient/prescient/ops"
	"prescient/prescient/ops/definition"
)

// nightly makes a job with a shared step, its second version, and its log: a run that ended and one that goes on.
func (r *testRig) nightly() {
	r.T.Helper()
	o, by := r.OpsAt(rig.At("10:00")), served.By(ops.Operator)
	_, err := ops.PutStep.Do(r.T.Context(), o, by, ops.StepUpdate{Step: definition.Step{Name: "report", JobExec: "send-report", Arguments: json.RawMessage(`{"to":"<img src=x>"}`)}})
	r.Must(err)
	job := definition.Job{Name: "nightly", Timing: definition.Timing{Crontabs: []string{"0 4 * * *"}, Zone: "Europe/Berlin"}, Steps: []definition.Step{
		{Name: "export", JobExec: "export-orders", Arguments: json.RawMessage(`{"secret":"<script>alert(1)</script>"}`), Retries: 2}, {Name: "report", Shared: true}}}
	_, err = ops.CreateJob.Do(r.T.Context(), o, by, job)
	r.Must(err)
	job.Steps[0].Retries, job.Crontabs = 3, []string{"30 4 * * *"}
	_, err = ops.UpdateJob.Do(r.T.Context(), o, by, ops.JobUpdate{Job: job, Version: 1})
	r.Must(err)
	r.Exec(`INSERT INTO p_job_run_log (job, occurrence, job_key, version, scheduled_at, started_at, ended_at, agent, takeovers, result, error) VALUES
		('nightly', '1795168800', REPEAT('a', 16), 1, '2026-11-20 10:00:00', '2026-11-20 10:00:01', '2026-11-20 10:04:01', '<b>w</b>', 0, 'failed', '"><img src=x onerror=alert(1)>'),
		('nightly', '1795172400', REPEAT('b', 16), 2, '2026-11-20 11:00:00', '2026-11-20 11:00:01', NULL, 'w', 1, NULL, NULL)`)
	r.Exec(`INSERT INTO p_step_run_log (job, occurrence, seq, position, step, job_exec, attempt, scheduled_at, started_at, ended_at, agent, result, error, output, output_cut) VALUES
		('nightly', '1795168800', 1, 1, 'export', 'export-orders', 1, '2026-11-20 10:00:00', '2026-11-20 10:00:01', '2026-11-20 10:01:01', 'w', 'failed', 'no <script>alert(1)</script>', NULL, 0),
		('nightly', '1795168800', 2, 1, 'export', 'export-orders', 2, '2026-11-20 10:00:00', '2026-11-20 10:01:11', '2026-11-20 10:04:01', 'w', 'done', NULL, CONCAT('<script>alert(1)</script>\n\ttwo', CHAR(27), '[31m'), 77)`)
}

func TestViewsOfJobs(t *testing.T) {
	eachServer(t, func(t *testing.T, r *testRig) {
		r.nightly()
		r.serveAt(rig.At("12:00"))
		for _, role := range ops.Roles[:2] {
			operator := role.May(ops.Operator)
			got := r.look(role, "/jobs").wants(t, 200, "nightly", "at 04:30 every day (Europe/Berlin)", "2026-11-21 03:30:00 UTC", `<td class="n">2</td>`).harmless(t).lacks(t, "secret")
			if strings.Contains(got.Body, "Pause the chosen") != operator {
				t.Errorf("%s: %s", role, got.Body)
			}
			r.look(role, "/jobs", "search", "EXPORT-o").wants(t, 200, "nightly")
			r.look(role, "/jobs", "search", "none").wants(t, 200, "No job is found.")
			got = r.look(role, "/job", "name", "nightly").wants(t, 200, "Its steps, in order", "export-orders", "send-report", "shared", "Tried again 3 times", "4 min", "Sun 2027-03-28 04:30:00 &#43;02:00",
				"lapsed", "failed", `data-again="3000"`, "/p/job/version?name=nightly&amp;version=1", "2 (now)").harmless(t)
			for _, text := range []string{"secret", "/p/jobs/back?", "/p/jobs/run?"} {
				if strings.Contains(got.Body, text) != operator {
					t.Errorf("%s of %s in %s", role, text, got.Body)
				}
			}
			got = r.look(role, "/job/run", "run", "nightly-1795168800").wants(t, 200, "The calls of its steps", "1 min", "2 min 50 s", "2. export", "no &lt;script&gt;", "<svg", `class="missed"`, `class="served"`).harmless(t).lacks(t, "data-again")
			for _, text := range []string{"&lt;script&gt;alert(1)&lt;/script&gt;\n    twoU&#43;001B[31m</pre>", "77 bytes before this were not kept"} {
				if strings.Contains(got.Body, text) != operator {
					t.Errorf("%s of %q: %s", role, text, got.Body)
				}
			}
			r.look(role, "/job/run", "run", "nightly-1795172400").wants(t, 200, "1 takeover", "No step was called yet", `data-again="3000"`)
			got = r.look(role, "/job/version", "name", "nightly", "version", "1").wants(t, 200, "<del><bdi>30 4 * * *</bdi></del>", "<ins><bdi>0 4 * * *</bdi></ins>", "2 retries").harmless(t)
			if strings.Contains(got.Body, "secret") != operator {
				t.Errorf("%s: %s", role, got.Body)
			}
			r.look(role, "/job/version", "name", "nightly", "version", "9").wants(t, 404, "version 9")
			r.look(role, "/job/version", "name", "nightly", "version", "x").wants(t, 422, "a number is allowed")
			r.look(role, "/job", "name", "nightly", "before", "x").wants(t, 422, "want a time")
			r.look(role, "/job", "name", "night ly").wants(t, 422, "name of a job")
		}
		r.look(ops.Viewer, "/schedules").wants(t, 200, `<a href="/p/job?name=nightly">`)
		r.look(ops.Operator, "/schedule", "id", "job/nightly").wants(t, 200, "which it is changed with").lacks(t, "/p/schedules/edit?", "Go back")
	})
}

func TestDeedsToAJob(t *testing.T) {
	eachServer(t, func(t *testing.T, r *testRig) {
		r.nightly()
		named := ops.JobNamed{Name: "nightly"}
		get := func() ops.Job {
			is, err := ops.GetJob.Do(t.Context(), r.Ops, served.By(ops.Operator), ops.JobAsked{JobNamed: named})
			r.Must(err)
			return is
		}
		done := func(path, said string, query ...string) {
			t.Helper()
			action, form := r.look(ops.Operator, path, append([]string{"name", "nightly"}, query...)...).wants(t, 200, "nightly", "This is <strong>").harmless(t).filled(t)
			done := r.fills(ops.Operator, action, form).wants(t, http.StatusSeeOther)
			r.get(ops.Operator, done.Header.Get("Location")).wants(t, 200, said).harmless(t)
		}
		done("/jobs/pause", "1 job was paused.")
		if get().Enabled {
			t.Error("it runs")
		}
		done("/jobs/run", "/p/job/run?run=nightly-m")
		done("/jobs/back", "1 job was changed back.", "version", "1")
		is := get()
		if is.Version != 3 || is.Steps[0].Retries != 2 || is.Crontabs[0] != "0 4 * * *" || !is.Steps[1].Shared || is.Enabled {
			t.Errorf("%+v", is)
		}
		action, form := r.look(ops.Operator, "/jobs/back", "name", "nightly", "version", "2").wants(t, 200, "Shared steps are not the job's: they stay as they are now", "The job stays paused").filled(t)
		form.Set("seen", "2")
		r.fills(ops.Operator, action, form).wants(t, 409, "has version 3 by now, not 2", "It was not done")
		done("/jobs/resume", "1 job was resumed.")
		r.serveAt(rig.At("10:00").Add(time.Second))
		action, form = r.look(ops.Operator, "/jobs/pause", "all", "1", "search", "night").wants(t, 200, "1 job").filled(t)
		r.fills(ops.Operator, action, form).wants(t, http.StatusSeeOther)
		r.look(ops.Operator, "/jobs", "state", "paused").wants(t, 200, "paused", "nightly")

		_, err := ops.DeleteJobs.Do(t.Context(), r.OpsAt(rig.At("10:10")), served.By(ops.Operator), ops.JobsChosen{Names: []string{"nightly"}})
		r.Must(err)
		r.serveAt(rig.At("10:11"))
		r.look(ops.Viewer, "/audit", "kind", "job", "verb", "delete").wants(t, 200, `href="/p/job?name=nightly"`)
		r.look(ops.Viewer, "/job", "name", "never").wants(t, 404, "never")
		r.look(ops.Viewer, "/job", "name", "nightly").wants(t, 200, "was deleted", "what it was").lacks(t, "Go back to this one", "Run now", "(now)")
		r.look(ops.Viewer, "/job/version", "name", "nightly", "version", "2").wants(t, 200, "which was deleted", "<ins><bdi>30 4 * * *</bdi></ins>").lacks(t, "<del>")
		action, form = r.look(ops.Operator, "/jobs/back", "name", "nightly", "version", "2").wants(t, 200, "is created again as its version 2", "at 04:30 every day").lacks(t, "stays paused").filled(t)
		back := r.fills(ops.Operator, action, form).wants(t, http.StatusSeeOther)
		r.get(ops.Operator, back.Header.Get("Location")).wants(t, 200, ">fires<", "30 4 * * *")
		if is = get(); is.Version != 4 || is.Steps[0].Retries != 3 || !is.Steps[1].Shared || !is.Enabled {
			t.Errorf("%+v", is)
		}
	})
}
