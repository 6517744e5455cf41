package steps

import (
	"context"
	"fmt"
	"time"

	"prescient/prescient"
	"prescient/prescient/internal/literal"
	"prescient/prescient/internal/store"
	"prescient/prescient/schedule"
)

// Stored is a job as the tables have it.
type Stored struct {
	Job
	// Version rises with every change of the job, and of a shared step that it has.
	Version              uint64
	CreatedAt, UpdatedAt time.Time
	// Schedule is that of the job: whether it is enabled, and when it fires.
	Schedule schedule.Stored
	// Wrong says why a job of a list cannot be read, which plain SQL has written: it has its name alone then. Nil for all others.
	Wrong error
}

// Version is one of the versions of a job.
type Version struct {
	// Job is whole: its shared steps stand in it as they were then.
	Job
	Version   uint64
	CreatedAt time.Time
	// Wrong is as that of Stored.
	Wrong error
}

// Get returns a job. The error wraps ErrNotFound, or ErrUnreadable with a job of which there is the name alone.
func (j *Jobs) Get(ctx context.Context, db prescient.DB, name string) (Stored, error) {
	if err := validName("name of a job", name); err != nil {
		return Stored{}, err
	}
	found, err := j.find(ctx, db, []string{name}, store.Plainly)
	if err != nil {
		return Stored{}, err
	}
	all, err := j.stored(ctx, db, found)
	if err == nil && len(all) == 0 {
		err = fmt.Errorf("%w: job %q", ErrNotFound, name)
	}
	if err != nil {
		return Stored{}, err
	}
	return all[0], all[0].Wrong
}

// List lists jobs in the order of their names, up to limit behind a name.
func (j *Jobs) List(ctx context.Context, db prescient.DB, after string, limit int) ([]Stored, error) {
	found, err := j.read(ctx, db, j.tables.Fill("steps/job_list", "{after}", text(after), "{limit}", literal.Of(literal.AppendInt, int64(limit))))
	if err != nil {
		return nil, err
	}
	return j.stored(ctx, db, found)
}

// stored reads what schedules say of jobs.
func (j *Jobs) stored(ctx context.Context, db prescient.DB, found []defined) (all []Stored, err error) {
	if len(found) == 0 {
		return nil, nil
	}
	ids := make([]string, len(found))
	for i, row := range found {
		job, wrong := row.job()
		all = append(all, Stored{Job: job, Version: row.version, CreatedAt: row.created, UpdatedAt: row.updated, Wrong: wrong})
		ids[i] = scheduleID(row.name)
	}
	schedules, err := j.schedules.Find(ctx, db, ids...)
	if err != nil {
		return nil, err
	}
	of := make(map[string]schedule.Stored, len(schedules))
	for _, one := range schedules {
		of[one.ID] = one
	}
	for i := range all {
		all[i].Schedule = of[scheduleID(all[i].Name)]
	}
	return all, nil
}

// GetVersion returns a version of a job, also of one that was deleted. The error wraps ErrNotFound or ErrUnreadable.
func (j *Jobs) GetVersion(ctx context.Context, db prescient.DB, name string, version uint64) (Version, error) {
	if err := validName("name of a job", name); err != nil {
		return Version{}, err
	}
	found, err := j.versions(ctx, db, name, j.tables.Fill("steps/version_find", "{job}", text(name), "{places}", j.places(name), "{version}", number(version)))
	if err == nil && len(found) == 0 {
		err = fmt.Errorf("%w: version %d of job %q", ErrNotFound, version, name)
	}
	if err != nil {
		return Version{}, err
	}
	return found[0], found[0].Wrong
}

// Versions returns the versions of a job, also of one that was deleted, the latest first, up to so many.
func (j *Jobs) Versions(ctx context.Context, db prescient.DB, name string, most int) ([]Version, error) {
	if err := validName("name of a job", name); err != nil {
		return nil, err
	}
	return j.versions(ctx, db, name, j.tables.Fill("steps/version_list", "{job}", text(name), "{places}", j.places(name), "{limit}", literal.Of(literal.AppendInt, int64(most))))
}

func (j *Jobs) versions(ctx context.Context, db prescient.DB, name, query string) (all []Version, err error) {
	found, err := store.Rows(ctx, db, fmt.Sprintf("reading versions of job %q", name), query, func(row *defined) []any {
		return []any{&row.version, store.Unhex(&row.definition), store.At(&row.created)}
	})
	for _, row := range found {
		row.name = name
		one := Version{Version: row.version, CreatedAt: row.created}
		one.Job, one.Wrong = row.job()
		all = append(all, one)
	}
	return all, err
}
