package bulk

import (
	"context"
	"fmt"
	"strings"
	"time"

	"prescient/prescient"
	"prescient/prescient/bulk"
	"prescient/prescient/ops"
	"prescient/prescient/page/internal/front"
)

// formFields are the names of the values of the form: those of the lists of checks, and what is to be done.
var formFields = []string{"deed", "job_exec", "entity", "slot", "from", "before", "outcome", "reason", "due_at", "spread"}

// form is what stands in it, for its template.
type form struct {
	Deed                             bulk.Deed
	JobExec, Entity, Outcome, Reason string
	Slot, From, Before, Due          time.Time
	Spread                           int // minutes
	Deeds                            []choice
	Outcomes                         []prescient.Outcome
}

// choice is one of the deeds, with what it does.
type choice struct {
	Deed bulk.Deed
	Says string
}

var choices = []choice{
	{bulk.Cancel, "cancel: pending checks end as cancelled"}, {bulk.Reschedule, "reschedule: pending checks move to another time"},
	{bulk.Retry, "retry: pending checks whose last call failed move to the next open slot"}, {bulk.Requeue, "requeue: checks that ended are pending again"},
	{bulk.Pause, "pause: the job_execs of pending checks are paused"},
}

// mostSpread is over how many minutes checks are spread at most.
const mostSpread = int(prescient.MaxHorizon / time.Minute)

func filledIn(q *front.Query) form {
	return form{Deed: bulk.Deed(q.Text("deed")), JobExec: strings.TrimSpace(q.Text("job_exec")), Entity: strings.TrimSpace(q.Text("entity")), Outcome: q.Text("outcome"), Reason: q.Text("reason"),
		Slot: q.Time("slot"), From: q.Time("from"), Before: q.Time("before"), Due: q.Time("due_at"), Spread: q.Int("spread", 0, 0, mostSpread), Deeds: choices, Outcomes: prescient.Outcomes()}
}

// asked is what the form says. The error wraps prescient.ErrInvalid.
func (f form) asked() (bulk.Asked, error) {
	if strings.Contains(f.Entity, "/") {
		return bulk.Asked{}, fmt.Errorf("%w: entity %.100q: a kind of entity is allowed, as order; what is to be done to one entity is on its own page", prescient.ErrInvalid, f.Entity)
	}
	a := bulk.Asked{Deed: f.Deed, Filter: bulk.Filter{JobExec: f.JobExec, EntityName: f.Entity, Outcome: prescient.Outcome(f.Outcome), Reason: f.Reason}, SpreadMS: (time.Duration(f.Spread) * time.Minute).Milliseconds()}
	for to, from := range map[**time.Time]time.Time{&a.Filter.Slot: f.Slot, &a.Filter.From: f.From, &a.Filter.Before: f.Before, &a.DueAt: f.Due} {
		if !from.IsZero() {
			*to = &from
		}
	}
	return a, nil
}

// askNew shows the form, filled in as the list was narrowed that one came from.
func askNew(_ context.Context, a front.Asked) (front.Shown, error) {
	f := filledIn(a.Query) // what cannot be read of it is said when it is sent
	if f.Deed == "" && f.Outcome != "" {
		f.Deed = bulk.Requeue
		if f.From.IsZero() { // a requeue wants it: history is long
			f.From = a.Now.UTC().Add(-24 * time.Hour).Truncate(time.Hour)
		}
	}
	return front.Shown{Data: f}, nil
}

// previewSeen is what the template of the preview gets.
type previewSeen struct {
	bulk.Preview
	Asked  bulk.Asked
	Filter string
}

// preview counts what the deed would be done to, and shows a few.
func preview(ctx context.Context, d front.Doing) (front.Shown, error) {
	f := filledIn(d.Query)
	if err := d.Err(); err != nil {
		return front.Shown{}, err
	}
	asked, err := f.asked()
	if err != nil {
		return front.Shown{}, err
	}
	found, err := ops.PreviewBulk.Do(ctx, d.Ops, d.By, asked)
	return front.Shown{Title: "To what it is done: " + string(asked.Deed), Data: previewSeen{found, asked, asked.Filter.String()}}, err
}

// start begins the deed of a preview.
func start(ctx context.Context, d front.Doing) (front.Done, error) {
	number := d.Number("number")
	if err := d.Err(); err != nil {
		return front.Done{}, err
	}
	run, err := ops.StartBulk.Do(ctx, d.Ops, d.By, ops.BulkStarting{BulkNumber: ops.BulkNumber{Number: number}, Token: d.Text("token")})
	return front.Done{Path: "/bulk/run", Query: []string{"number", run.Cursor()}, Count: 1}, err
}
