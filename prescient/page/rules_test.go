package page_test

import (
	"net/http"
	"strings"
	"testing"

	"prescient/prescient/internal/rig"
	"prescient/prescient/internal/rig/served"
	"prescient/prescient/ops"
	"prescient/prescient/ops/ruled"
)

// remind is a rule whose texts are hostile where they can be.
var remind = ruled.Definition{Name: "remind", Occasion: "order.placed", JobExec: "ship", DelayMS: 3 * 3_600_000, Ends: []string{"order.shipped"}, Payload: []byte(`{"secret": "<script>alert(1)</script>"}`)}

// happened has an order placed by one who may report that.
func (r *testRig) happened(o *ops.Ops, key string) {
	r.T.Helper()
	_, err := ops.ReportOccasion.Do(r.T.Context(), o, served.By(ops.Operator), ruled.Reporting{Occasion: "order.placed", Entity: "order/" + key})
	r.Must(err)
}

func TestViewsOfRules(t *testing.T) {
	eachServer(t, func(t *testing.T, r *testRig) {
		for _, role := range ops.Roles[:2] {
			r.look(role, "/rules").wants(t, 200, "No rule is found.", "An app reports occasions")
			r.look(role, "/rule", "name", "none").wants(t, 404, "none")
			r.look(role, "/rule", "name", "<b>none").wants(t, 422, "&lt;b&gt;none")
		}
		for _, path := range []string{"/rules/new", "/rules/edit", "/rules/pause", "/rules/resume", "/rules/delete"} {
			r.look(ops.Viewer, path, "name", "remind").wants(t, 403, "needs the role operator")
			r.sends(ops.Viewer, "/p"+path, map[string]string{"name": "remind"}).wants(t, 403, "needs the role operator")
		}
		r.look(ops.Viewer, "/rules/try").wants(t, 403, "needs the role operator")
		r.look(ops.Operator, "/rules/try").wants(t, 200, "It says what a rule would have made")
		r.look(ops.Operator, "/rules/try", "occasion", "nobody.knows").wants(t, 404, "nobody knows when it happened")

		o, by := r.OpsAt(rig.At("10:00")), served.By(ops.Operator)
		by.Reason = "new <b>"
		_, err := ops.SetRule.Do(t.Context(), o, by, ruled.Setting{Definition: remind})
		r.Must(err)
		for _, key := range hostile {
			r.happened(o, key)
		}
		r.serveAt(rig.At("10:10"))
		for _, role := range ops.Roles[:2] {
			r.look(role, "/rules").wants(t, 200, "order.placed", "order.shipped", "3 h", ">on<", "as it says")
			r.look(role, "/rules", "search", "SHIPPED").wants(t, 200, ">remind<")
			r.look(role, "/rules", "search", "nothing <b>").wants(t, 200, "No rule is found.", `value="nothing &lt;b&gt;"`)
			got := r.look(role, "/rule", "name", "remind").wants(t, 200, "Version 1", "All that is pending is as it says", "2026-11-20 13:00:00 UTC", "&lt;script&gt;", "create", "new &lt;b&gt;").harmless(t)
			if sees := role.May(ops.Operator); strings.Contains(got.Body, "secret") != sees || strings.Contains(got.Body, "/p/rules/edit?") != sees {
				t.Errorf("%s: %s", role, got.Body)
			}
		}
		r.look(ops.Viewer, "/find", "entity", "order/"+hostile[0]).wants(t, 200, `href="/p/rule?name=remind"`, "rule:remind").harmless(t)
		r.look(ops.Operator, "/rules/try", "occasion", "order.placed", "delay", "1m").wants(t, 200, "it happened 7 times")
		r.look(ops.Operator, "/rules/try", "occasion", "order.placed", "delay", "soon").wants(t, 422, "a time as in 90s")
	})
}

func TestARuleIsMadeChangedSwitchedAndDeletedAfterWhatThatDoesWasSeen(t *testing.T) {
	eachServer(t, func(t *testing.T, r *testRig) {
		action, form := r.look(ops.Operator, "/rules/new").wants(t, 200, "Look what it comes to").filled(t)
		set(form, "name", "remind", "occasion", "order.placed", "job_exec", "ship", "delay", "soon", "ends", "order.shipped\r\norder.cancelled, order.lost", "payload", "{\r\n\"tone\": \"kind\"}", "_reason", "new <b>")
		r.fills(ops.Operator, action, form).wants(t, 422, "It was not done", "a time as in 90s", `value="soon"`)
		set(form, "delay", "3h", "payload", "<script>alert(1)</script>")
		r.fills(ops.Operator, action, form).wants(t, 422, "payload is no JSON object").harmless(t)
		set(form, "payload", "{\r\n\"tone\": \"kind\"}", "max_checks", "many")
		r.fills(ops.Operator, action, form).wants(t, 422, "a number is allowed, or nothing")
		form.Set("max_checks", "3")
		action, form = r.fills(ops.Operator, action, form).wants(t, 200, "is made, and makes checks of what happens from now on", "<ins><bdi>3h</bdi></ins>", "0 pending checks move").filled(t)
		form.Set("_step", "back")
		r.fills(ops.Operator, action, form).wants(t, 200, "Look what it comes to", `value="3h"`, "order.lost")
		for range 2 {
			done := r.fills(ops.Operator, action, seenStep(form)).wants(t, http.StatusSeeOther)
			r.get(ops.Operator, done.Header.Get("Location")).wants(t, 200, "1 rule was made.", "Version 1", "new &lt;b&gt;").harmless(t)
		}
		form.Set("_key", "another")
		r.fills(ops.Operator, action, seenStep(form)).wants(t, 409, "there is such a rule")

		r.happened(r.OpsAt(rig.At("10:00")), "42")
		action, form = r.look(ops.Operator, "/rules/edit", "name", "remind").wants(t, 200, "It keeps both", `value="3h"`, "order.cancelled").filled(t)
		form.Set("delay", "4h")
		action, form = r.fills(ops.Operator, action, form).wants(t, 200, "<ins><bdi>4h</bdi></ins>", "1 pending check moves", "order/42", "2026-11-20 14:00:00 UTC").lacks(t, "Ended by").filled(t)
		form.Set("version", "18446744073709551615")
		r.fills(ops.Operator, action, seenStep(form)).wants(t, 422, "a number is allowed")
		form.Set("version", "4294967296")
		r.fills(ops.Operator, action, seenStep(form)).wants(t, 409, "the rule was changed meanwhile")
		form.Set("version", "1")
		done := r.fills(ops.Operator, action, seenStep(form)).wants(t, http.StatusSeeOther)
		r.get(ops.Operator, done.Header.Get("Location")).wants(t, 200, "1 rule was changed.", "Version 2", ">is behind<", "nobody has begun to move it")

		action, form = r.look(ops.Operator, "/rules/pause", "name", "remind").wants(t, 200, "1 check of it is pending", "order/42").filled(t)
		done = r.fills(ops.Operator, action, form).wants(t, http.StatusSeeOther)
		r.get(ops.Operator, done.Header.Get("Location")).wants(t, 200, "1 rule was switched off.", ">off<")
		action, form = r.look(ops.Operator, "/rules/resume", "name", "remind").wants(t, 200, "makes checks again").filled(t)
		done = r.fills(ops.Operator, action, form).wants(t, http.StatusSeeOther)
		r.get(ops.Operator, done.Header.Get("Location")).wants(t, 200, "1 rule was switched on.", ">on<")
		action, form = r.look(ops.Operator, "/rules/delete", "name", "remind").wants(t, 200, "Its versions stay").filled(t)
		form.Set("end", "1")
		done = r.fills(ops.Operator, action, form).wants(t, http.StatusSeeOther)
		r.get(ops.Operator, done.Header.Get("Location")).wants(t, 200, "1 rule was deleted.", "No rule is found.")
		r.look(ops.Viewer, "/rule", "name", "remind").wants(t, 200, "was deleted", "order/42", "deleted").lacks(t, "tone")
		if n := r.Count("SELECT COUNT(*) FROM p_rule WHERE ended_to = version AND state = 'deleted' AND version = 5"); n != 1 {
			t.Error("what was pending does not end")
		}
	})
}
