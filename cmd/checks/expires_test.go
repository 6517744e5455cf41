package checks_test

import (
	"strings"
	"testing"

	"prescient/cmd"
	"prescient/cmd/internal/rig"
	"prescient/prescient"
)

func TestACheckIsInsertedWithAnExpiryAndShown(t *testing.T) {
	rig.EachFlavour(t, func(r *rig.Rig) {
		r.Begin()
		insert := []string{"insert", "--entity", "patient/7", "--exec", "remind", "--at", "2026-11-20 12:00"}
		for text, why := range map[string]string{
			"0s": "--expires 0s: positive times are allowed\n", "-1h": "--expires -1h: positive times are allowed\n",
			"soon": `--expires: "soon" is no duration; want one such as 90s, 15m, 1h30m, 1d12h or 30d; positive times are allowed` + "\n",
		} {
			r.Execute(append(insert, "--expires", text)...).Wants(r.T, cmd.ExitUsage, why)
			r.Execute("insert", "--file", rig.File(r.T, "a.csv", "entity\na/b\n"), "--exec", "x", "--in", "1h", "--expires", text).Wants(r.T, cmd.ExitUsage, why)
		}
		r.OK(append(insert, "--expires", "1h")...)
		if out := r.OK("get", "--entity", "patient/7", "--exec", "remind"); !strings.Contains(out, "expires_at      2026-11-20 13:00:00\n") {
			r.Error(out)
		}
		if out := r.OK("pending"); !strings.Contains(out, "2026-11-20 13:00:00") {
			r.Error(out)
		}
		if out := r.OK("pending", "--json"); !strings.Contains(out, `"expires_at":"2026-11-20T13:00:00Z"`) {
			r.Error(out)
		}
		r.OK("reschedule", "--entity", "patient/7", "--exec", "remind", "--at", "2026-11-20 14:00")
		if job := r.Jobs()[0]; job.ExpiresAt == nil || !job.ExpiresAt.Equal(rig.At("15:00")) {
			r.Errorf("%+v", job)
		}
		r.OK("cancel", "--entity", "patient/7")

		file := rig.File(r.T, "a.jsonl", `{"entity": "a/1", "expires": "2h"}`+"\n"+`{"entity": "a/2"}`+"\n")
		r.OK("insert", "--file", file, "--exec", "x", "--at", "2026-11-20 12:00", "--expires", "30m")
		for _, job := range r.Jobs() {
			if want := map[string]string{"1": "14:00", "2": "12:30"}[job.EntityKey]; job.ExpiresAt == nil || !job.ExpiresAt.Equal(rig.At(want)) {
				r.Errorf("%s expires at %v; want %s", job.EntityKey, job.ExpiresAt, want)
			}
		}
		if _, err := r.DB.Exec("UPDATE job_history SET outcome = 'expired'"); err != nil {
			r.Error(err)
		}
		if ends := r.History("--outcome", string(prescient.Expired)); len(ends) != 1 || ends[0].Outcome != prescient.Expired || !ends[0].ExpiresAt.Equal(rig.At("15:00")) {
			r.Errorf("%+v", ends)
		}
		r.Execute("history", "--outcome", "late").Wants(r.T, cmd.ExitUsage, "expired, superseded, missed, too_soon, overlapped, quota are allowed")
		r.Execute("cancel", "--entity", "schedule/nightly").Wants(r.T, cmd.ExitUsage, "kept for schedules", "commands and functions of their own")
	})
}
