package job_test

import (
	"context"
	"strings"
	"testing"

	"prescient/cmd/internal/rig"
	"prescient/prescient/steps"
)

// A real process is killed in the middle of a step; another goes on.
func TestAStepWhoseProcessIsKilledIsCalledAgainByAnother(t *testing.T) {
	rig.EachFlavour(t, func(r *rig.Rig) {
		c := &rig.Calls{}
		second := make(chan struct{})
		c.Gate = func(ctx context.Context, worker string, n int) {
			if worker == "a" && n == 2 {
				close(second)
				<-ctx.Done()
			}
		}
		start := r.Starter(c)
		a := start("a")
		a.Works(r.T)
		r.With(`{job: nightly, crontab: "@yearly", steps: [{name: one, exec: check, arguments: {n: 1}}, {name: two, exec: check}, {name: three, exec: check}]}`,
			"job", "create", "-").Wants(r.T, 0)
		run := strings.TrimSpace(r.OK("job", "run", "nightly"))
		r.Await(second)
		r.Must(a.Process.Kill())
		a.Ends(r.T, -1)
		b := start("b")
		b.Works(r.T)
		var got steps.RunLog
		rig.Eventually(r.T, "the run has ended", func() bool {
			got = rig.Lines[steps.RunLog](r.T, r.OK("runs", run, "--json"))[0]
			return got.Phase == steps.Ended
		})
		said := ""
		for _, step := range got.Steps {
			said += step.Step + " " + step.Agent + " " + step.Result + "\n"
		}
		if want := "one a done\ntwo a crashed\ntwo b done\nthree b done\n"; got.Result != steps.ResultDone || got.Agent != "b" || got.Takeovers != 1 || said != want {
			r.Errorf("%+v\n%s\nwant\n%s", got, said, want)
		}
		r.Says(r.OK("runs", "--job", "nightly"), run, "done", "b")
		out := r.OK("runs", run, "--follow") // which is over
		r.Says(out, run+": 1. one (check): done", run+": 2. two (check): crashed", run+": done\n")
		if strings.Index(out, "3. three (check): done") > strings.Index(out, run+": done\n") {
			r.Error(out)
		}
	})
}

func TestFollowTellsWhatHappens(t *testing.T) {
	rig.EachFlavour(t, func(r *rig.Rig) {
		goOn := make(chan struct{})
		c := &rig.Calls{Gate: func(ctx context.Context, _ string, n int) {
			if n == 1 {
				select {
				case <-goOn:
				case <-ctx.Done():
				}
			}
		}}
		w := r.Starter(c)("w")
		w.Works(r.T)
		r.With(`{job: nightly, crontab: "@yearly", steps: [{name: one, exec: check}, {name: two, exec: none}]}`, "job", "create", "-").Wants(r.T, 0)
		run := strings.TrimSpace(r.OK("job", "run", "nightly"))
		f := r.Start("f", "runs", run, "--follow")
		tells := func(text string) {
			r.Helper()
			rig.Eventually(r.T, text, func() bool { return strings.Contains(f.Out.String(), text) })
		}
		tells(run + ": running\n")
		tells(run + ": 1. one (check): called")
		close(goOn)
		tells(run + ": 1. one (check): done")
		tells("2. two (none): unregistered")
		r.OK("job", "delete", "nightly")
		tells(run + ": cancelled\n")
		f.Ends(r.T, 0)
	})
}
