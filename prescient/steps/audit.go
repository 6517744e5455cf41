package steps

import (
	"context"

	"prescient/prescient"
	"prescient/prescient/audit"
)

// created, changed and deleted write the audit of a job, whose versions are those before and after.

func (j *Jobs) created(ctx context.Context, db prescient.DB, job Job, version uint64) error {
	return j.audit.Record(ctx, db, audit.Entry{Kind: audit.Job, ID: job.Name, Verb: audit.Create, Version: version, After: jobRecordOf(job), New: version == 1})
}

func (j *Jobs) changed(ctx context.Context, db prescient.DB, before, after Job, version uint64) error {
	return j.audit.Record(ctx, db, audit.Entry{Kind: audit.Job, ID: after.Name, Verb: audit.Update, Version: version, Before: jobRecordOf(before), After: jobRecordOf(after)})
}

func (j *Jobs) deleted(ctx context.Context, db prescient.DB, before Job) error {
	return j.audit.Record(ctx, db, audit.Entry{Kind: audit.Job, ID: before.Name, Verb: audit.Delete, Before: jobRecordOf(before)})
}

// did writes the audit of what was done with a job, and left its definition alone.
func (j *Jobs) did(ctx context.Context, db prescient.DB, verb string, row defined, after any) error {
	return j.audit.Record(ctx, db, audit.Entry{Kind: audit.Job, ID: row.name, Verb: verb, Version: row.version, After: after})
}

// put writes the audit of a shared step; before is nil for one that is new, after for one that was deleted.
func (j *Jobs) put(ctx context.Context, db prescient.DB, before, after *Step, version uint64) error {
	e := audit.Entry{Kind: audit.Step, Version: version, Verb: audit.Update}
	if before == nil {
		e.Verb = audit.Create
	} else {
		e.ID, e.Before = before.Name, recordOf(*before)
	}
	if after == nil {
		e.Verb = audit.Delete
	} else {
		e.ID, e.After = after.Name, recordOf(*after)
	}
	return j.audit.Record(ctx, db, e)
}
