package checks_test

import (
	"fmt"
	"strings"
	"testing"

	"prescient/cmd"
	"prescient/cmd/internal/rig"
)

func TestCancelTakesAllThatMatch(t *testing.T) {
	rig.EachFlavour(t, func(r *rig.Rig) {
		r.Begin()
		for i := range 3 {
			r.OK("insert", "--entity", fmt.Sprintf("order/%d", i), "--exec", "unshipped", "--in", "3h")
			r.OK("insert", "--entity", fmt.Sprintf("order/%d", i), "--exec", "unpaid", "--in", "3h")
		}
		if out := r.OK("cancel", "--exec", "unshipped", "--entity", "order", "--dry-run"); !strings.Contains(out, "3 match; nothing was changed") || !strings.Contains(out, "order/2") {
			r.Error(out)
		}
		if out := r.OK("cancel", "--exec", "unshipped", "--slot", "2026-11-20 13:15", "--yes", "--json"); !strings.Contains(out, `"matched":3`) || !strings.Contains(out, `"done":3,"left_out":0,"refused":0,"stopped":false`) {
			r.Error(out)
		}
		if n := len(r.Jobs()); n != 3 {
			r.Errorf("%d are pending", n)
		}
		if out := r.OK("reschedule", "--entity", "order", "--exec", "unpaid", "--in", "5h", "--yes"); !strings.Contains(out, "rescheduled 3 of 3 that matched") {
			r.Error(out)
		}
		if rows := r.Jobs("--exec", "unpaid"); len(rows) != 3 || !rows[0].NextCheckAt.Equal(rig.At("15:15")) {
			r.Errorf("%+v", rows)
		}
		if out := r.OK("reschedule", "--exec", "unpaid", "--failing", "--yes"); !strings.Contains(out, "rescheduled 0 of 0") {
			r.Error(out)
		}
		out := r.OK("bulk", "list")
		for _, want := range []string{"done", "cancel", "reschedule", "retry", "job_exec=unshipped"} {
			if !strings.Contains(out, want) {
				r.Errorf("no %s in %s", want, out)
			}
		}
		if out := r.OK("bulk", "list", "--entity", "order/1", "--exec", "unshipped"); strings.Count(out, "\n") != 2 || !strings.Contains(out, "cancel") {
			r.Error(out)
		}
		r.OK("bulk", "work")
		r.OK("bulk", "stop", "1")
		r.Execute("bulk", "stop", "99").Wants(r.T, cmd.ExitNotFound, "no such bulk run: 99")
		r.Execute("bulk", "stop", "x").Wants(r.T, cmd.ExitUsage, "bulk list")
	})
}

func TestManyAreRefusedWhereThatIsNotMeant(t *testing.T) {
	rig.EachFlavour(t, func(r *rig.Rig) {
		r.Begin()
		for _, wrong := range []struct{ flags, says string }{
			{"cancel", "--entity name/key"},
			{"cancel --from now", "--exec"},
			{"cancel --exec x", "--yes"},
			{"cancel --exec x --yes --dry-run", "--yes"},
			{"cancel --exec x --exec y --yes", "one job_exec"},
			{"cancel --entity order/1 --slot now --dry-run", "one entity"},
			{"cancel --entity order/1 --yes", "one entity"},
			{"cancel --entity schedule --yes", "schedules"},
			{"cancel --exec x --slot never --yes", "never"},
			{"cancel --exec x --slot now --from now --yes", "slot"},
			{"cancel --exec x --slot= --yes", "--slot is empty"},
			{"cancel --exec= --entity order --yes", "--exec is empty"},
			{"reschedule --exec x --error= --in 3h --yes", "--error is empty"},
			{"reschedule --exec x --yes", "--at"},
			{"reschedule --exec x --in 3h", "--yes"},
			{"reschedule --exec x --in 3h --failing --yes", "--failing"},
			{"reschedule --exec x --in 3000d --yes", "horizon"},
			{"reschedule --exec x --in 3h --spread 3000d --yes", "horizon"},
			{"reschedule --exec x --in 3h --spread never --yes", "--spread"},
			{"reschedule --entity order/1 --exec x --in 3h --spread 1h", "--spread"},
			{"requeue --outcome failed --from now-1h --spread 3000d --yes", "horizon"},
			{"requeue --entity order/1 --outcome failed --spread 1h", "--spread"},
			{"reschedule --entity order/1 --exec x --failing", "--failing"},
			{"reschedule --exec x --tag y --in 3h --yes", "--tag"},
		} {
			r.Execute(strings.Fields(wrong.flags)...).Wants(r.T, cmd.ExitUsage, wrong.says)
		}
	})
}
