package steps

import (
	"context"
	"errors"

	"prescient/prescient"
)

// GoBack makes a version the definition of its job again, as Update does, by a version of its own; shared steps are not the job's, and stay as they
// are. A job that was deleted is created again. Errors: ErrNotFound, ErrUnreadable, and those of Update and Create.
func (j *Jobs) GoBack(ctx context.Context, db prescient.DB, name string, to, version uint64) (changed bool, err error) {
	err = j.own.InTx(ctx, db, func(db prescient.DB) error {
		was, err := j.GetVersion(ctx, db, name, to)
		if err != nil {
			return err
		}
		job := was.Job
		for i, step := range job.Steps {
			if step.Shared {
				job.Steps[i] = Step{Name: step.Name, Shared: true}
			}
		}
		changed, err = j.Update(ctx, db, job, version)
		if errors.Is(err, ErrNotFound) && version == 0 {
			changed, err = j.Create(ctx, db, job)
		}
		return err
	})
	return changed, err
}
