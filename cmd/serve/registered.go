package serve

import (
	"context"
	"sync"

	"prescient/cmd/internal/program"
	"prescient/prescient/agent"
	"prescient/prescient/worker"
)

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

// timed is registered for a timer: others know that it came, and by when it is to come again.
func timed(ctx context.Context, s *program.Session, w *worker.Worker, kind agent.Kind, run func(ctx context.Context) error) error {
	a, err := s.NewAgent(ctx, w, kind)
	if err != nil {
		return err
	}
	return registered(ctx, a, run)
}
