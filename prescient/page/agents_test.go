package page_test

import (
	"net/url"
	"strings"
	"testing"
	"time"

	"prescient/prescient/internal/rig/served"
	"prescient/prescient/ops"
	"prescient/prescient/page"
)

// writable are the hostile texts that no table refuses for characters that nobody can see.
func writable() (all []string) {
	for _, text := range hostile {
		all = append(all, strings.NewReplacer("\n", "", "\x01", "", "\x1b", "").Replace(text))
	}
	return all
}

// lives has agents live that say of themselves what is hostile.
func (r *testRig) lives() {
	r.T.Helper()
	for i, text := range writable() {
		r.Exec(`INSERT INTO p_agent (name, instance, host, pid, version, assignment, pools, concurrency, busy, long_runs, load_1m, memory_bytes, clock_ms, started_at, seen_at)
			VALUES (?, ?, ?, 7, ?, ?, JSON_OBJECT(?, 4), 64, 0.5, 2, 1.25, 104857600, -1500, UTC_TIMESTAMP(6), UTC_TIMESTAMP(6))`, text, i, text, text, "<b>every slot</b>", text)
		r.Exec(`INSERT INTO p_long_run (job_key, schedule_id, occurrence, agent, token, allocated_until, slot, due_at, inserted_at, check_count, started_at, called_at, checkpoint, pool) VALUES
			(REPEAT(CHAR(97 + ?), 16), ?, '1795168800', ?, 1, UTC_TIMESTAMP(6) + INTERVAL 30 MINUTE, '2026-11-20', '2026-11-20', '2026-11-20', 0, '2026-11-20', '2026-11-20', 'secret', ?)`, i, text, text, "<b>")
	}
	r.serveNow()
}

// serveNow has the page see the running clock of the server, and nothing of what it kept.
func (r *testRig) serveNow() {
	r.T.Helper()
	r.handler = handler(r.T, r.OpsAt(time.Time{}), page.Options{})
}

func TestAgentsAreShownWithWhatTheyHave(t *testing.T) {
	eachServer(t, func(t *testing.T, r *testRig) {
		r.look(ops.Viewer, "/agents").wants(t, 200, "No agent was heard of.", "No agent and no timer runs slots", "There is none.", "None is under way.")
		r.lives()
		r.Exec("INSERT INTO p_slot_run (slot, bucket, buckets, token, batch_seq, worker, started_at, allocated_until, done) VALUES ('2026-11-20 13:00:00', 0, 1, 1, 1, ?, '2026-11-20 13:00:01', UTC_TIMESTAMP(6) + INTERVAL 30 MINUTE, 5)", writable()[0])
		for _, role := range ops.Roles {
			got := r.look(role, "/agents").wants(t, 200, "&lt;script&gt;alert(1)&lt;/script&gt;", "1.25", "-1.5 s ahead", "2 long runs", ": 1 part<br>", `href="/p/slot?slot=2026-11-20T13%3A00%3A00Z"`, "pool <bdi>", "schedule <bdi>", `data-again="10000"`).
				harmless(t).lacks(t, "<b>", "secret", "No agent and no timer runs slots", "Next page")
			if deed := `href="/p/agents/drain?name=%3Cscript`; strings.Contains(got.Body, deed) != role.May(ops.Operator) {
				t.Errorf("%s: %s", role, got.Body)
			}
			r.look(role, "/agents", "state", "dead").wants(t, 200, "No agent was heard of.")
			r.look(role, "/agents", "state", hostile[0]).wants(t, 422, "are allowed").harmless(t)
			r.look(role, "/agents", "after", hostile[0]).wants(t, 422, "want that of a page of long runs").harmless(t)
		}
	})
}

func TestAnAgentIsDrainedAndWorksAgain(t *testing.T) {
	eachServer(t, func(t *testing.T, r *testRig) {
		r.lives()
		for _, name := range writable()[:3] {
			for _, deed := range []string{"/agents/drain", "/agents/undrain"} {
				r.look(ops.Viewer, deed, "name", name).wants(t, 403, "needs the role operator")
				r.sends(ops.Viewer, "/p"+deed+"?name="+url.QueryEscape(name), nil).wants(t, 403)
				asked := r.look(ops.Operator, deed, "name", name).wants(t, 200, "1 agent of the name", "This is <strong><bdi>shop &lt;test&gt;").harmless(t)
				action, form := asked.form(t)
				form["_reason"] = "a new kernel"
				done := r.sends(ops.Operator, action, form)
				if to := done.Header.Get("Location"); done.Code != 303 || !strings.HasPrefix(to, "/p/agents?") {
					t.Fatalf("%d %s %s", done.Code, to, done.Body)
				}
				said := r.get(ops.Operator, done.Header.Get("Location"))
				if deed == "/agents/drain" {
					said.wants(t, 200, "1 agent takes nothing new", "to drain", "wants").harmless(t)
				} else {
					said.wants(t, 200, "1 agent works again").lacks(t, "to drain, as").harmless(t)
				}
				again := r.get(ops.Operator, r.sends(ops.Operator, action, form).Header.Get("Location")) // the same form once more does nothing more
				again.wants(t, 200, "1 agent ")
			}
		}
		audit, err := ops.ListAudit.Do(t.Context(), r.Ops, served.By(ops.Viewer), ops.AuditAsked{Kind: "agent", Paging: ops.Paging{Limit: 100}})
		r.Must(err)
		if len(audit.Rows) != 6 || audit.Rows[0].Reason != "a new kernel" || audit.Rows[0].Person != "operator" {
			t.Errorf("%+v", audit.Rows)
		}
		for _, deed := range []string{"/agents/drain", "/agents/undrain"} {
			r.look(ops.Operator, deed, "name", "<b>none").wants(t, 404, "&lt;b&gt;none").lacks(t, "<b>")
			r.sends(ops.Operator, "/p"+deed+"?name=none", nil).wants(t, 404)
			r.look(ops.Operator, deed).wants(t, 404)
		}
	})
}

func TestWhoDrainsTheLastAgentIsTold(t *testing.T) {
	eachServer(t, func(t *testing.T, r *testRig) {
		r.Exec(`INSERT INTO p_agent (name, instance, host, pid, version, assignment, pools, concurrency, busy, long_runs, memory_bytes, clock_ms, started_at, seen_at)
			VALUES ('a', 1, 'h', 1, 'v', 'every slot', '{}', 1, 0, 0, 0, 0, UTC_TIMESTAMP(6), UTC_TIMESTAMP(6))`)
		r.serveNow()
		r.look(ops.Operator, "/agents/drain", "name", "a").wants(t, 200, "No other agent or timer runs slots")
	})
}
