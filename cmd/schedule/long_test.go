package schedule_test

import (
	"strings"
	"testing"

	"prescient/cmd"
	"prescient/cmd/internal/rig"
)

func TestALongScheduleSaysHowItsRunsKeepApart(t *testing.T) {
	rig.EachFlavour(t, func(r *rig.Rig) {
		r.Begin()
		create := []string{"schedule", "create", "export", "@hourly", "--exec", "x", "--long", "--overlap", "queue", "--tolerance", "5s", "--quota", "30m", "--pool", "heavy"}
		r.OK(create...)
		r.Says(r.OK(create...), "kept: export is there already")
		r.Says(r.OK("schedule", "show", "export"), "long            true\n", "overlap         queue\n", "tolerance       5s\n", "quota           30m\n", "pool            heavy\n")
		r.Says(r.OK("schedule", "list"), "runs x, long")
		r.Says(r.OK("schedule", "list", "--json"), `"long":true,"overlap":"queue","tolerance":"5s","quota":"30m","pool":"heavy"`)
		file := r.OK("schedule", "export")
		r.Says(file, "  long: true\n  overlap: queue\n  tolerance: \"5s\"\n  quota: \"30m\"\n  pool: heavy\n")

		r.Says(r.OK("schedule", "update", "export", "--quota", "none", "--overlap", "forbid", "--tolerance", "0s", "--no-pool"),
			"overlap queue → none\n", "tolerance 5s → none\n", "quota 30m → none\n", "pool heavy → none\n")
		if n := r.Count("SELECT COUNT(*) FROM schedule WHERE is_long AND overlap = 'forbid' AND tolerance IS NULL AND quota = 0 AND pool = ''"); n != 1 {
			r.Error("it is not stored as that")
		}
		r.Says(r.OK("schedule", "update", "export", "--long=false"), "long true → none\n")
		if out := r.OK("schedule", "show", "export"); strings.Contains(out, "quota") || strings.Contains(out, "overlap") || strings.Contains(out, "long") {
			r.Error(out)
		}
		r.Execute("schedule", "update", "export", "--overlap", "queue").Wants(r.T, cmd.ExitUsage, `schedule "export" is not long`)
		r.Execute("schedule", "update", "export", "--long", "--topic", "t").Wants(r.T, cmd.ExitUsage, `schedule "export" is long and sends events`)

		r.With(file, "schedule", "import", "-").Wants(r.T, cmd.ExitPending, "long none → true; overlap none → queue; tolerance none → 5s; quota none → 30m; pool none → heavy")
		r.With(file, "schedule", "import", "-", "--update").Wants(r.T, cmd.ExitOK)
		if again := r.OK("schedule", "export"); again != file {
			r.Error(again)
		}
	})
}

func TestARunUnderWayIsShown(t *testing.T) {
	rig.EachFlavour(t, func(r *rig.Rig) {
		r.Begin()
		r.OK("schedule", "create", "export", "@hourly", "--exec", "x", "--long")
		run := func(agent, until, started, takeovers string) {
			r.Helper()
			r.Exec("DELETE FROM long_run")
			r.Exec(`INSERT INTO long_run (job_key, schedule_id, occurrence, agent, token, allocated_until, slot, due_at, inserted_at, check_count, started_at, called_at, takeovers)
				SELECT job_key, entity_key, tag, '` + agent + `', 1, ` + until + `, next_check_at, due_at, inserted_at, 0, ` + started + `, ` + started + `, ` + takeovers + `
				FROM future_job WHERE job_exec = 'x' AND tag LIKE 'm%'`)
		}
		r.At("11:00:10")
		r.Exec("UPDATE schedule SET last_started_at = '2026-11-20 11:00:01'")
		r.OK("schedule", "run", "export")
		tag := "m" + at("11:00:10")
		for _, test := range []struct {
			agent, until, started, takeovers string
			says                             []string
		}{
			{"w-1", "'2026-11-20 11:01:01'", "'2026-11-20 11:00:01'", "2", []string{"running", "w-1", "2026-11-20 11:00:01", "  2\n"}},
			{"w-1", "'2026-11-20 11:00:09'", "'2026-11-20 11:00:01'", "0", []string{"lapsed", "w-1"}},
			{"", "'2026-11-20 11:00:11'", "'2026-11-20 11:00:01'", "0", []string{"handed on", "2026-11-20 11:00:01"}},
			{"w-1", "NULL", "'2026-11-20 11:00:01'", "0", []string{"waiting", "w-1"}},
			{"", "NULL", "NULL", "0", []string{"queued"}},
		} {
			run(test.agent, test.until, test.started, test.takeovers)
			for _, args := range [][]string{{"export"}, {"--run", "export-" + tag}} {
				out := r.OK(append([]string{"schedule", "show"}, args...)...)
				r.Says(out, append(test.says, "long runs:", "export-"+tag)...)
			}
			r.Says(r.OK("schedule", "show", "export"), "last_started_at 2026-11-20 11:00:01\n")
			r.Says(r.OK("schedule", "show", "export", "--json"), `"last_started_at":"2026-11-20T11:00:01Z"`, `"long_runs":[{"occurrence":"`+tag+`","phase":"`+test.says[0]+`"`)
		}
		run("w-1", "NULL", "'2026-11-20 11:00:01'", "0")
		r.Exec("DELETE FROM future_job WHERE tag LIKE 'm%'") // its check is gone, and nobody has it
		if out := r.OK("schedule", "show", "export"); strings.Contains(out, "long runs:") {
			r.Error(out)
		}

		got := rig.Execute(r.Context(), r.Options, r.EnvironmentOf([]string{"pending"}), "", "schedule", "show", "export")
		got.Wants(r.T, cmd.ExitOK, "what is under way cannot be seen by this account", "what ended cannot be seen by this account")
	})
}
