package service

import (
	"context"
	"errors"
)

// Run works until ctx ends, and then stops gracefully: that is no error. It is called once.
func (s *Service) Run(ctx context.Context) (err error) {
	defer func() { err = errors.Join(err, s.close()) }()
	p, err := s.start(ctx)
	if err != nil {
		return err
	}
	o := s.options.Worker
	o.Log.Info().Str("worker", o.Name).Stringer("resolution", s.Client.Grid().Resolution()).Stringer("serves", o.Assignment).Strs("job_execs", s.Registry.Names()).Msg("working")
	logged := make(chan struct{})
	goesOn := context.AfterFunc(ctx, func() {
		defer close(logged)
		o.Log.Info().Stringer("grace", o.Times.StopGrace).Msg("stopping: nothing new is started, what runs may end")
	})
	work := func(running context.Context) error {
		return s.forwarding(running, p.forward, func(running context.Context) error {
			return s.withLong(running, ctx, func(running context.Context) error { return s.besideSlots(running, p) })
		})
	}
	all := work
	if p.agent != nil {
		all = func(ctx context.Context) error {
			return registered(ctx, p.agent, func(ctx context.Context) error { return s.obeying(ctx, p.agent, work) })
		}
	}
	if n := s.options.Notify; n != nil { // also while the agent drains
		err = beside(ctx, func(ctx context.Context) { n.Serve(ctx, o.Name) }, all)
	} else {
		err = all(ctx)
	}
	if !goesOn() {
		<-logged
	}
	if err == nil {
		o.Log.Info().Str("worker", o.Name).Msg("stopped")
	}
	return err
}

// withLong runs what runs slots, with what has long runs: at a stop these are handed on, and where the agent is only to drain held.
func (s *Service) withLong(running, process context.Context, run func(ctx context.Context) error) error {
	if s.Long == nil {
		return run(running)
	}
	end := func(ending context.Context) error {
		if process.Err() == nil {
			return s.Long.Hold(ending) // it may be told to go on
		}
		return s.Long.Drain(ending)
	}
	return s.drainingLong(running, end, func(ctx context.Context) error { return beside(ctx, s.Long.Serve, run) })
}

// besideSlots runs slots, and what one process of all does beside them.
func (s *Service) besideSlots(ctx context.Context, p running) error {
	run := func(ctx context.Context) error { <-ctx.Done(); return nil }
	if p.worker != nil {
		run = p.worker.Work
	} else {
		s.rests.always()
	}
	if p.maker != nil {
		slots := run
		run = func(ctx context.Context) error { return beside(ctx, p.maker.Serve, slots) }
	}
	if p.rollup != nil {
		return beside(ctx, p.rollup.Serve, run)
	}
	return run(ctx)
}
