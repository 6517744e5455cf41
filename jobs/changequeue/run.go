package changequeue

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"time"

	"prescient/prescient"
	"prescient/prescient/longrun"
)

// How often gaps are looked at while there is enough to do, and how often those that were passed over.
const (
	lookEvery = time.Second
	overEvery = time.Minute
)

// consumer is a run of a queue.
type consumer struct {
	*Queue
	run   *longrun.Run
	do    handle
	at    position
	limit int // of rows in the next batch: fewer where bytes end them

	looked, lookedOver time.Time // here, for the pace only
}

// run handles changes until there are none, and says when to be called again.
func (q *Queue) run(ctx context.Context, run *longrun.Run, do handle) (*time.Time, error) {
	if run.Job().EntityName == prescient.ScheduleEntity {
		return nil, longrun.Final(fmt.Errorf("%w: a change queue keeps its position in its own check, which no schedule has: use Start", prescient.ErrInvalid))
	}
	from, err := q.from(run)
	if err != nil {
		return nil, err
	}
	c := &consumer{Queue: q, run: run, do: do, at: from, limit: q.options.Batch}
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
	return fresh || came, err
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
			Msg("a change queue waits: it has more gaps than a checkpoint can hold")
		return false, false, nil
	}
	return true, full, err
}

// takeMissing handles changes that were missing and have come, and passes over those that have been waited for long enough.
func (c *consumer) takeMissing(ctx context.Context) (busy bool, err error) {
	spans := c.at.open
	if time.Since(c.lookedOver) >= overEvery && len(c.at.over) > 0 {
		spans, c.lookedOver = slices.Concat(c.at.over, c.at.open), time.Now() // ascending: those that were passed over are below
	}
	if c.looked = time.Now(); len(spans) == 0 {
		return false, nil
	}
	now, err := c.clock(ctx) // before the look: what was committed by then is seen
	if err != nil {
		return false, err
	}
	old := c.at.isOld(now, c.options.GapWait)
	ids, all, err := c.come(ctx, spans)
	if err != nil {
		return false, err
	}
	if c.options.InOrder && !old {
		n := c.firstOpen(ids)
		ids = ids[:n+c.at.next(ids[n:])]
	}
	changes, err := c.changes(ctx, ids)
	if err != nil {
		return false, err
	}
	next := c.at.clone()
	late := next.found(idsOf(changes))
	var passed []span
	if all && len(changes) == len(ids) {
		passed = next.pass(now, c.options.GapWait)
	}
	if len(changes) == 0 && len(next.open) == len(c.at.open) {
		return false, nil
	}
	err = c.commit(ctx, changes, next)
	if err == nil || errors.Is(err, longrun.ErrHandOn) {
		c.tell(changes, late, passed)
	}
	return err == nil, err
}

// firstOpen is where ids of gaps begin that are waited for, in some ids.
func (c *consumer) firstOpen(ids []uint64) int {
	for i, id := range ids {
		if _, is := at(c.at.open, id); is {
			return i
		}
	}
	return len(ids)
}

// commit has changes handled, if there are some, and the position behind them saved. Then it is the position.
func (c *consumer) commit(ctx context.Context, changes []Change, next position) error {
	checkpoint, err := next.encode()
	if err != nil {
		return err
	}
	if len(changes) > 0 {
		err = c.do(ctx, c.run, changes, checkpoint)
	} else {
		err = c.run.Save(ctx, checkpoint)
	}
	if err != nil && !errors.Is(err, longrun.ErrHandOn) {
		return err
	}
	c.at = next
	c.handled.Add(uint64(len(changes)))
	c.open.Store(int64(len(next.open)))
	return err
}

// tell counts and logs what was passed over, and what came after that.
func (c *consumer) tell(changes []Change, late int, passed []span) {
	var ids uint64
	for _, s := range passed {
		ids += s.count()
	}
	if ids > 0 {
		c.passed.Add(ids)
		c.options.Log.Warn().Str("queue", c.options.Name).Uint64("ids", ids).Uint64("first", passed[0].first).Uint64("last", passed[len(passed)-1].last).
			Dur("gap_wait", c.options.GapWait).Msg("ids that nobody has committed were passed over")
	}
	if late > 0 {
		c.late.Add(uint64(late))
		c.options.Log.Error().Str("queue", c.options.Name).Int("changes", late).Uint64("first", changes[0].ID).
			Msg("changes came after their ids were passed over; they are handled now. gap_wait should be longer than the transactions that write changes")
	}
}

func idsOf(changes []Change) []uint64 {
	ids := make([]uint64, len(changes))
	for i, c := range changes {
		ids[i] = c.ID
	}
	return ids
}
