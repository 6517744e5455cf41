package program

import (
	"context"
	"fmt"

	"prescient/jobs/http"
	"prescient/jobs/orders"
	"prescient/prescient"
)

// Register fills the registry: the job_execs of the configuration, then the program's own.
func (s *Session) Register(ctx context.Context) error {
	for _, job := range s.Config.Jobs.HTTP {
		endpoint, err := http.New(http.Options{URL: job.URL.Reveal(), Headers: job.RevealHeaders(),
			Secret: []byte(job.Secret.Reveal())})
		if err != nil {
			return fmt.Errorf("jobs.http, exec %s: %w", job.Exec, err)
		}
		s.closers = append(s.closers, endpoint.CloseIdle)
		if err := s.Registry.Register(job.Exec, endpoint.Check, prescient.Guards(job.Guards)); err != nil {
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
	return o.RegisterBatch(s.Registry, prescient.Guards(c.Guards)) // nobody is told of alerts but by their rows
}
