package job_test

import (
	"context"
	"strings"
	"testing"

	"prescient/cmd/internal/rig"
	"prescient/prescient/steps"
)

// In each step the real process that has the run is killed. It is of a pool: the next agent of that goes on at the step that was under
// way, and the one that serves no pool never calls any.
func TestARunOfAPoolGoesOnWhereverTheProcessOfAStepIsKilled(t *testing.T) {
	rig.EachFlavour(t, func(r *rig.Rig) {
		dies := map[string]int{"a": 1, "b": 2, "c": 2} // in which of its calls
		reached := map[string]chan struct{}{"a": make(chan struct{}), "b": make(chan struct{}), "c": make(chan struct{})}
		c := &rig.Calls{Gate: func(ctx context.Context, worker string, n int) {
			if n == dies[worker] {
				close(reached[worker])
				<-ctx.Done()
			}
		}}
		start := r.Starter(c)
		start("outside").Works(r.T)
		r.Variables["PRESCIENT_WORKER_POOLS"] = "heavy=1"
		r.With(`{job: nightly, crontab: "@yearly", pool: heavy, steps: [{name: one, exec: check, arguments: {n: 1}}, {name: two, exec: check}, {name: three, exec: check}]}`,
			"job", "create", "-").Wants(r.T, 0)
		run := strings.TrimSpace(r.OK("job", "run", "nightly"))
		for _, name := range []string{"a", "b", "c"} {
			p := start(name)
			r.Await(reached[name])
			r.Must(p.Process.Kill())
			p.Ends(r.T, -1)
		}
		start("d")
		var got steps.RunLog
		rig.Eventually(r.T, "the run has ended", func() bool {
			got = rig.Lines[steps.RunLog](r.T, r.OK("runs", run, "--json"))[0]
			return got.Phase == steps.Ended
		})
		said := ""
		for _, step := range got.Steps {
			said += step.Step + " " + step.Agent + " " + step.Result + "\n"
		}
		want := "one a crashed\none b done\ntwo b crashed\ntwo c done\nthree c crashed\nthree d done\n"
		if got.Result != steps.ResultDone || got.Agent != "d" || got.Takeovers != 3 || said != want || c.Of("outside") != 0 {
			r.Errorf("%+v\n%s\nwant\n%s", got, said, want)
		}
		r.Says(r.OK("runs", "--job", "nightly"), run, "done", "d")
		out := r.OK("runs", run, "--follow") // which is over
		r.Says(out, run+": 1. one (check): crashed", run+": 2. two (check): done", run+": done\n")
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
		tells(run + ": cancelled") // and why, where it was called just then
		f.Ends(r.T, 0)
	})
}
