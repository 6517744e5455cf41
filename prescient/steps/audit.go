package steps

import (
	"context"

	"prescient/prescient"
	"prescient/prescient/audit"
)

// created, changed and deleted write the audit of a job.

func (j *Jobs) created(ctx context.Context, db prescient.DB, job Job, row defined) error {
	return j.audit.Record(ctx, db, audit.Entry{Kind: audit.Job, ID: job.Name, Verb: audit.Create, Version: row.version, Incarnation: row.created, After: jobRecordOf(job)})
}

func (j *Jobs) changed(ctx context.Context, db prescient.DB, row defined, version uint64, before, after Job) error {
	return j.audit.Record(ctx, db, audit.Entry{Kind: audit.Job, ID: row.name, Verb: audit.Update, Version: version, Incarnation: row.created,
		Before: jobRecordOf(before), After: jobRecordOf(after)})
}

func (j *Jobs) deleted(ctx context.Context, db prescient.DB, row defined, before Job) error {
	return j.audit.Record(ctx, db, audit.Entry{Kind: audit.Job, ID: row.name, Verb: audit.Delete, Version: row.version + 1, Incarnation: row.created, Before: jobRecordOf(before)})
}

// did writes the audit of what was done with a job, and left its definition alone.
func (j *Jobs) did(ctx context.Context, db prescient.DB, verb string, row defined, after any) error {
	return j.audit.Record(ctx, db, audit.Entry{Kind: audit.Job, ID: row.name, Verb: verb, Version: row.version, After: after})
}

// put writes the audit of a shared step; before is nil for one that is new, after for one that was deleted. version is what the change
// made.
func (j *Jobs) put(ctx context.Context, db prescient.DB, row defined, before, after *Step, version uint64) error {
	e := audit.Entry{Kind: audit.Step, ID: row.name, Verb: audit.Update, Version: version, Incarnation: row.created}
	if before == nil {
		e.Verb = audit.Create
	} else {
		e.Before = recordOf(*before)
	}
	if after == nil {
		e.Verb = audit.Delete
	} else {
		e.After = recordOf(*after)
	}
	return j.audit.Record(ctx, db, e)
}
