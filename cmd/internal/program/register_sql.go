package program

import (
	"context"
	"errors"
	"fmt"
	"time"

	"github.com/jmoiron/sqlx"

	"prescient/config"
	"prescient/jobs/condition"
	"prescient/jobs/http"
	"prescient/prescient"
	"prescient/prescient/connect"
)

// registerConditions registers the job_execs of jobs.sql.
func (s *Session) registerConditions(ctx context.Context) error {
	for _, job := range s.Config.Jobs.SQL {
		if err := s.registerCondition(ctx, job); err != nil {
			return fmt.Errorf("jobs.sql, exec %s: %w", job.Exec, err)
		}
	}
	return nil
}

// registerCondition registers a condition, and has the servers explain it. One that is away is asked again by the first call: it is not to hold up the
// other job_execs. Where there is no worker, as in a command that inserts, nobody is asked.
func (s *Session) registerCondition(ctx context.Context, job config.SQLJob) error {
	if s.Long == nil {
		return s.Registry.RegisterBatch(job.Exec, func(context.Context, *prescient.Batch) error {
			return fmt.Errorf("%w: there is no worker here to run %s", prescient.ErrInvalid, job.Exec)
		}, job.Guards)
	}
	guards := job.Guards.Or(s.Config.Guards)
	if most := max(guards.MaxChecks, 0); len(job.Again) > most {
		return fmt.Errorf("%w: again has %d times, and max_checks allows %d: the check would end as max_checks before the last", prescient.ErrInvalid, len(job.Again), most)
	}
	o := condition.Options{Table: job.Table, Column: job.Column, Key: condition.Key(job.Key), While: job.While, Topics: job.Topics, Events: s.Schedules.Outbox(),
		Set: job.Set, Write: s.DB, Again: job.Again, Every: job.Every, Scan: job.Scan, Timeout: guards.Timeout}
	var err error
	if o.Read, err = s.openReader(job, condition.LookTime(o.Timeout)); err != nil {
		return err
	}
	if !job.URL.IsZero() {
		called := HTTPOptions(config.HTTPJob{URL: job.URL, Headers: job.Headers, Secret: job.Secret})
		called.Around = s.Program.Calls
		endpoint, err := http.New(called)
		if err != nil {
			return err
		}
		s.closers = append(s.closers, endpoint.CloseIdle)
		o.Call = endpoint.Check
	}
	c, err := condition.New(o)
	if err != nil {
		return err
	}
	loading, cancel := context.WithTimeout(ctx, ConnectTime)
	defer cancel()
	switch err := c.Load(loading); {
	case errors.Is(err, prescient.ErrInvalid):
		return err
	case err != nil:
		s.Log.Warn().Err(err).Str("job_exec", job.Exec).Msg("the condition cannot be explained now; its first call tries again, and its checks fail until then")
	}
	return c.Register(s.Registry, job.Exec, job.Guards)
}

// openReader opens the pool on which a condition is asked, where the server itself ends what takes longer.
func (s *Session) openReader(job config.SQLJob, look time.Duration) (pool *sqlx.DB, err error) {
	dsn := job.DSN.Reveal()
	if dsn == "" {
		if dsn, err = s.Config.RequireDSN(); err != nil {
			return nil, err
		}
	}
	return s.openPool(dsn, connect.Options{Lease: s.lease, Connections: connect.LeastConnections, StatementTime: max(look.Round(time.Second), time.Second)})
}
