package condition

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"slices"
	"sync"
	"time"

	"github.com/jmoiron/sqlx"

	"prescient/prescient"
	"prescient/prescient/event"
)

// mostCalls is how many calls run at a time, for one batch.
const mostCalls = 16

// inTx is a prescient.TxBatchFunc. Where the look fails, each row has failed by itself: an error of the whole would have it called for each.
func (c *Condition) inTx(ctx context.Context, tx *sqlx.Tx, batch *prescient.Batch) error {
	rows, f := c.open(ctx, batch)
	if len(rows) == 0 {
		return nil
	}
	jobs := batch.Jobs()
	events := make(map[int]event.Event)
	if len(c.options.Topics) > 0 {
		rows = slices.DeleteFunc(rows, func(i int) bool {
			e, err := c.eventOf(jobs[i])
			if err != nil {
				batch.Fail(i, err)
				return true
			}
			events[i] = e
			return false
		})
	}
	if c.options.Set != "" {
		var err error
		if rows, err = c.set(ctx, tx, batch, rows, f); err != nil {
			return fmt.Errorf("setting rows of %s: %w", c.options.Table, err)
		}
	}
	var published []event.Event
	for _, i := range rows {
		if e, is := events[i]; is {
			published = append(published, e)
		}
		answer(batch, i, c.options.next(jobs[i]))
	}
	if len(published) == 0 {
		return nil
	}
	return c.options.Events.Publish(ctx, tx, published...)
}

// set updates the rows of entities. It returns those that it has set, and answers for the others.
func (c *Condition) set(ctx context.Context, tx *sqlx.Tx, batch *prescient.Batch, rows []int, f *column) ([]int, error) {
	jobs := batch.Jobs()
	var keys []string
	for _, i := range rows {
		keys = append(keys, jobs[i].EntityKey)
	}
	slices.Sort(keys)
	done, held, err := f.set(ctx, tx, c.options.Set, c.options.While, slices.Compact(keys))
	if err != nil {
		return nil, err
	}
	return slices.DeleteFunc(rows, func(i int) bool {
		key := jobs[i].EntityKey
		switch {
		case done[key]:
			return false
		case held[key]:
			batch.Fail(i, fmt.Errorf("another transaction has the row of %s locked: %w", jobs[i].Entity(), prescient.Retry(0)))
		default:
			batch.Settle(i) // it has happened since the look
		}
		return true
	}), nil
}

// eventOf is the event of a check: its payload is the row, as a call over HTTP has it.
func (c *Condition) eventOf(job prescient.FutureJob) (event.Event, error) {
	payload, err := json.Marshal(job)
	if err != nil {
		return event.Event{}, fmt.Errorf("the check of %s cannot be written as JSON: %w", job.Entity(), err)
	}
	e := event.Event{ID: event.IDOf(job), Topic: c.options.topic(job), Key: job.Entity().String(), Payload: payload}
	return e, e.Validate()
}

// calls is a prescient.BatchFunc.
func (c *Condition) calls(ctx context.Context, batch *prescient.Batch) error {
	rows, _ := c.open(ctx, batch)
	// The answers that came are given, whatever the last calls do: after its timeout a batch has none.
	if ends, bounded := ctx.Deadline(); bounded {
		var cancel context.CancelFunc
		ctx, cancel = context.WithDeadline(ctx, ends.Add(-time.Until(ends)/10))
		defer cancel()
	}
	var calls sync.WaitGroup
	places := make(chan struct{}, mostCalls)
	for _, i := range rows {
		select {
		case places <- struct{}{}:
		case <-ctx.Done():
		}
		if ctx.Err() != nil {
			batch.Fail(i, fmt.Errorf("%s was not called within the time of its batch (a longer timeout, or a smaller worker.batch, leaves more to each): %w", batch.Jobs()[i].Entity(), prescient.Retry(0)))
			continue
		}
		calls.Go(func() {
			defer func() { <-places }()
			c.call(ctx, batch, i)
		})
	}
	calls.Wait()
	return nil
}

func (c *Condition) call(ctx context.Context, batch *prescient.Batch, i int) {
	defer func() {
		if p := recover(); p != nil {
			batch.Fail(i, fmt.Errorf("%w: %v", prescient.ErrPanic, p))
		}
	}()
	next, err := c.options.Call(ctx, batch.Jobs()[i])
	switch {
	case err != nil:
		batch.Fail(i, err)
	case next != nil:
		batch.Next(i, *next)
	default:
		answer(batch, i, c.options.next(batch.Jobs()[i]))
	}
}

// open returns the rows whose entities meet the condition, and answers for all others: what does not meet it, or is not there, is settled.
func (c *Condition) open(ctx context.Context, batch *prescient.Batch) (rows []int, f *column) {
	ctx, cancel := context.WithTimeoutCause(ctx, c.look, c.tooLong())
	defer cancel()
	jobs := batch.Jobs()
	f, err := c.load(ctx)
	if err != nil {
		c.failAll(ctx, batch, err)
		return nil, nil
	}
	var keys []string
	good := make([]bool, len(jobs))
	for i, job := range jobs {
		if err := f.check(job); err != nil {
			batch.Fail(i, err)
			continue
		}
		good[i] = true
		keys = append(keys, job.EntityKey)
	}
	slices.Sort(keys)
	keys = slices.Compact(keys)
	if len(keys) == 0 {
		return nil, f
	}
	found, err := f.lookFor(ctx, c.options.Read, c.options.While, keys)
	if err != nil {
		if err = refusedBy(err); errors.Is(err, prescient.ErrInvalid) { // as where the table was altered
			c.forget(f)
		}
		c.failAll(ctx, batch, fmt.Errorf("looking at %d keys of %s: %w", len(keys), c.options.Table, err))
		return nil, nil
	}
	for i, job := range jobs {
		if !good[i] {
			continue
		}
		other, differs := found.other[job.EntityKey]
		refused := found.refused[job.EntityKey]
		switch {
		case refused != nil:
			batch.Fail(i, fmt.Errorf("looking at %s in %s: %w", job.Entity(), c.options.Table, refused))
		case found.met[job.EntityKey]:
			rows = append(rows, i)
		case differs:
			batch.Fail(i, fmt.Errorf("the key of %s is written %.150q in %s: only a key that is written the same is the same", job.Entity(), other, c.options.Table))
		default:
			batch.Settle(i)
		}
	}
	return rows, f
}

// tooLong is why a look ends that takes too long.
func (c *Condition) tooLong() error {
	return fmt.Errorf("looking at %s took more than %s", c.options.Table, c.look)
}

// failAll answers for all rows that they could not be looked at.
func (c *Condition) failAll(ctx context.Context, batch *prescient.Batch, err error) {
	switch {
	case ctx.Err() != nil:
		err = errors.Join(context.Cause(ctx), err)
	case isSlow(err): // the server has the same time
		err = errors.Join(c.tooLong(), err)
	}
	for i := range batch.Jobs() {
		batch.Fail(i, err)
	}
}
