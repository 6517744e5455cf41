package demo

import (
	"context"
	"errors"
	"fmt"
	"strings"
	"sync/atomic"
	"time"

	"github.com/spf13/cobra"

	"prescient/cmd/internal/output"
	"prescient/cmd/internal/program"
	"prescient/config"
	"prescient/prescient"
	"prescient/prescient/client"
	"prescient/prescient/longrun"
	said "prescient/prescient/output"
	"prescient/prescient/schedule"
	"prescient/prescient/steps"
	"prescient/prescient/worker"
	"prescient/sql/migrate"
)

// stepsTime bounds the demonstration of a job of steps.
const stepsTime = time.Minute

// playSteps shows a job of three steps: the second fails once and is tried again, and the job is edited while it runs.
func playSteps(cmd *cobra.Command, prog *program.Program, c config.Config, keep bool) (err error) {
	ctx, cancel := context.WithTimeout(cmd.Context(), stepsTime)
	defer cancel()
	p := &stepsPlay{stage: newStage(), out: output.To(cmd.OutOrStdout()), json: prog.JSON, halfway: make(chan struct{})}
	defer func() { err = errors.Join(err, p.tearDown(keep)) }()
	if err := p.openDatabase(ctx, c.DSN, newTeller(prog, cmd.OutOrStdout(), demoFlags{lastsFor: stepsTime})); err != nil {
		return p.explain(err)
	}
	if _, err := migrate.Up(ctx, p.db.DB, migrate.Schema{Prefix: p.prefix, Resolution: demoResolution}); err != nil {
		return p.explain(err)
	}
	return p.explain(p.play(ctx, prog))
}

// stepsPlay is a demonstration of a job of steps under way.
type stepsPlay struct {
	*stage
	out     *output.Printer
	json    bool
	jobs    *steps.Jobs
	calls   atomic.Int32  // of the second step
	halfway chan struct{} // closed when that is called for the first time
}

func (p *stepsPlay) tell(format string, args ...any) {
	if !p.json {
		p.out.Say("%s  "+format, append([]any{time.Now().UTC().Format("15:04:05")}, args...)...)
	}
}

// register makes the worker and what calls its long runs, and what its steps do.
func (p *stepsPlay) register(ctx context.Context, prog *program.Program) (*worker.Worker, *longrun.Runner, error) {
	const name = "demo"
	var err error
	if p.client, err = client.New(ctx, p.db, client.Options{Prefix: p.prefix}); err != nil {
		return nil, nil, err
	}
	p.schedules = schedule.New(p.client)
	p.jobs = steps.New(p.client, steps.Options{})
	registry := prescient.NewRegistry()
	runner, err := longrun.New(ctx, p.db, longrun.Options{Prefix: p.prefix, Name: name, Lease: 5 * time.Second, Rules: p.schedules})
	if err != nil {
		return nil, nil, err
	}
	err = errors.Join(p.schedules.Register(registry), p.jobs.Register(registry, runner),
		registry.Register("collect", func(ctx context.Context, job prescient.FutureJob) (*time.Time, error) {
			fmt.Fprintf(said.Of(ctx), "collected %s\n", job.Payload)
			return nil, nil
		}, prescient.Guards{}),
		registry.Register("check", func(ctx context.Context, _ prescient.FutureJob) (*time.Time, error) {
			if p.calls.Add(1) == 1 {
				close(p.halfway)
				fmt.Fprintln(said.Of(ctx), "asking the warehouse")
				return nil, errors.New("the warehouse does not answer")
			}
			fmt.Fprintln(said.Of(ctx), "the warehouse agrees")
			return nil, nil
		}, prescient.Guards{}),
		registry.Register("report", func(ctx context.Context, job prescient.FutureJob) (*time.Time, error) {
			fmt.Fprintf(said.Of(ctx), "reported to %s\n", job.Payload)
			return nil, nil
		}, prescient.Guards{}))
	if err != nil {
		return nil, nil, err
	}
	w, err := worker.New(ctx, p.db, worker.Options{Prefix: p.prefix, Name: name, Registry: registry, Log: prog.Logger(config.Default().Log).Level(demoLogLevel)})
	return w, runner, err
}

// job is the one that is shown, and that by which it is edited.
func demoJob(to string) steps.Job {
	return steps.Job{Name: "nightly", Crontabs: []string{"*/10 * * * * *", "5-59/15 * * * * *"}, Steps: []steps.Step{
		{Name: "collect", Shared: true},
		{Name: "check", JobExec: "check", Retries: 2, RetryWait: 2 * time.Second},
		{Name: "report", JobExec: "report", Arguments: []byte(`"` + to + `"`)},
	}, Tolerance: 10 * time.Second, Quota: schedule.NoQuota, Overlap: longrun.Allow}
}

func (p *stepsPlay) play(ctx context.Context, prog *program.Program) error {
	w, runner, err := p.register(ctx, prog)
	if err != nil {
		return err
	}
	if _, _, err := p.jobs.PutStep(ctx, p.app, steps.Step{Name: "collect", JobExec: "collect", Arguments: []byte(`{"from":"orders"}`)}, 0); err != nil {
		return err
	}
	if _, err := p.jobs.Create(ctx, p.app, demoJob("the boss")); err != nil {
		return err
	}
	p.tell("job nightly has three steps, of which collect is shared, and two crontabs: %q", demoJob("").Crontabs)
	working, stop := context.WithCancel(ctx)
	worked := make(chan error, 1)
	go func() { worked <- w.Work(working) }()
	err = p.watch(ctx)
	stop()
	err = errors.Join(err, <-worked, runner.Drain(context.WithoutCancel(ctx)))
	return errors.Join(err, p.printLog(context.WithoutCancel(ctx)))
}

// watch edits the job while its first run is under way, and waits until one of the new version has ended.
func (p *stepsPlay) watch(ctx context.Context) error {
	select {
	case <-p.halfway:
	case <-ctx.Done():
		return ctx.Err()
	}
	p.tell("its first run is under way, and step check fails; it is tried again two seconds later")
	if _, err := p.jobs.Update(ctx, p.app, demoJob("everybody"), 1); err != nil {
		return err
	}
	p.tell(`meanwhile the job is edited: report goes to "everybody" from version 2 on`)
	for {
		runs, err := p.jobs.Runs(ctx, p.app, steps.RunFilter{Job: "nightly"})
		if err != nil {
			return err
		}
		first, second := false, false
		for _, run := range runs {
			first = first || run.Version == 1 && run.Phase == steps.Ended
			second = second || run.Version == 2 && run.Phase == steps.Ended
		}
		if first && second {
			p.tell("the first run has ended with version 1, the next one with version 2; the run log:")
			return nil
		}
		select {
		case <-time.After(200 * time.Millisecond):
		case <-ctx.Done():
			return ctx.Err()
		}
	}
}

// printLog prints the run log, the first run first.
func (p *stepsPlay) printLog(ctx context.Context) error {
	runs, err := p.jobs.Runs(ctx, p.app, steps.RunFilter{Job: "nightly", Steps: true, Output: true})
	if err != nil {
		return err
	}
	for i := len(runs) - 1; i >= 0; i-- {
		run := runs[i]
		if p.json {
			p.out.JSON(run)
			continue
		}
		p.out.Say("\nnightly, due %s, version %d: %s %s", output.Stamp(run.ScheduledAt), run.Version, run.Phase, run.Result)
		for _, step := range run.Steps {
			p.out.Say("  %d. %-8s attempt %d: %-7s %s  | %s", step.Position, step.Step, step.Attempt, step.Result, step.Error, strings.TrimSpace(step.Output))
		}
	}
	return p.out.Err()
}
