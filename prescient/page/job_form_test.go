package page_test

import (
	"encoding/json"
	"fmt"
	"net/http"
	"net/url"
	"slices"
	"strings"
	"testing"

	"prescient/prescient/internal/rig"
	"prescient/prescient/internal/rig/served"
	"prescient/prescient/ops"
	"prescient/prescient/ops/definition"
)

// step puts a value of the form that is that of one of its steps.
func step(form url.Values, no int, pairs ...string) {
	for i := 0; i < len(pairs); i += 2 {
		form["step_"+pairs[i]][no-1] = pairs[i+1]
	}
}

// pressed sends a form by one of its buttons, and returns the form that comes back.
func (r *testRig) pressed(action string, form url.Values, button string) (reply, url.Values) {
	r.T.Helper()
	form.Set("_step", button)
	got := r.fills(ops.Operator, action, form).wants(r.T, 200, "Nothing is changed before that was seen").harmless(r.T)
	_, form = got.filled(r.T)
	return got, form
}

func TestAJobIsMadeAndChangedByItsForm(t *testing.T) {
	eachServer(t, func(t *testing.T, r *testRig) {
		o, by := r.OpsAt(rig.At("10:00")), served.By(ops.Operator)
		_, err := ops.PutStep.Do(t.Context(), o, by, ops.StepUpdate{Step: definition.Step{Name: "report", JobExec: "send-report"}})
		r.Must(err)
		get := func() ops.Job {
			t.Helper()
			is, err := ops.GetJob.Do(t.Context(), r.Ops, by, ops.JobAsked{JobNamed: ops.JobNamed{Name: "nightly"}})
			r.Must(err)
			return is
		}
		r.look(ops.Viewer, "/jobs").lacks(t, "New job")
		r.look(ops.Operator, "/jobs").wants(t, 200, "/p/jobs/new")
		for _, path := range []string{"/jobs/new", "/jobs/edit"} {
			r.look(ops.Viewer, path, "name", "nightly").wants(t, 403, "needs the role operator")
			r.sends(ops.Viewer, "/p"+path+"?name=nightly", map[string]string{"name": "nightly"}).wants(t, 403, "needs the role operator")
		}

		// The steps are put in order by buttons.
		action, form := r.look(ops.Operator, "/jobs/new").wants(t, 200, "Step 1", "How late an occurrence may be and still fire as usual", "forbid ends it as overlapped", "Half of the interval by default").lacks(t, "Step 2", "Move step 1 up", "Move step 1 down").filled(t)
		set(form, "name", "nightly", "crontabs", "0 4 * * *", "zone", "Europe/Berlin")
		step(form, 1, "name", "export", "exec", "export-orders", "arguments", "{\"to\":\r\n\"<script>alert(1)</script>\"}", "timeout", "90s", "retries", "3", "wait", "1m")
		_, form = r.pressed(action, form, "add")
		step(form, 2, "name", "second", "exec", "ship", "failure", "continue")
		got, form := r.pressed(action, form, "add")
		if n := strings.Count(got.Body, " autofocus"); n != 1 || !strings.Contains(got.Body, `name="step_name" maxlength="64" value="" autocomplete="off" autofocus`) {
			t.Errorf("%d fields have the focus: %s", n, got.Body)
		}
		step(form, 3, "name", "report", "is", "shared")
		_, form = r.pressed(action, form, "up 3")
		_, form = r.pressed(action, form, "down 1")
		if want := []string{"report", "export", "second"}; !slices.Equal(form["step_name"], want) || form["step_timeout"][1] != "90s" || form["step_is"][0] != "shared" || form["step_failure"][2] != "continue" {
			t.Errorf("%v", form)
		}
		_, form = r.pressed(action, form, "add")
		_, form = r.pressed(action, form, "remove 4")
		for _, button := range []string{"up 1", "down 3", "remove 9", "remove -1", "up x", "nothing", "back"} {
			if _, form = r.pressed(action, form, button); len(form["step_name"]) != 3 {
				t.Errorf("%s: %v", button, form)
			}
		}
		form.Del("_step")
		r.fills(ops.Operator, action, form).wants(t, 200)
		step(form, 2, "retries", "many")
		r.fills(ops.Operator, action, form).wants(t, 422, "step 2: ", "retries", "It was not done", `value="many"`).harmless(t)
		step(form, 2, "retries", "3")
		step(form, 3, "arguments", "{no")
		r.fills(ops.Operator, action, form).wants(t, 422, "are not JSON", "step 3").harmless(t)
		step(form, 3, "arguments", "")
		step(form, 1, "name", "none")
		r.fills(ops.Operator, action, form).wants(t, 422, "there is no shared step &#34;none&#34;")
		step(form, 1, "name", "report")
		form.Set("crontabs", "*/5 * * * *")
		r.fills(ops.Operator, action, form).wants(t, 422, "too fine")
		form.Set("crontabs", "0 4 * * *")
		action, form = r.fills(ops.Operator, action, form).wants(t, 200, "is created, and runs from now on", "at 04:00 every day", "The shared step <bdi>report</bdi> runs <bdi>send-report</bdi>", "3 retries after 1m", "&lt;script&gt;", "Create the job").harmless(t).filled(t)
		if list, err := ops.ListJobs.Do(t.Context(), r.Ops, by, ops.JobsAsked{Paging: ops.Paging{Limit: 1}}); err != nil || len(list.Rows) != 0 {
			t.Errorf("a review has created %+v, %v", list, err)
		}
		for range 2 { // sent again it is done once
			done := r.fills(ops.Operator, action, seenStep(form)).wants(t, http.StatusSeeOther)
			r.get(ops.Operator, done.Header.Get("Location")).wants(t, 200, "1 job was created.", "1 (now)").harmless(t)
		}
		if is := get(); len(is.Steps) != 3 || !is.Steps[0].Shared || is.Steps[1].TimeoutMS != 90_000 || is.Steps[1].RetryWaitMS != 60_000 || is.Steps[2].OnFailure != "continue" || is.Steps[2].RetryWaitMS != 0 {
			t.Errorf("%+v", is)
		}

		// What nobody has changed is no change.
		action, form = r.look(ops.Operator, "/jobs/edit", "name", "nightly").wants(t, 200, "Look what changes", `value="1m30s"`, "Step 3: <bdi>second").harmless(t).filled(t)
		r.fills(ops.Operator, action, form).wants(t, 200, "Nothing changes.")
		_, form = r.pressed(action, form, "remove 1")
		set(form, "overlap", "queue", "quota", "2h")
		action, form = r.fills(ops.Operator, action, unpressed(form)).wants(t, 200, "The difference", "Steps, in order", "Step report", "<ins><bdi>queue</bdi></ins>", "Runs that have begun keep theirs", "Save the job").harmless(t).filled(t)
		// Somebody else is faster.
		other := get().Job
		other.Crontabs = []string{"0 5 * * *"}
		_, err = ops.UpdateJob.Do(t.Context(), o, by, ops.JobUpdate{Job: other})
		r.Must(err)
		r.fills(ops.Operator, action, seenStep(form)).wants(t, 409, "has version 2 by now, not 1", "It was not done", `name="version" value="2"`)
		form.Set("version", "2")
		done := r.fills(ops.Operator, action, seenStep(form)).wants(t, http.StatusSeeOther)
		r.get(ops.Operator, done.Header.Get("Location")).wants(t, 200, "1 job was changed.", "3 (now)", "Go back to this one")
		if is := get(); is.Version != 3 || len(is.Steps) != 2 || is.Overlap != "queue" || is.QuotaMS != 7_200_000 || is.Crontabs[0] != "0 4 * * *" {
			t.Errorf("%+v", is)
		}
		r.look(ops.Operator, "/jobs/edit", "name", "none").wants(t, 404, "none")
		r.look(ops.Operator, "/jobs/new", "like", "nightly").wants(t, 200, "Step 2: <bdi>second", `id="name" name="name" maxlength="64" required value=""`)
	})
}

// unpressed is a form that is sent by its main button.
func unpressed(form url.Values) url.Values {
	form.Del("_step")
	return form
}

// A job of as many steps as are allowed, with what a hostile app wrote, goes through the form as it is.
func TestALargeJobGoesThroughItsForm(t *testing.T) {
	eachServer(t, func(t *testing.T, r *testRig) {
		job := definition.Job{Name: "large", Timing: definition.Timing{Crontabs: []string{"@daily"}}}
		for i := range 100 {
			arguments, err := json.Marshal(fmt.Sprintf("%d \"><script>alert(1)</script> %s", i, hostile[i%len(hostile)]))
			r.Must(err)
			job.Steps = append(job.Steps, definition.Step{Name: fmt.Sprintf("s%d", i), JobExec: "ship", Arguments: arguments})
		}
		_, err := ops.CreateJob.Do(t.Context(), r.OpsAt(rig.At("10:00")), served.By(ops.Operator), job)
		r.Must(err)
		action, form := r.look(ops.Operator, "/jobs/edit", "name", "large").wants(t, 200, "Step 100").harmless(t).filled(t)
		r.fills(ops.Operator, action, form).wants(t, 200, "Nothing changes.")
		_, form = r.pressed(action, form, "add")
		if len(form["step_name"]) != 100 {
			t.Errorf("%d steps", len(form["step_name"]))
		}
		for name := range form {
			if strings.HasPrefix(name, "step_") {
				form[name] = append(form[name], form[name][0])
			}
		}
		r.fills(ops.Operator, action, unpressed(form)).wants(t, 422, "101 steps")
	})
}
