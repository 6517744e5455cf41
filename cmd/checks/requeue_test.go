package checks_test

import (
	"strings"
	"testing"

	"prescient/cmd"
	"prescient/cmd/internal/rig"
)

func TestRequeue(t *testing.T) {
	rig.EachFlavour(t, func(r *rig.Rig) {
		r.Begin()
		for _, key := range []string{"1", "2"} {
			r.OK("insert", "--entity", "order/"+key, "--exec", "unshipped", "--in", "3h", "--payload", `{"lines": 3}`)
			r.OK("cancel", "--entity", "order/"+key)
		}
		r.OK("insert", "--entity", "order/2", "--exec", "unshipped", "--in", "5h")
		args := []string{"requeue", "--exec", "unshipped", "--outcome", "cancelled", "--from", "now-1h", "--in", "1h"}
		if out := r.OK(append(args, "--dry-run")...); !strings.Contains(out, "2 match; nothing was changed") || !strings.Contains(out, "order/2") {
			r.Error(out)
		}
		if n := len(r.Jobs()); n != 1 {
			r.Errorf("a dry run made %d pending", n)
		}
		got := r.Execute(append(args, "--yes")...)
		got.Wants(r.T, cmd.ExitOK, "1 was refused, since pending already")
		if !strings.Contains(got.Out, "requeued 1 of 2 that matched") {
			r.Error(got.Out)
		}
		if out := r.OK("requeue", "--outcome", "cancelled", "--from", "now-1h", "--yes", "--json"); !strings.Contains(out, `"done":0,"left_out":0,"refused":2,"stopped":false`) {
			r.Error(out)
		}
		if out := r.OK("bulk", "list"); strings.Count(out, "requeue") != 2 {
			r.Error(out)
		}
		rows := r.Jobs("--entity", "order/1")
		if len(rows) != 1 || !rows[0].NextCheckAt.Equal(rig.At("11:15")) || !strings.Contains(string(rows[0].Payload), "lines") {
			r.Errorf("%+v", rows)
		}
	})
}

// Of one entity it says what becomes of each end.
func TestRequeueOfOneEntity(t *testing.T) {
	rig.EachFlavour(t, func(r *rig.Rig) {
		r.Begin()
		for _, exec := range []string{"unshipped", "unpaid"} {
			r.OK("insert", "--entity", "order/1", "--exec", exec, "--in", "3h")
		}
		r.OK("cancel", "--entity", "order/1")
		r.OK("insert", "--entity", "order/1", "--exec", "unpaid", "--in", "5h")
		args := []string{"requeue", "--entity", "order/1", "--all-outcomes", "--in", "1h"}
		if out := r.OK(append(args, "--dry-run")...); !strings.Contains(out, "would have requeued 1; 1 is pending already and was kept") || !strings.Contains(out, "\nwould requeue ") || strings.Contains(out, "\nrequeued ") {
			r.Error(out)
		}
		if n := len(r.Jobs()); n != 1 {
			r.Errorf("a dry run made %d pending", n)
		}
		out := r.OK(append(args, "--json")...)
		if !strings.Contains(out, `"did":"kept"`) || !strings.HasSuffix(out, `{"requeued":1,"kept":1,"superseded":0,"refused":0,"more":false,"dry_run":false}`+"\n") {
			r.Error(out)
		}
		if rows := r.Jobs("--exec", "unshipped"); len(rows) != 1 || !rows[0].NextCheckAt.Equal(rig.At("11:15")) {
			r.Errorf("%+v", rows)
		}
	})
}

func TestRequeueRefusesWhatItIsNotSureOf(t *testing.T) {
	rig.EachFlavour(t, func(r *rig.Rig) {
		r.Begin()
		for _, wrong := range []struct{ flags, says string }{
			{"", "--outcome"},
			{"--exec x", "--outcome"},
			{"--exec x --outcome failed", "--from"},
			{"--exec x --all-outcomes --from now-1h --yes", "--all-outcomes is for one entity"},
			{"--exec x --outcome failed --all-outcomes --from now-1h --yes", "either --outcome or --all-outcomes"},
			{"--exec x --outcome failed --from now-1h", "--dry-run"},
			{"--exec x --outcome failed --from now-1h --yes --dry-run", "--dry-run"},
			{"--exec x --outcome= --from now-1h --yes", "--outcome is empty"},
			{"--entity order/1 --outcome failed --yes", "one entity"},
			{"--entity order/1 --outcome failed --error x", "one entity"},
			{"--entity schedule --outcome failed --from now-1h --yes", "schedules"},
			{"--exec x --outcome failed --from never --yes", "never"},
			{"--entity order/1 --outcome lost", "lost"},
			{"--entity order/1 --outcome failed --at now --in 3h", "--at"},
			{"--exec= --outcome failed --from now-1h --yes", "--exec is empty"},
			{"--entity= --outcome failed --from now-1h --yes", "--entity is empty"},
			{"--entity order/1 --outcome failed --from=", "--from is empty"},
			{"--entity order/1 --outcome failed --before=", "--before is empty"},
		} {
			r.Execute(append([]string{"requeue"}, strings.Fields(wrong.flags)...)...).Wants(r.T, cmd.ExitUsage, wrong.says)
		}
	})
}

// To the library 0 is the default: a command that is given it must not take that.
func TestNoLimitOfZeroMeansSomethingElse(t *testing.T) {
	rig.EachFlavour(t, func(r *rig.Rig) {
		r.Migrate()
		for _, line := range []string{
			"pending --limit 0", "pending --limit -1", "pending --search 0", "pending --search -1", "pending --limit 10000",
			"history --limit 0", "history --limit -1", "history --search 0", "history --limit 10000",
			"slots --limit 0", "slots --limit -1", "slots --limit 10000", "slots served --limit 0",
			"prune --keep 0", "prune --keep 90d --max-copy 0", "prune --keep 90d --max-copy -1",
			"prune --keep 90d --patience 0", "prune --keep 90d --patience -1s", "reslot --resolution 0",
			"units cron --shards 0", "units cron --shards -1",
		} {
			got := r.Execute(strings.Fields(line)...)
			flag := line[strings.LastIndex(line, "--"):strings.LastIndex(line, " ")]
			got.Wants(r.T, cmd.ExitUsage, strings.TrimPrefix(flag, "--"))
		}
	})
}
