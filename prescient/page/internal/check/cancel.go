package check

import (
	"context"

	"prescient/prescient"
	"prescient/prescient/ops"
	"prescient/prescient/page/internal/front"
)

// oneSeen is what the templates of deeds to one check get.
type oneSeen struct {
	ops.Clock
	Job    prescient.FutureJob
	Others int // checks of the same job_exec, which a cancel takes with it
	Due    string
}

// askOne looks for the check that something is to be done to.
func askOne(ctx context.Context, a front.Asked) (front.Shown, error) {
	clock, err := ops.GetClock.Do(ctx, a.Ops, a.By, struct{}{})
	if err != nil {
		return front.Shown{}, err
	}
	job, err := ops.GetCheck.Do(ctx, a.Ops, a.By, checkOf(a.Query))
	if err != nil {
		return front.Shown{}, err
	}
	is := oneSeen{Clock: clock, Job: job, Due: a.Text("due_at")}
	if is.Due == "" {
		is.Due = job.DueAt.UTC().Format("2006-01-02T15:04:05")
	}
	page, err := ops.ListPending.Do(ctx, a.Ops, a.By, ops.ListAsked{Narrowed: ops.Narrowed{Entity: a.Text("entity"), JobExec: job.JobExec}, Paging: ops.Paging{Limit: rowsShown}})
	if err != nil {
		return front.Shown{}, err
	}
	is.Others = max(0, len(page.Rows)-1)
	return front.Shown{Data: is}, nil
}

func checkOf(q *front.Query) ops.Check {
	return ops.Check{Entity: q.Text("entity"), JobExec: q.Text("job_exec"), Tag: q.Text("tag")}
}

// cancel cancels what is pending of a job_exec for an entity.
func cancel(ctx context.Context, d front.Doing) (front.Done, error) {
	one := checkOf(d.Query)
	did, err := ops.CancelChecks.Do(ctx, d.Ops, d.By, ops.Cancelling{Entity: one.Entity, JobExecs: []string{one.JobExec}})
	return front.Done{Path: "/find", Query: []string{"entity", one.Entity}, Count: did.Count}, err
}

// reschedule moves a check.
func reschedule(ctx context.Context, d front.Doing) (front.Done, error) {
	one, due := checkOf(d.Query), d.Time("due_at")
	if err := d.Err(); err != nil {
		return front.Done{}, err
	}
	_, err := ops.RescheduleCheck.Do(ctx, d.Ops, d.By, ops.Rescheduling{Check: one, DueAt: due})
	return front.Done{Path: "/find", Query: []string{"entity", one.Entity}, Count: 1}, err
}
