package worker

import (
	"context"
	"encoding/json"
	"fmt"
	"time"

	"prescient/cmd"
	"prescient/prescient"
	"prescient/prescient/connect"
	"prescient/prescient/longrun"
	"prescient/scripts/chaos/checker"
)

// LongExec is the job_exec whose checks are long runs: of four slots, about, which is longer than their lease.
const LongExec = "long"

// IsLong says which job_execs have long runs.
func IsLong() map[string]bool { return map[string]bool{LongExec: true} }

// longSteps is how many steps a long run has at least before it answers: more than the lease lasts, so that it needs to be renewed.
const longSteps = 9

// long is what a worker has of long runs: an agent, and the reports of its calls.
type long struct {
	runner *longrun.Runner
	checks *reporter
	gone   chan struct{} // closed once the agent has handed its runs on
}

// registerLong registers the job_exec of long runs. Its agent has a pool of its own, as it may end after the command; it hands
// its runs on when ctx ends.
func registerLong(ctx context.Context, registry *prescient.Registry, checks *reporter, deps cmd.Deps) (*long, error) {
	c := deps.Config
	dsn, err := c.RequireDSN()
	if err != nil {
		return nil, err
	}
	db, err := connect.Open(dsn, c.Worker.Lease)
	if err != nil {
		return nil, err
	}
	runner, err := longrun.New(ctx, db, longrun.Options{Prefix: c.TablePrefix, Name: checks.worker, Lease: c.Worker.Lease, Rules: deps.Schedules, Log: deps.Log})
	if err != nil {
		return nil, err
	}
	l := &long{runner: runner, checks: checks, gone: make(chan struct{})}
	go func() {
		defer close(l.gone)
		<-ctx.Done()
		grace, cancel := context.WithTimeout(context.Background(), c.Worker.StopGrace)
		defer cancel()
		if err := runner.Drain(grace); err != nil {
			deps.Log.Info().Err(err).Msg("some long runs were ended in mid-step")
		}
	}()
	guards := prescient.Guards{MaxChecks: c.Guards.MaxChecks, MaxErrors: c.Guards.MaxErrors}
	return l, runner.Register(registry, LongExec, l.call, guards)
}

// checkpoint is what a long run saves.
type checkpoint struct {
	ID   int64 `json:"id"` // of its check
	Step int   `json:"step"`
}

// call is a call of a long run, with its reports. Now and then it fails in mid-run, or wants to be called again.
func (l *long) call(ctx context.Context, run *longrun.Run) (*time.Time, error) {
	job := run.Job()
	var p Payload
	if err := json.Unmarshal(job.Payload, &p); err != nil {
		return nil, fmt.Errorf("payload: %w", err)
	}
	from := checkpoint{ID: p.ID}
	if saved := run.Checkpoint(); saved != nil {
		if err := json.Unmarshal(saved, &from); err != nil {
			return nil, fmt.Errorf("checkpoint: %w", err)
		}
	}
	event := checker.Event{Kind: checker.Call, ID: p.ID, Key: job.EntityKey, Exec: job.JobExec, Revision: job.Revision, Slot: job.NextCheckAt,
		Due: job.DueAt, ExpiresAt: job.ExpiresAt, Checks: job.CheckCount, Errors: job.ErrorCount, Token: run.Token(), Step: from.Step, Of: from.ID}
	event.N = l.checks.note(event)
	next, err := l.steps(ctx, run, p, event)
	event.Kind, event.Next, event.Failed = checker.Answer, next, err != nil
	l.checks.note(event)
	return next, err
}

// steps does what is left to do, from the checkpoint on: each step is reported when it begins, and when its checkpoint was saved.
func (l *long) steps(ctx context.Context, run *longrun.Run, p Payload, event checker.Event) (*time.Time, error) {
	job := run.Job()
	for event.Step < (longSteps+p.N)*(job.CheckCount+1) {
		if ctx.Err() != nil {
			return nil, context.Cause(ctx)
		}
		event.Kind = checker.Step
		l.checks.note(event)
		if err := nap(ctx, time.Duration(300+(event.Step*67+int(p.ID)*31)%200)*time.Millisecond); err != nil {
			return nil, context.Cause(ctx)
		}
		if p.N == 1 && event.Step == 3 && job.ErrorCount == 0 {
			return nil, errFlaky
		}
		event.Step++
		saved, err := json.Marshal(checkpoint{ID: p.ID, Step: event.Step})
		if err != nil {
			return nil, err
		}
		if err := run.Save(ctx, saved); err != nil {
			return nil, err
		}
		event.Kind = checker.Saved
		l.checks.note(event)
	}
	if p.N == 2 && job.CheckCount == 0 {
		return prescient.At(job.NextCheckAt.Add(5*time.Second + 234567*time.Microsecond)), nil
	}
	return nil, nil
}
