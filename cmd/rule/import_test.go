package rule_test

import (
	"strings"
	"testing"

	"prescient/cmd"
	"prescient/cmd/internal/rig"
)

const rules = `- rule: remind
  occasion: order.placed
  exec: send-reminder
  delay: 3h
  ends:
    - order.shipped
    - order.cancelled
  payload: {"tone": "kind"}
- rule: second
  occasion: order.placed
  exec: call
  delay: 2d
  max_errors: -1
  enabled: false
`

func TestRulesComeFromAFile(t *testing.T) {
	rig.EachFlavour(t, func(r *rig.Rig) {
		r.Begin()
		r.With(rules+"- {rule: third, occasion: x, exec: x, dealy: 3h}\n", "rule", "import", "-").Wants(r.T, cmd.ExitUsage, `stdin, line 15: rule third: unknown name "dealy"`, "1 of the rules of stdin are wrong; nothing was done")
		r.With("- {rule: a, occasion: b, exec: c}\n- {rule: d, occasion: b, exec: schedule.fire}\n", "rule", "import", "-").Wants(r.T, cmd.ExitUsage, "line 2: ")
		r.With("- {id: a, crontab: '@daily', topic: t}\n", "rule", "import", "-").Wants(r.T, cmd.ExitUsage, "there is no rule in stdin")
		r.Says(r.With(rules, "rule", "import", "-", "--dry-run").Out, "+ rule remind\n+ rule second\n2 created, 0 changed, 0 kept (a dry run: nothing was done)\n")
		if n := r.Count("SELECT COUNT(*) FROM rule"); n != 0 {
			r.Errorf("a dry run has made %d rules", n)
		}
		got := r.With(rules+"- {id: a, crontab: '@daily', topic: t}\n- {step: s, exec: x}\n", "rule", "import", "-", "--reason", "as agreed")
		got.Wants(r.T, cmd.ExitOK, "the schedules of the file (1) are left to schedule import", "the jobs and steps of the file (1) are left to job import")
		r.Says(got.Out, "+ rule remind\n+ rule second\n2 created, 0 changed, 0 kept\n")
		r.Says(r.With(rules+"- {id: a, crontab: '@daily', topic: t}\n", "schedule", "import", "-").Err, "the rules of the file (2) are left to rule import")
		r.Says(r.With(rules, "rule", "import", "-").Out, "0 created, 0 changed, 2 kept\n")
		if text := r.OK("rule", "export"); text != rules {
			r.Error(text)
		}
		r.Says(r.OK("audit", "--kind", "rule", "--id", "second"), "pause", "as agreed")

		r.OK("rule", "report", "order.placed", "--entity", "order/42")
		later := strings.Replace(rules, "delay: 3h", "delay: 4h", 1)
		r.With(later, "rule", "import", "-").Wants(r.T, cmd.ExitPending, "line 1: the database has rule remind already, with another definition", "rule import --update changes it")
		r.With(strings.Replace(rules, "exec: call", "exec: other", 1), "rule", "import", "-", "--update").Wants(r.T, cmd.ExitPending, "line 9: ", "a rule keeps its occasion and its job_exec")
		r.Says(r.With(later, "rule", "import", "-", "--update", "--dry-run").Out, "~ rule remind\n", "    -   delay: 3h\n    +   delay: 4h\n", "it would move 1 pending checks of remind\n  order/42 from ")
		r.Says(r.With(later, "rule", "import", "-", "--update").Out, "~ rule remind\n", "0 created, 1 changed, 1 kept\nremind; 1 pending checks were moved\n")
		r.Says(r.With(rules, "rule", "import", "-", "--update", "--leave", "--json").Out, `{"name":"rule remind","did":"changed","lines":[`, `{"name":"rule second","did":"kept"}`)
		if text := r.OK("rule", "export", "remind"); !strings.HasPrefix(rules, text) {
			r.Error(text)
		}
		r.OK("rule", "delete", "second")
		r.Says(r.With(rules, "rule", "import", "-").Out, "+ rule second\n1 created, 0 changed, 1 kept\n")
		r.Execute("rule", "export", "none").Wants(r.T, cmd.ExitNotFound, "no such rule: none")
	})
}
