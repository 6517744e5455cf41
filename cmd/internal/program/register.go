package program

import (
	"context"
	"encoding/json"
	"fmt"
	"slices"
	"time"
	"unicode/utf8"

	"prescient/config"
	"prescient/jobs/http"
	"prescient/jobs/orders"
	"prescient/prescient"
	"prescient/prescient/longrun"
	"prescient/prescient/schedule"
)

// Register fills the registry: the timers of schedules, the job_execs of the configuration, then the program's own.
func (s *Session) Register(ctx context.Context) error {
	if err := s.Schedules.Register(s.Registry); err != nil {
		return fmt.Errorf("timers of schedules: %w", err)
	}
	for _, job := range s.Config.Jobs.HTTP {
		endpoint, err := http.New(http.Options{URL: job.URL.Reveal(), Headers: job.RevealHeaders(),
			Secret: []byte(job.Secret.Reveal())})
		if err != nil {
			return fmt.Errorf("jobs.http, exec %s: %w", job.Exec, err)
		}
		s.closers = append(s.closers, endpoint.CloseIdle)
		if err := s.registerHTTP(job, endpoint.Check); err != nil {
			return fmt.Errorf("jobs.http: %w", err)
		}
	}
	if err := s.registerOrders(); err != nil {
		return fmt.Errorf("jobs.orders: %w", err)
	}
	if s.Program.Register == nil {
		return nil
	}
	if err := s.Program.Register(ctx, s); err != nil {
		return fmt.Errorf("registering job_execs: %w", err)
	}
	return nil
}

// registerHTTP registers an HTTP check, for long runs where it is configured so.
func (s *Session) registerHTTP(job config.HTTPJob, check prescient.Func) error {
	check = s.withPayload(check, job.Long)
	if !job.Long {
		return s.Registry.Register(job.Exec, check, guards(job.Guards))
	}
	return s.Long.RegisterIn(job.Pool, s.Registry, job.Exec, func(ctx context.Context, run *longrun.Run) (*time.Time, error) {
		return check(ctx, run.Job())
	}, guards(job.Guards))
}

// Execs are the names of the job_execs that checks can be inserted for: all but that of the timers of schedules.
func (s *Session) Execs() []string {
	return slices.DeleteFunc(s.Registry.Names(), func(name string) bool { return name == schedule.TimerExec })
}

// withPayload is an HTTP check that gets the payload of its schedule, where it is called for one: as it is where that is JSON, and
// as a text of JSON otherwise. long says whether its calls are long runs.
func (s *Session) withPayload(check prescient.Func, long bool) prescient.Func {
	return func(ctx context.Context, job prescient.FutureJob) (*time.Time, error) {
		if job.EntityName != prescient.ScheduleEntity {
			return check(ctx, job)
		}
		runs, err := s.Schedules.Runs(ctx, s.DB, job)
		if err != nil {
			return nil, err
		}
		if runs[0].Long && !long {
			return nil, fmt.Errorf("%w: schedule %q is long: the HTTP check %s needs long: true in jobs.http", prescient.ErrInvalid, job.EntityKey, job.JobExec)
		}
		switch payload := runs[0].Payload; {
		case payload == nil:
			job.Payload = nil
		case json.Valid(payload) && utf8.Valid(payload):
			job.Payload = payload
		case utf8.Valid(payload):
			job.Payload, _ = json.Marshal(string(payload)) // a string cannot fail
		default:
			return nil, fmt.Errorf("%w: the payload of schedule %q is not UTF-8, which an HTTP check cannot carry", prescient.ErrInvalid, job.EntityKey)
		}
		return check(ctx, job)
	}
}

// registerOrders registers the check of orders where it is enabled, on tables with a prefix of their own.
func (s *Session) registerOrders() error {
	c := s.Config.Jobs.Orders
	if !c.Enabled {
		return nil
	}
	o, err := orders.New(orders.Options{DB: s.DB, Client: s.Client, Prefix: c.TablePrefix, JobExec: c.Exec,
		PrimaryAfter: c.PrimaryAfter, EscalateAfter: c.EscalateAfter})
	if err != nil {
		return err
	}
	return o.RegisterBatch(s.Registry, guards(c.Guards)) // nobody is told of alerts but by their rows
}

// guards are those of the configuration.
func guards(g config.Guards) prescient.Guards {
	return prescient.Guards{Timeout: g.Timeout, MaxChecks: g.MaxChecks, MaxErrors: g.MaxErrors,
		RetryWithin: g.RetryWithin, Horizon: g.Horizon, ExpiresAfter: g.ExpiresAfter, Concurrency: g.Concurrency, SLA: g.SLA}
}
