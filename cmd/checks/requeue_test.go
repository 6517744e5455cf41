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
		args := []string{"requeue", "--exec", "unshipped", "--outcome", "cancelled", "--since", "now-1h", "--in", "1h"}
		if out := r.OK(append(args, "--dry-run")...); !strings.Contains(out, "would have requeued 1; 1 are pending already and were kept") || !strings.Contains(out, "\nwould requeue ") || strings.Contains(out, "\nrequeued ") {
			r.Error(out)
		}
		if n := len(r.Jobs()); n != 1 {
			r.Errorf("a dry run made %d pending", n)
		}
		out := r.OK(append(args, "--json")...)
		if !strings.Contains(out, `"did":"kept"`) || !strings.HasSuffix(out, `{"requeued":1,"kept":1,"superseded":0,"refused":0,"more":false,"dry_run":false}`+"\n") {
			r.Error(out)
		}
		rows := r.Jobs("--entity", "order/1")
		if len(rows) != 1 || !rows[0].NextCheckAt.Equal(rig.At("11:15")) || !strings.Contains(string(rows[0].Payload), "lines") {
			r.Errorf("%+v", rows)
		}
	})
}

// Most ends are done or cancelled: to have those back must be said.
func TestRequeueTakesAllOutcomesOnlyWhereThatIsSaid(t *testing.T) {
	rig.EachFlavour(t, func(r *rig.Rig) {
		r.Begin()
		for _, key := range []string{"1", "2"} {
			r.OK("insert", "--entity", "order/"+key, "--exec", "unshipped", "--in", "3h")
			r.OK("cancel", "--entity", "order/"+key)
		}
		wide := []string{"requeue", "--exec", "unshipped", "--since", "now-1h"}
		r.Execute(wide...).Wants(r.T, cmd.ExitUsage, "--all-outcomes")
		r.Execute(append(wide, "--outcome", "")...).Wants(r.T, cmd.ExitUsage, "--outcome is empty")
		r.Execute(append(wide, "--outcome", "cancelled", "--all-outcomes")...).Wants(r.T, cmd.ExitUsage, "either --outcome or --all-outcomes")
		if n := len(r.Jobs()); n != 0 {
			r.Fatalf("%d are pending again", n)
		}
		if out := r.OK(append(wide, "--all-outcomes")...); !strings.Contains(out, "requeued 2;") {
			r.Error(out)
		}
	})
}

func TestRequeueRefusesWhatItIsNotSureOf(t *testing.T) {
	rig.EachFlavour(t, func(r *rig.Rig) {
		r.Begin()
		for _, wrong := range []struct{ flags, says string }{
			{"", "--outcome"},
			{"--exec x", "--outcome"},
			{"--exec x --outcome failed", "--since"},
			{"--all-outcomes --since now-1h", "--entity or --exec"},
			{"--exec x --outcome failed --since never", "never"},
			{"--entity order/1 --outcome lost", "lost"},
			{"--entity order/1 --outcome failed --at now --in 3h", "--at"},
			{"--entity order/1 --outcome failed --limit 0", "--limit 0: 1 to 10000 are allowed"},
			{"--entity order/1 --outcome failed --limit -1", "--limit -1: 1 to 10000 are allowed"},
			{"--entity order/1 --outcome failed --limit 10001", "--limit 10001: 1 to 10000 are allowed"},
			{"--exec= --outcome failed --since now-1h", "--exec is empty"},
			{"--entity= --outcome failed --since now-1h", "--entity is empty"},
			{"--entity order/1 --outcome failed --since=", "--since is empty"},
			{"--entity order/1 --outcome failed --before=", "--before is empty"},
		} {
			r.Execute(append([]string{"requeue"}, strings.Fields(wrong.flags)...)...).Wants(r.T, cmd.ExitUsage, wrong.says)
		}
	})
}

// To the library 0 is the default: a command that is given it must not take that.
func TestNoLimitOfZeroMeansSomethingElse(t *testing.T) {
	rig.EachFlavour(t, func(r *rig.Rig) {
		r.OK("migrate")
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
