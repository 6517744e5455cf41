package cmd_test

import (
	"strings"
	"testing"

	"prescient/cmd"
)

func TestRequeue(t *testing.T) {
	eachServer(t, func(r *rig) {
		r.at("10:05")
		r.ok("migrate")
		for _, key := range []string{"1", "2"} {
			r.ok("insert", "--entity", "order/"+key, "--exec", "unshipped", "--in", "3h", "--payload", `{"lines": 3}`)
			r.ok("cancel", "--entity", "order/"+key)
		}
		r.ok("insert", "--entity", "order/2", "--exec", "unshipped", "--in", "5h")
		args := []string{"requeue", "--exec", "unshipped", "--outcome", "cancelled", "--since", "now-1h", "--in", "1h"}
		if out := r.ok(append(args, "--dry-run")...); !strings.Contains(out, "would have requeued 1; 1 are pending already and were kept") {
			r.Error(out)
		}
		if n := len(r.jobs()); n != 1 {
			r.Errorf("a dry run made %d pending", n)
		}
		out := r.ok(append(args, "--json")...)
		if !strings.Contains(out, `"did":"kept"`) || !strings.HasSuffix(out, `{"requeued":1,"kept":1,"superseded":0,"more":false,"dry_run":false}`+"\n") {
			r.Error(out)
		}
		rows := r.jobs("--entity", "order/1")
		if len(rows) != 1 || !rows[0].NextCheckAt.Equal(at("11:15")) || !strings.Contains(string(rows[0].Payload), "lines") {
			r.Errorf("%+v", rows)
		}
		r.execute("requeue").wants(r.T, cmd.ExitUsage, "--entity, --exec or --outcome")
		r.execute("requeue", "--exec", "x").wants(r.T, cmd.ExitUsage, "--since")
		r.execute("requeue", "--exec", "x", "--since", "never").wants(r.T, cmd.ExitUsage)
		r.execute("requeue", "--entity", "order/1", "--outcome", "lost").wants(r.T, cmd.ExitUsage)
		r.execute("requeue", "--entity", "order/1", "--at", "now", "--in", "3h").wants(r.T, cmd.ExitUsage)
	})
}
