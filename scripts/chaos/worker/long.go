package worker

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"time"

	"prescient/cmd"
	"prescient/prescient"
	"prescient/prescient/connect"
	"prescient/prescient/longrun"
	"prescient/prescient/schedule"
	"prescient/scripts/chaos/checker"
)

// LongExec is the job_exec whose checks are long runs: of four slots, about, which is longer than their lease. PooledExec is the same for
// the agents of a pool alone. LongRunExec is that of schedules whose runs are long: of half a slot to four.
const (
	LongExec    = "long"
	PooledExec  = "pooled"
	LongRunExec = "longrun"
)

// IsLong says which job_execs have long runs.
func IsLong() map[string]bool {
	return map[string]bool{LongExec: true, PooledExec: true, LongRunExec: true}
}

// Pool is the pool of PooledExec.
const Pool = "heavy"

// InPool says whether the workers of a place serve the pool: two of three do.
func InPool(place int) bool { return place%3 != 0 }

// Callers says of the job_execs of a pool which workers may call them.
func Callers() map[string]func(worker string) bool {
	return map[string]func(worker string) bool{PooledExec: func(worker string) bool {
		var place, life int
		n, _ := fmt.Sscanf(worker, "w%d.%d", &place, &life) // what has another name serves no pool
		return n == 2 && InPool(place)
	}}
}

// longSteps is how many steps a long run has at least before it answers: more than the lease lasts, so that it needs to be renewed.
const longSteps = 9

// long is what a worker has of long runs: an agent, and the reports of its calls.
type long struct {
	runner *longrun.Runner
	checks *reporter
	gone   chan struct{} // closed once the agent has handed its runs on
}

// registerLong registers the job_execs of long runs. Their agent has a pool of its own, as it may end after the command; it hands
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
	runner, err := longrun.New(ctx, db, longrun.Options{Prefix: c.TablePrefix, Name: checks.worker, Lease: c.Worker.Lease, Pools: c.Worker.Pools, Rules: deps.Schedules, Log: deps.Log})
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
	if err := l.register(registry, deps); err != nil {
		return nil, err
	}
	go runner.Serve(ctx)
	return l, nil
}

// registerOnShard registers them on one of several shards, where the command's own agent of the shard has them.
func registerOnShard(registry *prescient.Registry, checks *reporter, deps cmd.Deps) error {
	l := &long{runner: deps.Long, checks: checks}
	return l.register(registry, deps)
}

func (l *long) register(registry *prescient.Registry, deps cmd.Deps) error {
	guards := prescient.Guards{MaxChecks: deps.Config.Guards.MaxChecks, MaxErrors: deps.Config.Guards.MaxErrors}
	return errors.Join(l.runner.Register(registry, LongExec, l.call, guards), l.runner.RegisterIn(Pool, registry, PooledExec, l.call, guards),
		l.runner.Register(registry, LongRunExec, l.scheduled(deps), guards))
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
	return l.reported(run, p.ID, func(event *checker.Event) (*time.Time, error) {
		s := stint{id: p.ID, until: (longSteps + p.N) * (job.CheckCount + 1), least: 300 * time.Millisecond}
		if p.N == 1 && job.ErrorCount == 0 {
			s.fails = 3
		}
		err := l.steps(ctx, run, s, *event)
		if err == nil && p.N == 2 && job.CheckCount == 0 {
			return prescient.At(job.NextCheckAt.Add(5*time.Second + 234567*time.Microsecond)), nil
		}
		return nil, err
	})
}

// scheduled is a call for the run of a schedule: some steps more than those of the run whose checkpoint it got, but no more than that
// one had left to do.
func (l *long) scheduled(deps cmd.Deps) longrun.Func {
	return func(ctx context.Context, run *longrun.Run) (*time.Time, error) {
		return l.reported(run, 0, func(event *checker.Event) (*time.Time, error) {
			return deps.Schedules.LongFunc(deps.DB, func(ctx context.Context, planned schedule.Run, run *longrun.Run) error {
				var p Planned
				if err := json.Unmarshal(planned.Payload, &p); err != nil {
					return err
				}
				begun := *event
				event.Payload = string(planned.Payload)
				s := stint{until: (event.Step/p.Steps + 1) * p.Steps, least: 150 * time.Millisecond}
				if run.Job().ErrorCount < p.Fails {
					s.fails = event.Step + 1
				}
				return l.steps(ctx, run, s, begun)
			})(ctx, run)
		})
	}
}

// reported is a call with its reports. id is that of its check; 0 for the run of a schedule.
func (l *long) reported(run *longrun.Run, id int64, work func(event *checker.Event) (*time.Time, error)) (*time.Time, error) {
	job := run.Job()
	from := checkpoint{ID: id}
	if saved := run.Checkpoint(); saved != nil {
		if err := json.Unmarshal(saved, &from); err != nil {
			return nil, fmt.Errorf("checkpoint: %w", err)
		}
	}
	event := checker.Event{Kind: checker.Call, ID: id, Key: job.EntityKey, Exec: job.JobExec, Tag: job.Tag, Revision: job.Revision, Slot: job.NextCheckAt,
		Due: job.DueAt, ExpiresAt: job.ExpiresAt, Checks: job.CheckCount, Errors: job.ErrorCount, Token: run.Token(), Step: from.Step, Of: from.ID}
	event.N = l.checks.note(event)
	next, err := work(&event)
	event.Kind, event.Next, event.Failed = checker.Answer, next, err != nil
	l.checks.note(event)
	return next, err
}

// stint is what a call has to do.
type stint struct {
	id    int64         // of its check
	until int           // that many steps are done
	fails int           // the step in which it fails; 0 for none
	least time.Duration // that a step takes
}

// steps does what is left to do, from the checkpoint on: each step is reported when it begins, and when its checkpoint was saved.
func (l *long) steps(ctx context.Context, run *longrun.Run, s stint, event checker.Event) error {
	for event.Step < s.until {
		if ctx.Err() != nil {
			return context.Cause(ctx)
		}
		event.Kind = checker.Step
		l.checks.note(event)
		if err := nap(ctx, s.least+time.Duration((event.Step*67+int(s.id)*31)%200)*time.Millisecond); err != nil {
			return context.Cause(ctx)
		}
		if s.fails > 0 && event.Step == s.fails {
			return errFlaky
		}
		event.Step++
		saved, err := json.Marshal(checkpoint{ID: s.id, Step: event.Step})
		if err != nil {
			return err
		}
		if err := run.Save(ctx, saved); err != nil {
			return err
		}
		event.Kind = checker.Saved
		l.checks.note(event)
	}
	return nil
}
