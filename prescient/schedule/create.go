package schedule

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"
	"time"

	"prescient/prescient"
	"prescient/prescient/internal/errno"
	"prescient/prescient/internal/literal"
	"prescient/prescient/internal/store"
	"prescient/prescient/schedule/internal/occurrences"
)

// Create adds a schedule, which fires from now on, by the database's clock; where there was one of its id, and the clock was put back since,
// by a day at most, from the time of that one's deletion on. One that is there already with the same definition
// stays as it is, and Create says false. Errors: ErrExists, and prescient.ErrInvalid, also for crontabs that are finer than the slots,
// unless MayCoalesce is set; others come from the server.
func (s *Schedules) Create(ctx context.Context, db prescient.DB, schedule Schedule) (created bool, err error) {
	n, err := s.CreateMany(ctx, db, []Schedule{schedule})
	return n == 1, err
}

// CreateMany is Create for many: all of them or, with an error, none. It says how many were not there yet.
//
// It takes four statements for some hundreds of schedules.
func (s *Schedules) CreateMany(ctx context.Context, db prescient.DB, schedules []Schedule) (created int, err error) {
	if err := errors.Join(validAll(schedules), s.mine(schedules...)); err != nil {
		return 0, err
	}
	// In the order of their ids, so that two who create the same do not deadlock.
	sorted := slices.SortedFunc(slices.Values(schedules), func(a, b Schedule) int { return strings.Compare(a.ID, b.ID) })
	err = s.own.InTx(ctx, db, func(db prescient.DB) error {
		created = 0
		for some := range slices.Chunk(sorted, idsPerStatement) {
			n, err := s.createSome(ctx, db, some, false)
			if err != nil {
				return err
			}
			created += n
		}
		return nil
	})
	return created, err
}

// validAll refuses schedules of which one is no good, or that have an id twice.
func validAll(schedules []Schedule) error {
	seen := make(map[string]bool, len(schedules))
	for i, one := range schedules {
		if err := one.Validate(); err != nil {
			return fmt.Errorf("schedule %d: %w", i+1, err)
		}
		if seen[one.ID] {
			return fmt.Errorf("%w: schedule %d has the id %q, which an earlier one has", prescient.ErrInvalid, i+1, one.ID)
		}
		seen[one.ID] = true
	}
	return nil
}

// maxTries bounds how often schedules are inserted anew that others create meanwhile.
const maxTries = 10

// createSome creates those that are not there yet: enabled, or paused from the first.
func (s *Schedules) createSome(ctx context.Context, db prescient.DB, some []Schedule, paused bool) (created int, err error) {
	if len(some) == 0 {
		return 0, nil
	}
	now, before, err := s.lookBefore(ctx, db, some, paused)
	if err != nil {
		return 0, err
	}
	firsts := make(map[string]awaited)
	if !paused {
		for _, one := range some {
			next, err := s.firstToCome(one.withDefaults(), now, now)
			next.none = err // which is no matter of one that is there already
			firsts[one.ID] = next
		}
	}
	var added []Schedule
	for range maxTries {
		n, err := s.insertRows(ctx, db, some, !paused, now, firsts)
		added, some = append(added, some[:n]...), some[n:]
		if err == nil {
			until, err := s.lookAgain(ctx, db, added, before, now)
			if err != nil {
				return 0, err
			}
			if !paused && len(added) > 0 {
				if err := s.insertTimers(ctx, db, added, now, firsts, until); err != nil {
					return 0, err
				}
			}
			return len(added), s.recordCreated(ctx, db, added, !paused, now)
		}
		if !errno.Is(err, errno.DuplicateKey) {
			return 0, err
		}
		if some, err = s.missing(ctx, db, some); err != nil {
			return 0, err
		}
	}
	return 0, fmt.Errorf("creating schedules: others created them %d times meanwhile", maxTries)
}

// missing returns the schedules that are not there yet, and locks the others.
func (s *Schedules) missing(ctx context.Context, db prescient.DB, some []Schedule) (missing []Schedule, err error) {
	// Who met a row has a shared lock on it already: to want more is a deadlock of two who create it at once.
	found, err := s.find(ctx, db, idsOf(some, func(one Schedule) string { return one.ID }), toCompare, store.Shared)
	if err != nil {
		return nil, err
	}
	there := byID(found)
	for _, one := range some {
		stored, is := there[one.ID]
		switch {
		case !is:
			missing = append(missing, one)
		case !stored.same(one.withDefaults()):
			return nil, fmt.Errorf("%w: %q; change that schedule with update", ErrExists, one.ID)
		}
	}
	return missing, nil
}

// insertRows inserts the rows of schedules, and says of how many: after an error those of the statements before it.
func (s *Schedules) insertRows(ctx context.Context, db prescient.DB, some []Schedule, enabled bool, now time.Time, firsts map[string]awaited) (inserted int, err error) {
	row := func(b []byte, one Schedule) []byte {
		return s.appendRow(b, one.withDefaults(), enabled, now, firsts[one.ID].kept)
	}
	for rows, n := range literal.Bulks(row, some) {
		if err := s.tables.Exec(ctx, db, "inserting schedules", "schedule/insert", "{rows}", rows); err != nil {
			return inserted, err
		}
		inserted += n
	}
	return inserted, nil
}

// insertTimers inserts the timers of schedules, and their first runs: from now on, or from when one of that id has fired until, if that is later.
func (s *Schedules) insertTimers(ctx context.Context, db prescient.DB, some []Schedule, now time.Time, firsts map[string]awaited, until map[string]time.Time) error {
	var jobs []prescient.NewJob
	kept := make(map[string]occurrences.Ahead)
	for _, one := range some {
		one = one.withDefaults()
		next, err := firsts[one.ID], firsts[one.ID].none
		if err == nil && until[one.ID].After(now) { // the row has what is kept of an occurrence before that
			next, err = s.firstToCome(one, now, until[one.ID])
			kept[one.ID] = next.kept
		}
		if err != nil {
			return err
		}
		jobs = append(append(jobs, s.timer(one, next.at)), s.runs(one, next.at)...)
	}
	if err := s.own.Insert(ctx, db, jobs, now); err != nil {
		return fmt.Errorf("inserting timers: %w", err)
	}
	return s.keep(ctx, db, kept)
}
