package page_test

import (
	"context"
	"errors"
	"html"
	"net/http"
	"net/url"
	"strconv"
	"strings"
	"testing"
	"time"

	"prescient/prescient"
	"prescient/prescient/internal/rig"
	"prescient/prescient/internal/rig/served"
	"prescient/prescient/ops"
	"prescient/prescient/ops/definition"
	"prescient/prescient/schedule"
	"prescient/prescient/worker"
)

// daily is a schedule whose texts are hostile where they can be.
func daily(id string) definition.Schedule {
	payload := "secret of " + id
	return definition.Schedule{ID: id, JobExec: "ship", Owner: "customer/" + id, Payload: &payload, Timing: definition.Timing{Crontabs: []string{"0 13 * * *"}, Zone: "Europe/Berlin"}}
}

// creates makes schedules.
func (r *testRig) creates(now time.Time, all ...definition.Schedule) {
	r.T.Helper()
	for _, one := range all {
		_, err := ops.CreateSchedule.Do(r.T.Context(), r.OpsAt(now), served.By(ops.Operator), one)
		r.Must(err)
	}
}

// fired has a worker run the schedules' occurrences of a slot.
func (r *testRig) fired(slots ...string) {
	r.T.Helper()
	registry := rig.Registry("ship", func(_ context.Context, job prescient.FutureJob) (*time.Time, error) {
		return nil, errors.New("refused: " + job.EntityKey)
	}, prescient.Guards{MaxErrors: prescient.None})
	r.Must(schedule.New(r.Client).Register(registry))
	for _, at := range slots {
		w, err := worker.New(r.T.Context(), r.As("worker", rig.At(at)), worker.Options{Prefix: "p_", Dialect: r.Setting, Registry: registry, Name: "w"})
		r.Must(err)
		_, err = w.Run(r.T.Context())
		r.Must(err)
	}
}

func TestSchedulesThatThereAreNotAreSaid(t *testing.T) {
	eachServer(t, func(t *testing.T, r *testRig) {
		for _, role := range ops.Roles[:2] {
			r.look(role, "/schedules").wants(t, 200, "No schedule is found.")
			r.look(role, "/jobs").wants(t, 200, "No job is found.")
			r.look(role, "/schedule", "id", "<b>none").wants(t, 404, "&lt;b&gt;none")
			r.look(role, "/job", "name", "none").wants(t, 404, "none")
			r.look(role, "/job/run", "run", "none-1").wants(t, 404, "the log has no run")
			r.look(role, "/job/run", "run", "none").wants(t, 422, "is no run")
			r.look(role, "/schedules", "owner", "<x").wants(t, 422, "&lt;x")
			r.look(role, "/schedules/preview").wants(t, 200, "Crontabs, one a line").lacks(t, "The next occurrences")
			r.look(role, "/schedules/preview", "crontabs", "0 3 * * *\r\n\r\n*/20 * * * *", "zone", "Europe/Berlin").wants(t, 200, "at 03:00 every day", "every 20 minutes", "Fri 2026-11-20 11:20:00 &#43;01:00", "2027-03-28 01:00:00 UTC", "The next occurrences")
			r.look(role, "/schedules/preview", "crontabs", "<script>alert(1)</script>").wants(t, 200, "&lt;script&gt;").harmless(t)
		}
		for _, path := range []string{"/schedules/new", "/schedules/edit", "/schedules/back", "/schedules/pause", "/schedules/resume", "/schedules/run", "/schedules/plan", "/schedules/delete", "/jobs/pause", "/jobs/resume", "/jobs/run", "/jobs/back"} {
			r.look(ops.Viewer, path).wants(t, 403, "needs the role operator")
			r.sends(ops.Viewer, "/p"+path, map[string]string{"id": "a", "name": "a"}).wants(t, 403, "needs the role operator")
		}
		r.look(ops.Operator, "/schedules/pause").wants(t, 422, "no schedule is chosen")
		r.look(ops.Operator, "/schedules/pause", "all", "1").wants(t, 422, "search for schedules first")
		r.look(ops.Operator, "/jobs/pause", "all", "1", "search", "x").wants(t, 422, "no job is chosen")
	})
}

func TestViewsOfSchedules(t *testing.T) {
	eachServer(t, func(t *testing.T, r *testRig) {
		for _, id := range hostile {
			r.creates(rig.At("10:00"), daily(id))
		}
		r.fired("12:00:01")
		r.serveAt(rig.At("12:10"))
		for _, role := range ops.Roles[:2] {
			got := r.look(role, "/schedules").wants(t, 200, "at 13:00 every day (Europe/Berlin)", "2026-11-21 12:00:00 UTC", "failed", "refused: ", "&lt;script&gt;").harmless(t)
			if pause := "Pause the chosen"; strings.Contains(got.Body, pause) != role.May(ops.Operator) {
				t.Errorf("%s: %s", role, got.Body)
			}
			got.lacks(t, "secret")
			r.look(role, "/schedules", "search", "ALERT(1)").wants(t, 200, "&lt;script&gt;").harmless(t).lacks(t, "evil")
			r.look(role, "/schedules", "search", "nothing <b>").wants(t, 200, "No schedule is found.", `value="nothing &lt;b&gt;"`)
			r.look(role, "/schedules", "state", "paused").wants(t, 200, "No schedule is found.")
			for _, id := range hostile {
				got := r.look(role, "/schedule", "id", id).wants(t, 200, "at 13:00 every day", "Sat 2026-11-21 13:00:00 &#43;01:00", "Around the next change of clocks", "Sat 2027-03-27 13:00:00 &#43;01:00",
					"Sun 2027-03-28 13:00:00 &#43;02:00", "refused: ", "failed", "create", "The next occurrences").harmless(t)
				if sees := role.May(ops.Operator); strings.Contains(got.Body, "secret of ") != sees || strings.Contains(got.Body, "/p/schedules/edit?") != sees {
					t.Errorf("%s: %s", role, got.Body)
				}
			}
		}
	})
}

// What is enabled and cannot be read does not fire, whatever its row says.
func TestAScheduleWhoseCrontabCannotBeReadIsNotSaidToFire(t *testing.T) {
	eachServer(t, func(t *testing.T, r *testRig) {
		r.nightly()
		r.creates(rig.At("10:00"), daily("good"), daily("bad"), daily("nowhere"))
		r.serveAt(rig.At("10:10"))
		r.look(ops.Viewer, "/schedules").wants(t, 200, ">fires<").lacks(t, "cannot fire")
		r.look(ops.Viewer, "/jobs").wants(t, 200, ">fires<").lacks(t, "cannot fire")
		r.Exec("UPDATE p_schedule SET crontabs = '61 * * * *' WHERE id IN ('bad', 'job/nightly')")
		r.Exec("UPDATE p_schedule SET zone = 'Europe/<b>Nowhere' WHERE id = 'nowhere'")
		r.serveAt(rig.At("10:20"))
		got := r.look(ops.Viewer, "/schedules").wants(t, 200, ">fires<", "cannot be read: 61 * * * *", "Europe/&lt;b&gt;Nowhere").harmless(t)
		if n := strings.Count(got.Body, ">cannot fire<"); n != 3 {
			t.Errorf("%d schedules cannot fire: %s", n, got.Body)
		}
		r.look(ops.Viewer, "/schedule", "id", "bad").wants(t, 200, ">cannot fire<", "61 * * * *").lacks(t, ">fires<")
		for _, path := range []string{"/jobs", "/job"} {
			r.look(ops.Viewer, path, "name", "nightly").wants(t, 200, ">cannot fire<", "61 * * * *").lacks(t, ">fires<")
		}
		r.Exec("UPDATE p_schedule SET enabled = 0 WHERE id = 'bad'")
		r.serveAt(rig.At("10:30"))
		r.look(ops.Viewer, "/schedule", "id", "bad").wants(t, 200, ">paused<").lacks(t, ">cannot fire<")
	})
}

// A list asks for the last outcomes of all its rows at once.
func TestTheLastOutcomesOfAListAreAskedForAtOnce(t *testing.T) {
	eachServer(t, func(t *testing.T, r *testRig) {
		h := &rig.Hooks{}
		a := newAsker(t, r.HookedOps(rig.At("12:10"), h))
		sent := func(path, text string) int {
			a.now = a.now.Add(3 * time.Second)
			a.ask(ops.Operator, path).wants(t, 200)
			before := count(h)
			a.now = a.now.Add(3 * time.Second)
			a.ask(ops.Operator, path).wants(t, 200, text)
			return count(h) - before
		}
		r.nightly()
		r.creates(rig.At("10:00"), daily("one"))
		r.fired("12:00:01")
		schedules, jobs := sent("/p/schedules", "refused: one"), sent("/p/jobs", "nightly")
		for i := range 30 {
			one := daily("s" + strconv.Itoa(i))
			r.creates(rig.At("10:00"), one)
			_, err := ops.CreateJob.Do(t.Context(), r.OpsAt(rig.At("10:00")), served.By(ops.Operator), definition.Job{Name: one.ID, Timing: one.Timing, Steps: []definition.Step{{Name: "a", JobExec: "ship"}}})
			r.Must(err)
		}
		// Those that never ran are looked for in all of history, by one statement more.
		if n := sent("/p/schedules", "refused: one"); n > schedules+1 {
			t.Errorf("50 schedules take %d statements, and few take %d", n, schedules)
		}
		if n := sent("/p/jobs", "nightly-1795172400"); n > jobs {
			t.Errorf("31 jobs take %d statements, and one takes %d", n, jobs)
		}
	})
}

// seenStep sends the review of a form.
func seenStep(form url.Values) url.Values {
	form.Set("_step", "seen")
	return form
}

func TestAScheduleIsCreatedAndChangedAfterItsDifferenceWasSeen(t *testing.T) {
	eachServer(t, func(t *testing.T, r *testRig) {
		const id = `a"><script>alert(1)</script>𝄞`
		action, form := r.look(ops.Operator, "/schedules/new").wants(t, 200, "Look what it comes to", "How late an occurrence may be and still fire as usual").filled(t)
		set(form, "id", id, "crontabs", "0 13 * * *\r\n@daily", "zone", "Europe/Berlin", "job_exec", "ship", "payload_is", "text", "payload", "one\r\ntwo", "_reason", "new <b>")
		form.Set("catch_up_within", "soon")
		r.fills(ops.Operator, action, form).wants(t, 422, "It was not done", "a time as in 90s", `value="soon"`).harmless(t)
		set(form, "catch_up_within", "1h30m", "crontabs", "61 * * * *")
		r.fills(ops.Operator, action, form).wants(t, 422, "61 * * * *").harmless(t)
		form.Set("crontabs", "*/5 * * * *")
		r.fills(ops.Operator, action, form).wants(t, 422, "too fine")
		form.Set("crontabs", "0 13 * * *\r\n@daily")
		action, form = r.fills(ops.Operator, action, form).wants(t, 200, "is created, and fires from now on", "Create the schedule", "at 00:00 every day", "<ins><bdi>1h30m</bdi></ins>", "Fri 2026-11-20 13:00:00").harmless(t).filled(t)
		if list, err := ops.ListSchedules.Do(t.Context(), r.Ops, served.By(ops.Viewer), ops.SchedulesAsked{Paging: ops.Paging{Limit: 1}}); err != nil || len(list.Rows) != 0 {
			t.Errorf("a review has created %+v, %v", list, err)
		}
		form.Set("_step", "back")
		r.fills(ops.Operator, action, form).wants(t, 200, "Look what it comes to", `value="1h30m"`, "one\ntwo").harmless(t)
		for range 2 {
			done := r.fills(ops.Operator, action, seenStep(form)).wants(t, http.StatusSeeOther)
			r.get(ops.Operator, done.Header.Get("Location")).wants(t, 200, "1 schedule was created.", "Version 1", "new &lt;b&gt;").harmless(t)
		}
		is, err := ops.GetSchedule.Do(t.Context(), r.Ops, served.By(ops.Operator), ops.ScheduleAsked{ID: id})
		r.Must(err)
		if is.Payload == nil || *is.Payload != "one\ntwo" || len(is.Crontabs) != 2 || is.CatchUpWithinMS != 5_400_000 {
			t.Errorf("%+v", is)
		}

		action, form = r.look(ops.Operator, "/schedules/edit", "id", id).wants(t, 200, "one\ntwo", "Look what changes", `value="1h30m"`).harmless(t).filled(t)
		set(form, "crontabs", "30 2 * * *", "payload_is", "keep", "long", "1", "overlap", "queue", "no_quota", "1")
		action, form = r.fills(ops.Operator, action, form).wants(t, 200, "The difference", "at 02:30 every day", "Sun 2027-03-28 03:00:00", "<ins><bdi>queue</bdi></ins>", "a run takes as long as it does").harmless(t).lacks(t, "Payload").filled(t)
		// Somebody else is faster.
		other := daily(id)
		other.Payload, other.Owner = is.Payload, ""
		_, err = ops.UpdateSchedule.Do(t.Context(), r.OpsAt(rig.At("10:00")), served.By(ops.Operator), ops.ScheduleUpdate{Schedule: other})
		r.Must(err)
		r.fills(ops.Operator, action, seenStep(form)).wants(t, 409, "has version 2 by now, not 1", "It was not done", "30 2 * * *")
		form.Set("version", "2")
		done := r.fills(ops.Operator, action, seenStep(form)).wants(t, http.StatusSeeOther)
		r.get(ops.Operator, done.Header.Get("Location")).wants(t, 200, "1 schedule was changed.", "Version 3", "queue")
		r.look(ops.Operator, "/schedules/edit", "id", "none").wants(t, 404, "none")
		form.Set("version", "x")
		r.fills(ops.Operator, action, seenStep(form)).wants(t, 422, "a number is allowed")
		if is, err = ops.GetSchedule.Do(t.Context(), r.Ops, served.By(ops.Operator), ops.ScheduleAsked{ID: id}); err != nil || *is.Payload != "one\ntwo" || !is.NoQuota || !is.Long {
			t.Errorf("%+v, %v", is, err)
		}
		r.look(ops.Operator, "/schedules/new", "like", id).wants(t, 200, "30 2 * * *", "one\ntwo")
	})
}

func TestAScheduleGoesBackToAVersion(t *testing.T) {
	eachServer(t, func(t *testing.T, r *testRig) {
		const id = "digest <b>"
		first := daily(id)
		first.Owner = ""
		long := strings.Repeat("x", 5000)
		first.Payload = &long
		r.creates(rig.At("10:00"), first)
		second := first
		short := "short"
		second.Payload, second.Crontabs, second.JitterMS = &short, []string{"30 2 * * mon"}, 60_000
		_, err := ops.UpdateSchedule.Do(t.Context(), r.OpsAt(rig.At("10:01")), served.By(ops.Operator), ops.ScheduleUpdate{Schedule: second})
		r.Must(err)
		_, err = ops.PauseSchedule.Do(t.Context(), r.OpsAt(rig.At("10:02")), served.By(ops.Operator), ops.ScheduleAsked{ID: id})
		r.Must(err)
		r.serveAt(rig.At("10:05"))
		r.look(ops.Viewer, "/schedule", "id", id).wants(t, 200, "<ins><bdi>30 2 * * mon</bdi></ins>").lacks(t, "Go back to this one", "3000 bytes", "short", "SHA-256")
		got := r.look(ops.Operator, "/schedule", "id", id).wants(t, 200, "Go back to this one", "<del><bdi>0 13 * * *</bdi></del>", "<ins><bdi>30 2 * * mon</bdi></ins>", "5000 bytes, SHA-256 ", "/p/audit?")
		if n := strings.Count(got.Body, "Go back to this one"); n != 1 { // the pause defines nothing
			t.Errorf("%d versions to go back to in %s", n, got.Body)
		}
		last := got.Body[strings.LastIndex(got.Body, "/p/schedules/back?"):]
		address, _, _ := strings.Cut(last, `"`)
		question := r.get(ops.Operator, html.UnescapeString(address)).wants(t, 200, "that of version 1", "payload included", "5000 bytes", "The schedule stays paused", "at 13:00 every day")
		action, form := question.filled(t)
		form.Set("_reason", "it was better")
		done := r.fills(ops.Operator, action, form).wants(t, http.StatusSeeOther)
		r.get(ops.Operator, done.Header.Get("Location")).wants(t, 200, "1 schedule was changed back.", "Version 4", "it was better", "paused")
		is, err := ops.GetSchedule.Do(t.Context(), r.Ops, served.By(ops.Operator), ops.ScheduleAsked{ID: id})
		r.Must(err)
		if *is.Payload != long || is.Crontabs[0] != "0 13 * * *" || is.JitterMS != 0 || is.Enabled {
			t.Errorf("%+v", is)
		}
		r.fills(ops.Operator, action, form).wants(t, http.StatusSeeOther) // sent again it is done once
		form.Set("_key", "another")
		r.fills(ops.Operator, action, form).wants(t, 409, "version 4 by now, not 3")
		r.look(ops.Operator, "/schedules/back", "id", id, "version", "9").wants(t, 404, "version 9 of schedule")
		r.look(ops.Operator, "/schedules/back", "id", id, "version", "1", "of", "2026-11-19T10:00:00Z").wants(t, 404, "version 1 of schedule")
		// One that was deleted still has its versions, and is created again as one of them was.
		_, err = ops.DeleteSchedules.Do(t.Context(), r.OpsAt(rig.At("10:06")), served.By(ops.Operator), ops.SchedulesChosen{IDs: []string{id}})
		r.Must(err)
		r.serveAt(rig.At("10:06"))
		r.look(ops.Viewer, "/audit", "kind", "schedule", "verb", "delete").wants(t, 200, `href="/p/schedule?id=digest&#43;%3Cb%3E"`)
		r.look(ops.Viewer, "/schedule", "id", id).wants(t, 200, "digest &lt;b&gt;</bdi> was deleted", "<ins><bdi>30 2 * * mon</bdi></ins>").lacks(t, "Go back to this one", "Run now").harmless(t)
		r.look(ops.Viewer, "/schedule", "id", "never").wants(t, 404, "never")
		got = r.look(ops.Operator, "/schedule", "id", id).wants(t, 200, "was deleted", "it was better")
		if n := strings.Count(got.Body, "Go back to this one"); n != 3 {
			t.Errorf("%d versions to go back to in %s", n, got.Body)
		}
		last = got.Body[strings.LastIndex(got.Body, "/p/schedules/back?"):]
		address, _, _ = strings.Cut(last, `"`)
		action, form = r.get(ops.Operator, html.UnescapeString(address)).wants(t, 200, "is created again as its version 1 was", "at 13:00 every day", "<ins><bdi>0 13 * * *</bdi></ins>").lacks(t, "stays paused", "<del>").filled(t)
		done = r.fills(ops.Operator, action, form).wants(t, http.StatusSeeOther)
		r.get(ops.Operator, done.Header.Get("Location")).wants(t, 200, ">fires<", "Version 1,")
		if is, err = ops.GetSchedule.Do(t.Context(), r.Ops, served.By(ops.Operator), ops.ScheduleAsked{ID: id}); err != nil || *is.Payload != long || !is.Enabled {
			t.Errorf("%+v, %v", is, err)
		}
		_, err = ops.DeleteSchedules.Do(t.Context(), r.OpsAt(rig.At("10:06")), served.By(ops.Operator), ops.SchedulesChosen{IDs: []string{id}})
		r.Must(err)
		// One that is there again has those of all.
		r.creates(rig.At("10:07"), second)
		got = r.look(ops.Operator, "/schedule", "id", id).wants(t, 200, "of the one created", "&amp;of=2026-11-20T10%3A00%3A00Z")
		if n := strings.Count(got.Body, "Go back to this one"); n != 3 {
			t.Errorf("%d versions to go back to in %s", n, got.Body)
		}
		r.look(ops.Operator, "/schedules/back", "id", id, "version", "x").wants(t, 422, "a number is allowed")
	})
}

func TestSchedulesAreSwitchedTogether(t *testing.T) {
	eachServer(t, func(t *testing.T, r *testRig) {
		for _, id := range hostile {
			r.creates(rig.At("10:00"), daily(id))
		}
		r.creates(rig.At("10:00"), daily("other"))
		action, form := r.look(ops.Operator, "/schedules/pause", "all", "1", "search", "alert(1)").wants(t, 200, "do not fire until they are resumed", "4 schedules", "This is <strong>").harmless(t).filled(t)
		if len(form["chosen"]) != 4 {
			t.Fatalf("%v", form)
		}
		done := r.fills(ops.Operator, action, form).wants(t, http.StatusSeeOther)
		r.get(ops.Operator, done.Header.Get("Location")).wants(t, 200, "4 schedules were paused.").harmless(t)
		if n := r.Count("SELECT COUNT(*) FROM p_audit_log WHERE kind = 'installation' AND verb = 'pause.schedules'"); n != 1 {
			t.Errorf("%d entries of the deed", n)
		}
		r.look(ops.Operator, "/schedules", "state", "paused").wants(t, 200, "paused").harmless(t).lacks(t, "other<", "evil")
		// Those whose boxes were ticked are in the address.
		chosen := []string{"id", hostile[0], "id", hostile[4], "id", "other"}
		for _, one := range []struct{ path, said string }{
			{"/schedules/resume", "1 schedule was resumed."}, {"/schedules/run", "3 runs were asked for"}, {"/schedules/plan", "Nothing was changed"}, {"/schedules/pause", "3 schedules were paused."}, {"/schedules/pause", "Nothing was changed"}, {"/schedules/delete", "3 schedules were deleted."},
		} {
			action, form := r.look(ops.Operator, one.path, chosen...).wants(t, 200, "3 schedules", "U+0001").harmless(t).filled(t)
			done := r.fills(ops.Operator, action, form).wants(t, http.StatusSeeOther)
			r.get(ops.Operator, done.Header.Get("Location")).wants(t, 200, one.said).harmless(t)
		}
		left, err := ops.ListSchedules.Do(t.Context(), r.Ops, served.By(ops.Viewer), ops.SchedulesAsked{Paging: ops.Paging{Limit: 10}})
		r.Must(err)
		if len(left.Rows) != len(hostile)-2 {
			t.Errorf("%+v", left.Rows)
		}
		r.look(ops.Operator, "/schedules/run", "id", "none").wants(t, 404, "none")
	})
}
