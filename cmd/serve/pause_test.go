package serve_test

import (
	"strings"
	"testing"

	"prescient/cmd"
	"prescient/cmd/internal/rig"
	"prescient/prescient"
)

func TestPauseAndResume(t *testing.T) {
	rig.EachFlavour(t, func(r *rig.Rig) {
		r.Variables["USER"] = "ann"
		r.OK("migrate")
		if out := r.OK("pause"); out != "nothing is paused\n" {
			r.Error(out)
		}
		out := r.OK("pause", "unshipped", "unpaid", "--reason", "the carrier is down")
		for _, want := range []string{"unshipped", "unpaid", "ann", "the carrier is down"} {
			if !strings.Contains(out, want) {
				r.Errorf("no %s in %s", want, out)
			}
		}
		if out := r.OK("pause", "--all", "--by", "bob"); !strings.Contains(out, "(everything)") || !strings.Contains(out, "bob") {
			r.Error(out)
		}
		if out := r.OK("run", "--json"); !strings.Contains(out, `"paused":true`) {
			r.Error(out)
		}
		if out := r.OK("resume", "--all"); !strings.Contains(out, "ended 1 pauses") || !strings.Contains(out, "unshipped") {
			r.Error(out)
		}
		if out := r.OK("pause", "--events", "--reason", "a clone"); !strings.Contains(out, "(events)") || !strings.Contains(out, "a clone") {
			r.Error(out)
		}
		r.Execute("doctor", "--only", "paused").Wants(r.T, cmd.ExitWarn, "")
		if out := r.OK("resume", "--events"); !strings.Contains(out, "ended 1 pauses") || strings.Contains(out, "(events)") {
			r.Error(out)
		}
		if list := rig.Lines[prescient.Paused](r.T, r.OK("pause", "--list", "--json")); len(list) != 2 || list[1].JobExec != "unshipped" {
			r.Errorf("%+v", list)
		}
		if out := r.OK("resume", "unshipped", "unpaid", "unheard-of"); out != "ended 2 pauses\nnothing is paused\n" {
			r.Error(out)
		}
		r.Execute("resume").Wants(r.T, cmd.ExitUsage, "--all")
		for _, command := range []string{"pause", "resume"} {
			r.Execute(command, "*").Wants(r.T, cmd.ExitUsage, "--all")
			r.Execute(command, "*events").Wants(r.T, cmd.ExitUsage, "--events")
		}
		r.Execute("pause", "a b").Wants(r.T, cmd.ExitUsage)
		r.Execute("pause", "--list", "a").Wants(r.T, cmd.ExitUsage)
	})
}
