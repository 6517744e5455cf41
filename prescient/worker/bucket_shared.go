package worker

import (
	"context"
	"sync/atomic"

	"prescient/prescient"
	"prescient/prescient/worker/internal/check"
	"prescient/prescient/worker/internal/commit"
	"prescient/prescient/worker/internal/execute"
)

// shared is what the buckets of a worker have in common.
type shared struct {
	*commit.Writer
	executor  *execute.Executor
	crowds    map[string]*crowd // by job_exec
	guards    func(jobExec string) prescient.Guards
	observe   func(batch []*check.Answered, result commit.Result) // is told of each commit
	batch     int                                                 // rows of a bucket that are in flight at a time
	parallel  int                                                 // buckets that are worked on at a time
	lingering atomic.Int32                                        // buckets that wait for slow calls, or locked rows
	turns     chan struct{}                                       // held by those of them that send statements
}

// turn waits until a bucket that lingers may send statements: of those no more do at a time than may run.
func (s *shared) turn(ctx context.Context, lingering bool) (done func(), err error) {
	if !lingering || s.turns == nil {
		return func() {}, nil
	}
	select {
	case s.turns <- struct{}{}:
		return func() { <-s.turns }, nil
	case <-ctx.Done():
		return nil, ctx.Err()
	}
}
