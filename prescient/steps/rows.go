package steps

import (
	"context"
	"fmt"
	"math/rand/v2"
	"slices"
	"time"

	"prescient/prescient"
	"prescient/prescient/internal/errno"
	"prescient/prescient/internal/literal"
	"prescient/prescient/internal/store"
)

// defined is a row of job_definition or step_definition.
type defined struct {
	name             string
	version          uint64
	definition       string
	created, updated time.Time
}

// job is the job that a row defines; its name alone, and an error that wraps ErrUnreadable, where plain SQL has written something else.
func (d defined) job() (Job, error) {
	job, err := decodeJob(d.name, d.definition)
	if err != nil {
		return Job{Name: d.name}, fmt.Errorf("%w: %w", ErrUnreadable, err)
	}
	return job, nil
}

// row is one that is new, in the order of the columns.
func (d defined) row() string {
	at := literal.Of(literal.AppendMicro, d.created)
	return text(d.name) + "," + number(d.version) + "," + text(d.definition) + "," + at + "," + at
}

// placed is a row of a job, whose last column is its place where the server is to be told.
func (j *Jobs) placed(job, row string) string {
	return string(j.tables.AppendPlace([]byte("("+row), scheduleID(job))) + ")"
}

// places are where jobs lie, for statements of them.
func (j *Jobs) places(jobs ...string) string {
	ids := make([]string, len(jobs))
	for i, name := range jobs {
		ids[i] = scheduleID(name)
	}
	return j.tables.Places(ids...)
}

func text(value string) string   { return literal.Of(literal.AppendText, value) }
func number(value uint64) string { return literal.Of(literal.AppendUint, value) }

// read runs a query for definitions.
func (j *Jobs) read(ctx context.Context, db prescient.DB, query string) ([]defined, error) {
	return store.Rows(ctx, db, "reading jobs and steps", query, func(row *defined) []any {
		return []any{&row.name, &row.version, store.Unhex(&row.definition), store.At(&row.created), store.At(&row.updated)}
	})
}

// find reads jobs by their names; none for none.
func (j *Jobs) find(ctx context.Context, db prescient.DB, names []string, lock string) ([]defined, error) {
	if len(names) == 0 {
		return nil, nil
	}
	return j.read(ctx, db, j.tables.Fill("steps/job_find", "{names}", literal.List(literal.AppendText, names), "{places}", j.places(names...), "{lock}", lock))
}

// findSteps reads shared steps by their names; none for none.
func (j *Jobs) findSteps(ctx context.Context, db prescient.DB, names []string, lock string) ([]defined, error) {
	if len(names) == 0 {
		return nil, nil
	}
	if lock != store.Plainly {
		if err := j.onOneShard(names); err != nil {
			return nil, err
		}
	}
	return j.read(ctx, db, j.tables.Fill("steps/step_find", "{names}", literal.List(literal.AppendText, names), "{lock}", lock))
}

// onOneShard refuses shared steps, which each shard of Vitess has for itself, where a statement would go to any of them.
func (j *Jobs) onOneShard(steps []string) error {
	if !j.tables.Server.Placed() {
		return nil
	}
	return fmt.Errorf("%w: shared step %q: each shard of Vitess has its own; the DSN is to name one, as in /shop:-80", prescient.ErrInvalid, steps[0])
}

// lockJob locks a job that is to be changed. Of one that cannot be read it has the name alone. The error wraps ErrNotFound.
func (j *Jobs) lockJob(ctx context.Context, db prescient.DB, name string) (defined, Job, error) {
	found, err := j.find(ctx, db, []string{name}, store.ToChange)
	if err != nil {
		return defined{}, Job{}, err
	}
	if len(found) == 0 {
		return defined{}, Job{}, fmt.Errorf("%w: job %q", ErrNotFound, name)
	}
	job, err := found[0].job()
	if err != nil {
		j.options.Log.Warn().Err(err).Str("job", name).Msg("a job cannot be read")
	}
	return found[0], job, nil
}

// lockSteps locks shared steps, and those that jobs have by a plain look, in the order of their names. Whoever changes a job or a step locks
// steps before jobs, and all of them by one call: so nobody waits in a circle. What has changed since that look is locked later, out of
// this order: then one of two is begun again, which is rare.
func (j *Jobs) lockSteps(ctx context.Context, db prescient.DB, lock string, steps []string, jobs ...string) error {
	found, err := j.find(ctx, db, jobs, store.Plainly)
	if err != nil {
		return err
	}
	for _, row := range found {
		if job, err := row.job(); err == nil { // what cannot be read has none
			steps = append(steps, job.shared()...)
		}
	}
	slices.Sort(steps)
	_, err = j.findSteps(ctx, db, slices.Compact(steps), lock)
	return err
}

// resolve returns a job with its shared steps as they are, and locks these, so that nobody changes them meanwhile. The error wraps
// prescient.ErrInvalid where one is not there.
func (j *Jobs) resolve(ctx context.Context, db prescient.DB, job Job) (Job, error) {
	found, err := j.findSteps(ctx, db, job.shared(), store.Shared)
	if err != nil {
		return Job{}, err
	}
	return resolved(job, found)
}

// resolved is resolve for steps that were read.
func resolved(job Job, found []defined) (Job, error) {
	there := make(map[string]Step, len(found))
	for _, one := range found {
		stored := one.step()
		if stored.Wrong != nil {
			return Job{}, fmt.Errorf("%w: job %q: %w", prescient.ErrInvalid, job.Name, stored.Wrong)
		}
		there[one.name] = stored.Step
	}
	steps := make([]Step, len(job.Steps))
	for i, step := range job.Steps {
		if step.Shared {
			whole, is := there[step.Name]
			if !is {
				return Job{}, prescient.InField(fmt.Sprintf("steps[%d]", i), fmt.Errorf("%w: job %q, step %d: there is no shared step %q",
					prescient.ErrInvalid, job.Name, i+1, step.Name))
			}
			whole.Shared = true
			step = whole
		}
		steps[i] = step
	}
	job.Steps = steps
	return job, nil
}

// keepVersion keeps a version of a job, whole.
func (j *Jobs) keepVersion(ctx context.Context, db prescient.DB, whole Job, version uint64) error {
	definition, err := encodeJob(whole)
	if err != nil {
		return err
	}
	row := j.placed(whole.Name, text(whole.Name)+","+number(version)+","+text(definition)+",UTC_TIMESTAMP(6)")
	return j.tables.Exec(ctx, db, fmt.Sprintf("keeping version %d of job %q", version, whole.Name), "steps/version_insert", "{row}", row)
}

const (
	// mostTaken bounds how often a number is looked for that is not taken.
	mostTaken = 8
	// noVersion and what is higher is none that this makes: see steps/version_last.
	noVersion = 1 << 61
)

// keepFree keeps a version of a job under a number, and returns it: a later one where that is taken already, by a row that an app wrote by
// plain SQL.
func (j *Jobs) keepFree(ctx context.Context, db prescient.DB, whole Job, version uint64) (uint64, error) {
	err := j.keepVersion(ctx, db, whole, version)
	for tries := 1; tries < mostTaken && errno.Is(err, errno.DuplicateKey); tries++ {
		version += 1 + rand.Uint64N(1<<20)
		err = j.keepVersion(ctx, db, whole, version)
	}
	return version, err
}

// lastVersion is the number of the last version that there was of a job; 0 for none.
func (j *Jobs) lastVersion(ctx context.Context, db prescient.DB, name string) (version uint64, err error) {
	if err := store.QueryRow(ctx, db, []any{&version}, j.tables.Fill("steps/version_last", "{job}", text(name), "{places}", j.places(name))); err != nil {
		return 0, fmt.Errorf("reading the versions of job %q: %w", name, err)
	}
	return version, nil
}

// use notes which shared steps a job has from now on.
func (j *Jobs) use(ctx context.Context, db prescient.DB, job string, before, after []string) error {
	doing := fmt.Sprintf("noting the steps of job %q", job)
	if gone := without(before, after); len(gone) > 0 {
		if err := j.tables.Exec(ctx, db, doing, "steps/use_delete", "{job}", text(job), "{places}", j.places(job), "{steps}", literal.List(literal.AppendText, gone)); err != nil {
			return err
		}
	}
	added := without(after, before)
	if len(added) == 0 {
		return nil
	}
	row := func(b []byte, name string) []byte { return append(b, j.placed(job, text(name)+","+text(job))...) }
	return j.tables.Exec(ctx, db, doing, "steps/use_insert", "{rows}", literal.List(row, added))
}

// without are those of some names that are not among others.
func without(names, others []string) []string {
	return slices.DeleteFunc(slices.Clone(names), func(name string) bool { return slices.Contains(others, name) })
}

// users are the jobs that have a shared step. lock is as that of find.
func (j *Jobs) users(ctx context.Context, db prescient.DB, step, lock string) ([]string, error) {
	query := j.tables.Fill("steps/use_find", "{step}", text(step), "{lock}", lock)
	return store.Rows(ctx, db, fmt.Sprintf("reading who has step %q", step), query, func(job *string) []any { return []any{job} })
}
