package service

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"sync/atomic"
	"time"

	"github.com/jmoiron/sqlx"

	"prescient/prescient"
	"prescient/prescient/agent"
	"prescient/prescient/client"
	"prescient/prescient/connect"
	"prescient/prescient/event"
	"prescient/prescient/longrun"
	"prescient/prescient/schedule"
	"prescient/prescient/steps"
	"prescient/prescient/worker"
	"prescient/slots"
)

// Service is a process that works, once. What job_execs are built with is there from New on.
type Service struct {
	// Registry is to be filled before Run.
	Registry  *prescient.Registry
	Client    *client.Client
	Schedules *schedule.Schedules
	Jobs      *steps.Jobs
	Events    *event.Outbox
	// Long registers job_execs whose checks may take longer than their slots. It is nil without LongRuns: Register works on that all the same, and
	// nothing else of it is to be called.
	Long *longrun.Runner

	options Options
	named   bool // the worker has a name that was given
	db      *sqlx.DB
	close   func() error // of a pool of its own
	rests   idle
	worker  atomic.Pointer[worker.Worker] // nil until it runs
	agent   atomic.Pointer[agent.Agent]
}

// New reads slot_config and makes what job_execs are built with, on a pool made by connect.Open. The error wraps prescient.ErrNotMigrated,
// prescient.ErrResolution, prescient.ErrInvalid or what the server says.
func New(ctx context.Context, db *sqlx.DB, o Options) (*Service, error) {
	s := &Service{db: db, close: func() error { return nil }, named: o.Worker.Name != ""}
	if err := o.complete(); err != nil {
		return nil, fmt.Errorf("service: %w", err)
	}
	w := o.Worker
	of := client.Options{Prefix: w.Prefix, Dialect: w.Dialect, Resolution: w.Resolution, Guards: w.Guards, Registry: w.Registry}
	if o.Tracing != nil {
		of.Trace = o.Tracing.Insert
		w.Registry.Use(o.Tracing.Middleware)
	}
	var err error
	if s.Client, err = client.New(ctx, db, of); err != nil {
		return nil, err
	}
	if w.Assignment == (slots.Assignment{}) {
		o.Worker.Assignment = slots.All(s.Client.Grid())
	}
	s.options, s.Registry, s.Schedules = o, w.Registry, schedule.New(s.Client)
	s.Jobs, s.Events = steps.New(s.Client, steps.Options{Guards: w.Guards, Log: w.Log}), s.Schedules.Outbox()
	if o.Tracing != nil {
		s.Events.Traced(o.Tracing.Publish)
	}
	if o.Heartbeats != nil {
		s.Schedules.OnSent(s.sent)
	}
	if o.has(LongRuns) {
		s.Long, err = longrun.New(ctx, db, longrun.Options{Prefix: w.Prefix, Dialect: w.Dialect, Name: w.Name, Lease: w.Times.Lease, Pools: o.Pools, Rules: s.Schedules, Load: s.busy,
			WakeUp: o.WakeUp, Observer: s.longObserver(), Log: w.Log})
		if err != nil {
			return nil, err
		}
	}
	if err := s.register(); err != nil {
		return nil, err
	}
	return s, nil
}

// Open is New on a pool of its own, for the leases of the options, which is closed with the end of Run.
func Open(ctx context.Context, dsn string, o Options) (*Service, error) {
	db, err := connect.OpenWith(dsn, connect.Options{Lease: cmp.Or(o.Worker.Times.Lease, prescient.DefaultLease), Connections: o.Connections})
	if err != nil {
		return nil, err
	}
	s, err := New(ctx, db, o)
	if err != nil {
		return nil, errors.Join(err, db.Close())
	}
	s.close = db.Close
	return s, nil
}

// register adds the job_execs of the parts.
func (s *Service) register() error {
	if s.options.has(Schedules) {
		if err := s.Schedules.Register(s.Registry); err != nil {
			return fmt.Errorf("timers of schedules: %w", err)
		}
	}
	if s.Long != nil && s.options.has(Jobs) {
		if err := s.Jobs.Register(s.Registry, s.Long); err != nil {
			return fmt.Errorf("jobs of steps: %w", err)
		}
	}
	return nil
}

// busy is the share of its concurrency that is in use, for claims of long runs.
func (s *Service) busy() float64 {
	if a := s.agent.Load(); a != nil {
		return a.Busy()
	}
	return 0
}

// Name is what the process is called in the tables.
func (s *Service) Name() string { return s.options.Worker.Name }

// errNotYet is what a service is asked too early.
var errNotYet = errors.New("it does not work yet")

// Alive says why the service does not do its work; nil where it does, and where it rests since it was told to drain.
func (s *Service) Alive() error {
	if s.rests.isWell() {
		return nil
	}
	if w := s.worker.Load(); w != nil {
		return w.Alive()
	}
	return errNotYet
}

// Backlog is worker.Worker.Backlog: it fails where the database does not answer.
func (s *Service) Backlog(ctx context.Context) (oldest time.Time, age time.Duration, err error) {
	if w := s.worker.Load(); w != nil {
		return w.Backlog(ctx)
	}
	return oldest, 0, errNotYet
}
