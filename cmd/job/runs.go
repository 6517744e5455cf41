package job

import (
	"context"
	"fmt"
	"io"
	"slices"
	"strings"
	"time"

	"github.com/spf13/cobra"

	"prescient/cmd/internal/arguments"
	"prescient/cmd/internal/exit"
	"prescient/cmd/internal/output"
	"prescient/cmd/internal/program"
	"prescient/cmd/internal/taking"
	"prescient/cmd/internal/words"
	"prescient/prescient/steps"
)

// runsFlags are the flags of runs.
type runsFlags struct {
	job, from, before string
	limit             int
	follow, open      bool
	steps, output     bool
}

// followEvery is how often runs that are followed are looked at.
const followEvery = time.Second

// Runs returns the command runs.
func Runs(prog *program.Program) *cobra.Command {
	var f runsFlags
	cmd := &cobra.Command{
		Use:   "runs [RUN]",
		Short: "List and follow the runs of jobs, and show what their steps said",
		Long: `Lists runs of jobs, the one that was due latest first: when they were due, began and ended, which agent had them, and how they
ended; also occurrences that were not run. With a run, <job>-<unix>, it shows this one: each call of its steps, with the end of its
output.

--follow goes on: it prints a line whenever a run begins or ends, or a step is called or has answered, until it is interrupted; with a
run, until that has ended. A run whose agent was not heard of in time is lapsed, until another takes it over.`,
		Example: fmt.Sprintf(`  %[1]s runs --job nightly
  %[1]s runs nightly-1795168800
  %[1]s runs --follow`, prog.Name),
		Args: func(_ *cobra.Command, args []string) error {
			if len(args) > 1 || len(args) == 1 && f.job != "" {
				return exit.Usage(fmt.Errorf("runs takes one run, or --job"))
			}
			return nil
		},
		RunE: func(cmd *cobra.Command, args []string) error { return runs(cmd, prog, f, strings.Join(args, "")) },
	}
	flags := cmd.Flags()
	flags.StringVar(&f.job, "job", "", "only those of this job")
	arguments.Time(flags, &f.from, "from", "only those that were due at this time or later: 2026-03-01 13:00 (UTC), now-2h")
	arguments.Time(flags, &f.before, "before", "only those that were due before this time")
	arguments.Number(flags, &f.limit, "limit", 50, 1, steps.MaxRuns, fmt.Sprintf("how many runs: 1 to %d", steps.MaxRuns))
	flags.BoolVar(&f.open, "open", false, "only those that have not ended")
	flags.BoolVar(&f.steps, "steps", false, "with the calls of their steps")
	flags.BoolVar(&f.output, "output", false, "with the calls of their steps, and the end of what these have written")
	flags.BoolVar(&f.follow, "follow", false, "go on, and print what happens")
	return cmd
}

func runs(cmd *cobra.Command, prog *program.Program, f runsFlags, run string) (err error) {
	filter := steps.RunFilter{Job: f.job, Open: f.open, Limit: f.limit, Steps: f.steps || f.output || f.follow || run != "", Output: f.output || run != ""}
	if run != "" {
		if filter.Job, filter.Occurrence, err = steps.ParseRun(run); err != nil {
			return err
		}
	}
	// find reads what a database, or a shard, has of them, and the filter with its times.
	find := func(s *program.Session) (_ steps.RunFilter, found []steps.RunLog, err error) {
		filter := filter // a moment is that of each shard's clock
		if filter.Since, filter.Before, err = s.Period(cmd.Context(), f.from, f.before); err == nil {
			found, err = s.Jobs.Runs(cmd.Context(), s.DB, filter)
		}
		return filter, found, s.Explain(err)
	}
	out := cmd.OutOrStdout()
	if f.follow {
		return prog.Read(cmd, func(s *program.Session) error {
			filter, found, err := find(s)
			if err == nil && run != "" && len(found) == 0 {
				err = output.Say(cmd.ErrOrStderr(), "run %s has not begun; waiting for that run", run)
			}
			if err != nil {
				return err
			}
			return s.Explain(follow(cmd.Context(), s, out, filter, found))
		})
	}
	page := output.Page[listedRun]{Limit: f.limit - 1, LatestFirst: true} // and one more
	return program.Merged(cmd, prog, page, func(s *program.Session) (all []listedRun, _ *output.Early, err error) {
		_, found, err := find(s)
		for _, run := range found {
			all = append(all, listedRun{run})
		}
		return all, nil, err
	}, func(page output.Page[listedRun]) error {
		switch {
		case run != "" && len(page.Rows) == 0:
			return fmt.Errorf("%w: run %q has not begun, or its log was pruned", steps.ErrNotFound, run)
		case filter.Steps && !prog.JSON && len(page.Rows) > 0:
			p := output.To(out)
			for _, run := range page.Rows {
				sayRun(p, run.RunLog)
			}
			return p.Err()
		}
		return output.Rows(out, prog.JSON, page.Rows, "no run is there: none has begun, or its log was pruned", []output.Column{{Title: "run"}, {Title: "version", Right: true},
			{Title: "due (UTC)"}, {Title: "began"}, {Title: "ended"}, {Title: "result"}, {Title: "agent"}, {Title: "error"}}, listedRun.cells)
	})
}

// listedRun is a run in the list.
type listedRun struct{ steps.RunLog }

// Cursor is where it stands in the list.
func (r listedRun) Cursor() string { return r.ScheduledAt.UTC().Format("2006-01-02T15:04:05.000000") }

func (r listedRun) cells() []string {
	run := r.RunLog
	return []string{run.Job + "-" + run.Occurrence, output.Count(run.Version), output.Stamp(run.ScheduledAt), output.Second(run.StartedAt), output.Second(run.EndedAt), stateOf(run),
		words.Clip(run.Agent, 40), words.Clip(run.Error, 80)}
}

// stateOf is how a run ended, or what it does.
func stateOf(run steps.RunLog) string {
	if run.Result != "" {
		return run.Result
	}
	return string(run.Phase)
}

// sayRun prints a run with the calls of its steps.
func sayRun(p *output.Printer, run steps.RunLog) {
	text := fmt.Sprintf("%s-%s: %s", run.Job, run.Occurrence, stateOf(run))
	if run.Version != 0 {
		text += fmt.Sprintf(", version %d", run.Version)
	}
	text += ", due " + output.Stamp(run.ScheduledAt)
	if run.StartedAt != nil {
		text += ", began " + output.Second(run.StartedAt)
	}
	if run.EndedAt != nil {
		text += ", ended " + output.Second(run.EndedAt)
	}
	if run.Agent != "" {
		text += ", agent " + run.Agent
	}
	if run.Takeovers > 0 {
		text += fmt.Sprintf(", taken over %d times", run.Takeovers)
	}
	p.Say("%s", text)
	if run.Error != "" {
		p.Say("  %s", words.Clip(run.Error, 500))
	}
	for _, step := range run.Steps {
		p.Say("  %s", lineOf(run, step))
		if step.OutputCut > 0 {
			p.Say("      | (%d bytes before this were not kept)", step.OutputCut)
		}
		taking.SayLines(p, "      | ", strings.Lines(step.Output))
	}
}

// lineOf is a call of a step in a line.
func lineOf(run steps.RunLog, step steps.StepLog) string {
	result := step.Result
	if result == "" {
		result = "called" // and if its agent is not heard of, who knows
		if run.Phase != "running" {
			result = string(run.Phase)
		}
	}
	text := fmt.Sprintf("%d. %s (%s): %s", step.Position, step.Step, step.JobExec, result)
	if step.Attempt > 1 {
		text += fmt.Sprintf(", attempt %d", step.Attempt)
	}
	text += ", " + output.Second(&step.StartedAt)
	if step.EndedAt != nil {
		text += fmt.Sprintf(", took %s", step.EndedAt.Sub(step.StartedAt).Round(time.Millisecond))
	}
	text += ", agent " + words.Clean(step.Agent)
	if step.Error != "" {
		text += ": " + words.Clip(step.Error, 300)
	}
	return text
}

// event is what follow prints, in JSON.
type event struct {
	Run   steps.RunLog   `json:"run"`
	Step  *steps.StepLog `json:"step,omitempty"`
	State string         `json:"state"`
}

// following is what was printed of runs.
type following struct {
	out  io.Writer
	json bool
	// said is what stood of each run, and of each call of its steps.
	said map[string]string
}

// follow prints what happens, until ctx ends, or the one run that is followed.
func follow(ctx context.Context, s *program.Session, out io.Writer, filter steps.RunFilter, found []steps.RunLog) error {
	f := &following{out: out, json: s.Program.JSON, said: make(map[string]string)}
	ticker := time.NewTicker(followEvery)
	defer ticker.Stop()
	for {
		slices.Reverse(found)
		for _, run := range found {
			if err := f.tell(run); err != nil {
				return err
			}
		}
		if filter.Occurrence != "" && len(found) == 1 && found[0].Phase == steps.Ended {
			return nil
		}
		select {
		case <-ctx.Done():
			return nil
		case <-ticker.C:
		}
		next := filter
		next.Open = false // what was open and has ended is told, too
		var err error
		if found, err = s.Jobs.Runs(ctx, s.DB, next); ctx.Err() != nil {
			return nil
		} else if err != nil {
			return err
		}
	}
}

// tell prints what is new of a run: that it began before what its steps did, and that it ended after that.
func (f *following) tell(run steps.RunLog) error {
	bare := run
	bare.Steps = nil
	ofRun := func() error {
		text := fmt.Sprintf("%s-%s: %s", run.Job, run.Occurrence, stateOf(run))
		if run.Error != "" {
			text += ": " + words.Clip(run.Error, 300)
		}
		return f.say(run.ID(), stateOf(run), event{Run: bare, State: stateOf(run)}, text)
	}
	if run.Phase != steps.Ended {
		if err := ofRun(); err != nil {
			return err
		}
	}
	for _, step := range run.Steps {
		state := step.Result
		if state == "" {
			state = "called"
		}
		key := fmt.Sprintf("%s %d", run.ID(), step.Seq)
		if err := f.say(key, state, event{bare, &step, state}, fmt.Sprintf("%s-%s: %s", run.Job, run.Occurrence, lineOf(run, step))); err != nil {
			return err
		}
	}
	if run.Phase != steps.Ended {
		return nil
	}
	return ofRun()
}

// say prints a line, unless it was said already.
func (f *following) say(key, state string, e event, text string) error {
	if f.said[key] == state {
		return nil
	}
	f.said[key] = state
	if f.json {
		return output.JSON(f.out, e)
	}
	return output.Say(f.out, "%s", text)
}
