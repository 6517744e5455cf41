package kept

import (
	"context"
	"slices"

	"prescient/prescient"
	"prescient/prescient/internal/literal"
	"prescient/prescient/internal/store"
)

// idsPerStatement is how many schedules a statement names at most.
const idsPerStatement = 500

// The ids of the schedules that have a disabled_at stand in schedule_refused, too: doctor and List find them there. A schedule is
// locked first, then its entry.

// Refuse takes note of schedules that their timers have disabled.
func Refuse(ctx context.Context, t *store.Tables, db prescient.DB, ids []string) error {
	if len(ids) == 0 {
		return nil
	}
	slices.Sort(ids)
	row := func(b []byte, id string) []byte {
		return append(t.AppendPlace(literal.AppendText(append(b, '('), id), id), ')')
	}
	return t.Exec(ctx, db, "noting schedules that cannot fire", "schedule/refused", "{rows}", literal.List(row, ids))
}

// Accept takes note of schedules that have no disabled_at any more. They are in the list: where there are none, an app would lock
// a gap.
func Accept(ctx context.Context, t *store.Tables, db prescient.DB, ids []string) error {
	for some := range slices.Chunk(ids, idsPerStatement) {
		if err := t.Exec(ctx, db, "noting schedules that can fire again", "schedule/accepted", "{ids}", literal.List(literal.AppendText, some), "{places}", t.Places(some...)); err != nil {
			return err
		}
	}
	return nil
}
