package steps

import (
	"context"
	"errors"
	"fmt"
	"strings"
	"time"

	"prescient/prescient"
	"prescient/prescient/internal/errno"
	"prescient/prescient/internal/literal"
	"prescient/prescient/internal/store"
)

// StoredStep is a shared step as the tables have it.
type StoredStep struct {
	Step
	// Version rises with every change.
	Version              uint64
	CreatedAt, UpdatedAt time.Time
	// Jobs are the names of those that have it, as GetStep returns them.
	Jobs []string
	// Wrong says why a step of a list cannot be read, which plain SQL has written: it has its name alone then. Nil for all others.
	Wrong error
}

// PutStep defines a shared step, or puts another definition in the place of that which is there, and says whether anything changed, and of
// which jobs that made a new version. With a version it is refused as ErrStale unless that is the step's; 0 is for whichever there is,
// or none. Errors: ErrStale, ErrNotFound where a version is given and there is no such step, and prescient.ErrInvalid.
func (j *Jobs) PutStep(ctx context.Context, db prescient.DB, step Step, version uint64) (changed bool, jobs []string, err error) {
	if err := step.Validate(); err != nil {
		return false, nil, err
	}
	step = step.WithDefaults()
	err = j.own.InTx(ctx, db, func(db prescient.DB) error {
		changed, jobs, err = j.putStep(ctx, db, step, version)
		return err
	})
	return changed, jobs, err
}

func (j *Jobs) putStep(ctx context.Context, db prescient.DB, step Step, version uint64) (changed bool, jobs []string, err error) {
	definition, err := encodeStep(step)
	if err != nil {
		return false, nil, err
	}
	if version == 0 {
		isNew, err := j.insertStep(ctx, db, step, definition)
		if err != nil || isNew {
			return isNew, nil, err
		}
	}
	if err := j.lockSharing(ctx, db, step.Name); err != nil {
		return false, nil, err
	}
	row, old, err := j.lockStep(ctx, db, step.Name)
	if err != nil {
		return false, nil, err
	}
	if err := current("step", row, version); err != nil || old.same(step) {
		return false, nil, err
	}
	err = j.tables.Exec(ctx, db, fmt.Sprintf("changing step %q", step.Name), "steps/step_update", "{version}", number(row.version+1), "{definition}", text(definition), "{name}", text(step.Name))
	if err != nil {
		return false, nil, err
	}
	jobs, err = j.users(ctx, db, step.Name, store.Shared)
	if err != nil {
		return false, nil, err
	}
	if jobs, err = j.renew(ctx, db, jobs); err != nil {
		return false, nil, err
	}
	return true, jobs, j.put(ctx, db, row, &old, &step, row.version+1)
}

// insertStep inserts a shared step, unless it is there. It looks first: an INSERT that finds one would lock it, out of order.
func (j *Jobs) insertStep(ctx context.Context, db prescient.DB, step Step, definition string) (isNew bool, err error) {
	if err := j.onOneShard([]string{step.Name}); err != nil {
		return false, err
	}
	found, err := j.findSteps(ctx, db, []string{step.Name}, store.Plainly)
	if err != nil || len(found) > 0 {
		return false, err
	}
	now, err := j.own.Now(ctx, db)
	if err != nil {
		return false, err
	}
	made := defined{name: step.Name, version: 1, definition: definition, created: now}
	_, err = db.ExecContext(ctx, j.tables.Fill("steps/step_insert", "{row}", "("+made.row()+")"))
	switch {
	case errno.Is(err, errno.DuplicateKey):
		return false, nil
	case err != nil:
		return false, fmt.Errorf("inserting step %q: %w", step.Name, err)
	}
	return true, j.put(ctx, db, made, nil, &step, 1)
}

// lockSharing locks a shared step that is to be changed, and those that its jobs have beside it: two who change two steps of one job
// wait for one another here, and not in a circle later.
func (j *Jobs) lockSharing(ctx context.Context, db prescient.DB, step string) error {
	jobs, err := j.users(ctx, db, step, store.Plainly)
	if err != nil {
		return err
	}
	return j.lockSteps(ctx, db, store.ToChange, []string{step}, jobs...)
}

// renew makes a new version of jobs, of which a shared step has changed, and says of which. What plain SQL has written is passed over: the
// name of a job that is not there, and a job that cannot be read, or has a step that is not there.
func (j *Jobs) renew(ctx context.Context, db prescient.DB, jobs []string) (renewed []string, err error) {
	for _, name := range jobs {
		row, job, err := j.lockJob(ctx, db, name)
		if errors.Is(err, ErrNotFound) || err == nil && len(job.Steps) == 0 {
			continue
		} else if err != nil {
			return nil, err
		}
		whole, err := j.resolve(ctx, db, job)
		if errors.Is(err, prescient.ErrInvalid) {
			j.options.Log.Warn().Err(err).Str("job", name).Msg("a job keeps its version, since it has no good definition")
			continue
		} else if err != nil {
			return nil, err
		}
		version, err := j.nextVersion(ctx, db, row, row.definition, whole)
		if err != nil {
			return nil, err
		}
		if err := j.changed(ctx, db, row, version, job, whole); err != nil {
			return nil, err
		}
		renewed = append(renewed, name)
	}
	return renewed, nil
}

// lockStep locks a shared step that is to be changed. Of one that cannot be read it has the name alone. The error wraps ErrNotFound.
func (j *Jobs) lockStep(ctx context.Context, db prescient.DB, name string) (defined, Step, error) {
	found, err := j.findSteps(ctx, db, []string{name}, store.ToChange)
	if err != nil {
		return defined{}, Step{}, err
	}
	if len(found) == 0 {
		return defined{}, Step{}, fmt.Errorf("%w: step %q", ErrNotFound, name)
	}
	return found[0], found[0].step().Step, nil
}

// DeleteStep deletes a shared step that no job has. Errors: ErrNotFound, and ErrInUse, which names the jobs.
func (j *Jobs) DeleteStep(ctx context.Context, db prescient.DB, name string) error {
	if err := validName("name of a step", name); err != nil {
		return err
	}
	return j.own.InTx(ctx, db, func(db prescient.DB) error {
		row, old, err := j.lockStep(ctx, db, name)
		if err != nil {
			return err
		}
		jobs, err := j.users(ctx, db, name, store.Shared)
		if err != nil {
			return err
		}
		found, err := j.find(ctx, db, jobs, store.Shared) // plain SQL may have noted others
		if err != nil {
			return err
		}
		if len(found) > 0 {
			names := make([]string, len(found))
			for i, one := range found {
				names[i] = one.name
			}
			return fmt.Errorf("%w: step %q is a step of %s", ErrInUse, name, strings.Join(names, ", "))
		}
		if err := j.tables.Exec(ctx, db, fmt.Sprintf("deleting step %q", name), "steps/step_delete", "{name}", text(name)); err != nil {
			return err
		}
		return j.put(ctx, db, row, &old, nil, row.version+1)
	})
}

// GetStep returns a shared step. The error wraps ErrNotFound, or ErrUnreadable with a step of which there is the name alone.
func (j *Jobs) GetStep(ctx context.Context, db prescient.DB, name string) (StoredStep, error) {
	if err := validName("name of a step", name); err != nil {
		return StoredStep{}, err
	}
	found, err := j.findSteps(ctx, db, []string{name}, store.Plainly)
	if err != nil {
		return StoredStep{}, err
	}
	if len(found) == 0 {
		return StoredStep{}, fmt.Errorf("%w: step %q", ErrNotFound, name)
	}
	one := found[0].step()
	if one.Wrong != nil {
		return one, one.Wrong
	}
	one.Jobs, err = j.users(ctx, db, name, store.Plainly)
	return one, err
}

// ListSteps lists shared steps in the order of their names, up to limit behind a name, without the jobs that have them.
func (j *Jobs) ListSteps(ctx context.Context, db prescient.DB, after string, limit int) (steps []StoredStep, err error) {
	found, err := j.read(ctx, db, j.tables.Fill("steps/step_list", "{after}", text(after), "{limit}", literal.Of(literal.AppendInt, int64(limit))))
	if err != nil {
		return nil, err
	}
	for _, row := range found {
		steps = append(steps, row.step())
	}
	return steps, nil
}

// step is the shared step that a row defines.
func (d defined) step() StoredStep {
	one := StoredStep{Version: d.version, CreatedAt: d.created, UpdatedAt: d.updated}
	if one.Step, one.Wrong = decodeStep(d.definition); one.Wrong != nil {
		one.Step, one.Wrong = Step{}, fmt.Errorf("%w: step %q: %w", ErrUnreadable, d.name, one.Wrong)
	}
	one.Name = d.name // whatever its definition says
	return one
}
