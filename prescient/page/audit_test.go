package page_test

import (
	"html"
	"strings"
	"testing"

	"prescient/prescient/internal/rig"
	"prescient/prescient/internal/rig/served"
	"prescient/prescient/ops"
)

func TestTheAuditShowsWhatChanged(t *testing.T) {
	eachServer(t, func(t *testing.T, r *testRig) {
		r.look(ops.Viewer, "/audit", "kind", "check").wants(t, 200, "None was found.")
		o, by := r.OpsAt(rig.At("10:00")), served.By(ops.Operator)
		for _, text := range writable() {
			by.Name, by.Host, by.Reason = text, text, text
			key := text + text
			_, err := ops.InsertChecks.Do(t.Context(), o, by, ops.Inserting{Checks: []ops.NewCheck{served.Check(key, "ship", rig.At("13:01"))}})
			r.Must(err)
			_, err = ops.RescheduleCheck.Do(t.Context(), o, by, ops.Rescheduling{Check: ops.Check{Entity: "order/" + key, JobExec: "ship"}, DueAt: rig.At("16:00")})
			r.Must(err)
			_, err = ops.SetPauses.Do(t.Context(), o, by, ops.Pausing{JobExecs: []string{"ship"}})
			r.Must(err)
		}
		r.serveAt(rig.At("13:20"))
		for _, role := range ops.Roles {
			sees := role.May(ops.Operator)
			got := r.look(role, "/audit").wants(t, 200, "reschedule", "pause", "served", "&lt;script&gt;alert(1)&lt;/script&gt;", "/p/audit?person=%3Cscript").harmless(t)
			if strings.Contains(got.Body, "The difference") != sees || strings.Contains(got.Body, "<ins>") != sees || strings.Contains(got.Body, "Operators see") == sees {
				t.Errorf("%s: %s", role, got.Body)
			}
			if moved := r.look(role, "/audit", "verb", "reschedule").wants(t, 200).harmless(t); strings.Contains(moved.Body, "<del><bdi>2026-11-20T13:01:00Z</bdi></del>") != sees || strings.Contains(moved.Body, "2026-11-20T16:00:00Z") != sees {
				t.Errorf("%s: %s", role, moved.Body)
			}
			for _, text := range writable() {
				r.look(role, "/audit", "kind", "check", "id", "order/"+text+text+" ship").wants(t, 200, "reschedule").harmless(t).lacks(t, "<bdi>pause</bdi>")
				r.look(role, "/audit", "person", text, "from", "2026-11-19", "before", "2999-01-01T00:00").wants(t, 200, "reschedule", "pause").harmless(t)
			}
			r.look(role, "/audit", "account", "nobody").wants(t, 200, "None was found.")
			r.look(role, "/audit", "before", "2020-01-01").wants(t, 200, "None was found.")
			for name, value := range map[string]string{"kind": hostile[0], "from": hostile[0], "before": "0001-01-02", "after": hostile[0], "verb": "größer", "person": "\xff"} {
				r.look(role, "/audit", name, value).wants(t, 422).harmless(t)
			}
		}
	})
}

func TestTheAuditGoesOnPageByPage(t *testing.T) {
	eachServer(t, func(t *testing.T, r *testRig) {
		var checks []ops.NewCheck
		for _, key := range rig.Numbered(60) {
			checks = append(checks, served.Check(key, "ship", rig.At("13:01")))
		}
		o, by := r.OpsAt(rig.At("10:00")), served.By(ops.Operator)
		_, err := ops.InsertChecks.Do(t.Context(), o, by, ops.Inserting{Checks: checks})
		r.Must(err)
		for _, c := range checks {
			_, err := ops.CancelChecks.Do(t.Context(), o, by, ops.Cancelling{Entity: c.Entity})
			r.Must(err)
		}
		seen := 0
		for next, pages := "/p/audit?kind=check&verb=cancel", 0; next != "" && pages < 3; pages++ {
			got := r.get(ops.Viewer, next).wants(t, 200)
			seen += strings.Count(got.Body, "<tr><th scope=\"row\">")
			_, after, more := strings.Cut(got.Body, `rel="next" href="`)
			next = ""
			if more {
				next, _, _ = strings.Cut(after, `"`)
				next = html.UnescapeString(next)
			}
		}
		if seen != 60 {
			t.Errorf("%d entries were seen", seen)
		}
	})
}
