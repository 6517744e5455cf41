package changequeue

import (
	"context"
	"errors"
	"fmt"
	"time"

	"github.com/jmoiron/sqlx"

	"prescient/prescient"
	"prescient/prescient/longrun"
)

// How often gaps are looked at while there is enough to do; how often some of what was passed over, and how many spans of that; and how
// often the log says that gaps are held.
const (
	lookEvery  = time.Second
	overEvery  = 10 * time.Second
	overAtOnce = 50 * maxRanges
	tellEvery  = time.Minute
)

// consumer is a run of a queue.
type consumer struct {
	*Queue
	run   *longrun.Run
	do    handle
	at    position
	kept  longrun.Position // as it is saved
	limit int              // of rows in the next batch: fewer where bytes end them

	looked, lookedOver, locked, told, against time.Time // here, for the pace only
}

// run handles changes until there are none, and says when to be called again.
func (q *Queue) run(ctx context.Context, run *longrun.Run, do handle) (*time.Time, error) {
	if run.Job().EntityName == prescient.ScheduleEntity {
		return nil, prescient.Final(fmt.Errorf("%w: a change queue is one check that never ends, which those of a schedule are not: use Start", prescient.ErrInvalid))
	}
	from, kept, err := q.from(ctx, run)
	if err != nil {
		return nil, err
	}
	c := &consumer{Queue: q, run: run, do: do, at: from, kept: kept, limit: q.options.Batch}
	if err := c.lookBelow(ctx); err != nil {
		return nil, err
	}
	for {
		busy, err := c.round(ctx)
		switch {
		case err != nil:
			return nil, err
		case busy:
		case q.options.Watch == 0:
			now, err := q.clock(ctx)
			if err != nil {
				return nil, err
			}
			return prescient.At(now.Add(time.Microsecond)), nil // the next open slot
		default:
			if err := c.wait(ctx); err != nil {
				return nil, err
			}
		}
	}
}

// wait waits until it is time to look again, or the agent stops.
func (c *consumer) wait(ctx context.Context) error {
	timer := time.NewTimer(c.options.Watch)
	defer timer.Stop()
	select {
	case <-ctx.Done():
		return context.Cause(ctx)
	case <-timer.C:
	}
	if c.run.Stopping() {
		return longrun.ErrHandOn // everything is saved
	}
	return nil
}

// round handles a batch of what was missing and has come, and one of what is new. It says whether there may be more.
func (c *consumer) round(ctx context.Context) (busy bool, err error) {
	fresh, full, err := c.takeFresh(ctx)
	if err != nil {
		return false, err
	}
	if full && time.Since(c.looked) < lookEvery && !c.options.InOrder {
		return true, nil
	}
	came, err := c.takeMissing(ctx)
	if err != nil {
		return false, err
	}
	late, err := c.takeLate(ctx)
	if err == nil && !fresh && !came && !late {
		err = c.lookAgainst(ctx)
	}
	return fresh || came || late, err
}

// takeFresh handles changes above the position. full says that there are certainly more.
func (c *consumer) takeFresh(ctx context.Context) (busy, full bool, err error) {
	if c.options.InOrder && len(c.at.open) > 0 {
		return false, false, nil
	}
	changes, cut, err := c.fresh(ctx, c.at.high, c.limit)
	if err != nil || len(changes) == 0 {
		return false, false, err
	}
	now, err := c.clock(ctx) // after the read: a gap is no older than that
	if err != nil {
		return false, false, err
	}
	full = cut || len(changes) == c.limit
	if cut { // what is read beyond the bytes of a batch is read for nothing
		c.limit = len(changes) + 1
	} else {
		c.limit = min(2*c.limit, c.options.Batch)
	}
	next := c.at.clone()
	if c.options.InOrder {
		n := 0
		for n < len(changes) && changes[n].ID == c.at.high+uint64(n)+1 {
			n++
		}
		gap := changes[min(n, len(changes)-1)].ID
		if changes = changes[:n]; n > 0 {
			next.advance(idsOf(changes), now, c.options.GapWait)
		} else {
			next.block(gap, now, c.options.GapWait)
		}
	} else {
		next.advance(idsOf(changes), now, c.options.GapWait)
	}
	err = c.commit(ctx, changes, next)
	if errors.Is(err, errFull) {
		c.options.Log.Warn().Str("queue", c.options.Name).Int("gaps", len(c.at.open)).Uint64("at", c.at.high).
			Msg("a change queue waits: it has more gaps than its position can hold")
		return false, false, nil
	}
	return true, full, err
}

func idsOf(changes []Change) []uint64 {
	ids := make([]uint64, len(changes))
	for i, c := range changes {
		ids[i] = c.ID
	}
	return ids
}

// TxFunc handles changes in a transaction, in which the position of the queue commits, too: exactly once. It returns the errors of its
// statements as they are: after a deadlock it is called again, in a new transaction.
type TxFunc func(ctx context.Context, tx *sqlx.Tx, changes []Change) error

// Func handles changes elsewhere: at least once. It is called again for the same changes where its worker died before their position was
// saved.
type Func func(ctx context.Context, changes []Change) error

// handle calls the function for some changes, and has the position behind them saved.
type handle func(ctx context.Context, run *longrun.Run, changes []Change, save longrun.Effect) error

// RegisterTx registers the queue with a function that works in the queue's transaction. The pool of the runner has to be on the server
// that has the effects.
func (q *Queue) RegisterTx(runner *longrun.Runner, registry *prescient.Registry, fn TxFunc) error {
	if fn == nil {
		return fmt.Errorf("changequeue %s: %w: there is no function", q.options.Name, prescient.ErrInvalid)
	}
	return q.register(runner, registry, func(ctx context.Context, run *longrun.Run, changes []Change, save longrun.Effect) error {
		return run.SaveTx(ctx, func(ctx context.Context, tx *sqlx.Tx) ([]byte, error) {
			if err := fn(ctx, tx, changes); err != nil {
				return nil, err
			}
			return save(ctx, tx)
		}, nil)
	})
}

// Register registers the queue with a function whose effects are elsewhere.
func (q *Queue) Register(runner *longrun.Runner, registry *prescient.Registry, fn Func) error {
	if fn == nil {
		return fmt.Errorf("changequeue %s: %w: there is no function", q.options.Name, prescient.ErrInvalid)
	}
	return q.register(runner, registry, func(ctx context.Context, run *longrun.Run, changes []Change, save longrun.Effect) error {
		if err := fn(ctx, changes); err != nil {
			return err
		}
		return run.SaveTx(ctx, save, nil)
	})
}

func (q *Queue) register(runner *longrun.Runner, registry *prescient.Registry, do handle) error {
	return runner.Register(registry, q.options.Name, func(ctx context.Context, run *longrun.Run) (*time.Time, error) {
		next, err := q.run(ctx, run, do)
		if err != nil {
			return nil, fmt.Errorf("changequeue %s: %w", q.options.Name, err)
		}
		return next, nil
	}, prescient.Guards{Endless: true})
}
