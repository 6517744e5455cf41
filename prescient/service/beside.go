package service

import (
	"context"
	"sync"
	"time"

	"prescient/prescient/agent"
	"prescient/prescient/event/forward"
)

// handOnTime is how long calls that were ended may take to come back and be handed on. What takes longer lapses.
const handOnTime = 5 * time.Second

// drainingLong runs what runs slots, and once ctx ends hands the long runs on by end, beside the stop of that.
func (s *Service) drainingLong(ctx context.Context, end func(ctx context.Context) error, run func(ctx context.Context) error) error {
	told, stop := context.WithCancel(ctx)
	defer stop()
	drained := make(chan struct{})
	go func() {
		defer close(drained)
		<-told.Done()
		s.drain(end)
	}()
	err := run(ctx)
	stop()
	<-drained
	return err
}

// beside runs what runs slots, and something else until that ends.
func beside(ctx context.Context, serve func(ctx context.Context), run func(ctx context.Context) error) error {
	until, stop := context.WithCancel(ctx)
	var served sync.WaitGroup
	served.Go(func() { serve(until) })
	defer served.Wait()
	defer stop()
	return run(ctx)
}

// awaitingLong is drainingLong for what ends by itself: its long runs end first, unless ctx does.
func (s *Service) awaitingLong(ctx context.Context, run func(ctx context.Context) error) error {
	return s.drainingLong(ctx, s.Long.Drain, func(ctx context.Context) error {
		err := run(ctx)
		if n := s.Long.Running(); n > 0 && ctx.Err() == nil {
			s.options.Worker.Log.Info().Int("runs", n).Msg("waiting for long runs to end")
		}
		// Once ctx ends they are handed on, which is no failure of the slots.
		_ = s.Long.Wait(ctx)
		return err
	})
}

// drain hands long runs on: they have worker.stop_grace to save a checkpoint.
func (s *Service) drain(end func(ctx context.Context) error) {
	n := s.Long.Running()
	grace, cancel := context.WithTimeout(context.Background(), s.options.Worker.Times.StopGrace)
	defer cancel()
	done := make(chan struct{})
	go func() {
		defer close(done)
		_ = end(grace) // the error is that grace is over: some were ended
	}()
	select {
	case <-done:
	case <-time.After(s.options.Worker.Times.StopGrace + handOnTime):
		s.options.Worker.Log.Warn().Int("runs", s.Long.Running()).Msg("long runs ignore that they are to end; others take them over once their leases are over")
		return
	}
	if n > 0 {
		s.options.Worker.Log.Info().Int("runs", n).Msg("long runs were handed on, or have ended")
	}
}

// registered runs what works, and has others know of it meanwhile: that it is there, that it stops once ctx ends, and that it has ended.
func registered(ctx context.Context, a *agent.Agent, work func(ctx context.Context) error) error {
	known, forget := context.WithCancel(context.WithoutCancel(ctx))
	var running sync.WaitGroup
	running.Go(func() { a.Run(known) })
	told := context.AfterFunc(ctx, a.Stopping)
	defer func() {
		told()
		forget()
		running.Wait()
	}()
	return work(ctx)
}

// forwarding runs what runs slots, and a forwarder beside it where there is one. The forwarder ends last: what the last slots
// have published goes out as well.
func (s *Service) forwarding(ctx context.Context, f *forward.Forwarder, run func(ctx context.Context) error) error {
	if f == nil {
		return run(ctx)
	}
	told, stop := context.WithCancel(context.WithoutCancel(ctx))
	ended := make(chan error, 1)
	go func() { ended <- f.Run(told) }()
	err := run(ctx)
	stop()
	if failed := <-ended; failed != nil {
		s.options.Worker.Log.Warn().Err(failed).Msg("the forwarder did not leave in order")
	}
	return err
}
