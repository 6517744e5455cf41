package serve

import (
	"context"
	"sync"
	"time"

	"prescient/cmd/internal/program"
)

// handOnTime is how long calls that were ended may take to come back and be handed on. What takes longer lapses.
const handOnTime = 5 * time.Second

// drainingLong runs what runs slots, and once ctx ends hands the long runs on by end, beside the stop of that.
func drainingLong(ctx context.Context, s *program.Session, end func(ctx context.Context) error, run func(ctx context.Context) error) error {
	told, stop := context.WithCancel(ctx)
	defer stop()
	drained := make(chan struct{})
	go func() {
		defer close(drained)
		<-told.Done()
		drain(s, end)
	}()
	err := run(ctx)
	stop()
	<-drained
	return err
}

// claimingLong runs what runs slots, and claims long runs beside that.
func claimingLong(ctx context.Context, s *program.Session, run func(ctx context.Context) error) error {
	return beside(ctx, s.Long.Serve, run)
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
func awaitingLong(ctx context.Context, s *program.Session, run func(ctx context.Context) error) error {
	return drainingLong(ctx, s, s.Long.Drain, func(ctx context.Context) error {
		err := run(ctx)
		if n := s.Long.Running(); n > 0 && ctx.Err() == nil {
			s.Log.Info().Int("runs", n).Msg("waiting for long runs to end")
		}
		// Once ctx ends they are handed on, which is no failure of the slots.
		_ = s.Long.Wait(ctx)
		return err
	})
}

// drain hands long runs on: they have worker.stop_grace to save a checkpoint.
func drain(s *program.Session, end func(ctx context.Context) error) {
	n := s.Long.Running()
	grace, cancel := context.WithTimeout(context.Background(), s.Config.Worker.StopGrace)
	defer cancel()
	done := make(chan struct{})
	go func() {
		defer close(done)
		_ = end(grace) // the error is that grace is over: some were ended
	}()
	select {
	case <-done:
	case <-time.After(s.Config.Worker.StopGrace + handOnTime):
		s.Log.Warn().Int("runs", s.Long.Running()).Msg("long runs ignore that they are to end; others take them over once their leases are over")
		return
	}
	if n > 0 {
		s.Log.Info().Int("runs", n).Msg("long runs were handed on, or have ended")
	}
}
