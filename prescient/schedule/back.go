package schedule

import (
	"context"
	"errors"

	"prescient/prescient"
)

// GoBack makes a version the definition of its schedule again, payload included, as UpdateFrom does: by a change that makes a version of its own.
// A schedule that was deleted is created again. It says whether anything changed. Errors: ErrNotFound, and those of UpdateFrom and Create.
func (s *Schedules) GoBack(ctx context.Context, db prescient.DB, id string, to Which, version uint64) (changed bool, err error) {
	err = s.own.InTx(ctx, db, func(db prescient.DB) error {
		was, err := s.GetVersion(ctx, db, id, to, true)
		if err != nil {
			return err
		}
		changed, err = s.UpdateFrom(ctx, db, was.Schedule, version)
		if errors.Is(err, ErrNotFound) && version == 0 {
			changed, err = s.Create(ctx, db, was.Schedule)
		}
		return err
	})
	return changed, err
}
