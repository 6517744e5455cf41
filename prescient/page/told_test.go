package page_test

import (
	"strings"
	"testing"

	"prescient/prescient/internal/rig"
	"prescient/prescient/ops"
)

// Whoever mended a receiver has it told at once what waited for it, and sees who could not be told since when and why.
func TestWhoCannotBeToldOfFindingsIsSeenAndToldAgain(t *testing.T) {
	eachServer(t, func(t *testing.T, r *testRig) {
		r.look(ops.Viewer, "/told").wants(t, 200, "No worker tells receivers of findings", "No receiver was told of something")
		r.Exec(`INSERT INTO p_duty (name, token, worker, allocated_until) VALUES ('notify', 7, '<b>w1</b>', '2026-11-20 13:00:10')`)
		r.Exec(`INSERT INTO p_finding (code, receiver, severity, found, names, text, remedy, seen_since, bad_since, looked_at, told_at, told_severity, told_names, message, message_kind) VALUES
			('failing', 'team', 'bad', 1, '{}', 'charge fails: <script>alert(1)</script>', 'See.', '2026-11-20 12:40:00', NULL, '2026-11-20 12:58:00', NULL, NULL, NULL, 'finding-1', 'new'),
			('notify', 'team', 'bad', 1, '{"team": "2026-11-20T12:41:00Z"}', 'The receiver team has not been reached for 10m: <b>no such host</b>.', 'See.', '2026-11-20 12:41:00', NULL, '2026-11-20 12:58:00', NULL, NULL, NULL, NULL, NULL),
			('paused', 'desk', 'warn', 1, 'null', 'ship is paused.', 'See.', '2026-11-20 12:30:00', NULL, '2026-11-20 12:58:00', '2026-11-20 12:35:00', 'warn', '[]', NULL, NULL)`)
		r.serveAt(rig.At("13:00"))
		for _, role := range ops.Roles {
			got := r.look(role, "/told").wants(t, 200, "<bdi>&lt;b&gt;w1&lt;/b&gt;</bdi> tells receivers", "It cannot be reached, since <time datetime=\"2026-11-20T12:41:00Z\">", "(19 min ago)", "&lt;b&gt;no such host",
				"It did not acknowledge yet what it is to be told of 1 code.", "It knows what it is to know", "2026-11-20 12:35:00 UTC", `data-again="5000"`, `href="/p/health?only=failing"`).harmless(t).lacks(t, "<b>")
			health := r.look(role, "/health", "only", "notify").wants(t, 200, "<code>notify</code>", `href="/p/told"`).harmless(t)
			r.look(role, "/").wants(t, 200, "The receiver team has not been reached", `href="/p/told"`)
			for _, page := range []reply{got, health} {
				if strings.Contains(page.Body, `href="/p/told/again"`) != role.May(ops.Operator) {
					t.Errorf("%s: %s", role, page.Body)
				}
			}
		}
		r.look(ops.Viewer, "/told/again").wants(t, 403)
		r.sends(ops.Viewer, "/p/told/again", nil).wants(t, 403)
		action, form := r.look(ops.Operator, "/told/again").wants(t, 200, "What waits for 1 receiver is sent", "begins anew").harmless(t).lacks(t, "<b>").form(t)
		form["_reason"] = "its certificate is new"
		for range 2 { // sent twice, it is done once
			if to := r.sends(ops.Operator, action, form).wants(t, 303).Header.Get("Location"); !strings.Contains(to, "_count=1") || !strings.HasPrefix(to, "/p/told?") {
				t.Error(to)
			}
		}
		if n := r.Count("SELECT COUNT(*) FROM p_duty WHERE name = 'notify' AND token = 8 AND allocated_until IS NULL"); n != 1 {
			t.Error("it still has the duty")
		}
		if n := r.Count("SELECT COUNT(*) FROM p_audit_log WHERE verb = 'notify.again' AND person = 'operator' AND reason = 'its certificate is new'"); n != 1 {
			t.Errorf("%d entries", n)
		}
		r.get(ops.Operator, "/p/told?_did=%2Ftold%2Fagain&_count=1").wants(t, 200, "What waits is sent within half a minute.", "No worker tells receivers of findings").lacks(t, "Try again now")
		action, form = r.look(ops.Operator, "/told/again").wants(t, 200, "No worker tells receivers now").form(t)
		if to := r.sends(ops.Operator, action, form).wants(t, 303).Header.Get("Location"); !strings.Contains(to, "_count=0") {
			t.Error(to)
		}
	})
}
