package steps

import (
	"context"
	"errors"
	"fmt"

	"prescient/prescient"
	"prescient/prescient/audit"
	"prescient/prescient/schedule"
)

// Pause stops a job until Resume: no run begins; what has begun goes on. It says whether the job was not paused already. The error wraps ErrNotFound.
func (j *Jobs) Pause(ctx context.Context, db prescient.DB, name string) (changed bool, err error) {
	return j.switched(ctx, db, name, audit.Pause, j.schedules.Pause)
}

// Resume lets a job run again, from now on: what was due meanwhile is not missed. It says whether the job was paused. The error wraps ErrNotFound, or
// prescient.ErrInvalid where it has no more occurrences.
func (j *Jobs) Resume(ctx context.Context, db prescient.DB, name string) (changed bool, err error) {
	return j.switched(ctx, db, name, audit.Resume, j.schedules.Resume)
}

func (j *Jobs) switched(ctx context.Context, db prescient.DB, name, verb string, do func(ctx context.Context, db prescient.DB, id string) (bool, error)) (changed bool, err error) {
	if err := validName("name of a job", name); err != nil {
		return false, err
	}
	err = j.own.InTx(ctx, db, func(db prescient.DB) error {
		row, _, err := j.lockJob(ctx, db, name)
		if err != nil {
			return err
		}
		if changed, err = do(ctx, db, scheduleID(name)); err != nil || !changed {
			return notFound(name, err)
		}
		return j.did(ctx, db, verb, row, nil)
	})
	return changed && err == nil, err
}

// RunNow has a job run once, in the next open slot, beside what its crontabs say; also one that is paused. It returns the occurrence: the
// run of the log. Errors: ErrNotFound, and prescient.ErrPending for a second one within a second.
func (j *Jobs) RunNow(ctx context.Context, db prescient.DB, name string) (occurrence string, err error) {
	if err := validName("name of a job", name); err != nil {
		return "", err
	}
	err = j.own.InTx(ctx, db, func(db prescient.DB) error {
		row, _, err := j.lockJob(ctx, db, name)
		if err != nil {
			return err
		}
		id, err := j.schedules.RunNow(ctx, db, scheduleID(name))
		if err != nil {
			return notFound(name, err)
		}
		if _, occurrence, err = schedule.ParseID(id); err != nil {
			return err
		}
		return j.did(ctx, db, audit.Run, row, map[string]string{"occurrence": occurrence})
	})
	return occurrence, err
}

// notFound says of which job there is no schedule.
func notFound(name string, err error) error {
	if errors.Is(err, schedule.ErrNotFound) {
		return fmt.Errorf("%w: job %q", ErrNotFound, name)
	}
	return err
}
