package schedule

import (
	"context"
	"maps"
	"slices"

	"github.com/jmoiron/sqlx"

	"prescient/prescient"
)

// contest locks the schedules whose rows the call for timers is to write to, and leaves out those that somebody else has locked: their timers
// are contested, and nothing is done for them.
func (f *firing) contest(ctx context.Context, tx *sqlx.Tx, timers []prescient.FutureJob, batch *prescient.Batch) error {
	written := slices.Concat(f.passed, f.placed, f.over, slices.Collect(maps.Keys(f.caught)), slices.Collect(maps.Keys(f.reasons)))
	slices.Sort(written)
	written = slices.Compact(written)
	free, err := f.idsBy(ctx, tx, "schedule/lock_free", written)
	if err != nil {
		return err
	}
	contested := make(map[string]bool)
	for _, id := range written {
		contested[id] = !free[id]
	}
	if len(free) == len(written) {
		return nil
	}
	is := func(id string) bool { return contested[id] }
	f.passed, f.placed, f.over = slices.DeleteFunc(f.passed, is), slices.DeleteFunc(f.placed, is), slices.DeleteFunc(f.over, is)
	maps.DeleteFunc(f.caught, func(id string, _ int) bool { return is(id) })
	maps.DeleteFunc(f.reasons, func(id, _ string) bool { return is(id) })
	f.events = slices.DeleteFunc(f.events, func(e sent) bool { return is(e.Key) })
	f.runs = slices.DeleteFunc(f.runs, func(run prescient.NewJob) bool { return is(run.Entity.Key) })
	for i, timer := range timers {
		if is(timer.EntityKey) {
			batch.Give(i, prescient.Answer{Cause: prescient.CauseContested})
		}
	}
	return nil
}
