package page_test

import (
	"html"
	"net/http"
	"net/url"
	"strings"
	"testing"

	"prescient/prescient/internal/rig"
	"prescient/prescient/internal/rig/served"
	"prescient/prescient/ops"
)

func lives(t *testing.T, r *testRig) {
	for _, role := range ops.Roles[:2] {
		keys := hostile
		if role == ops.Viewer {
			keys = hostile[:1]
		}
		for _, key := range keys {
			got := r.look(role, "/find", "entity", "order/"+key).wants(t, 200, "1 check is pending, 1 ended, 1 of them without success", "At 2026-11-20 15:15:00 UTC (in 1 h 35 min) it is put off, unless a worker knows later by then", "failed").harmless(t)
			deed := "/p/checks/cancel?entity=order%2F"
			if sees := role.May(ops.Operator); strings.Contains(got.Body, "&#34;secret&#34;: 1") != sees || strings.Contains(got.Body, deed) != sees {
				t.Errorf("%s: %s", role, got.Body)
			}
		}
		r.look(role, "/find", "entity", "order/none").wants(t, 200, "Nothing is known of it")
		r.look(role, "/find", "entity", "order").wants(t, 200, "is a kind of entity", "/p/pending?entity=order")
		r.look(role, "/find").wants(t, 200, "An entity is what")
		r.look(role, "/find", "entity", "or der/42").wants(t, 422, "only letters")
	}
}

func lists(t *testing.T, r *testRig) {
	for _, role := range ops.Roles[:2] {
		r.look(role, "/pending", "job_exec", "later", "slot", "2026-11-20T15:15").wants(t, 200, "<bdi>later</bdi>").harmless(t).lacks(t, "many", "secret", "Next page")
		first := r.look(role, "/pending", "job_exec", "many").wants(t, 200, "Next page").lacks(t, "<bdi>later")
		_, next, _ := strings.Cut(first.Body, `rel="next" href="`)
		next, _, _ = strings.Cut(next, `"`)
		r.get(role, html.UnescapeString(next)).wants(t, 200, "<bdi>many</bdi>").lacks(t, "Next page")
		r.look(role, "/ends").wants(t, 200, "beside the same time a week before", "The commonest reasons", "refused: ", "&lt;b&gt;").harmless(t).lacks(t, "secret")
		r.look(role, "/ends", "outcome", "failed", "reason", "<script>").wants(t, 200, "refused: &lt;script&gt;").harmless(t)
		r.look(role, "/ends", "outcome", "done").wants(t, 200, "None was found.")
		r.look(role, "/ends", "reason", "no such text").wants(t, 200, "None was found.")
	}
	r.look(ops.Viewer, "/ends", "outcome", "x").wants(t, 422, "are allowed")
	for _, role := range ops.Roles[:2] {
		all := r.asks(role, "/p/pending/export?job_exec=many").wants(t, 200, "entity_name,entity_key,job_exec")
		if rows := strings.Count(all.Body, "order,"); rows != 150 || all.Header.Get("Content-Disposition") != `attachment; filename="checks.export_pending.csv"` {
			t.Errorf("%d rows, %v", rows, all.Header)
		}
		ends := r.asks(role, "/p/ends/export?outcome=failed&format=jsonl").wants(t, 200, `"outcome":"failed"`)
		if sees := strings.Contains(ends.Body, "secret"); sees != (role == ops.Operator) || strings.Count(ends.Body, "\n") != len(hostile) {
			t.Errorf("%s: %s", role, ends.Body)
		}
	}
	r.look(ops.Viewer, "/ends/export", "outcome", "x").wants(t, 422, "are allowed")
	r.look(ops.Viewer, "/pending", "after", "x").wants(t, 422, "is no cursor")
}

func TestACheckIsCancelledAndMovedAfterAQuestion(t *testing.T) {
	eachServer(t, func(t *testing.T, r *testRig) {
		const key = "a\"><script>alert(1)</script>𝄞\n\x01b"
		o := r.OpsAt(rig.At("10:00"))
		var checks []ops.NewCheck
		for _, one := range []string{"ship", "pay"} {
			checks = append(checks, served.Check(key, one, rig.At("13:01")))
		}
		_, err := ops.InsertChecks.Do(t.Context(), o, served.By(ops.Operator), ops.Inserting{Checks: checks})
		r.Must(err)
		one := []string{"entity", "order/" + key, "job_exec", "ship"}
		// Viewers are not asked, and do nothing.
		r.look(ops.Viewer, "/checks/cancel", one...).wants(t, 403, "needs the role operator")
		r.sends(ops.Viewer, "/p/checks/cancel?entity=order%2F42&job_exec=ship", nil).wants(t, 403, "needs the role operator")
		r.look(ops.Operator, "/checks/cancel", "entity", "order/none", "job_exec", "ship").wants(t, 404, "order/none")

		question := r.look(ops.Operator, "/checks/reschedule", one...).wants(t, 200, "moves to another time", "This is <strong><bdi>shop &lt;test&gt;</bdi></strong>", `value="2026-11-20T13:01:00"`).harmless(t)
		action, form := question.form(t)
		form["due_at"], form["_reason"] = "2027-11-20T13:01", `<script>"why"`
		r.sends(ops.Operator, action, form).wants(t, 422, "It was not done", `value="2027-11-20T13:01"`, `value="&lt;script&gt;&#34;why&#34;"`, form["_key"]).harmless(t)
		form["due_at"] = "2026-11-20T16:01"
		done := r.sends(ops.Operator, action, form).wants(t, http.StatusSeeOther)
		r.get(ops.Operator, done.Header.Get("Location")).wants(t, 200, "The check was moved.", "2026-11-20 16:15:00 UTC", "&lt;script&gt;&#34;why&#34;").harmless(t)

		action, form = r.look(ops.Operator, "/checks/cancel", one...).wants(t, 200, "ends as cancelled").form(t)
		for range 2 { // sent twice, it is done once
			done = r.sends(ops.Operator, action, form).wants(t, http.StatusSeeOther)
		}
		if to, err := url.Parse(done.Header.Get("Location")); err != nil || to.Path != "/p/find" || to.Query().Get("entity") != "order/"+key {
			t.Errorf("%v, %v", to, err)
		}
		r.get(ops.Operator, done.Header.Get("Location")).wants(t, 200, "1 check was cancelled.", "cancelled", "1 check is pending")
		r.get(ops.Operator, "/p/find?_did=%2Fchecks%2Fcancel&_count=-1").lacks(t, "cancelled")
		entries, err := ops.ListAudit.Do(t.Context(), r.Ops, served.By(ops.Operator), ops.AuditAsked{Kind: "check", Paging: ops.Paging{Limit: 10}})
		r.Must(err)
		of := make(map[string]ops.AuditEntry)
		for _, e := range entries.Rows {
			of[e.Command] = e
		}
		if len(entries.Rows) != 2 || of["checks.cancel"].Person != "operator" || of["checks.reschedule"].Reason != `<script>"why"` {
			t.Errorf("%+v", entries.Rows)
		}
	})
}
