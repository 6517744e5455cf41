package cmd_test

import (
	"strings"
	"testing"

	"prescient/cmd"
	"prescient/prescient"
)

func TestPauseAndResume(t *testing.T) {
	eachServer(t, func(r *rig) {
		r.env["USER"] = "ann"
		r.ok("migrate")
		if out := r.ok("pause"); out != "nothing is paused\n" {
			r.Error(out)
		}
		out := r.ok("pause", "unshipped", "unpaid", "--reason", "the carrier is down")
		for _, want := range []string{"unshipped", "unpaid", "ann", "the carrier is down"} {
			if !strings.Contains(out, want) {
				r.Errorf("no %s in %s", want, out)
			}
		}
		if out := r.ok("pause", "--all", "--by", "bob"); !strings.Contains(out, "(everything)") || !strings.Contains(out, "bob") {
			r.Error(out)
		}
		if out := r.ok("run", "--json"); !strings.Contains(out, `"paused":true`) {
			r.Error(out)
		}
		if out := r.ok("resume", "--all"); !strings.Contains(out, "ended 1 pauses") || !strings.Contains(out, "unshipped") {
			r.Error(out)
		}
		if list := lines[prescient.Paused](r.T, r.ok("pause", "--list", "--json")); len(list) != 2 || list[1].JobExec != "unshipped" {
			r.Errorf("%+v", list)
		}
		if out := r.ok("resume", "unshipped", "unpaid", "unheard-of"); out != "ended 2 pauses\nnothing is paused\n" {
			r.Error(out)
		}
		r.execute("resume").wants(r.T, cmd.ExitUsage, "--all")
		r.execute("pause", "*").wants(r.T, cmd.ExitUsage, "--all")
		r.execute("pause", "a b").wants(r.T, cmd.ExitUsage)
		r.execute("pause", "--list", "a").wants(r.T, cmd.ExitUsage)
	})
}
