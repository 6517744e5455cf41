package page_test

import (
	"context"
	"fmt"
	"strings"
	"testing"

	"prescient/prescient/internal/rig"
	"prescient/prescient/internal/rig/served"
	"prescient/prescient/ops"
)

func TestHealthSaysWhatIsWrongAndWhatToDo(t *testing.T) {
	eachServer(t, func(t *testing.T, r *testRig) {
		// An installation in which nothing was done yet.
		r.look(ops.Viewer, "/health").wants(t, 200, "in order.").lacks(t, "What is in order", "<code>paused</code>")
		r.look(ops.Operator, "/health", "show", "all").wants(t, 200, "What is in order", "<code>paused</code>")
		by := served.By(ops.Operator)
		by.Name, by.Reason = `<b>"eve"</b>`, strings.Join(hostile, " ")
		by.Reason = strings.NewReplacer("\n", "", "\x01", "", "\x1b", "").Replace(by.Reason)
		_, err := ops.SetPauses.Do(t.Context(), r.OpsAt(rig.At("10:00")), by, ops.Pausing{JobExecs: []string{"ship"}})
		r.Must(err)
		r.serveAt(rig.At("13:20"))
		for _, role := range ops.Roles {
			got := r.look(role, "/health").wants(t, 200, "<code>paused</code>", "What to do: ", `href="/p/execs"`, `data-again="60000"`).harmless(t)
			if button := `href="/p/execs/resume?job_exec=ship"`; strings.Contains(got.Body, button) != role.May(ops.Operator) {
				t.Errorf("%s: %s", role, got.Body)
			}
		}
		r.look(ops.Viewer, "/health", "only", "paused, schema").wants(t, 200, "<code>paused</code>").lacks(t, "<code>agents", "<code>coverage")
		r.look(ops.Viewer, "/health", "ignore", "paused").wants(t, 200).lacks(t, "<code>paused</code>")
		r.look(ops.Viewer, "/health", "only", hostile[0]).wants(t, 422, "no finding has the code").harmless(t)
		r.look(ops.Viewer, "/health", "ignore", "schema.table").wants(t, 422, "cannot be ignored")
	})
}

func TestWhoWaitsForWhomIsSeenByAdmins(t *testing.T) {
	eachServer(t, func(t *testing.T, r *testRig) {
		r.Needs(t, rig.ThreadStates)
		for _, role := range []ops.Role{ops.Viewer, ops.Operator} {
			r.look(role, "/blocking").wants(t, 403, "needs the role admin")
			r.look(role, "/").lacks(t, `href="/p/blocking"`)
		}
		r.look(ops.Admin, "/blocking").wants(t, 200, "GRANT PROCESS ON *.* TO")
		for _, right := range []string{"PROCESS ON *.*", "SELECT ON performance_schema.*"} {
			r.Exec("GRANT " + right + " TO '" + r.User("serve-admin") + "'@'%'")
		}
		_, err := ops.InsertChecks.Do(t.Context(), r.OpsAt(rig.At("10:00")), served.By(ops.Operator), ops.Inserting{Checks: []ops.NewCheck{served.Check(hostile[1], "ship", rig.At("13:01"))}})
		r.Must(err)
		r.serveAt(rig.At("13:16")) // its connections are new, so that they have the rights
		r.look(ops.Admin, "/blocking").wants(t, 200, "No session waits for another.", "No overdue check that was looked at is locked.")
		const change = "UPDATE p_future_job SET error_count = error_count + 1 /* <script>alert(1)</script> */"
		holder, id := r.Hold(change)
		waited := make(chan error, 1)
		go func() {
			_, err := r.Root.ExecContext(context.WithoutCancel(t.Context()), change)
			waited <- err
		}()
		var got reply
		r.Eventually("somebody waits", func() bool {
			r.serveAt(rig.At("13:16"))
			got = r.look(ops.Admin, "/blocking", "tables", "all").wants(t, 200).harmless(t)
			return strings.Contains(got.Body, fmt.Sprintf("KILL %d ends this session", id)) && strings.Contains(got.Body, "Checks that are overdue") // others are seen, too
		})
		got.wants(t, 200, fmt.Sprintf("KILL %d ends this session", id), "<strong><bdi>connection ", "/* &lt;script&gt;alert(1)&lt;/script&gt; */", `data-again="10000"`,
			"order/&#34;&gt;&lt;img", "All tables of the server")
		_, err = holder.ExecContext(t.Context(), "ROLLBACK")
		r.Must(err)
		r.Must(<-waited)
	})
}
