package changequeue

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"time"

	"github.com/jmoiron/sqlx"

	"prescient/prescient"
	"prescient/prescient/longrun"
)

// takeMissing handles changes that were missing and have come, and passes over the gaps that were waited for long enough and in which
// nobody has anything under way.
func (c *consumer) takeMissing(ctx context.Context) (busy bool, err error) {
	c.looked = time.Now()
	if len(c.at.open) == 0 {
		c.held.Store(0)
		return false, nil
	}
	now, err := c.clock(ctx) // before the look: what was committed by then is seen
	if err != nil {
		return false, err
	}
	ids, all, err := c.come(ctx, c.at.open)
	if err != nil {
		return false, err
	}
	next := c.at.clone()
	old := next.old(now, c.options.GapWait)
	if c.options.InOrder {
		n := c.at.next(ids)
		if old = untilFirst(old, ids); n > 0 {
			old = nil
		}
		ids = ids[:n]
	}
	changes, err := c.changes(ctx, ids)
	if err != nil {
		return false, err
	}
	var gone []span
	if all && len(changes) == len(ids) {
		if gone, err = c.given(ctx, old, ids); err != nil {
			return false, err
		}
	}
	if len(changes) == 0 && len(gone) == 0 {
		return false, nil
	}
	next.found(idsOf(changes))
	lost := next.lost
	passed := next.pass(gone)
	if err = c.commit(ctx, changes, next); err == nil || errors.Is(err, longrun.ErrHandOn) {
		c.tellPassed(passed, next.lost-lost)
	}
	return err == nil, err
}

// given returns what is given up of some gaps: those without the ids that have come, in which a look finds nothing under way.
func (c *consumer) given(ctx context.Context, old []span, come []uint64) (gone []span, err error) {
	pause := max(lookEvery, min(c.options.GapWait, maxPause)/lookAgain)
	if time.Since(c.locked) < pause && c.held.Load() > 0 {
		return nil, nil
	}
	old = slices.Clone(old)
	for _, id := range come {
		old, _ = without(old, id)
	}
	if gone, err = c.abandoned(ctx, old); err != nil {
		return nil, err
	}
	held := len(old) - len(gone)
	c.locked = time.Now()
	c.held.Store(int64(held))
	if held > 0 && time.Since(c.told) >= tellEvery {
		c.told = c.locked
		c.options.Log.Warn().Str("queue", c.options.Name).Int("gaps", held).Dur("gap_wait", c.options.GapWait).
			Msg("gaps are waited for longer than gap_wait: transactions that are open have ids there locked")
	}
	return gone, nil
}

// maxPause bounds the wait by which the pause between looks at gaps that are held goes.
const maxPause = 5 * time.Minute

// untilFirst is the part of the first gap that lies before the first of some ids, for a queue that keeps the order.
func untilFirst(gaps []span, ids []uint64) []span {
	if len(gaps) == 0 {
		return nil
	}
	s := gaps[0]
	if len(ids) > 0 && ids[0] <= s.last {
		s.last = ids[0] - 1
	}
	return []span{s}
}

// takeLate handles changes that came after their ids were passed over. One look is at some of what was passed over; the next goes on there.
func (c *consumer) takeLate(ctx context.Context) (busy bool, err error) {
	if len(c.at.over) == 0 || time.Since(c.lookedOver) < overEvery {
		return false, nil
	}
	from := upTo(c.at.over, c.watchedTo.Load())
	some := c.at.over[from:min(from+overAtOnce, len(c.at.over))]
	for part := range slices.Chunk(some, maxRanges) {
		ids, _, err := c.come(ctx, part)
		if err != nil {
			return false, err
		}
		changes, err := c.changes(ctx, ids)
		if err != nil {
			return false, err
		}
		if len(changes) > 0 { // and looks again there at once
			next := c.at.clone()
			late := next.found(idsOf(changes))
			if err = c.commit(ctx, changes, next); err == nil || errors.Is(err, longrun.ErrHandOn) {
				c.tellLate(changes, late)
			}
			return err == nil, err
		}
		c.watchedTo.Store(part[len(part)-1].last)
	}
	if from+len(some) == len(c.at.over) {
		c.watchedTo.Store(0)
	}
	c.lookedOver = time.Now()
	return false, nil
}

// commit has changes handled, if there are some, and the position behind them saved. Then it is the position.
func (c *consumer) commit(ctx context.Context, changes []Change, next position) error {
	text, err := next.encode()
	if err != nil {
		return err
	}
	var passed []byte
	if !slices.Equal(next.over, c.at.over) || !c.kept.Known() {
		passed = next.passedOver()
	}
	kept := c.kept
	save := func(ctx context.Context, tx *sqlx.Tx) (_ []byte, err error) {
		kept, err = c.run.SavePosition(ctx, tx, c.options.Name, c.kept, text, passed)
		return next.note(), err
	}
	if len(changes) > 0 {
		err = c.do(ctx, c.run, changes, save)
	} else {
		err = c.run.SaveTx(ctx, save, nil)
	}
	if err != nil && !errors.Is(err, longrun.ErrHandOn) {
		return endless(err)
	}
	c.at, c.kept = next, kept
	c.handled.Add(uint64(len(changes)))
	c.open.Store(int64(len(next.open)))
	return err
}

// endless is an error of the function after which the same changes come again, also where it says that none is to be tried again: the changes behind
// them would be lost with the queue.
func endless(err error) error {
	if errors.Is(err, prescient.ErrFinal) {
		return fmt.Errorf("%s (the same changes come again: a queue ends by no error)", err)
	}
	return err
}

// tellPassed counts and logs what was passed over, and what is watched no more since that is too much.
func (c *consumer) tellPassed(passed []span, lost uint64) {
	var ids uint64
	for _, s := range passed {
		ids = sum(ids, s.count())
	}
	if ids == 0 {
		return
	}
	c.passed.Add(ids)
	c.options.Log.Warn().Str("queue", c.options.Name).Uint64("ids", ids).Uint64("first", passed[0].first).Uint64("last", passed[len(passed)-1].last).
		Uint64("watched_no_more", lost).Dur("gap_wait", c.options.GapWait).Msg("ids that nobody has committed were passed over")
}

// tellLate counts and logs changes that came after their ids were passed over.
func (c *consumer) tellLate(changes []Change, late int) {
	c.late.Add(uint64(late))
	c.options.Log.Error().Str("queue", c.options.Name).Int("changes", late).Uint64("first", changes[0].ID).
		Msg("changes came after their ids were passed over; they are handled now")
}
