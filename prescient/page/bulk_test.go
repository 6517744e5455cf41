package page_test

import (
	"net/http"
	"net/url"
	"strings"
	"testing"
	"time"

	"prescient/prescient/internal/rig/served"
	"prescient/prescient/ops"
)

func TestADeedInBulkIsPreviewedBegunAndFollowed(t *testing.T) {
	eachServer(t, func(t *testing.T, r *testRig) {
		for _, role := range ops.Roles[:2] {
			r.look(role, "/bulk").wants(t, 200, "Nothing was done in bulk yet.")
			r.look(role, "/bulk/run", "number", "7").wants(t, 404, "no such bulk run")
			r.look(role, "/bulk/run", "number", "x").wants(t, 422, "a number is allowed")
			r.look(role, "/bulk", "after", "x").wants(t, 422, "is no cursor")
		}
		for _, path := range []string{"/bulk/new", "/bulk/stop"} {
			r.look(ops.Viewer, path).wants(t, 403, "needs the role operator")
			r.sends(ops.Viewer, "/p"+path, map[string]string{"deed": "cancel", "job_exec": "ship", "number": "1"}).wants(t, 403, "needs the role operator")
		}
		now := time.Now().UTC()
		r.serveNow()
		due := now.Add(2 * time.Hour)
		var checks []ops.NewCheck
		for _, key := range hostile {
			checks = append(checks, served.Check(key, "ship", due), served.Check(key, "pay", due))
		}
		_, err := ops.InsertChecks.Do(t.Context(), r.Ops, served.By(ops.Operator), ops.Inserting{Checks: checks})
		r.Must(err)

		action, form := r.look(ops.Operator, "/bulk/new", "job_exec", "ship", "entity", "order", "reason", "").wants(t, 200, `value="ship"`, `value="order"`, "Look to what").filled(t)
		if form.Get("deed") != "cancel" {
			t.Errorf("%v", form)
		}
		for wrong, field := range map[string]string{"order/42": "entity", "yesterday": "from", "<b>": "job_exec", "destroy": "deed", "-1": "spread", "7": "spread"} {
			bad := url.Values{}
			for name, all := range form {
				bad[name] = all
			}
			bad.Set(field, wrong)
			r.fills(ops.Operator, action, bad).wants(t, 422, "It was not done").harmless(t)
		}
		form.Set("_reason", `<script>"why"`)
		action, form = r.fills(ops.Operator, action, form).wants(t, 200, "7 checks match", "The first of them", "job_exec=ship entity=order", "Do it to all of them", "This is <strong><bdi>shop &lt;test&gt;").harmless(t).filled(t)
		for _, role := range ops.Roles[:2] {
			r.look(role, "/bulk").wants(t, 200, "preview", "&lt;script&gt;").harmless(t).lacks(t, form.Get("token"))
			r.look(role, "/bulk/run", "number", form.Get("number")).wants(t, 200, "It was not begun").harmless(t).lacks(t, form.Get("token"), "data-again")
		}
		back := url.Values{"_step": {"back"}}
		for name, all := range form {
			back[name] = append(back[name], all...)
		}
		r.fills(ops.Operator, action, back).wants(t, 200, "Look to what", `value="ship"`)
		stolen := url.Values{"_step": {"seen"}, "number": form["number"], "token": {"none"}}
		r.fills(ops.Operator, action, stolen).wants(t, 409, "token does not hold", "It was not done")
		done := r.fills(ops.Operator, action, seenStep(form)).wants(t, http.StatusSeeOther)
		to := done.Header.Get("Location")
		if strings.Contains(to, form.Get("token")) {
			t.Error(to)
		}
		r.get(ops.Operator, to).wants(t, 200, "It has begun. It goes on when this page is closed.", "under way", "0 checks done of 7", `data-again="2000"`, "<progress", "/p/bulk/stop?number="+form.Get("number")).harmless(t)
		r.get(ops.Viewer, strings.Split(to, "&")[0]).lacks(t, "/p/bulk/stop")
		r.Must(r.Ops.WorkBulk(t.Context(), "w"))
		r.serveNow()
		r.look(ops.Viewer, "/bulk/run", "number", form.Get("number")).wants(t, 200, "7 checks done of 7", "done").lacks(t, "data-again", "<progress")
		r.look(ops.Viewer, "/pending", "job_exec", "pay").wants(t, 200, "<bdi>pay</bdi>").lacks(t, "<bdi>ship</bdi>")

		// The lists lead to it with their filter.
		r.look(ops.Operator, "/pending", "job_exec", "pay").wants(t, 200, "/p/bulk/new?job_exec=pay")
		r.look(ops.Viewer, "/pending", "job_exec", "pay").lacks(t, "/p/bulk/new")
		r.look(ops.Operator, "/ends", "outcome", "cancelled").wants(t, 200, "/p/bulk/new?outcome=cancelled")
		if _, form = r.look(ops.Operator, "/bulk/new", "outcome", "cancelled").filled(t); form.Get("deed") != "requeue" || form.Get("outcome") != "cancelled" {
			t.Errorf("%v", form)
		}

		// Another one is stopped before it has done anything.
		action, form = r.look(ops.Operator, "/bulk/new", "job_exec", "pay", "slot", "2020-01-01T00:00").filled(t)
		set(form, "deed", "retry", "slot", "")
		action, form = r.fills(ops.Operator, action, form).wants(t, 200, "Nothing matches").filled(t)
		to = r.fills(ops.Operator, action, seenStep(form)).wants(t, http.StatusSeeOther).Header.Get("Location")
		number := form.Get("number")
		action, form = r.look(ops.Operator, "/bulk/stop", "number", number).wants(t, 200, "What it did stays done", "This is <strong>").filled(t)
		r.fills(ops.Operator, action, form).wants(t, http.StatusSeeOther)
		r.get(ops.Operator, to).wants(t, 200, "stopping").lacks(t, "/p/bulk/stop?")
		r.Must(r.Ops.WorkBulk(t.Context(), "w"))
		r.serveNow()
		r.look(ops.Viewer, "/bulk").wants(t, 200, "stopped", "retry", "cancel").harmless(t)
		r.look(ops.Operator, "/bulk/stop", "number", "99").wants(t, 404, "99")
	})
}
