package job

import (
	"context"

	"prescient/cmd/internal/program"
	"prescient/cmd/job/file"
	"prescient/prescient/steps"
)

// entryOf is a stored job as it stands in a file.
func entryOf(job steps.Stored) file.Entry {
	one, enabled := job.Job, job.Schedule.Enabled
	return file.Entry{Job: &one, Enabled: &enabled}
}

// eachJob calls do for all jobs, in the order of their names.
func eachJob(ctx context.Context, s *program.Session, do func(job steps.Stored) error) error {
	return each(func(after string, limit int) ([]steps.Stored, error) { return s.Jobs.List(ctx, s.DB, after, limit) },
		func(job steps.Stored) string { return job.Name }, do)
}

// eachStep calls do for all shared steps, in the order of their names.
func eachStep(ctx context.Context, s *program.Session, do func(step steps.StoredStep) error) error {
	return each(func(after string, limit int) ([]steps.StoredStep, error) {
		return s.Jobs.ListSteps(ctx, s.DB, after, limit)
	},
		func(step steps.StoredStep) string { return step.Name }, do)
}

// each reads page after page, and calls do for all that is there.
func each[T any](page func(after string, limit int) ([]T, error), name func(T) string, do func(T) error) error {
	const limit = 500
	after := ""
	for {
		list, err := page(after, limit)
		if err != nil {
			return err
		}
		for _, one := range list {
			if err := do(one); err != nil {
				return err
			}
			after = name(one)
		}
		if len(list) < limit {
			return nil
		}
	}
}
