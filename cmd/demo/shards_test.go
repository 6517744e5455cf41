package demo_test

import (
	"strings"
	"testing"

	"prescient/cmd"
	"prescient/cmd/internal/rig"
	"prescient/prescient/localserver/vitess"
)

// What the app does for an order, its check among it, is on one shard, and each shard's worker alerts about its own.
func TestDemoOnShards(t *testing.T) {
	demo := func(args ...string) rig.Result {
		return rig.Execute(t.Context(), cmd.Options{}, nil, "", append([]string{"demo", "--vitess", "--for", "6s", "--orders", "45", "--alert-after", "1s", "--escalate-after", "2s", "--seed", "7"}, args...)...)
	}
	demo("--steps").Wants(t, cmd.ExitUsage, "--vitess: one of them")
	demo("--dsn", rig.NoServer).Wants(t, cmd.ExitUsage, "leave --dsn out")
	got := demo("--json")
	if strings.Contains(got.Err, vitess.ErrNotFound.Error()) {
		t.Skip(got.Err)
	}
	got.Wants(t, cmd.ExitOK)
	b := rig.Lines[struct {
		Inserted, Ended, Pending, Alerts, Escalations int
		Balanced                                      bool
		Shards                                        []struct{ Ended int }
		Commits                                       map[string]int
	}](t, got.Out)
	if len(b) != 1 || !b[0].Balanced || b[0].Inserted == 0 || b[0].Inserted != b[0].Ended+b[0].Pending || b[0].Alerts == 0 || b[0].Escalations == 0 {
		t.Fatal(got)
	}
	if s := b[0].Shards; len(s) != 2 || s[0].Ended == 0 || s[1].Ended == 0 || len(b[0].Commits) != 1 || b[0].Commits["Single"] < b[0].Inserted {
		t.Errorf("%v", got)
	}
	out := demo()
	for _, text := range []string{"placed", "shipped", "ALERT", "ESCALATED", "the books balance", "shards -80 and 80-", ", 0 of them on several shards"} {
		if !strings.Contains(out.Out, text) {
			t.Errorf("no %q in %v", text, out)
		}
	}
}
