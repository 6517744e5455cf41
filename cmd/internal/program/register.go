package program

import (
	"cmp"
	"context"
	"encoding/json"
	"fmt"
	"slices"
	"sync"
	"time"
	"unicode/utf8"

	"github.com/spf13/cobra"

	"prescient/config"
	"prescient/jobs/command"
	"prescient/jobs/http"
	"prescient/jobs/orders"
	"prescient/prescient"
	"prescient/prescient/longrun"
	"prescient/prescient/schedule"
	"prescient/prescient/steps"
)

// ConnectWithExecs is Connect, and registers all job_execs.
func (prog *Program) ConnectWithExecs(cmd *cobra.Command, do func(s *Session) error) error {
	return prog.Connect(cmd, withExecs(cmd, do))
}

// ConnectEachWithExecs is ConnectEach, and registers all job_execs.
func (prog *Program) ConnectEachWithExecs(cmd *cobra.Command, do func(s *Session) error) error {
	return prog.ConnectEach(cmd, withExecs(cmd, do))
}

// withExecs registers all job_execs first.
func withExecs(cmd *cobra.Command, do func(s *Session) error) func(s *Session) error {
	return func(s *Session) error {
		if err := s.Register(cmd.Context()); err != nil {
			return err
		}
		return do(s)
	}
}

// Register fills the registry: the timers of schedules, the job_execs of the configuration, then the program's own.
func (s *Session) Register(ctx context.Context) error {
	if err := s.Schedules.Register(s.Registry); err != nil {
		return fmt.Errorf("timers of schedules: %w", err)
	}
	if err := s.Jobs.Register(s.Registry, s.Long); err != nil {
		return fmt.Errorf("jobs of steps: %w", err)
	}
	return s.register(ctx)
}

// register adds the job_execs of the configuration, then the program's own.
func (s *Session) register(ctx context.Context) error {
	for _, job := range s.Config.Jobs.HTTP {
		options := HTTPOptions(job)
		options.Around = s.Program.Calls
		endpoint, err := http.New(options)
		if err != nil {
			return fmt.Errorf("jobs.http, exec %s: %w", job.Exec, err)
		}
		s.closers = append(s.closers, endpoint.CloseIdle)
		if err := s.registerHTTP(job, endpoint.Check); err != nil {
			return fmt.Errorf("jobs.http: %w", err)
		}
	}
	if err := s.registerCommands(); err != nil {
		return err
	}
	if err := s.registerConditions(ctx); err != nil {
		return err
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

// HTTPOptions are those of an HTTP check of the configuration.
func HTTPOptions(job config.HTTPJob) http.Options {
	return http.Options{URL: job.URL.Reveal(), Headers: job.RevealHeaders(), Secret: []byte(job.Secret.Reveal())}
}

// registerHTTP registers an HTTP check, for long runs where it is configured so.
func (s *Session) registerHTTP(job config.HTTPJob, check prescient.Func) error {
	return s.registerCheck(outside{"jobs.http", job.Exec, job.Long, job.Pool}, check, job.Guards)
}

// registerCommands registers all commands. The program does not end before what is left of their calls has ended.
func (s *Session) registerCommands() error {
	var all []*command.Command
	for _, job := range s.Config.Jobs.Command {
		c, err := s.registerCommand(job)
		if err != nil {
			return fmt.Errorf("jobs.command, exec %s: %w", job.Exec, err)
		}
		if c != nil {
			all = append(all, c)
		}
	}
	s.closers = append(s.closers, func() {
		var ending sync.WaitGroup
		for _, c := range all {
			ending.Go(c.Close)
		}
		ending.Wait()
	})
	return nil
}

// registerCommand registers a command. Where there is no worker, as in a command that inserts, the program need not be there.
func (s *Session) registerCommand(job config.CommandJob) (*command.Command, error) {
	in, g := outside{"jobs.command", job.Exec, job.Long, job.Pool}, job.Guards
	if s.Long == nil {
		return nil, s.registerCheck(in, func(context.Context, prescient.FutureJob) (*time.Time, error) {
			return nil, fmt.Errorf("%w: there is no worker here to run %s", prescient.ErrInvalid, job.Exec)
		}, g)
	}
	timeout := job.Guards.Timeout
	if !job.Long {
		timeout = cmp.Or(timeout, s.Config.Guards.Timeout)
	}
	c, err := command.New(command.Options{Run: job.RevealRun(), Shell: job.Shell, Env: job.RevealEnv(), PassEnv: job.PassEnv, Dir: job.Dir, User: job.User,
		Timeout: timeout, Grace: job.Grace, Memory: job.Limits.Memory, CPU: job.Limits.CPU, Nice: job.Limits.Nice,
		Processes: job.Limits.Processes, Files: job.Limits.Files, Log: s.Log})
	if err != nil {
		return nil, err
	}
	return c, s.registerCheck(in, c.Check, c.Guards(g))
}

// outside is a job_exec of the configuration, whose work is done outside of this program.
type outside struct {
	list string // jobs.http, jobs.command
	exec string
	long bool
	pool string
}

// registerCheck registers a check, for long runs where it is configured so.
func (s *Session) registerCheck(o outside, check prescient.Func, guards prescient.Guards) error {
	check = s.withPayload(check, o)
	if !o.long {
		return s.Registry.Register(o.exec, check, guards)
	}
	return s.Long.RegisterIn(o.pool, s.Registry, o.exec, func(ctx context.Context, run *longrun.Run) (*time.Time, error) {
		return check(ctx, run.Job())
	}, guards)
}

// Execs are the names of the job_execs that checks can be inserted for: all but those of the timers of schedules, and of jobs.
func (s *Session) Execs() []string {
	return slices.DeleteFunc(s.Registry.Names(), func(name string) bool { return name == schedule.TimerExec || name == steps.Exec })
}

// withPayload is a check that gets the payload of its schedule, where it is called for one: as it is where that is JSON, and as a text of
// JSON otherwise.
func (s *Session) withPayload(check prescient.Func, o outside) prescient.Func {
	return func(ctx context.Context, job prescient.FutureJob) (*time.Time, error) {
		if job.EntityName != prescient.ScheduleEntity {
			return check(ctx, job)
		}
		runs, err := s.Schedules.Runs(ctx, s.DB, job)
		if err != nil {
			return nil, err
		}
		if runs[0].Long && !o.long {
			return nil, fmt.Errorf("%w: schedule %q is long: %s needs long: true in %s", prescient.ErrInvalid, job.EntityKey, job.JobExec, o.list)
		}
		switch payload := runs[0].Payload; {
		case payload == nil:
			job.Payload = nil
		case json.Valid(payload) && utf8.Valid(payload):
			job.Payload = payload
		case utf8.Valid(payload):
			job.Payload, _ = json.Marshal(string(payload)) // a string cannot fail
		default:
			return nil, fmt.Errorf("%w: the payload of schedule %q is not UTF-8, which a check of %s cannot carry", prescient.ErrInvalid, job.EntityKey, o.list)
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
	return o.RegisterBatch(s.Registry, c.Guards) // nobody is told of alerts but by their rows
}
