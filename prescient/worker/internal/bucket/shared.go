package bucket

import (
	"context"

	"prescient/prescient"
	"prescient/prescient/rule"
	"prescient/prescient/worker/internal/check"
	"prescient/prescient/worker/internal/commit"
	"prescient/prescient/worker/internal/execute"
)

// Shared is what the buckets of a worker have in common.
type Shared struct {
	*commit.Writer
	Executor *execute.Executor
	Crowds   map[string]*Crowd // by job_exec
	Guards   func(jobExec string) prescient.Guards
	Observe  func(batch []*check.Answered, result commit.Result) // is told of each commit
	OnRoom   func()                                              // is told where a bucket may wait again for a job_exec for which too many did; may be nil
	Batch    int                                                 // rows of a bucket that are in flight at a time
	Parallel int                                                 // buckets that are worked on at a time
	Kept     Kept                                                // rows of which nothing else can be written
	Rules    rule.Versions                                       // what rules say
	Senders  chan struct{}                                       // held by buckets that linger, while they send statements
}

// acquireSender waits until a bucket that lingers may send statements: of those no more do at a time than may run.
func (s *Shared) acquireSender(ctx context.Context, lingering bool) (done func(), err error) {
	if !lingering || s.Senders == nil {
		return func() {}, nil
	}
	select {
	case s.Senders <- struct{}{}:
		return func() { <-s.Senders }, nil
	case <-ctx.Done():
		return nil, ctx.Err()
	}
}
