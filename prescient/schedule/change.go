package schedule

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strconv"
	"time"

	"prescient/prescient"
	"prescient/prescient/audit"
	"prescient/prescient/internal/errno"
	"prescient/prescient/internal/literal"
	"prescient/prescient/internal/store"
	"prescient/prescient/schedule/internal/kept"
	"prescient/prescient/schedule/internal/occurrences"
)

// all ends whatever is pending for a schedule.
func all(prescient.FutureJob) bool { return true }

// lock locks a schedule that is to be changed, and returns it. The error wraps ErrNotFound, or ErrOfJob.
func (s *Schedules) lock(ctx context.Context, db prescient.DB, id string) (Stored, error) {
	one, err := s.get(ctx, db, id, store.ToChange)
	if err == nil {
		err = s.stored(one.Schedule)
	}
	return one, err
}

// Update puts another definition in the place of a schedule's, and says whether it was another. What was due before goes on under the new
// one: a run that waits, also to be tried again, with its times and counts, and an event that was not sent yet. A run that is under way ends
// as superseded, and is not repeated. Where the timeline stays (crontabs, zone and jitter), its next occurrence does too; else it fires from now on,
// or, where the clock was put back, from what its timer waited for. A schedule that a person paused stays paused; one that was disabled since
// its crontabs were no good is enabled.
//
// From runs to events, what was due is sent at once. The long runs of a schedule that is to run another job_exec, or no long one, all end.
//
// Errors: ErrNotFound, and those of Create.
func (s *Schedules) Update(ctx context.Context, db prescient.DB, schedule Schedule) (changed bool, err error) {
	return s.UpdateFrom(ctx, db, schedule, 0)
}

// UpdateFrom is Update of a version: it is refused as ErrStale where the schedule has another by now; 0 is for whichever there is.
func (s *Schedules) UpdateFrom(ctx context.Context, db prescient.DB, schedule Schedule, version uint64) (changed bool, err error) {
	if err := errors.Join(schedule.validate(), s.mine(schedule)); err != nil {
		return false, err
	}
	before, after, err := s.edit(ctx, db, schedule.ID, version, func(one *Schedule) error {
		*one = schedule
		return nil
	})
	return err == nil && !before.same(after), err
}

// Edit is Update by what edit makes of the definition that is stored: what it leaves alone stays, whatever others change meanwhile.
// It returns the definitions before and after. The ID cannot be changed. Errors: ErrNotFound, those of edit, and those of Create.
func (s *Schedules) Edit(ctx context.Context, db prescient.DB, id string, edit func(schedule *Schedule) error) (before, after Schedule, err error) {
	return s.edit(ctx, db, id, 0, edit)
}

func (s *Schedules) edit(ctx context.Context, db prescient.DB, id string, version uint64, edit func(schedule *Schedule) error) (before, after Schedule, err error) {
	err = s.own.InTx(ctx, db, func(db prescient.DB) error {
		old, err := s.lock(ctx, db, id)
		if err != nil {
			return err
		}
		if version != 0 && old.Version != version {
			return fmt.Errorf("%w: schedule %q has version %d by now, not %d", ErrStale, id, old.Version, version)
		}
		before, after = old.Schedule, old.Schedule
		after.Crontabs = slices.Clone(before.Crontabs)
		if err := edit(&after); err != nil {
			return err
		}
		if after.ID != id {
			return fmt.Errorf("%w: the id of schedule %q cannot be changed to %q", prescient.ErrInvalid, id, after.ID)
		}
		if err := errors.Join(after.ValidateFrom(before), s.mine(after)); err != nil {
			return err
		}
		if after = after.withDefaults(); old.same(after) {
			return nil
		}
		return s.replace(ctx, db, replacement{old: old, by: Wanted{Schedule: after}})
	})
	return before, after, err
}

// Delete deletes schedules with their timers and runs, which end as cancelled, and says how many there were.
func (s *Schedules) Delete(ctx context.Context, db prescient.DB, ids ...string) (deleted int, err error) {
	for _, id := range ids {
		if err := validID(id); err != nil {
			return 0, err
		}
	}
	ids = slices.Compact(slices.Sorted(slices.Values(ids)))
	err = s.own.InTx(ctx, db, func(db prescient.DB) error {
		deleted = 0
		for some := range slices.Chunk(ids, idsPerStatement) {
			found, err := s.find(ctx, db, some, toCompare, store.ToChange)
			if err != nil {
				return err
			}
			for _, one := range found {
				if err := s.stored(one.Schedule); err != nil {
					return err
				}
			}
			if err := s.delete(ctx, db, found); err != nil {
				return err
			}
			deleted += len(found)
		}
		return nil
	})
	return deleted, err
}

// DeleteOwner deletes all schedules of an owner, as Delete does.
func (s *Schedules) DeleteOwner(ctx context.Context, db prescient.DB, owner prescient.Entity) (deleted int, err error) {
	if err := validOwner(owner); err != nil {
		return 0, err
	}
	err = s.own.InTx(ctx, db, func(db prescient.DB) error {
		found, err := s.read(ctx, db, s.tables.Fill("schedule/of_owner", "{payload}", string(toCompare),
			"{name}", literal.Of(literal.AppendText, owner.Name), "{key}", literal.Of(literal.AppendText, owner.Key)))
		if err != nil {
			return err
		}
		deleted = len(found)
		for some := range slices.Chunk(found, idsPerStatement) {
			if err := s.delete(ctx, db, some); err != nil {
				return err
			}
		}
		return nil
	})
	return deleted, err
}

// delete deletes schedules that are locked, and were read by toCompare.
func (s *Schedules) delete(ctx context.Context, db prescient.DB, some []Stored) error {
	if len(some) == 0 {
		return nil
	}
	ids := idsOf(some, func(one Stored) string { return one.ID })
	met, err := s.own.End(ctx, db, ids, prescient.Cancelled, all)
	if err != nil {
		return err
	}
	if err := s.keepVersions(ctx, db, ids); err != nil {
		return err
	}
	if err := s.tables.Exec(ctx, db, "deleting schedules", "schedule/delete", "{ids}", idList(ids), "{places}", s.tables.Places(ids...)); err != nil {
		return err
	}
	if err := kept.Accept(ctx, s.tables, db, refusedAmong(some...)); err != nil {
		return err
	}
	if err := s.noteDeleted(ctx, db, some, met); err != nil {
		return err
	}
	return s.recordDeleted(ctx, db, some)
}

// notBegun ends the timer of a schedule, and the run of an occurrence that is to come: not one that waits for a time that its job_exec asked
// for.
func notBegun(now time.Time) func(prescient.FutureJob) bool {
	return func(job prescient.FutureJob) bool {
		second, err := strconv.ParseInt(job.Tag, 10, 64)
		return job.JobExec == TimerExec || err == nil && time.Unix(second, 0).After(now)
	}
}

// Pause stops a schedule until Resume. What was due before fires all the same: a run that was due is called, with its retries, also where
// its slot has not begun; events that were due are put into the outbox at once, and what a timer that is late has to catch up with, CatchUp
// says. The run of the next occurrence ends as superseded. One that is paused already stays so, and Pause says false. The error wraps ErrNotFound.
func (s *Schedules) Pause(ctx context.Context, db prescient.DB, id string) (changed bool, err error) {
	return s.switchOne(ctx, db, id, false, s.pauseLocked)
}

// switchOne locks a schedule, and switches it where it is not so already; it says whether it was not.
func (s *Schedules) switchOne(ctx context.Context, db prescient.DB, id string, enabled bool, do func(ctx context.Context, db prescient.DB, old Stored) error) (changed bool, err error) {
	err = s.own.InTx(ctx, db, func(db prescient.DB) error {
		old, err := s.lock(ctx, db, id)
		if changed = err == nil && old.Enabled != enabled; !changed {
			return err
		}
		return do(ctx, db, old)
	})
	return changed && err == nil, err
}

// pauseLocked pauses a schedule that is locked and enabled.
func (s *Schedules) pauseLocked(ctx context.Context, db prescient.DB, old Stored) error {
	now, err := s.own.NowOf(ctx, db, old.ID)
	if err != nil {
		return err
	}
	ahead := func(job prescient.FutureJob) bool { return job.JobExec == TimerExec || job.DueAt.After(now) }
	if s.ofJobs {
		ahead = notBegun(now)
	}
	met, err := s.own.End(ctx, db, []string{old.ID}, prescient.Superseded, ahead)
	if err != nil {
		return err
	}
	var until time.Time
	if timer, waited := met[prescient.KeyOf(s.own.Entity(old.ID), TimerExec, "")]; waited {
		if err := s.fireUntil(ctx, db, old, timer, met, now); err != nil {
			return err
		}
		until = old.firedUntil(s.zones, &timer, now)
	}
	if err := s.switched(ctx, db, []string{old.ID}, false, "NULL", "NULL", until); err != nil {
		return err
	}
	return s.recordSwitched(ctx, db, old, audit.Pause)
}

// Resume lets a schedule fire again, from now on: what was due while it was paused is not missed. Where the clock was put back since,
// by a day at most, it fires from the time of the pause on, until which it has fired. One that is enabled stays as it is, and Resume says false. The error wraps ErrNotFound, or prescient.ErrInvalid where it has no more occurrences, or its crontabs are no good.
func (s *Schedules) Resume(ctx context.Context, db prescient.DB, id string) (changed bool, err error) {
	return s.switchOne(ctx, db, id, true, func(ctx context.Context, db prescient.DB, old Stored) error {
		now, err := s.own.NowOf(ctx, db, id)
		if err != nil {
			return err
		}
		from := now
		if back := old.UpdatedAt.Sub(now); back > 0 && back <= putBack {
			from = old.UpdatedAt
		}
		if _, err := s.startTimer(ctx, db, old, from, now); err != nil {
			return err
		}
		if err := s.switched(ctx, db, []string{id}, true, "NULL", "NULL", time.Time{}); err != nil {
			return err
		}
		if err := kept.Accept(ctx, s.tables, db, refusedAmong(old)); err != nil {
			return err
		}
		return s.recordSwitched(ctx, db, old, audit.Resume)
	})
}

// startTimer inserts the timer of a schedule that has none, which fires from some time on, and its first runs.
func (s *Schedules) startTimer(ctx context.Context, db prescient.DB, one Stored, from, now time.Time) (first time.Time, err error) {
	next, err := s.firstToCome(one.Schedule, one.CreatedAt, from)
	if err != nil {
		return time.Time{}, err
	}
	if err := s.own.Insert(ctx, db, append(s.runs(one.Schedule, next.at), s.timer(one.Schedule, next.at)), now); err != nil {
		return time.Time{}, fmt.Errorf("inserting the timer: %w", err)
	}
	if next.kept != one.kept {
		return next.at, s.keep(ctx, db, map[string]occurrences.Ahead{one.ID: next.kept})
	}
	return next.at, nil
}

// RunNow runs a schedule once, in the next open slot, or sends its event, beside what its crontabs say; also one that is paused. It
// returns the id of the run or event. Errors: ErrNotFound, and prescient.ErrPending for a second one within a second, or before the last
// one, by a clock that was put back.
func (s *Schedules) RunNow(ctx context.Context, db prescient.DB, id string) (occurrence string, err error) {
	err = s.own.InTx(ctx, db, func(db prescient.DB) error {
		one, err := s.get(ctx, db, id, store.ToChange)
		if err != nil {
			return err
		}
		now, err := s.own.NowOf(ctx, db, id)
		if err != nil {
			return err
		}
		occurrence = idOf(id, handTag(now))
		n, err := store.Affected(ctx, db, s.tables.Fill("schedule/by_hand", "{second}", literal.Of(literal.AppendSecond, now.Truncate(time.Second)),
			"{id}", literal.Of(literal.AppendText, id), "{places}", s.tables.Places(id)))
		if err != nil {
			return fmt.Errorf("taking a second for the run: %w", err)
		}
		if n == 0 {
			return fmt.Errorf("%w: %s, or one after it", prescient.ErrPending, occurrence)
		}
		if one.Topic != "" {
			if err := s.send(ctx, db, []sent{eventOf(one, now, handTag(now))}); err != nil {
				return err
			}
			return s.recordRun(ctx, db, one, occurrence)
		}
		run := s.runs(one.Schedule, now)
		run[0].Tag = handTag(now)
		if err := s.own.Insert(ctx, db, run, now); errno.Is(err, errno.DuplicateKey) {
			return fmt.Errorf("%w: %s", prescient.ErrPending, occurrence)
		} else if err != nil {
			return fmt.Errorf("inserting the run: %w", err)
		}
		return s.recordRun(ctx, db, one, occurrence)
	})
	return occurrence, err
}
