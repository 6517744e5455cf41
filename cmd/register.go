package cmd

import (
	"context"
	"fmt"

	"prescient/jobs/http"
	"prescient/jobs/orders"
	"prescient/prescient"
)

// register fills the registry: the job_execs of the configuration, then the program's own.
func (s *session) register(ctx context.Context) error {
	for _, job := range s.config.Jobs.HTTP {
		endpoint, err := http.New(http.Options{URL: job.URL.Reveal(), Headers: job.RevealHeaders(),
			Secret: []byte(job.Secret.Reveal())})
		if err != nil {
			return fmt.Errorf("jobs.http, exec %s: %w", job.Exec, err)
		}
		s.closers = append(s.closers, endpoint.CloseIdle)
		if err := s.registry.Register(job.Exec, endpoint.Check, prescient.Guards(job.Guards)); err != nil {
			return fmt.Errorf("jobs.http: %w", err)
		}
	}
	if err := s.registerOrders(); err != nil {
		return fmt.Errorf("jobs.orders: %w", err)
	}
	if s.app.options.Register == nil {
		return nil
	}
	deps := Deps{Config: s.config, DB: s.db, Client: s.client, Log: s.log}
	if err := s.app.options.Register(ctx, s.registry, deps); err != nil {
		return fmt.Errorf("registering job_execs: %w", err)
	}
	return nil
}

// registerOrders registers the check of orders where it is enabled, on tables with the prefix of all the others.
func (s *session) registerOrders() error {
	c := s.config.Jobs.Orders
	if !c.Enabled {
		return nil
	}
	o, err := orders.New(orders.Options{DB: s.db, Client: s.client, Prefix: s.config.TablePrefix, JobExec: c.Exec,
		PrimaryAfter: c.PrimaryAfter, EscalateAfter: c.EscalateAfter})
	if err != nil {
		return err
	}
	return o.RegisterBatch(s.registry, prescient.Guards(c.Guards)) // nobody is told of alerts but by their rows
}

// warnIfNothingIsRegistered says why nothing will be run.
func (s *session) warnIfNothingIsRegistered() {
	if len(s.registry.Names()) == 0 {
		s.log.Warn().Msg("no job_exec is registered: every row that is due is put off; configure jobs.http or jobs.orders, or register your own")
	}
}
