package schedule

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"time"

	"prescient/prescient"
	"prescient/prescient/internal/errno"
	"prescient/prescient/schedule/internal/catchup"
)

// fireUntil fires what a timer that waits no more had to fire up to now: what its calls would, one after the other. met are the rows
// that were pending for the schedule.
func (s *Schedules) fireUntil(ctx context.Context, db prescient.DB, one Stored, timer prescient.FutureJob, met map[prescient.Key]prescient.FutureJob, now time.Time) error {
	if one.Version == 0 || timer.DueAt.After(now) {
		return nil
	}
	line, err := one.timeline(s.zones, one.CreatedAt)
	if err != nil {
		return nil // by somebody's own SQL: it never fired
	}
	grid := s.tables.Grid
	f := s.newFiring()
	f.of[one.ID] = one
	c := catchup.Call{Due: timer.DueAt, Slot: grid.Floor(now), Now: now, Caught: one.caught, Most: maxSent}
	if one.JobExec != "" && timer.NextCheckAt.After(grid.Ceil(timer.DueAt)) { // it was held up, for which its run does not wait
		run, waits := met[runKey(timer.Entity(), one.JobExec, timer.DueAt)]
		c.Ran = !waits || run.CheckCount+run.ErrorCount > 0
	}
	w := line.walkFrom(timer.DueAt, one.kept)
	for !c.Due.IsZero() && !c.Due.After(now) {
		do := one.rules().Fire(w, grid, c)
		do.Runs = slices.DeleteFunc(do.Runs, func(t time.Time) bool { return t.After(now) })
		f.take(one, do)
		c.Due, c.Caught, c.Ran = do.Next, do.Caught, false
	}
	f.passed = slices.Compact(f.passed)
	if one.caught > 0 {
		f.caught[one.ID] = 0
	} else {
		delete(f.caught, one.ID)
	}
	// What no event may have, as a topic, is somebody's own SQL: none of its events was ever sent.
	if err := s.send(ctx, db, f.events); err != nil && !errors.Is(err, prescient.ErrInvalid) && !errno.KeepsRow(err) {
		return err
	}
	if err := s.own.Insert(ctx, db, f.runs, now); err != nil {
		return fmt.Errorf("inserting runs that were due: %w", err)
	}
	return f.tally(ctx, db)
}
