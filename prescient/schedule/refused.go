package schedule

import (
	"context"
	"fmt"
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
	var rows []byte
	for i, id := range ids {
		if i > 0 {
			rows = append(rows, ',')
		}
		rows = append(literal.AppendText(append(rows, '('), id), ')')
	}
	if _, err := db.ExecContext(ctx, s.tables.Fill("schedule/refused", "{rows}", string(rows))); err != nil {
		return fmt.Errorf("noting schedules that cannot fire: %w", err)
	}
	return nil
}

// forgetRefused takes note of schedules that have no disabled_at any more. They are in the list: where there are none, an app would lock
// a gap.
func (s *Schedules) forgetRefused(ctx context.Context, db prescient.DB, ids []string) error {
	for some := range slices.Chunk(ids, idsPerStatement) {
		if _, err := db.ExecContext(ctx, s.tables.Fill("schedule/accepted", "{ids}", idList(some))); err != nil {
			return fmt.Errorf("noting schedules that can fire again: %w", err)
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
