package page_test

import (
	"strings"
	"testing"

	"prescient/prescient/internal/rig"
	"prescient/prescient/internal/rig/served"
	"prescient/prescient/ops"
)

// summed has two days of sums, of which the first has checks that neared their guard.
func (r *testRig) summed() {
	r.T.Helper()
	r.Exec(`INSERT INTO p_stats (grain, start, job_exec, entity_name, outcome, ends, calls, errors, not_yet, waited, started, run_ms, total_ms, lateness_ms, due_lateness_ms) VALUES
		('day', '2026-11-18', 'ship', 'order', 'done', 30, 50, 0, 20, 10, 30, 3000, 5000, 300, 300), ('day', '2026-11-18', 'ship', 'order', 'max_checks', 4, 24, 0, 24, 4, 4, 400, 2400, 40, 40),
		('day', '2026-11-19', 'ship', 'order', 'done', 6, 6, 0, 0, 0, 6, 600, 600, 60, 60), ('day', '2026-11-19', 'ship', 'order', 'cancelled', 9, 0, 0, 0, 0, 0, 0, 0, 0, 0)`)
	r.Exec(`INSERT INTO p_stats_bucket (grain, start, job_exec, entity_name, measure, bucket, n) VALUES ('day', '2026-11-18', '(other)', '(other)', 'run', 95, 34), ('day', '2026-11-18', 'ship', 'order', 'run', 95, 34), ('day', '2026-11-18', 'ship', 'order', 'lateness', 48, 34),
		('day', '2026-11-18', 'ship', 'order', 'checks', 0, 20), ('day', '2026-11-18', 'ship', 'order', 'checks', 15, 10), ('day', '2026-11-18', 'ship', 'order', 'checks', 33, 4), ('day', '2026-11-19', 'ship', 'order', 'run', 95, 6)`)
}

func TestJobExecsAreShownWithWhatTheyDidOfLateAndOverWeeks(t *testing.T) {
	eachServer(t, func(t *testing.T, r *testRig) {
		r.look(ops.Viewer, "/execs").wants(t, 200, "No worker has told of one, and none was called of late.")
		r.look(ops.Viewer, "/execs", "show", "near").wants(t, 200, "There is none such.")
		r.look(ops.Viewer, "/exec", "job_exec", "none").wants(t, 200, "no worker has told of it", "It was not called of late.", "No worker has told of it.", "Nothing was summed up yet of these days.")
		r.worked()
		r.summed()
		r.serveAt(rig.At("13:20"))
		for _, role := range ops.Roles {
			got := r.look(role, "/execs").wants(t, 200, `href="/p/exec?job_exec=ship"`, "7 (100 %)", `<span class="state live">workers have it</span>`, "14 (35 %)", `<td class="n">4</td>`, "7 whole days", `<th scope="row"><bdi>(other)</bdi>`).harmless(t).lacks(t, "job_exec=%28other")
			if deed := `href="/p/execs/pause?job_exec=ship"`; strings.Contains(got.Body, deed) != role.May(ops.Operator) {
				t.Errorf("%s: %s", role, got.Body)
			}
			r.look(role, "/exec", "job_exec", "ship").wants(t, 200, "7 calls", "7 errors", "refused: ", "<bdi>&lt;b&gt;&#34;w&#34;&lt;/b&gt;</bdi>", "timeout 30 s", "had not happened by then for 14 of 40 checks (35 %)",
				"for 26 it had happened at once, for 10 after some answers, for 4 it never did", "4 checks neared the guard max_checks, which is 5", "30 <span class=\"outcome done\">done</span>", "<desc id=\"run-text\">What 95 of a hundred").harmless(t).lacks(t, "secret", "<b>")
		}
		r.look(ops.Viewer, "/execs", "show", "near").wants(t, 200, "job_exec=ship").lacks(t, "job_exec=later")
		r.look(ops.Viewer, "/execs", "show", "failing").wants(t, 200, "job_exec=ship").lacks(t, "job_exec=later")
		r.look(ops.Viewer, "/execs", "show", "slower").wants(t, 200, "There is none such.")
		r.look(ops.Viewer, "/exec", "job_exec", "ship", "from", "2026-11-19", "before", "2026-11-20").wants(t, 200, "for 0 of 6 checks (0 %)", "No check neared the guard")
		r.look(ops.Viewer, "/execs", "show", hostile[0]).wants(t, 422, "are allowed").harmless(t)
		for name, value := range map[string]string{"job_exec": hostile[0], "from": "x", "before": "2026-11-01"} {
			query := map[string]string{"job_exec": "ship", "from": "2026-11-10"}
			query[name] = value
			r.look(ops.Viewer, "/exec", "job_exec", query["job_exec"], "from", query["from"], "before", query["before"]).wants(t, 422).harmless(t)
		}
		r.look(ops.Viewer, "/exec", "job_exec", "ship", "from", "2026-01-01").wants(t, 422, "93 days at most are allowed")
		r.look(ops.Viewer, "/exec").wants(t, 422)
	})
}

func TestAJobExecIsPausedAndResumedAfterAQuestion(t *testing.T) {
	eachServer(t, func(t *testing.T, r *testRig) {
		r.worked()
		r.serveAt(rig.At("13:20"))
		after := map[string]string{"ship": "/p/exec?", "*": "/p/execs?", "*events": "/p/events?"}
		for name, said := range map[string]string{"ship": "Checks of <strong><bdi>ship</bdi></strong> are not called", "*": "no slot is run", "*events": "none is published"} {
			r.look(ops.Viewer, "/execs/pause", "job_exec", name).wants(t, 403, "needs the role operator")
			r.sends(ops.Viewer, "/p/execs/pause?job_exec="+name, nil).wants(t, 403)
			action, form := r.look(ops.Operator, "/execs/pause", "job_exec", name).wants(t, 200, said, "This is <strong><bdi>shop &lt;test&gt;").form(t)
			form["_reason"] = `the <b>carrier</b> is "down"`
			r.sends(ops.Operator, action, form).wants(t, 303)
			r.look(ops.Operator, "/execs").wants(t, 200, "&lt;b&gt;carrier&lt;/b&gt; is &#34;down&#34;", "by <bdi>operator</bdi>").lacks(t, "<b>")
			r.look(ops.Operator, "/execs/pause", "job_exec", name).wants(t, 200, "It is paused already", "&lt;b&gt;carrier").lacks(t, "<b>")
			action, form = r.look(ops.Operator, "/execs/resume", "job_exec", name).wants(t, 200, "It is paused since", "&lt;b&gt;carrier").lacks(t, "<b>").form(t)
			for range 2 { // sent twice, it is done once
				done := r.sends(ops.Operator, action, form).wants(t, 303)
				if to := done.Header.Get("Location"); !strings.Contains(to, "_count=1") || !strings.HasPrefix(to, after[name]) {
					t.Error(to)
				}
			}
			r.look(ops.Operator, "/execs/resume", "job_exec", name).wants(t, 200, "It is not paused now.")
		}
		pauses, err := ops.ListPauses.Do(t.Context(), r.Ops, served.By(ops.Viewer), ops.Nothing{})
		r.Must(err)
		if len(pauses.Rows) != 0 {
			t.Errorf("%+v", pauses.Rows)
		}
		for _, deed := range []string{"/execs/pause", "/execs/resume"} {
			for _, wrong := range []string{"", hostile[0], "*some"} {
				r.look(ops.Operator, deed, "job_exec", wrong).wants(t, 422).harmless(t)
			}
		}
		r.look(ops.Operator, "/execs/pause", "job_exec", "none").wants(t, 200, "No worker has told of a job_exec of this name.")
		r.get(ops.Operator, "/p/execs?_did=%2Fexecs%2Fresume&_count=0").wants(t, 200, "It was not paused.")
	})
}
