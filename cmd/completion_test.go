package cmd_test

import (
	"context"
	"fmt"
	"strings"
	"testing"
	"time"

	"prescient/cmd"
	"prescient/cmd/internal/rig"
	"prescient/prescient"
)

func TestCompletion(t *testing.T) {
	config := rig.File(t, "prescient.yaml", `
dsn: "a:b@tcp(127.0.0.1:1)/none"
jobs:
  http:
    - {exec: invoice-unpaid, url: "https://app.example.com/x"}
  orders: {enabled: true}
`)
	for _, test := range []struct {
		args string
		want string
	}{
		{"insert --exec", "invoice-unpaid order-unshipped"},
		{"history --outcome", strings.Trim(fmt.Sprint(prescient.Outcomes()), "[]")},
		{"insert --on-pending", "keep replace earlier later error"},
		{"insert --format", "jsonl csv"},
		{"work --log-level", "trace debug info warn error disabled"},
		{"insert --file", ""},
	} {
		args := append([]string{"__complete", "--config", config}, append(strings.Fields(test.args), "")...)
		got := rig.Execute(t.Context(), cmd.Options{}, nil, "", args...)
		list := strings.Fields(got.Out)
		if got.Code != cmd.ExitOK || len(list) == 0 || strings.Join(list[:len(list)-1], " ") != test.want {
			t.Errorf("%v\nwant %s", got, test.want)
		}
	}
	for _, shell := range []string{"bash", "zsh", "fish", "powershell"} {
		if got := rig.Execute(t.Context(), cmd.Options{}, nil, "", "completion", shell); got.Code != cmd.ExitOK || !strings.Contains(got.Out, "prescient") {
			t.Errorf("completion for %s: %v", shell, got)
		}
	}
}

func TestCompletionOfAProgramsOwnJobExecs(t *testing.T) {
	rig.EachFlavour(t, func(r *rig.Rig) {
		r.Register = func(_ context.Context, registry *prescient.Registry, deps cmd.Deps) error {
			check := func(context.Context, prescient.FutureJob) (*time.Time, error) { return nil, nil }
			return registry.Register("own-check", check, prescient.Guards{})
		}
		args := []string{"__complete", "insert", "--exec", ""}
		if got := r.Execute(args...); strings.Contains(got.Out, "own-check") {
			r.Errorf("without tables: %v", got)
		}
		r.OK("migrate")
		if got := r.Execute(args...); !strings.HasPrefix(got.Out, "own-check\n") {
			r.Errorf("%v", got)
		}
	})
}
