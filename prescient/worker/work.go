package worker

import (
	"context"
	"errors"
	"sync"
	"time"

	"prescient/prescient"
	"prescient/prescient/internal/store"
	"prescient/prescient/worker/internal/known"
	"prescient/slots"
)

// maxRuns bounds how many runs of the worker's own slots are under way at a time, those aside that only wait for slow
// calls. A slot that finds them all taken is left to the sweeper.
const maxRuns = 4

// Work stays up and runs each assigned slot when it comes by the database's clock, beginning with the one that is now,
// until ctx ends; then it stops gracefully and returns nil. A run that outlasts its slot does not delay the next, and one
// that fails for a reason that passes by itself is tried again until the next slot comes. Every SweepEvery it sweeps.
//
// Between slots it sends nothing but a question for the time. Where the clock was set back, it goes by the new time: slots
// that come once more are run once more.
//
// It returns an error where it cannot start, or where slot_config was changed; everything that passes by itself is
// logged and tried again.
func (w *Worker) Work(ctx context.Context) error {
	w.shared.Executor.Serves.Store(true)
	seen, err := w.look.Now(ctx)
	if err != nil {
		return err
	}
	c := seen.Clock
	w.pulse.expect(w.slack())
	defer w.pulse.end()
	w.observeWorking()
	ctx, cancel := context.WithCancelCause(ctx)
	defer cancel(nil)
	hour := new(hourSum)
	defer func() { w.reportHour(hour.end()) }()
	var running sync.WaitGroup
	defer running.Wait()
	told := time.Now()
	running.Go(func() { w.tellKnown(ctx) })
	if w.options.Sweep.Every > 0 {
		running.Go(func() { w.sweepEvery(ctx, &running, cancel) })
		running.Go(func() { w.watchGivenBack(ctx) })
	}
	clocks := make(chan store.Clock, 1) // that runs found to be set
	assigned := w.options.Assignment
	for slot := assigned.Next(w.tables.Grid.Prev(w.tables.Grid.Floor(c.Now()))); !slot.IsZero(); {
		was := c
		if c, err = w.await(ctx, slot, c, clocks); err != nil {
			break
		}
		if next, back := comesBefore(assigned, slot, c.Now()); back {
			w.log.Warn().Time("expected", was.Now()).Time("now", c.Now()).Time("slot", next).
				Msg("the clock of the database was set back; slots are run again from here")
			slot = next
			continue
		}
		if now := w.tables.Grid.Floor(c.Now()); now.After(slot) && !assigned.Serves(now) {
			// Overslept, or the clock was set: the sweeper has it.
			w.leaveToSweeper()
			slot = assigned.Next(now)
			continue
		} else if now.After(slot) {
			slot = now
		}
		w.reportHour(hour.begin(slot))
		if time.Since(told) >= known.Every {
			told = time.Now()
			running.Go(func() { w.tellKnown(ctx) })
		}
		if place, free := w.bounds.runs.try(); free {
			own := ownSlot{slot: slot, next: assigned.Next(slot), clock: c, clocks: clocks, place: place, hour: hour}
			running.Go(func() { w.runOwn(ctx, own, cancel) })
		} else {
			w.log.Warn().Time("slot", slot).Int("runs", maxRuns).Msg("earlier slots are still being run; this one is left to the sweeper")
			w.leaveToSweeper()
		}
		slot = assigned.Next(slot)
	}
	w.pulse.expect(w.options.Times.StopGrace + w.slack())
	if cause := context.Cause(ctx); errors.Is(cause, prescient.ErrConfigChanged) {
		return cause
	}
	if ctx.Err() != nil {
		return nil
	}
	return err
}

const (
	// clockAhead is how long before a slot the clock is read again.
	clockAhead = time.Second
	// clockEvery is how long the clock is not read at most: a machine may have been suspended, or the server's clock set.
	clockEvery = 5 * time.Minute
)

// comesBefore returns the slot that comes next where that is before the one that is awaited: the clock was set back, and
// the slots in between come once more. A clock that is behind by no more than timers are is left as it is.
func comesBefore(assigned slots.Assignment, awaited, now time.Time) (next time.Time, back bool) {
	next = assigned.Next(now.Add(inexact(assigned.Grid())))
	return next, !next.IsZero() && next.Before(awaited)
}

// await waits until a slot has come by the database's clock, or until that is found to have been set back so far that
// others come before it. clocks are another way to find out: where slots follow closely on one another it looks at the clock every few
// minutes only, and each slot until then would be late by as much as the clock was set forth.
func (w *Worker) await(ctx context.Context, slot time.Time, c store.Clock, clocks <-chan store.Clock) (store.Clock, error) {
	for {
		rest := slot.Sub(c.Now())
		if _, back := comesBefore(w.options.Assignment, slot, c.Now()); back || rest <= 0 {
			return c, nil
		}
		nap := min(rest, clockEvery)
		if rest > 2*clockAhead && nap > rest-clockAhead {
			nap = rest - clockAhead
		}
		w.pulse.expect(nap + w.slack())
		select {
		case told := <-clocks:
			if told.At.After(c.At) {
				c = told
			}
			continue
		case <-ctx.Done():
			return c, ctx.Err()
		case <-time.After(nap):
		}
		if nap < clockAhead && time.Since(c.At) < clockEvery {
			continue
		}
		fresh, err := w.look.At(ctx, slot)
		switch {
		case err == nil:
			c = fresh.Clock
		case ctx.Err() != nil || errors.Is(err, prescient.ErrConfigChanged):
			return c, err
		default:
			w.log.Error().Err(err).Msg("the clock of the database cannot be read; going on by elapsed time")
		}
	}
}
