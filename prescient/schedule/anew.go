package schedule

import (
	"context"
	"fmt"
	"time"

	"prescient/prescient"
	"prescient/prescient/schedule/internal/occurrences"
)

// PlanAnew puts the timer of a schedule to the time that its crontabs mean by the time zones of this machine, and with it the run of that
// occurrence: where whoever computed it last had others, as before an update of them. It returns the times that the timer waited for, and
// that it waits for: the same where nothing changed, a zero one before where it had no timer, and zero ones where the schedule is not enabled. What is due already fires as it is. A
// local time that is to come fires once all the same: at once, where it has passed by this machine's zones. The error wraps ErrNotFound.
func (s *Schedules) PlanAnew(ctx context.Context, db prescient.DB, id string) (was, is time.Time, err error) {
	err = s.own.InTx(ctx, db, func(db prescient.DB) error {
		was, is = time.Time{}, time.Time{}
		one, err := s.lock(ctx, db, id)
		if err != nil || !one.Enabled {
			return err
		}
		now, err := s.own.NowOf(ctx, db, id)
		if err != nil {
			return err
		}
		key := prescient.KeyOf(s.own.Entity(id), TimerExec, "")
		found, err := s.own.Pending(ctx, db, []prescient.Key{key})
		if err != nil {
			return err
		}
		if len(found) == 0 { // somebody has deleted its row, or has never inserted one
			if _, err := s.own.End(ctx, db, []string{id}, prescient.Superseded, notBegun(now)); err != nil {
				return err
			}
			if is, err = s.startTimer(ctx, db, one, now, now); err != nil {
				return err
			}
			return s.recordPlanned(ctx, db, one, is)
		}
		was = found[0].DueAt
		is = was
		if one.Version == 0 || !was.After(now) {
			return nil
		}
		line, err := one.timeline(s.zones, one.CreatedAt)
		if err != nil {
			return err
		}
		next, kept := line.Anew(was, one.kept, now)
		if !next.Equal(was) {
			moved, err := s.moveTimer(ctx, db, one, found[0], next, now)
			if err != nil || !moved {
				return err
			}
			is = next
		}
		if kept == one.kept {
			return nil
		}
		return s.keep(ctx, db, map[string]occurrences.Ahead{id: kept})
	})
	return was, is, err
}

// moveTimer lets a schedule that is locked wait for another time than its timer does; false where that was called meanwhile.
func (s *Schedules) moveTimer(ctx context.Context, db prescient.DB, one Stored, timer prescient.FutureJob, next, now time.Time) (bool, error) {
	met, err := s.own.End(ctx, db, []string{one.ID}, prescient.Superseded, notBegun(now))
	if err != nil {
		return false, err
	}
	found, waits := met[timer.Key()]
	if !waits {
		return false, nil
	}
	moved := found.DueAt.Equal(timer.DueAt)
	if !moved {
		next = found.DueAt
	}
	if err := s.own.Insert(ctx, db, append(s.runs(one.Schedule, next), s.timer(one.Schedule, next)), now); err != nil {
		return false, fmt.Errorf("inserting the timer: %w", err)
	}
	if !moved {
		return false, nil
	}
	return true, s.recordPlanned(ctx, db, one, next)
}

func (s *Schedules) recordPlanned(ctx context.Context, db prescient.DB, one Stored, next time.Time) error {
	e := entryOf(one.ID, verbPlan)
	e.Version, e.After = one.Version, map[string]time.Time{"due": next}
	return s.log.Record(ctx, db, e)
}

// Timers returns what the timers of schedules wait for, by id: of those that have one.
func (s *Schedules) Timers(ctx context.Context, db prescient.DB, ids ...string) (map[string]time.Time, error) {
	due := make(map[string]time.Time, len(ids))
	err := s.eachChunk(ids, func(some []string) error {
		keys := make([]prescient.Key, len(some))
		for i, id := range some {
			keys[i] = prescient.KeyOf(s.own.Entity(id), TimerExec, "")
		}
		found, err := s.own.Pending(ctx, db, keys)
		for _, timer := range found {
			due[timer.EntityKey] = timer.DueAt
		}
		return err
	})
	return due, err
}
