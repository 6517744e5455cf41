package serve

import (
	"context"
	"sync"

	"prescient/prescient/agent"
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
