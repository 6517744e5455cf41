package check

import (
	"context"
	"time"

	"prescient/prescient"
	"prescient/prescient/ops"
	"prescient/prescient/page/internal/front"
)

// rowsShown is how many rows a list has.
const rowsShown = 100

// filter is what a list is narrowed by, for its form.
type filter struct {
	Entity, JobExec, Outcome, Reason string
	Slot, From, Before               time.Time
	Outcomes                         []prescient.Outcome
}

func filterOf(a front.Asked) filter {
	return filter{Entity: a.Text("entity"), JobExec: a.Text("job_exec"), Outcome: a.Text("outcome"), Reason: a.Text("reason"), Slot: a.Time("slot"), From: a.Time("from"), Before: a.Time("before"),
		Outcomes: prescient.Outcomes()}
}

func (f filter) narrowed() ops.Narrowed {
	return ops.Narrowed{Entity: f.Entity, JobExec: f.JobExec, Slot: f.Slot, From: f.From, Before: f.Before, Reason: f.Reason}
}

func (f filter) asked(after string) ops.ListAsked {
	return ops.ListAsked{Narrowed: f.narrowed(), Paging: ops.Paging{After: after, Limit: rowsShown}}
}

// exported is the filter for an export, as CSV unless JSON lines are wanted.
func (f filter) exported(a front.Asked) ops.ExportAsked {
	as := ops.CSV
	if a.Text("format") == string(ops.JSONLines) {
		as = ops.JSONLines
	}
	return ops.ExportAsked{Narrowed: f.narrowed(), After: a.Text("after"), Format: as}
}

// pendingSeen is what the template gets.
type pendingSeen struct {
	ops.Clock
	Filter   filter
	Rows     []prescient.FutureJob
	Next     []string // the query of the next page
	All      []string // the query of all that matches
	Reached  *time.Time
	Operator bool
}

func showPending(ctx context.Context, a front.Asked) (front.Shown, error) {
	is := pendingSeen{Filter: filterOf(a), Operator: a.Operator()}
	if err := a.Err(); err != nil {
		return front.Shown{}, err
	}
	var err error
	if is.Clock, err = ops.GetClock.Do(ctx, a.Ops, a.By, struct{}{}); err != nil {
		return front.Shown{}, err
	}
	page, err := ops.ListPending.Do(ctx, a.Ops, a.By, is.Filter.asked(a.Text("after")))
	if err != nil {
		return front.Shown{}, err
	}
	is.Rows, is.Reached, is.All = page.Rows, page.Reached, a.With("after", "")
	if page.Next != "" {
		is.Next = a.With("after", page.Next)
	}
	return front.Shown{Data: is, Again: front.UntilSlot(is.Now, is.Resolution())}, nil
}
