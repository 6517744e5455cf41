package steps

import (
	"context"
	"errors"
	"fmt"
	"slices"

	"prescient/prescient"
	"prescient/prescient/internal/errno"
	"prescient/prescient/internal/store"
	"prescient/prescient/schedule"
)

// Create adds a job, which runs from now on, by the database's clock. One that is there already with the same definition stays as it is,
// and Create says false. Errors: ErrExists, and prescient.ErrInvalid, also for crontabs that are finer than the slots, unless it may
// coalesce, and for shared steps that are not there; others come from the server.
func (j *Jobs) Create(ctx context.Context, db prescient.DB, job Job) (created bool, err error) {
	if err := job.Validate(); err != nil {
		return false, err
	}
	job = job.WithDefaults()
	err = j.own.InTx(ctx, db, func(db prescient.DB) error {
		created, err = j.create(ctx, db, job)
		return err
	})
	return created, err
}

func (j *Jobs) create(ctx context.Context, db prescient.DB, job Job) (created bool, err error) {
	whole, err := j.resolve(ctx, db, job)
	if err != nil {
		return false, err
	}
	last, err := j.lastVersion(ctx, db, job.Name)
	if err != nil {
		return false, err
	}
	definition, err := encodeJob(job)
	if err != nil {
		return false, err
	}
	now, err := j.own.NowOf(ctx, db, scheduleID(job.Name))
	if err != nil {
		return false, err
	}
	made := defined{name: job.Name, version: last + 1, definition: definition, created: now}
	_, err = db.ExecContext(ctx, j.tables.Fill("steps/job_insert", "{row}", j.placed(job.Name, made.row())))
	switch {
	case errno.Is(err, errno.DuplicateKey):
		return false, j.isThere(ctx, db, job)
	case err != nil:
		return false, fmt.Errorf("inserting job %q: %w", job.Name, err)
	}
	if made.version, err = j.keepFree(ctx, db, whole, made.version); err != nil {
		return false, err
	}
	if made.version != last+1 {
		if err := j.setVersion(ctx, db, made.name, made.version, definition); err != nil {
			return false, err
		}
	}
	if err := j.use(ctx, db, job.Name, nil, job.shared()); err != nil {
		return false, err
	}
	if _, err = j.schedules.Create(ctx, db, job.schedule()); err != nil {
		return false, err
	}
	return true, j.created(ctx, db, job, made)
}

// isThere makes sure that a job is there with a definition.
func (j *Jobs) isThere(ctx context.Context, db prescient.DB, job Job) error {
	found, err := j.find(ctx, db, []string{job.Name}, store.Shared)
	if err != nil {
		return err
	}
	for _, one := range found {
		stored, err := one.job()
		if err != nil {
			return fmt.Errorf("%w; edit or import puts another in its place: %w", ErrExists, err)
		}
		if stored.same(job) {
			return nil
		}
	}
	return fmt.Errorf("%w: %q; change that job with edit", ErrExists, job.Name)
}

// Update puts another definition in the place of a job's, and says whether it was another. With a version it is refused as ErrStale unless
// that is the job's; 0 is for whichever it has. Runs that have begun keep their version; the run of the occurrence that is to come is
// that of the new one. A job that a person paused stays paused. Errors: ErrNotFound, ErrStale, and those of Create.
func (j *Jobs) Update(ctx context.Context, db prescient.DB, job Job, version uint64) (changed bool, err error) {
	if err := job.Validate(); err != nil {
		return false, err
	}
	job = job.WithDefaults()
	err = j.own.InTx(ctx, db, func(db prescient.DB) error {
		changed = false
		if err := j.lockSteps(ctx, db, store.Shared, job.shared(), job.Name); err != nil {
			return err
		}
		whole, err := j.resolve(ctx, db, job)
		if err != nil {
			return err
		}
		row, old, err := j.lockJob(ctx, db, job.Name)
		if err != nil {
			return err
		}
		if err := current("job", row, version); err != nil || old.same(job) {
			return err
		}
		changed = true
		return j.replace(ctx, db, row, old, job, whole)
	})
	return changed, err
}

// current refuses a version that is another's by now.
func current(what string, row defined, version uint64) error {
	if version != 0 && version != row.version {
		return fmt.Errorf("%w: %s %q has version %d by now, not %d", ErrStale, what, row.name, row.version, version)
	}
	return nil
}

// replace puts a definition in the place of that of a job that is locked.
func (j *Jobs) replace(ctx context.Context, db prescient.DB, row defined, old, job, whole Job) error {
	definition, err := encodeJob(job)
	if err != nil {
		return err
	}
	version, err := j.nextVersion(ctx, db, row, definition, whole)
	if err != nil {
		return err
	}
	if err := j.use(ctx, db, job.Name, old.shared(), job.shared()); err != nil {
		return err
	}
	if !old.sameTimes(job) {
		if _, err := j.schedules.Update(ctx, db, job.schedule()); err != nil {
			return err
		}
	}
	return j.changed(ctx, db, row, version, old, job)
}

// nextVersion writes the next version of a job that is locked, and returns its number.
func (j *Jobs) nextVersion(ctx context.Context, db prescient.DB, row defined, definition string, whole Job) (version uint64, err error) {
	last := row.version
	if last >= noVersion {
		if last, err = j.lastVersion(ctx, db, row.name); err != nil {
			return 0, err
		}
	}
	if version, err = j.keepFree(ctx, db, whole, last+1); err != nil {
		return 0, err
	}
	return version, j.setVersion(ctx, db, row.name, version, definition)
}

// setVersion gives a job that is locked its version and its definition.
func (j *Jobs) setVersion(ctx context.Context, db prescient.DB, name string, version uint64, definition string) error {
	return j.tables.Exec(ctx, db, fmt.Sprintf("changing job %q", name), "steps/job_update", "{version}", number(version), "{definition}", text(definition), "{name}", text(name), "{places}", j.places(name))
}

// Delete deletes jobs with their schedules, and says how many there were. Runs that are under way are cancelled; the versions of the jobs
// and the logs of their runs stay.
func (j *Jobs) Delete(ctx context.Context, db prescient.DB, names ...string) (deleted int, err error) {
	for _, name := range names {
		if err := validName("name of a job", name); err != nil {
			return 0, err
		}
	}
	names = slices.Compact(slices.Sorted(slices.Values(names)))
	err = j.own.InTx(ctx, db, func(db prescient.DB) error {
		deleted = 0
		if err := j.lockSteps(ctx, db, store.Shared, nil, names...); err != nil {
			return err
		}
		found, err := j.find(ctx, db, names, store.ToChange)
		if err != nil {
			return err
		}
		for _, row := range found {
			if err := j.delete(ctx, db, row); err != nil {
				return err
			}
			deleted++
		}
		for _, name := range names {
			if slices.ContainsFunc(found, func(row defined) bool { return row.name == name }) {
				continue
			}
			n, err := j.deleteLeft(ctx, db, name)
			if err != nil {
				return err
			}
			deleted += n
		}
		return nil
	})
	return deleted, err
}

// delete deletes a job that is locked.
func (j *Jobs) delete(ctx context.Context, db prescient.DB, row defined) error {
	old, _ := row.job() // its name alone of one that cannot be read
	if err := j.use(ctx, db, row.name, old.shared(), nil); err != nil {
		return err
	}
	if err := j.tables.Exec(ctx, db, fmt.Sprintf("deleting job %q", row.name), "steps/job_delete", "{name}", text(row.name), "{places}", j.places(row.name)); err != nil {
		return err
	}
	if _, err := j.schedules.Delete(ctx, db, scheduleID(row.name)); err != nil {
		return err
	}
	return j.deleted(ctx, db, row, old)
}

// deleteLeft deletes the schedule of a job that is not there: of one that plain SQL has made, or whose definition it has deleted. Nothing else may
// delete it. It says how many there were.
func (j *Jobs) deleteLeft(ctx context.Context, db prescient.DB, name string) (int, error) {
	n, err := j.schedules.Delete(ctx, db, scheduleID(name))
	if errors.Is(err, schedule.ErrExists) { // it is no job's
		return 0, nil
	}
	return n, err
}

// Check returns the error with which Create would refuse a job, whatever other jobs there are; nil for none.
func (j *Jobs) Check(ctx context.Context, db prescient.DB, job Job) error {
	if err := job.Validate(); err != nil {
		return err
	}
	now, err := j.own.NowOf(ctx, db, scheduleID(job.Name))
	if err != nil {
		return err
	}
	return j.schedules.Check(job.schedule(), now)
}

// Schedule returns the schedule on which a job lies: for its times.
func (j Job) Schedule() schedule.Schedule { return j.schedule() }
