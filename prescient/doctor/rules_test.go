package doctor

import (
	"testing"
	"time"

	"prescient/prescient/internal/rig"
)

func TestADoctorNamesRulesThatNobodyMovesChecksFor(t *testing.T) {
	t.Parallel()
	eachFlavour(t, func(t *testing.T, r *testRig) {
		r.Exec(`INSERT INTO p_rule (name, version, occasion, job_exec, state, since, moved_to, walked_to, created_at, updated_at) VALUES
			('left', 2, 'placed', 'check', 'on', '2026-11-20', 2, 0, '2026-11-20', '2026-11-20 12:00'), ('follows', 3, 'placed', 'check', 'on', '2026-11-20', 2, 3, '2026-11-20', '2026-11-20 12:00')`)
		look := func(clock string, want Severity, says string) {
			t.Helper()
			found, err := Examine(t.Context(), r.Pool(rig.At(clock)), Options{Prefix: "p_", Dialect: r.Setting, Resolution: 15 * time.Minute, Only: []string{"rules"}})
			r.Must(err)
			wantFinding(t, found, "rules", want, says)
		}
		look("12:14", SeverityOK, "")
		look("12:16", SeverityWarn, `"left" (changed at 2026-11-20 12:00 (UTC)).`)
		r.Exec("INSERT INTO p_duty (name, token, worker, allocated_until) VALUES ('rule/other', 1, 'w1', '2026-11-20 12:17')")
		look("12:16", SeverityOK, "") // who walks for another rule comes to this one
		look("12:18", SeverityWarn, "left")
	})
}
