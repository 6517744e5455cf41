package delayq

import (
	"context"
	"errors"
	"fmt"
	"time"

	"prescient/prescient"
	"prescient/prescient/worker"
)

// Run calls handle with the data of all that is ready, as it becomes ready, until Stop is called. It returns nil then, and an
// error where it cannot start, or where slot_config was changed (prescient.ErrConfigChanged); everything that passes by itself
// is logged to Options.Worker.Log and tried again.
//
// Where handle returns an error or panics, it is called again with the same data after 1, 2, 4, … slots, but never later than
// RetryWithin or one slot, whichever is longer, until it returns nil; after a prescient.Retry as that says, and after prescient.Final never.
// It is called from several goroutines at once, and may be called twice for the same data. It must not keep the data from one call for
// another: each call has bytes of its own.
//
// Run may be called in many processes at a time, which share the work. It is a worker that knows this queue alone: other
// job_execs in the same tables, those of other queues too, it would put off. See Register.
func (q *DelayQueue) Run(handle func(data []byte) error) error {
	return q.RunContext(context.Background(), ofData(handle))
}

// RunContext is Run until ctx ends, or Stop is called. The context of handle ends at the timeout, and once what runs has been given
// Options.Worker.Times.StopGrace after a stop.
func (q *DelayQueue) RunContext(ctx context.Context, handle func(ctx context.Context, item Item) error) error {
	options := q.options.Worker
	options.Prefix, options.Dialect, options.Resolution = q.options.Client.Prefix, q.options.Client.Dialect, q.options.Client.Resolution
	options.Registry = prescient.NewRegistry()
	if err := q.RegisterContext(options.Registry, handle); err != nil {
		return err
	}
	ctx, cancel := context.WithCancel(ctx)
	defer cancel()
	off := context.AfterFunc(q.stopped, cancel)
	defer off()
	w, err := worker.New(ctx, q.db, options)
	if err == nil {
		err = w.Work(ctx)
	}
	if err == nil || ctx.Err() != nil && !errors.Is(err, prescient.ErrConfigChanged) {
		return nil
	}
	return fmt.Errorf("delayq %s: %w", q.Name(), err)
}

// Stop has every Run of this queue return, those to come, too. It does not wait for them: calls of handle that are under way have
// Options.Worker.Times.StopGrace to end. The queue delays and cancels as before.
func (q *DelayQueue) Stop() { q.stop() }

// Register adds the queue to the registry of a worker that has other job_execs, or other queues, beside it: in place of Run, whose
// doc says how handle is called. The error wraps prescient.ErrInvalid.
func (q *DelayQueue) Register(registry *prescient.Registry, handle func(data []byte) error) error {
	return q.RegisterContext(registry, ofData(handle))
}

// RegisterContext is Register for a handle that takes a context, which ends at the timeout, and knows what it is called with.
func (q *DelayQueue) RegisterContext(registry *prescient.Registry, handle func(ctx context.Context, item Item) error) error {
	if handle == nil {
		return fmt.Errorf("delayq %s: %w: there is no handle", q.Name(), prescient.ErrInvalid)
	}
	err := registry.Register(q.Name(), func(ctx context.Context, job prescient.FutureJob) (*time.Time, error) {
		item, err := ItemOf(job)
		if err != nil {
			return nil, err
		}
		return nil, handle(ctx, item)
	}, q.Guards())
	if err != nil {
		return fmt.Errorf("delayq %s: %w", q.Name(), err)
	}
	return nil
}

// ofData is a handle that takes the data alone; nil for none.
func ofData(handle func(data []byte) error) func(context.Context, Item) error {
	if handle == nil {
		return nil
	}
	return func(_ context.Context, item Item) error { return handle(item.Data) }
}
