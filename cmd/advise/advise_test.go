package advise_test

import (
	"encoding/json"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"prescient/cmd"
	"prescient/cmd/internal/rig"
	"prescient/prescient"
	"prescient/prescient/advice"
)

func TestAdvise(t *testing.T) {
	rig.EachFlavour(t, func(r *rig.Rig) {
		r.Begin()
		r.At("23:00")
		r.Says(r.OK("advise"), "No check was inserted that anything is known of", "0 ends and 0 pending checks were read")
		// They are settled by 06:00 or 18:00, and were called from 05:00 on each hour.
		var rows []string
		for i := range 240 {
			slot, answers := 6, 1
			if i%4 == 0 {
				slot, answers = 18, 13
			}
			for exec, of := range map[string]bool{"order-unshipped": true, "order-unpaid": i < 20} {
				if of {
					rows = append(rows, fmt.Sprintf(`('order', '%[1]d', '%[2]s', '', '2026-11-20 %02[3]d:00', UNHEX(LEFT(SHA2('%[2]s %[1]d', 256), 32)), '2026-11-20 05:00', '2026-11-20 %02[3]d:00', %[4]d, 0, 0, 40, 1,
						'2026-11-20 04:%02[5]d', '2026-11-20 %02[3]d:00', 'done', NULL, '2026-11-20 %02[3]d:00:01', '2026-11-20 %02[3]d:00:02', 40, 1000, 'w')`, i, exec, slot, answers, i%30))
				}
			}
		}
		r.Exec(`INSERT INTO job_history (entity_name, entity_key, job_exec, tag, due_at, job_key, first_check_at, next_check_at, check_count, error_count, put_off_count, total_ms, revision,
			inserted_at, slot, outcome, error, started_at, ended_at, run_ms, lateness_ms, worker) VALUES ` + strings.Join(rows, ","))
		r.Says(r.OK("advise"), "order-unshipped", "order-unpaid", "checks found 20 happenings; advice is from 100 at least", "260 ends and 0 pending checks were read")
		drawn := filepath.Join(t.TempDir(), "curve.svg")
		out := r.OK("advise", "--exec", "order-unshipped", "--late", "45m", "--svg", drawn)
		r.Says(out, "240 found, 0 reported, 0 open", "ages of the checks", "DueAt: prescient.Advised(advised, now, now, prescient.Distances{})", "- exec: order-unshipped\n    max_checks: ")
		if svg, err := os.ReadFile(drawn); err != nil || !strings.Contains(string(svg), "order-unshipped, order") {
			r.Errorf("%v: %s", err, svg)
		}
		var report advice.Report
		if err := json.Unmarshal([]byte(r.OK("advise", "--json", "--exec", "order-unshipped", "--kind", "order")), &report); err != nil || len(report.Groups) != 1 || report.Groups[0].Now.Calls < 4.9 || report.Groups[0].Advised.Calls > 2.5 {
			r.Errorf("%v: %+v", err, report)
		}
		_, curve, _ := strings.Cut(out, "const curve = `")
		curve, _, _ = strings.Cut(curve, "`")
		var pasted prescient.Curve
		if err := json.Unmarshal([]byte(curve), &pasted); err != nil || pasted.Validate() != nil {
			r.Errorf("%v, %v: %s", err, pasted.Validate(), curve)
		}
		for _, test := range []struct{ line, says string }{
			{"--from now", "must be earlier"}, {"--from=", "--from"}, {"--exec a%b", "only letters"}, {"--kind a/b", "only letters"}, {"--kind schedule", "wait for nothing"},
			{"--most 10m", "a slot, which is 15m0s, and more are allowed"}, {"--svg x.svg --exec order-lost", "no check of job_exec order-lost was inserted"}, {"--late 0s", "--late"}, {"--cancels maybe", "happened and other are allowed"}, {"--exec=", "--exec"}, {"--found 3", "--found"},
			{"--least 2h --most 1h", "shorter than --least"}, {"--svg x.svg", "give --exec"}, {"--svg x.svg --exec order-unpaid", "20 happenings"},
		} {
			r.Execute(append([]string{"advise"}, strings.Fields(test.line)...)...).Wants(r.T, cmd.ExitUsage, test.says)
		}
	})
}
