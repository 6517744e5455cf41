package checks_test

import (
	"context"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"prescient/cmd"
	"prescient/cmd/internal/rig"
	"prescient/prescient"
)

// A misspelt job_exec is said at once to whoever inserts or pauses it; what they asked for is done all the same.
func TestAJobExecThatNobodyHasIsWarnedAbout(t *testing.T) {
	rig.EachFlavour(t, func(r *rig.Rig) {
		r.Migrate()
		insert := func(key, exec string, flags ...string) rig.Result {
			r.Helper()
			return r.Execute(append([]string{"insert", "--entity", "order/" + key, "--exec", exec, "--in", "3h"}, flags...)...)
		}
		silent := func(got rig.Result) {
			r.Helper()
			if got.Code != cmd.ExitOK || got.Err != "" {
				r.Errorf("%v", got)
			}
		}
		const warning = "prescient: warning: nobody seems to have the job_exec "
		// An app that may not see history, and whose program has no job_execs, knows nothing of any.
		silent(insert("1", "order-unshiped"))
		// So with job_execs of its own it knows better.
		r.Options.Register = func(_ context.Context, registry *prescient.Registry, _ cmd.Deps) error {
			return registry.Register("order-unshipped", func(context.Context, prescient.FutureJob) (*time.Time, error) { return nil, nil }, prescient.Guards{})
		}
		silent(insert("2", "order-unshipped"))
		got := insert("3", "order-unshiped", "--json")
		got.Wants(r.T, cmd.ExitOK, warning+"order-unshiped, did you mean order-unshipped?", "cannot be seen", "put its checks off")
		if strings.Count(got.Err, "\n") != 1 || strings.Count(got.Out, "\n") != 1 || len(r.Jobs("--entity", "order/3")) != 1 {
			r.Errorf("%v", got)
		}

		// Who may see history also sees what others have run: by ends other than cancelled ones, and by what is pending.
		r.Variables["PRESCIENT_DSN"] = r.DSN
		silent(r.Execute("pause", "order-unshipped"))
		r.Execute("pause", "order-unshiped", "--json").Wants(r.T, cmd.ExitOK, warning+"order-unshiped", "none of its checks has run", "stops nothing")
		if out := r.OK("pause", "--list"); !strings.Contains(out, "order-unshiped") {
			r.Errorf("not paused: %s", out)
		}
		r.Execute("cancel", "--entity", "order/2", "--exec", "order-unshiped").Wants(r.T, cmd.ExitOK, warning+"order-unshiped", "nothing is cancelled")
		silent(r.Execute("cancel", "--entity", "order/nosuch"))
		silent(r.Execute("pause", "--all"))
		silent(r.Execute("pause"))
		r.Options.Register = nil
		r.OK("insert", "--entity", "order/4", "--exec", "elsewhere", "--in", "1h")
		r.OK("cancel", "--entity", "order/4")
		r.Execute("pause", "elsewhere").Wants(r.T, cmd.ExitOK, warning+"elsewhere (")
		r.OK("insert", "--entity", "order/5", "--exec", "elsewhere", "--in", "1h")
		_, err := r.DB.Exec("UPDATE future_job SET check_count = 1 WHERE entity_key = '5'")
		r.Must(err)
		silent(r.Execute("pause", "elsewhere"))
		_, err = r.DB.Exec("UPDATE future_job SET check_count = 0 WHERE entity_key = '5'")
		r.Must(err)
		r.Execute("pause", "elsewhere").Wants(r.T, cmd.ExitOK, warning+"elsewhere (")
		_, err = r.DB.Exec("UPDATE job_history SET outcome = 'done', started_at = ended_at WHERE entity_key = '4'")
		r.Must(err)
		silent(r.Execute("pause", "elsewhere"))

		// What cannot be registered is no reason not to pause.
		r.Options.Register = func(context.Context, *prescient.Registry, cmd.Deps) error { return fmt.Errorf("the carrier is down") }
		r.Execute("pause", "another").Wants(r.T, cmd.ExitOK, warning+"another (")
	})
}

func TestAFileWithJobExecsThatNobodyHasIsWarnedAboutInAFewLines(t *testing.T) {
	rig.EachFlavour(t, func(r *rig.Rig) {
		r.Migrate()
		r.Options.Register = func(_ context.Context, registry *prescient.Registry, _ cmd.Deps) error {
			return registry.Register("known", func(context.Context, prescient.FutureJob) (*time.Time, error) { return nil, nil }, prescient.Guards{})
		}
		var lines strings.Builder
		for i := range 300 {
			fmt.Fprintf(&lines, `{"entity": "order/%d", "job_exec": "tyop-%d", "in": "3h"}`+"\n", i, i%30)
			fmt.Fprintf(&lines, `{"entity": "order/%d", "job_exec": "known", "in": "3h"}`+"\n", i)
		}
		file := filepath.Join(r.TempDir(), "checks.jsonl")
		r.Must(os.WriteFile(file, []byte(lines.String()), 0o600))
		got := r.Execute("insert", "--file", file)
		got.Wants(r.T, cmd.ExitOK, "nobody seems to have the job_exec tyop-0", "tyop-9 ", "there may be more")
		if n := strings.Count(got.Err, "\n"); n != 11 || !strings.Contains(got.Out, "inserted 600") {
			r.Errorf("%d lines: %v", n, got)
		}
	})
}
