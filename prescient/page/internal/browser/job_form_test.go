package browser_test

import (
	"testing"

	"prescient/prescient/internal/rig/served"
	"prescient/prescient/ops"
)

// A job is put together step by step: the form goes to the server and back for each button, and keeps what was filled in.
func TestAJobIsPutTogetherInItsForm(t *testing.T) {
	c := start(t)
	s := onOneServer(t, now)
	b := s.tab(c, ops.Operator, "/jobs/new")
	b.wants("Crontabs, one a line")
	b.fill("name", "nightly")
	b.fill("crontabs", "0 4 * * *")
	b.wants("at 04:00 every day") // while it is typed
	b.fill("step_name1", "export")
	b.fill("step_exec1", "export-orders")
	b.press("Add a step")
	b.until("document.querySelector('#step_name2')")
	b.fill("step_name2", "count")
	b.fill("step_exec2", "count-orders")
	b.press("Move step 2 up")
	b.until("document.querySelector('#step_name1')?.value === 'count' && document.querySelector('#name').value === 'nightly'")
	b.press("Look what it comes to")
	b.wants("is created, and runs from now on", "at 04:00 every day", "count-orders")
	b.press("Back to the form")
	b.until("document.querySelector('#step_name2')?.value === 'export'")
	b.fill("step_retries2", "3")
	b.fill("reason", "the shop opens at nine")
	b.press("Look what it comes to")
	b.wants("3 retries", "Create the job")
	b.press("Create the job")
	b.wants("1 job was created.", "export-orders")
	is, err := ops.GetJob.Do(t.Context(), s.OpsAt(now), served.By(ops.Operator), ops.JobAsked{JobNamed: ops.JobNamed{Name: "nightly"}})
	s.Must(err)
	if len(is.Steps) != 2 || is.Steps[0].Name != "count" || is.Steps[1].Retries != 3 || is.Crontabs[0] != "0 4 * * *" {
		t.Errorf("%+v", is)
	}
	b.quiet("the form of a job")
}
