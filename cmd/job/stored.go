package job

import (
	"context"

	"prescient/cmd/internal/definition"
	"prescient/cmd/internal/file"
	"prescient/cmd/internal/program"
	"prescient/prescient/steps"
)

// entryOf is a stored job as it stands in a file.
func entryOf(job steps.Stored) file.Entry {
	one, enabled := job.Job, job.Schedule.Enabled
	return file.Entry{Job: &one, Enabled: &enabled}
}

// onPage is how many jobs, or shared steps, are read at a time.
const onPage = 500

// eachJob calls do for all jobs, in the order of their names.
func eachJob(ctx context.Context, s *program.Session, do func(job steps.Stored) error) error {
	return definition.Pages(onPage, func(after string) ([]steps.Stored, error) { return s.Jobs.List(ctx, s.DB, after, onPage) },
		func(job steps.Stored) string { return job.Name }, do)
}

// eachStep calls do for all shared steps, in the order of their names.
func eachStep(ctx context.Context, s *program.Session, do func(step steps.StoredStep) error) error {
	return definition.Pages(onPage, func(after string) ([]steps.StoredStep, error) { return s.Jobs.ListSteps(ctx, s.DB, after, onPage) },
		func(step steps.StoredStep) string { return step.Name }, do)
}
