package rule_test

import (
	"strings"
	"testing"

	"prescient/cmd"
	"prescient/cmd/internal/rig"
)

func TestARuleFromItsCreationToItsEnd(t *testing.T) {
	rig.EachFlavour(t, func(r *rig.Rig) {
		r.Begin()
		r.Execute("rule", "set", "remind", "--delay", "3h").Wants(r.T, cmd.ExitUsage, "there is no rule remind: give --occasion and --exec")
		set := []string{"rule", "set", "remind", "--occasion", "order.placed", "--exec", "send-reminder", "--delay", "3h", "--ends", "order.shipped,order.cancelled", "--payload", `{"tone": "kind"}`}
		r.Says(r.OK(set...), "created: remind, with version 1\n")
		r.Says(r.OK(set...), "kept: remind is so already")
		r.Says(r.OK("rule", "list"), "remind", "order.placed", "send-reminder", "3h", "order.shipped, order.cancelled")

		r.Says(r.OK("rule", "try", "remind"), "it happened 0 times", "Rule remind was made or switched on at 2", "what happened before made no check")

		out := r.OK("rule", "report", "order.placed", "--entity", "order/42", "--data", `{"customer": 7}`)
		r.Says(out, "0 ended\nremind: inserted, due at ")
		r.Says(r.OK("rule", "report", "order.placed", "--entity", "order/42"), "remind: kept, due at ")
		if got := r.Execute("rule", "report", "order.plased", "--entity", "order/42"); got.Code != 0 || got.Out != "0 ended\n" || !strings.Contains(got.Err, "no rule knows the occasion order.plased, did you mean order.placed?") {
			r.Errorf("%v", got)
		}
		r.Execute("rule", "report", "order.placed", "--entity", "order/42", "--data", "[1]").Wants(r.T, cmd.ExitUsage, "JSON object")
		r.Says(r.OK("get", "--entity", "order/42", "--exec", "send-reminder", "--tag", "rule:remind"), "customer", "kind")

		r.Says(r.OK("rule", "try", "second", "--occasion", "order.placed", "--exec", "x", "--from", "now-1h", "--before", "now+1h"), "by the checks of rule remind it happened ", "would have been called")
		r.Execute("rule", "try", "second", "--occasion", "nobody.knows", "--exec", "x").Wants(r.T, cmd.ExitNotFound, "nobody knows when it happened")
		r.Says(r.OK("rule", "set", "remind", "--delay", "4h", "--dry-run"), "it would move 1 pending checks of remind\n  order/42 from ")
		r.Execute("rule", "set", "remind", "--exec", "other").Wants(r.T, cmd.ExitPending, "a rule keeps its occasion and its job_exec")
		r.Execute("rule", "set", "remind", "--delay", "4h", "--version", "7").Wants(r.T, cmd.ExitPending, "changed meanwhile")
		r.Execute("rule", "set", "remind", "--ends", "order.placed").Wants(r.T, cmd.ExitUsage, "cannot end it")
		r.Says(r.OK("rule", "set", "remind", "--delay", "4h", "--reason", "customers asked"), "changed: remind, with version 2; 1 pending checks were moved\n")
		r.Says(r.OK("rule", "show", "remind"), "version 2 of ", "delay 4h", "version 1 of ", "delay 3h", `{"tone": "kind"}`)
		r.Says(r.OK("audit", "--kind", "rule", "--id", "remind"), "update", "customers asked")
		r.Says(r.OK("rule", "move", "remind"), "all that is pending is as remind says")

		r.Says(r.OK("rule", "pause", "remind"), "paused: remind")
		r.Says(r.OK("rule", "pause", "remind"), "kept: remind")
		r.Says(r.OK("rule", "report", "order.placed", "--entity", "order/43"), "0 ended\n")
		r.Says(r.OK("rule", "report", "order.shipped", "--entity", "order/42"), "1 ended\n")
		r.Says(r.OK("audit", "--kind", "check"), "cancel", "order/42 send-reminder rule:remind")
		r.Says(r.OK("rule", "resume", "remind"), "resumed: remind")
		r.OK("rule", "report", "order.placed", "--entity", "order/44", "--at", "now+1m")
		out = r.OK("rule", "delete", "remind", "--end")
		r.Says(out, "deleted: remind\n", "remind; 1 pending checks were ended\n")
		r.Execute("rule", "show", "remind").Wants(r.T, cmd.ExitNotFound, "it was deleted")
		if out = r.OK("rule", "list", "--json"); strings.TrimSpace(out) != "" {
			r.Error(out)
		}
		// What the configuration has is known.
		file := rig.File(r.T, "prescient.yaml", "jobs:\n  http:\n  - exec: call\n    url: http://127.0.0.1:1/\n")
		for exec, warned := range map[string]bool{"call": false, "nobody-has-it": true} {
			if got := r.Execute("rule", "set", exec, "--occasion", "order.placed", "--exec", exec, "--delay", "1h", "--config", file); got.Code != 0 || strings.Contains(got.Err, "warning") != warned {
				r.Errorf("%v", got)
			}
		}
	})
}
