package doctor

import (
	"fmt"
	"strings"
	"testing"
	"time"

	"prescient/prescient"
	"prescient/prescient/internal/rig"
)

func TestADoctorNamesLongRunsThatDoNotGetOn(t *testing.T) {
	t.Parallel()
	eachFlavour(t, func(t *testing.T, r *testRig) {
		stamp := func(clock string) string { return rig.At(clock).Format(time.DateTime) }
		// run is the check of an app that waits for a slot, and its long run.
		run := func(key, slot, set string) {
			_, err := r.Client.Insert(t.Context(), r.AppAt(rig.At("9:55")), prescient.NewJob{Entity: prescient.Entity{Name: "report", Key: key}, JobExec: "export", DueAt: rig.At("10:00")})
			r.Must(err)
			r.Exec("UPDATE p_future_job SET next_check_at = ? WHERE entity_key = ?", stamp(slot), key)
			if set == "" {
				return
			}
			r.Exec(fmt.Sprintf(`INSERT INTO p_long_run (job_key, agent, token, allocated_until, slot, due_at, inserted_at, check_count, started_at)
				SELECT job_key, 'w1', 1, '2026-11-20 12:05:00', '2026-11-20 10:00:00', due_at, inserted_at, 0, '2026-11-20 10:00:01' FROM p_future_job WHERE entity_key = '%s'`, key))
			r.Exec("UPDATE p_long_run run JOIN p_future_job job USING (job_key) SET "+set+" WHERE entity_key = ?", key)
		}
		look := func(clock string) []Finding {
			found, err := Examine(t.Context(), r.Pool(rig.At(clock)), Options{Prefix: "p_", Dialect: r.Setting, Resolution: 15 * time.Minute})
			r.Must(err)
			return found
		}
		run("runs", "12:15", "token = 2")
		run("ended", "12:15", "ended_at = '2026-11-20 10:01:00', allocated_until = NULL, outcome = 'done'") // and another check of its key, which is paused
		r.Exec("INSERT INTO p_job_pause (job_exec) VALUES ('export')")
		wantFinding(t, look("12:04"), "long_runs", SeverityOK)
		if f := finding(look("12:04"), "long_runs.waiting"); f.Code != "" {
			t.Errorf("%+v", f)
		}
		r.Exec("DELETE FROM p_job_pause")
		run("left", "12:15", "allocated_until = '2026-11-20 11:30:00'")
		run("handed", "12:15", "allocated_until = '2026-11-20 11:30:00', agent = '', pool = 'gpu'")
		run("dies", "12:15", "takeovers = 2")
		run("large", "12:15", "run.allocated_until = NULL, last_error = 'checkpoint too long: 70000 bytes; at most 65536 are allowed'")
		run("queued", "12:15", "run.allocated_until = NULL, run.started_at = NULL, agent = ''")
		run("no place", "12:15", "")
		run("called", "12:15", "") // no long run: its answer was a time that was over already
		r.Exec("UPDATE p_future_job SET check_count = 1 WHERE entity_key = 'called'")
		found := look("12:04")
		wantFinding(t, found, "long_runs", SeverityBad, `"report/left" (job_exec export, last held by w1)`)
		wantFinding(t, found, "long_runs", SeverityBad, `"report/handed" (job_exec export, pool gpu, its worker stopped and handed it on)`)
		wantFinding(t, found, "long_runs.takeovers", SeverityWarn, `"report/dies" (job_exec export, taken over 2 times, now held by w1)`)
		wantFinding(t, found, "long_runs.checkpoint", SeverityWarn, `"report/large" (job_exec export, checkpoint too long: 70000 bytes`)
		wantFinding(t, found, "long_runs.waiting", SeverityWarn, `"report/queued" (job_exec export)`)
		wantFinding(t, found, "long_runs.waiting", SeverityWarn, `"report/no place" (job_exec export)`)
		for _, f := range found {
			if strings.Contains(f.Text, "report/runs") || strings.Contains(f.Text, "report/called") {
				t.Errorf("%+v", f)
			}
		}
	})
}
