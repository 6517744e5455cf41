package steps

import (
	"context"
	"sync"
	"time"

	"prescient/prescient/longrun"
)

// lanes bound how many calls of a job_exec are under way at a time as steps in this process. The zero value is ready for use.
type lanes struct {
	mu    sync.Mutex
	ready map[string]chan struct{} // as many as may be called yet, by job_exec
}

// enter waits until one more call of a job_exec may be under way, of which there are so many at most, 0 for no bound; leave is called when
// it is over. A run that waits holds its place. The error is that of comes.
func (l *lanes) enter(ctx context.Context, long *longrun.Run, jobExec string, most int) (leave func(), err error) {
	if most == 0 {
		return func() {}, nil
	}
	l.mu.Lock()
	lane := l.ready[jobExec]
	if lane == nil {
		lane = make(chan struct{}, most)
		for range most {
			lane <- struct{}{}
		}
		if l.ready == nil {
			l.ready = make(map[string]chan struct{})
		}
		l.ready[jobExec] = lane
	}
	l.mu.Unlock()
	if err := comes(ctx, long, lane); err != nil {
		return nil, err
	}
	return func() { lane <- struct{}{} }, nil
}

// looksEvery is how often a run that waits looks whether its agent stops.
const looksEvery = 200 * time.Millisecond

// comes waits for something that a run needs. The error is why the run ends, or longrun.ErrHandOn where its agent stops: all is saved.
func comes[T any](ctx context.Context, long *longrun.Run, what <-chan T) error {
	look := time.NewTicker(looksEvery)
	defer look.Stop()
	for {
		select {
		case <-what:
			return nil
		case <-ctx.Done():
			return context.Cause(ctx)
		case <-look.C:
			if long.Stopping() {
				return longrun.ErrHandOn
			}
		}
	}
}
