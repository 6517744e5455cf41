package page_test

import (
	"fmt"
	"strings"
	"testing"

	"prescient/prescient/internal/rig"
	"prescient/prescient/ops"
)

// settled has checks of ship on orders that were called each hour from 05:00 on: three of four until 06:00, the others until 18:00; and twenty on parcels,
// of which each fourth ended by max_checks.
func (r *testRig) settled() {
	r.T.Helper()
	var rows []string
	for i := range 260 {
		kind, slot, answers, outcome := "order", 6, 1, "done"
		if i >= 240 {
			kind = "parcel"
		}
		if i%4 == 0 {
			slot, answers = 18, 13
			if kind == "parcel" {
				outcome = "max_checks"
			}
		}
		rows = append(rows, fmt.Sprintf(`('%[6]s', '%[1]d', 'ship', '', '2026-11-20 %02[2]d:00', UNHEX(LEFT(SHA2('%[1]d', 256), 32)), '2026-11-20 05:00', '2026-11-20 %02[2]d:00', %[3]d, 0, 0, 40, 1,
			'2026-11-20 04:%02[4]d', '2026-11-20 %02[2]d:00', '%[5]s', NULL, '2026-11-20 %02[2]d:00:01', '2026-11-20 %02[2]d:00:02', 40, 1000, 'w')`, i, slot, answers, i%30, outcome, kind))
	}
	r.Exec(`INSERT INTO p_job_history (entity_name, entity_key, job_exec, tag, due_at, job_key, first_check_at, next_check_at, check_count, error_count, put_off_count, total_ms, revision,
		inserted_at, slot, outcome, error, started_at, ended_at, run_ms, lateness_ms, worker) VALUES ` + strings.Join(rows, ","))
}

func TestWhenToCheckIsSaidWithTheCurveAndTheCodeToPaste(t *testing.T) {
	eachServer(t, func(t *testing.T, r *testRig) {
		const nothing = "Not enough is known for advice"
		r.look(ops.Viewer, "/advice", "job_exec", "ship").wants(t, 200, "0 ends and 0 pending checks", nothing)
		r.look(ops.Viewer, "/exec", "job_exec", "ship").wants(t, 200, `href="/p/advice?job_exec=ship"`)
		r.settled()
		r.serveAt(rig.At("23:00"))
		for _, role := range ops.Roles {
			r.look(role, "/advice", "job_exec", "ship", "late", "45m").wants(t, 200, "260 ends and 0 pending checks", "Checks of <bdi>order</bdi>", "240 checks are made use of", "None of 240 ended checks ended by max_checks",
				`<polyline class="happened" points="56.0,172.0`, `<desc id="happened-text">Half of ship has happened by`, "The same as a table", `<td class="n">5.00</td>`, "The checks that are advised",
				"const curve = `{&#34;points&#34;", "DueAt: prescient.Advised(advised, now, now", "- exec: ship\n  max_checks: ", `href="/p/advice?entity=parcel&amp;job_exec=ship&amp;late=45m"`).lacks(t, nothing, "style=")
		}
		r.look(ops.Viewer, "/advice", "job_exec", "ship", "entity", "parcel").wants(t, 200, "Checks of <bdi>parcel</bdi>", nothing, "checks found 15 happenings; advice is from 100 at least", "5 of 20 ended checks ended by max_checks",
			`href="/p/advice?job_exec=ship"`).lacks(t, "<polyline", "const curve")
		r.look(ops.Viewer, "/advice", "job_exec", "ship", "late", "1s").wants(t, 200, "no plan finds it as early as was asked for")
		r.look(ops.Viewer, "/advice", "job_exec", "ship", "before", "2026-11-20T04:00").wants(t, 200, nothing)
		for name, value := range map[string]string{"job_exec": hostile[0], "entity": hostile[1], "late": "soon", "cancels": hostile[2], "before": "x", "from": "2026-11-21"} {
			query := map[string]string{"job_exec": "ship"}
			query[name] = value
			r.look(ops.Viewer, "/advice", "job_exec", query["job_exec"], "entity", query["entity"], "late", query["late"], "cancels", query["cancels"], "before", query["before"], "from", query["from"]).wants(t, 422).harmless(t)
		}
		r.look(ops.Viewer, "/advice").wants(t, 422)
	})
}
