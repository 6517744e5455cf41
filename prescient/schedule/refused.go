package schedule

import (
	"context"
	"slices"

	"prescient/prescient"
	"prescient/prescient/internal/literal"
)

// The ids of the schedules that have a disabled_at stand in schedule_refused, too: doctor and List find them there. A schedule is
// locked first, then its entry.

// noteRefused takes note of schedules that their timers have disabled.
func (s *Schedules) noteRefused(ctx context.Context, db prescient.DB, ids []string) error {
	if len(ids) == 0 {
		return nil
	}
	slices.Sort(ids)
	row := func(b []byte, id string) []byte { return append(literal.AppendText(append(b, '('), id), ')') }
	return s.tables.Exec(ctx, db, "noting schedules that cannot fire", "schedule/refused", "{rows}", literal.List(row, ids))
}

// forgetRefused takes note of schedules that have no disabled_at any more. They are in the list: where there are none, an app would lock
// a gap.
func (s *Schedules) forgetRefused(ctx context.Context, db prescient.DB, ids []string) error {
	for some := range slices.Chunk(ids, idsPerStatement) {
		if err := s.tables.Exec(ctx, db, "noting schedules that can fire again", "schedule/accepted", "{ids}", idList(some)); err != nil {
			return err
		}
	}
	return nil
}

// refusedAmong are the ids of those that have a disabled_at.
func refusedAmong(some ...Stored) (ids []string) {
	for _, one := range some {
		if !one.DisabledAt.IsZero() {
			ids = append(ids, one.ID)
		}
	}
	return ids
}
