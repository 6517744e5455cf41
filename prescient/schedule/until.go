package schedule

import (
	"context"
	"fmt"
	"slices"
	"time"

	"prescient/prescient"
)

// fireUntil fires what a timer that waits no more had to fire up to now: what its calls would, one after the other. met are the rows
// that were pending for the schedule.
func (s *Schedules) fireUntil(ctx context.Context, db prescient.DB, one Stored, timer prescient.FutureJob, met map[prescient.Key]prescient.FutureJob, now time.Time) error {
	if one.Version == 0 || timer.DueAt.After(now) {
		return nil
	}
	line, err := one.timeline(one.CreatedAt)
	if err != nil {
		return nil // by somebody's own SQL: it never fired
	}
	grid := s.tables.Grid
	f := s.newFiring()
	f.of[one.ID] = one
	c := call{due: timer.DueAt, slot: grid.Floor(now), now: now, caught: one.caught, most: maxSent}
	if one.JobExec != "" && timer.NextCheckAt.After(grid.Ceil(timer.DueAt)) { // it was held up, for which its run does not wait
		run, waits := met[runKey(timer.Entity(), one.JobExec, timer.DueAt)]
		c.ran = !waits || run.CheckCount+run.ErrorCount > 0
	}
	for !c.due.IsZero() && !c.due.After(now) {
		do := one.fire(line, grid, c)
		do.runs = slices.DeleteFunc(do.runs, func(t time.Time) bool { return t.After(now) })
		f.take(one, do)
		c.due, c.caught, c.ran = do.next, do.caught, false
	}
	f.passed = slices.Compact(f.passed)
	if one.caught > 0 {
		f.caught[one.ID] = 0
	} else {
		delete(f.caught, one.ID)
	}
	if err := s.send(ctx, db, f.events); err != nil {
		return err
	}
	if err := s.own.Insert(ctx, db, f.runs, now); err != nil {
		return fmt.Errorf("inserting runs that were due: %w", err)
	}
	return f.tally(ctx, db)
}
