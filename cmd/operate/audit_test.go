package operate_test

import (
	"strings"
	"testing"

	"prescient/cmd"
	"prescient/cmd/internal/rig"
	"prescient/prescient/audit"
)

func TestEachCommandThatChangesSomethingLeavesItsEntry(t *testing.T) {
	rig.EachFlavour(t, func(r *rig.Rig) {
		r.Variables["USER"] = "ada"
		r.OK("migrate", "--reason", "the first time")
		r.At("10:05")
		for _, line := range [][]string{
			{"schedule", "create", "digest/7", "30 8 * * *", "--exec", "digest", "--reason", "asked for"},
			{"schedule", "update", "digest/7", "--zone", "Europe/Berlin"},
			{"schedule", "pause", "digest/7"},
			{"schedule", "resume", "digest/7"},
			{"schedule", "run", "digest/7"},
			{"schedule", "delete", "digest/7", "--person", "Bob"},
			{"insert", "--entity", "order/42", "--exec", "x", "--in", "1h"},
			{"reschedule", "--entity", "order/42", "--exec", "x", "--in", "3h"},
			{"cancel", "--entity", "order/42", "--reason", "it's 🚢"},
			{"requeue", "--entity", "order/42", "--all-outcomes"},
			{"pause", "x", "--reason", "broken"},
			{"resume", "x", "--reason", "mended"},
		} {
			r.OK(line...)
		}
		var got []string
		for _, e := range rig.Lines[audit.Stored](r.T, r.OK("audit", "--json")) {
			if !strings.Contains(e.Account, "@") || e.Verb != "begin" && (e.Host == "" || e.Program != "prescient") {
				r.Errorf("%+v", e)
			}
			got = append(got, strings.TrimSpace(strings.Join([]string{e.Person, e.Command, e.Verb, string(e.Kind), e.ID, e.Reason}, "|")))
		}
		rest := strings.Join(got, "\n")
		for _, want := range []string{
			"ada|migrate|migrate|installation|prescient|the first time",
			"ada|schedule create|create|schedule|digest/7|asked for",
			"ada|schedule update|update|schedule|digest/7|",
			"ada|schedule pause|pause|schedule|digest/7|",
			"ada|schedule resume|resume|schedule|digest/7|",
			"ada|schedule run|run|schedule|digest/7|",
			"Bob|schedule delete|delete|schedule|digest/7|",
			"ada|reschedule|reschedule|check|order/42 x|",
			"ada|cancel|cancel|check|order/42 x|it's 🚢",
			"ada|requeue|requeue|check|order/42 x|",
			"ada|pause|pause|job_exec|x|broken",
			"ada|resume|resume|job_exec|x|mended",
		} {
			if !strings.Contains(rest+"\n", want+"\n") {
				r.Errorf("no %q in\n%s", want, rest)
			}
		}
		if len(got) != 13 { // with what the migration wrote
			r.Errorf("%d entries:\n%s", len(got), rest)
		}
		if out := r.OK("audit", "--kind", "schedule", "--verb", "update"); !strings.Contains(out, "zone: UTC -> Europe/Berlin") || strings.Count(out, "digest/7") != 1 {
			r.Error(out)
		}
		if out := r.OK("audit", "--person", "Bob"); strings.Count(out, "\n") != 2 || !strings.Contains(out, "schedule delete") {
			r.Error(out)
		}
		if out := r.OK("audit", "--id", "none"); !strings.Contains(out, "no entry of the audit matches") {
			r.Error(out)
		}
		page := r.Execute("audit", "--limit", "4", "--json")
		rows := rig.Lines[struct{ Cursor string }](r.T, page.Out)
		if next := r.OK("audit", "--limit", "100", "--json", "--after", rows[3].Cursor); strings.Count(next, "\n") != 9 {
			r.Error(next)
		}
		r.Execute("audit", "--limit", "4").Wants(r.T, cmd.ExitOK, "there are more: --after '")
		r.Execute("audit", "--kind", "x").Wants(r.T, cmd.ExitUsage, `--kind "x": schedule, job, step, rule, job_exec, check, event, bulk, token, user, agent, installation are allowed`)
		r.Execute("audit", "--from", "soon").Wants(r.T, cmd.ExitUsage, "--from")
		r.Execute("audit", "--after", "x").Wants(r.T, cmd.ExitUsage, "cursor")
		r.Execute("cancel", "--entity", "order/42", "--reason", strings.Repeat("x", 1001)).Wants(r.T, cmd.ExitUsage, "--reason", "1000")
	})
}
