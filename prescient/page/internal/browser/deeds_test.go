package browser_test

import (
	"testing"

	"prescient/prescient"
	"prescient/prescient/internal/rig"
	"prescient/prescient/ops"
)

// Each deed is done once by pressing what is on the page, and what stands in the database then is what was pressed.
func TestDeedsAreDoneByPressingButtons(t *testing.T) {
	c := start(t)
	s := staged(t)
	b := s.tab(c, ops.Operator, "/find?entity=order/25")
	count := func(what string, want int, query string, args ...any) {
		t.Helper()
		if n := s.Count(query, args...); n != want {
			t.Errorf("%s: %d; want %d", what, n, want)
		}
	}

	// A check is moved, then cancelled.
	b.press("Move to another time")
	b.wants("This check moves to another time", "shop, staging")
	b.choose("due_at", "2026-11-20T16:01")
	b.fill("reason", "the carrier is late")
	b.press("Move the check")
	b.wants("The check was moved.", "2026-11-20 16:15:00 UTC", "the carrier is late")
	count("moved", 1, "SELECT COUNT(*) FROM p_future_job WHERE entity_key = '25' AND job_exec = 'order-unshipped' AND next_check_at = '2026-11-20 16:15:00'")
	b.press("Cancel")
	b.wants("ends as cancelled")
	b.press("Cancel the check")
	b.wants("1 check was cancelled.", "Nothing: no check is pending.")
	count("cancelled", 1, "SELECT COUNT(*) FROM p_job_history WHERE entity_key = '25' AND outcome = 'cancelled'")

	// A job_exec is paused and resumed.
	b.visit("/exec?job_exec=carrier-late")
	b.press("Pause")
	b.wants("are not called")
	b.fill("reason", "the carrier is down")
	b.press("Pause")
	b.wants("It is paused.", "the carrier is down")
	count("paused", 1, "SELECT COUNT(*) FROM p_job_pause WHERE job_exec = 'carrier-late'")
	b.visit("/exec?job_exec=carrier-late")
	b.press("Resume")
	b.wants("It is paused since")
	b.press("Resume")
	b.wants("It is not paused any more.")
	count("paused still", 0, "SELECT COUNT(*) FROM p_job_pause")

	// An agent drains.
	b.press("Agents")
	b.wants("Who works")
	b.press("Drain")
	b.wants("will take nothing new")
	b.press("Drain")
	b.wants("takes nothing new", "to drain")
	count("draining", 1, "SELECT COUNT(*) FROM p_agent WHERE wanted = 'drain'")

	// One event that was refused is sent again, the other is dropped.
	b.press("Events")
	b.wants("What brokers refused")
	b.tick("#n-1001")
	b.press("Send the chosen again")
	b.wants("1 event that a broker refused is put into the outbox again")
	b.press("Send again")
	b.wants("1 event was put into the outbox again.")
	b.tick("#n-1002")
	b.press("Drop the chosen")
	b.wants("deleted, and never published")
	b.press("Drop")
	b.wants("1 event was dropped.", "None was found.")
	count("set aside", 0, "SELECT COUNT(*) FROM p_event_set_aside")
	count("in the outbox", 2, "SELECT COUNT(*) FROM p_event_outbox")

	// A schedule is changed after its difference was seen, then run at once, and switched off and on.
	b.visit("/schedule?id=digest/7")
	b.press("Edit")
	b.wants("Crontabs, one a line")
	b.fill("crontabs", "15 9 * * mon-fri")
	b.wants("at 09:15")
	b.press("Look what changes")
	b.wants("The difference", "Save the schedule")
	count("changed by a look", 2, "SELECT version FROM p_schedule WHERE id = 'digest/7'")
	b.press("Back to the form")
	b.wants("Look what changes")
	b.fill("in-zone", "Europe/Vienna")
	b.fill("reason", "they sleep longer")
	b.press("Look what changes")
	b.wants("Europe/Vienna", "Save the schedule")
	b.press("Save the schedule")
	b.wants("1 schedule was changed.", "Version 3", "they sleep longer")
	count("versions", 3, "SELECT version FROM p_schedule WHERE id = 'digest/7'")
	b.press("Run now")
	b.wants("One run of each is put into the next open slot")
	b.press("Run now")
	b.wants("1 run was asked for")
	count("runs", 1, "SELECT COUNT(*) FROM p_future_job WHERE job_exec = 'digest' AND next_check_at = '2026-11-20 13:45:00'")
	b.visit("/schedule?id=digest/7")
	b.press("Pause")
	b.wants("They do not fire")
	b.press("Pause")
	b.wants("1 schedule was paused.")
	count("off", 0, "SELECT enabled FROM p_schedule WHERE id = 'digest/7'")

	// Somebody signs out, and is nobody then.
	b.press("Log out")
	b.until("document.querySelector('#password')")
	b.visit("/events")
	b.until("document.querySelector('#password') && location.search.includes('next=')")
	count("sessions", 0, "SELECT COUNT(*) FROM p_web_session")
	b.quiet("the deeds")
}

// All that a filter matches is cancelled, and what ended is made pending again: with a preview, and with progress that shows without a reload.
func TestADeedInBulkIsPreviewedAndFollowed(t *testing.T) {
	c := start(t)
	s := onOneServer(t, now)
	var jobs []prescient.NewJob
	for i := range 40 {
		jobs = append(jobs, prescient.NewJob{Entity: rig.Order(rig.Numbered(40)[i]), JobExec: "carrier-late", DueAt: rig.At("16:00")})
	}
	_, err := s.Client.InsertMany(t.Context(), s.AppAt(rig.At("08:30")), jobs)
	s.Must(err)
	b := s.tab(c, ops.Operator, "/pending?job_exec=carrier-late")
	b.press("Do something to all that match")
	b.wants("It is counted and shown first.")
	b.press("Look to what")
	b.wants("40 checks match.", "The first of them", "shop, staging")
	b.press("Do it to all of them")
	b.wants("It has begun.", "0 checks done of 40")
	evaluate[bool](b, "window.stays = true")
	s.Must(s.OpsAt(now).WorkBulk(t.Context(), "w"))
	b.wants("40 checks done of 40")
	if !evaluate[bool](b, "window.stays === true && !document.querySelector('progress')") {
		t.Error("the page was loaded anew, or shows progress of what is over")
	}
	if n := s.Count("SELECT COUNT(*) FROM p_job_history WHERE outcome = 'cancelled'"); n != 40 || s.Count(rig.CountPending) != 0 {
		t.Errorf("%d ended, %d wait", n, s.Count(rig.CountPending))
	}

	s.Exec("UPDATE p_job_history SET ended_at = ended_at - INTERVAL 1 MINUTE") // as the clock stands still
	b.visit("/ends?outcome=cancelled")
	b.press("Make all that match pending again")
	b.wants("It is counted and shown first.")
	b.choose("due_at", "2026-11-20T17:00")
	b.press("Look to what")
	b.wants("40 checks match.")
	b.press("Do it to all of them")
	b.wants("It has begun.")
	s.Must(s.OpsAt(now).WorkBulk(t.Context(), "w"))
	b.wants("40 checks done of 40")
	if n := s.Count("SELECT COUNT(*) FROM p_future_job WHERE next_check_at = '2026-11-20 17:00:00'"); n != 40 {
		t.Errorf("%d are pending", n)
	}
	b.quiet("bulk")
}

// It all works where the browser runs no scripts.
func TestWithoutScriptsItAllWorks(t *testing.T) {
	c := start(t)
	s := staged(t)
	b := c.tab(s.base)
	b.scriptless()
	b.signIn(people[ops.Operator], "/find")
	b.until("document.querySelector('#tools').hidden") // what scripts alone can do is not offered
	b.fill("entity", "order/25")
	b.press("Find")
	b.wants("What happens next")
	b.press("Cancel")
	b.wants("ends as cancelled")
	b.press("Cancel the check")
	b.wants("1 check was cancelled.")
	if n := s.Count("SELECT COUNT(*) FROM p_job_history WHERE entity_key = '25' AND outcome = 'cancelled'"); n != 1 {
		t.Errorf("%d were cancelled", n)
	}
	b.visit("/schedules/new")
	b.fill("id", "inventory")
	b.fill("crontabs", "0 4 * * *")
	b.fill("job_exec", "inventory")
	b.press("Look what it comes to")
	b.wants("is created, and fires from now on", "at 04:00 every day")
	b.press("Create the schedule")
	b.wants("1 schedule was created.", "Version 1")
	if n := s.Count("SELECT COUNT(*) FROM p_schedule WHERE id = 'inventory'"); n != 1 {
		t.Errorf("%d were created", n)
	}
	b.quiet("without scripts")
}

// Two people look at once: what the one may not do has no button, and is refused where it is sent all the same.
func TestTwoPeopleLookAtOnceEachInTheirRole(t *testing.T) {
	c := start(t)
	s := staged(t)
	otto, vera := s.tab(c, ops.Operator, "/find?entity=order/25"), s.tab(c, ops.Viewer, "/find?entity=order/25")
	otto.wants("operator", "Move to another time", "Cancel")
	vera.wants("viewer", "What happens next")
	vera.lacks("Move to another time", "Cancel", "Payload")
	for _, path := range []string{"/", "/pending", "/ends", "/execs", "/exec?job_exec=carrier-late", "/agents", "/events", "/schedules", "/schedule?id=digest/7", "/jobs", "/job?name=nightly", "/bulk"} {
		vera.visit(path)
		vera.until("document.querySelector('h1')")
		if forms := evaluate[[]string](vera, `[...document.querySelectorAll("main form[method=post], main a.button, main input[type=checkbox], nav a[href$='/blocking']")].map((one) => one.outerHTML)`); len(forms) > 0 {
			t.Errorf("%s: a viewer is shown %q", path, forms)
		}
	}
	vera.visit("/checks/cancel?entity=order/25&job_exec=order-unshipped")
	vera.wants("Not allowed")
	vera.heard("403")
	// The operator's form, sent by the viewer.
	otto.press("Cancel")
	otto.wants("ends as cancelled")
	answered := evaluateAwaited[float64](vera, `fetch("`+s.base+`/checks/cancel?entity=order%2F25&job_exec=order-unshipped", {method: "POST", headers: {"Content-Type": "application/x-www-form-urlencoded"},
		body: "_key=`+evaluate[string](otto, "document.querySelector('[name=_key]').value")+`"}).then((got) => got.status)`)
	if n := s.Count("SELECT COUNT(*) FROM p_future_job WHERE entity_key = '25' AND job_exec = 'order-unshipped'"); answered != 403 || n != 1 {
		t.Errorf("a viewer's deed was answered %v, %d are pending", answered, n)
	}
	vera.heard("403")
	otto.press("Cancel the check")
	otto.wants("1 check was cancelled.")
	// What others of the role were shown a moment ago may be shown for two seconds more.
	s.Eventually("the viewer sees it", func() bool {
		vera.visit("/find?entity=order/25")
		vera.until("document.querySelector('h1')")
		return evaluate[bool](vera, "document.body.innerText.includes('Nothing: no check is pending.')")
	})
	otto.quiet("the operator")
	vera.quiet("the viewer")
}
