package dev

import (
	"context"
	"fmt"
	"sync"

	"prescient/cmd/internal/program"
	"prescient/jobs/orders"
	"prescient/prescient/longrun"
	"prescient/prescient/service"
	"prescient/prescient/worker"
)

// reading is the configuration as it was read once, and the service that works by it.
type reading struct {
	*program.Session
	stop  context.CancelFunc // nil until it begins
	ended chan struct{}      // closed once it does not work
	err   error              // how it ended, after ended
	over  func() error       // ends it, once
}

// read reads the configuration and makes the service, which does not work yet: so the one before goes on where this fails.
func (s *stage) read(ctx context.Context) (r *reading, err error) {
	if err := s.file.check(); err != nil {
		return nil, err
	}
	session, give, err := s.prog.Begin(s.cmd, s.own, 0)
	if err != nil {
		return nil, err
	}
	defer func() {
		if err != nil {
			give()
		}
	}()
	if err := s.samePrefix(session.Config); err != nil {
		return nil, err
	}
	if o := session.Config.Jobs.Orders; o.Enabled {
		if err := orders.CreateTables(ctx, session.DB, o.TablePrefix); err != nil {
			return nil, session.Explain(err)
		}
	}
	err = session.NewService(ctx, func(ctx context.Context, o *service.Options) (err error) {
		session.Registry.Use(s.told.calls(session.Config.Jobs))
		o.Worker.Observer = &worker.Observer{Answered: func(results []worker.Result) { s.told.answers(session.Registry, results) }}
		o.LongRuns = &longrun.Observer{Ended: s.told.ended}
		o.Events, err = session.EventsOf(ctx)
		return err
	})
	if err != nil {
		return nil, err
	}
	r = &reading{Session: session, ended: make(chan struct{})}
	r.over = sync.OnceValue(func() error {
		if r.stop != nil {
			r.stop()
			<-r.ended
		}
		give()
		return r.err
	})
	return r, nil
}

// begin has it work until ctx ends, or end is called.
func (r *reading) begin(ctx context.Context) {
	ctx, r.stop = context.WithCancel(ctx)
	go func() {
		defer close(r.ended)
		if err := r.Service.Run(ctx); err != nil {
			r.err = fmt.Errorf("the worker: %w", r.Explain(err))
		}
	}()
}

// end has it end gracefully, and gives back what it has.
func (r *reading) end() error { return r.over() }
