package ops

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"strings"
	"time"

	"prescient/prescient"
	"prescient/prescient/audit"
	"prescient/prescient/client"
)

// Check names a check.
type Check struct {
	Entity  string `json:"entity" query:"entity" required:"true" doc:"What it is about: name/key, as in order/42."`
	JobExec string `json:"job_exec" query:"job_exec" required:"true" doc:"The job_exec that it is for."`
	Tag     string `json:"tag,omitempty" query:"tag" doc:"Tells apart several checks of one job_exec on one entity."`
}

// Narrowed narrows a list of checks. What is not given does not narrow it.
type Narrowed struct {
	Entity  string    `query:"entity" doc:"Only of this entity (order/42), or of this kind (order)."`
	JobExec string    `query:"job_exec" doc:"Only of this job_exec."`
	Tag     string    `query:"tag" doc:"Only with this tag, of one entity."`
	Slot    time.Time `query:"slot" doc:"Only of this slot."`
	From    time.Time `query:"from" doc:"Only from this time on: of the slot of a pending check, of the end of an ended one."`
	Before  time.Time `query:"before" doc:"Only before this time."`
	Reason  string    `query:"reason" maxLength:"200" doc:"Only those whose error has this text in it: the last one of a pending check, that of the end of an ended one."`
}

// ListAsked asks for a page of checks.
type ListAsked struct {
	Narrowed
	Paging
}

// Paging says which page of a list.
type Paging struct {
	After string `query:"after" doc:"Go on behind this cursor, which is next of the page before."`
	Limit int    `query:"limit" default:"100" minimum:"1" maximum:"1000" doc:"How many rows the page has."`
}

// EndsAsked is a ListAsked of history.
type EndsAsked struct {
	ListAsked
	Outcome string `query:"outcome" doc:"Only with this outcome."`
}

// Page is a page of a list.
type Page[T any] struct {
	Rows []T `json:"rows"`
	// Next is the cursor of the next page; empty where there is none.
	Next string `json:"next" doc:"The cursor of the next page; empty where this is the last."`
	// Reached says as far as where rows were looked at, where as many as one request may were.
	Reached *time.Time `json:"reached,omitempty" doc:"Rows were looked at as far as this time; go on with next."`
}

// filter reads what is asked, one row more than the page has.
func (a ListAsked) filter(q asked) (client.ListFilter, error) {
	f, err := a.Narrowed.filter(q.by)
	f.After, f.Limit, f.Within = a.After, a.Limit+1, q.options.Search
	return f, err
}

func (a Narrowed) filter(by Caller) (client.ListFilter, error) {
	if err := checkTimes(a.Slot, a.From, a.Before); err != nil {
		return client.ListFilter{}, err
	}
	f := client.ListFilter{JobExec: a.JobExec, Tag: a.Tag, Slot: a.Slot, From: a.From, Before: a.Before, Reason: a.Reason, Bare: !by.Role.May(Operator)}
	if !strings.Contains(a.Entity, "/") {
		f.Entity.Name = a.Entity
		return f, nil
	}
	var err error
	f.Entity, err = prescient.ParseEntity(a.Entity)
	return f, err
}

// rowsOf makes each row of what a room found.
func rowsOf[From, Row any](found []From, row func(From) Row) []Row {
	rows := make([]Row, len(found))
	for i, one := range found {
		rows[i] = row(one)
	}
	return rows
}

// page makes a page of rows of which one more than its limit was asked for.
func page[T interface{ Cursor() string }](rows []T, limit int, err error) (Page[T], error) {
	p := Page[T]{Rows: rows}
	if p.Rows == nil {
		p.Rows = []T{}
	}
	var early *client.SearchedError
	var audited *audit.SearchedError
	switch {
	case errors.As(err, &early):
		p.Next, p.Reached = early.After, &early.Reached
	case errors.As(err, &audited):
		p.Next, p.Reached = audited.After, &audited.Reached
	case err != nil:
		return Page[T]{}, err
	}
	if len(rows) > limit {
		p.Rows = rows[:limit]
		p.Next, p.Reached = p.Rows[limit-1].Cursor(), nil
	}
	return p, nil
}

// ListPending lists pending checks.
var ListPending = query("checks.pending", Viewer, "List pending checks, in the order in which they come due. A page ends early where its payloads come to 4 MB.", func(ctx context.Context, q asked, in ListAsked) (Page[prescient.FutureJob], error) {
	f, err := in.filter(q)
	if err != nil {
		return Page[prescient.FutureJob]{}, err
	}
	return sizedPage(f, jobBytes, func(f client.ListFilter) ([]prescient.FutureJob, error) { return q.client.Pending(ctx, q.db, f) })
})

// ListEnded lists checks that have ended.
var ListEnded = query("checks.ended", Viewer, "List checks that have ended, the latest first. A page ends early where its payloads come to 4 MB.", func(ctx context.Context, q asked, in EndsAsked) (Page[client.Ended], error) {
	f, err := in.filter(q)
	if err != nil {
		return Page[client.Ended]{}, err
	}
	f.Outcome = prescient.Outcome(in.Outcome)
	return sizedPage(f, endBytes, func(f client.ListFilter) ([]client.Ended, error) { return q.client.History(ctx, q.db, f) })
})

// GetCheck looks for a pending check.
var GetCheck = query("checks.get", Viewer, "Get a pending check.", func(ctx context.Context, q asked, in Check) (prescient.FutureJob, error) {
	e, err := in.parse()
	if err != nil {
		return prescient.FutureJob{}, err
	}
	rows, err := q.client.Pending(ctx, q.db, client.ListFilter{Entity: e, JobExec: in.JobExec, Tag: in.Tag, HasTag: true, Limit: 1, Bare: !q.by.Role.May(Operator)})
	if err != nil {
		return prescient.FutureJob{}, err
	}
	if len(rows) == 0 {
		return prescient.FutureJob{}, fmt.Errorf("%w: %s of %s", prescient.ErrNotFound, in.JobExec, e)
	}
	return rows[0], nil
})

func (c Check) parse() (prescient.Entity, error) {
	e, err := prescient.ParseEntity(c.Entity)
	if err != nil {
		return e, err
	}
	return e, prescient.ValidCheck(e, c.JobExec, c.Tag)
}

// NewCheck is a check to insert.
type NewCheck struct {
	Check
	DueAt     time.Time       `json:"due_at" doc:"When to check; it is rounded up to a slot. A time that is over goes to the next open slot."`
	SpreadMS  int64           `json:"spread_ms,omitempty" minimum:"0" maximum:"31622400000" doc:"Put it somewhere in so many milliseconds after due_at."`
	ExpiresMS int64           `json:"expires_after_ms,omitempty" minimum:"0" maximum:"31622400000" doc:"So many milliseconds after due_at it is not called any more; 0 for never."`
	Payload   json.RawMessage `json:"payload,omitempty" doc:"JSON that the job_exec gets."`
	OnPending string          `json:"on_pending,omitempty" enum:"keep,replace,earlier,later,error" doc:"What to do where the check is pending already; keep by default."`
}

// Inserting are checks to insert.
type Inserting struct {
	Checks []NewCheck `json:"checks" minItems:"1" maxItems:"1000" doc:"All of them, or none."`
}

// Placed is where a check is pending after a deed.
type Placed struct {
	Did   client.InsertAction `json:"did" enum:"inserted,kept,replaced,rescheduled"`
	DueAt time.Time           `json:"due_at"`
	Slot  time.Time           `json:"slot"`
}

// InsertedChecks says of each check what an insert did.
type InsertedChecks struct {
	Checks []Placed `json:"checks"`
}

func placed(did client.Inserted) Placed { return Placed{did.Did, did.DueAt, did.Slot} }

// InsertChecks inserts checks, all of them or none.
var InsertChecks = deed("checks.insert", Operator, "Insert checks: all of them, or none.", func(ctx context.Context, d doing, in Inserting) (out InsertedChecks, err error) {
	jobs := make([]prescient.NewJob, len(in.Checks))
	for i, c := range in.Checks {
		e, err := c.parse()
		if err != nil {
			return out, fmt.Errorf("check %d: %w", i+1, err)
		}
		jobs[i] = prescient.NewJob{Entity: e, JobExec: c.JobExec, Tag: c.Tag, DueAt: c.DueAt, Payload: c.Payload, OnPending: prescient.OnPending(c.OnPending),
			Spread: time.Duration(c.SpreadMS) * time.Millisecond, ExpiresAfter: time.Duration(c.ExpiresMS) * time.Millisecond}
	}
	did, err := d.client.InsertMany(ctx, d.tx, jobs)
	for _, one := range did {
		out.Checks = append(out.Checks, placed(one))
	}
	return out, err
})

// Cancelling says what to cancel of an entity.
type Cancelling struct {
	Entity   string   `json:"entity" doc:"Whose checks: name/key, as in order/42."`
	JobExecs []string `json:"job_execs,omitempty" maxItems:"100" doc:"Only the checks of these job_execs; all where none is named."`
}

// Counted is how many a deed was done to.
type Counted struct {
	Count int `json:"count"`
}

// CancelChecks cancels what is pending for an entity.
var CancelChecks = deed("checks.cancel", Operator, "Cancel what is pending for an entity. That nothing was is no error.", func(ctx context.Context, d doing, in Cancelling) (Counted, error) {
	e, err := prescient.ParseEntity(in.Entity)
	if err != nil {
		return Counted{}, err
	}
	n, err := d.client.Cancel(ctx, d.tx, e, in.JobExecs...)
	return Counted{n}, err
})

// Rescheduling is a check and its new time.
type Rescheduling struct {
	Check
	DueAt time.Time `json:"due_at" doc:"When to check. A time that is over goes to the next open slot."`
}

// RescheduleCheck moves a pending check to another time.
var RescheduleCheck = deed("checks.reschedule", Operator, "Move a pending check to another time; its counts and payload stay.", func(ctx context.Context, d doing, in Rescheduling) (Placed, error) {
	e, err := in.parse()
	if err != nil {
		return Placed{}, err
	}
	did, err := d.client.Reschedule(ctx, d.tx, e, in.JobExec, in.Tag, in.DueAt)
	return placed(did), err
})
