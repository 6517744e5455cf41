package schedule

import (
	"context"
	"errors"
	"fmt"
	"iter"
	"maps"
	"slices"
	"strings"
	"time"

	"prescient/prescient"
	"prescient/prescient/internal/store"
)

// Wanted is a schedule as Put is to make it.
type Wanted struct {
	Schedule
	// Paused says that it is not to fire until Resume. False says nothing of that: one that is paused stays so.
	Paused bool
}

// Put makes schedules as they are wanted, all of them or, with an error, none: those that are not there are created, those that are
// there with the same definition stay as they are, and those that are there with another one are changed as Update does, where
// update says so. It says how many were created, and how many changed or paused.
//
// It takes six statements for some hundreds of schedules that are new, and about ten where they are changed. Errors: ErrExists
// where there is another definition and update is not set, and those of Create. A schedule that is Paused may have no more
// occurrences, and crontabs finer than the slots; Resume then refuses it.
func (s *Schedules) Put(ctx context.Context, db prescient.DB, wanted []Wanted, update bool) (created, changed int, err error) {
	plain := make([]Schedule, len(wanted))
	for i, one := range wanted {
		plain[i] = one.Schedule
	}
	if err := errors.Join(validAll(plain), s.mine(plain...)); err != nil {
		return 0, 0, err
	}
	// In the order of their ids, so that two who put the same do not deadlock.
	sorted := slices.SortedFunc(slices.Values(wanted), func(a, b Wanted) int { return strings.Compare(a.ID, b.ID) })
	err = s.own.InTx(ctx, db, func(db prescient.DB) error {
		created, changed = 0, 0
		for some := range slices.Chunk(sorted, idsPerStatement) {
			added, altered, err := s.putSome(ctx, db, some, update)
			if err != nil {
				return err
			}
			created, changed = created+added, changed+altered
		}
		return nil
	})
	return created, changed, err
}

func (s *Schedules) putSome(ctx context.Context, db prescient.DB, some []Wanted, update bool) (created, changed int, err error) {
	// As they are now, whatever the snapshot of the caller's transaction shows.
	found, err := s.find(ctx, db, idsOf(some, func(one Wanted) string { return one.ID }), toCompare, store.ToChange)
	if err != nil {
		return 0, 0, err
	}
	there := byID(found)
	for _, one := range found {
		if err := s.mine(one.Schedule); err != nil {
			return 0, 0, err
		}
	}
	var enabled, paused []Schedule // that are new
	changes := make(map[string]Wanted)
	for _, one := range some {
		one.Schedule = one.withDefaults()
		stored, is := there[one.ID]
		switch {
		case !is && one.Paused:
			paused = append(paused, one.Schedule)
		case !is:
			enabled = append(enabled, one.Schedule)
		case !stored.as(one) && !update:
			return 0, 0, fmt.Errorf("%w: %q; change that schedule with update", ErrExists, one.ID)
		case !stored.as(one):
			changes[one.ID] = one
		}
	}
	if created, err = s.createSome(ctx, db, enabled, false); err != nil {
		return 0, 0, err
	}
	more, err := s.createSome(ctx, db, paused, true)
	if err != nil {
		return 0, 0, err
	}
	changed, err = s.changeSome(ctx, db, changes)
	return created + more, changed, err
}

// as says whether a schedule is as it is wanted.
func (s Stored) as(wanted Wanted) bool {
	return s.same(wanted.Schedule) && (!wanted.Paused || !s.Enabled)
}

// changeSome locks schedules, and changes those that are not as they are wanted.
func (s *Schedules) changeSome(ctx context.Context, db prescient.DB, wanted map[string]Wanted) (changed int, err error) {
	if len(wanted) == 0 {
		return 0, nil
	}
	ids := slices.Sorted(maps.Keys(wanted))
	locked, err := s.find(ctx, db, ids, toCompare, store.ToChange)
	if err != nil {
		return 0, err
	}
	if len(locked) != len(ids) {
		return 0, fmt.Errorf("%w: %d of %q and others were deleted meanwhile", ErrNotFound, len(ids)-len(locked), ids[0])
	}
	var replaced []replacement
	for _, old := range locked {
		by := wanted[old.ID]
		switch {
		case old.as(by):
			continue
		case old.same(by.Schedule):
			if err := s.pauseLocked(ctx, db, old); err != nil {
				return 0, err
			}
		default:
			replaced = append(replaced, replacement{old: old, by: by})
		}
		changed++
	}
	return changed, s.replace(ctx, db, replaced...)
}

// Check returns the error with which Create would refuse a schedule at a time, whatever else there is; nil for none.
func (s *Schedules) Check(schedule Schedule, now time.Time) error {
	if err := errors.Join(schedule.Validate(), s.mine(schedule)); err != nil {
		return err
	}
	_, err := s.firstToCome(schedule, now, now)
	return err
}

// AfterTimer returns what its timer waits for, and the times after that at which it is due, in order, as long as this machine's zones are
// those that fire it. The error is that of After.
func (s Stored) AfterTimer(due time.Time) (iter.Seq[time.Time], error) {
	line, err := s.timeline(nil, s.CreatedAt)
	if err != nil {
		return nil, err
	}
	return func(yield func(time.Time) bool) {
		w := line.WalkFrom(due, s.kept)
		for at, ok := due, true; ok && yield(at); {
			at, ok = w.Next(at)
		}
	}, nil
}

// After returns the times strictly after t at which it is due, in order: by its crontabs, its zone and its jitter, whether it is
// enabled or not. The error wraps prescient.ErrInvalid, for crontabs that plain SQL inserted.
func (s Stored) After(t time.Time) (iter.Seq[time.Time], error) {
	line, err := s.timeline(nil, s.CreatedAt)
	if err != nil {
		return nil, err
	}
	return line.After(t), nil
}
