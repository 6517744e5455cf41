package recurring

import (
	"context"
	"errors"

	"prescient/prescient/ops"
	"prescient/prescient/ops/definition"
	"prescient/prescient/page/internal/front"
	"prescient/prescient/page/internal/look"
	"prescient/prescient/schedule"
)

// runsShown is how many runs of a schedule stand on a page.
const runsShown = 50

// oneSeen is what the template gets.
type oneSeen struct {
	ops.Clock
	Is       ops.Schedule
	Job      string
	Fields   []look.Field
	Ahead    ahead
	Runs     ops.ScheduleRuns
	Waiting  int // how many wait, of which some are shown
	NextRuns []string
	Versions []version
	Gone     bool // it was deleted
	Operator bool
}

func showSchedule(ctx context.Context, a front.Asked) (front.Shown, error) {
	is := oneSeen{Operator: a.Operator()}
	var err error
	if is.Clock, err = ops.GetClock.Do(ctx, a.Ops, a.By, struct{}{}); err != nil {
		return front.Shown{}, err
	}
	asked := ops.ScheduleAsked{ID: a.Text("id")}
	if is.Is, err = ops.GetSchedule.Do(ctx, a.Ops, a.By, asked); errors.Is(err, schedule.ErrNotFound) {
		return showDeleted(ctx, a, asked.ID, err)
	} else if err != nil {
		return front.Shown{}, err
	}
	is.Job, is.Fields = jobOf(is.Is), scheduleFields(is.Is.Schedule, is.Operator)
	if is.Ahead, err = aheadOf(ctx, a, is.Is.Timing, is.Is.ID, is.Is.CreatedAt); err != nil {
		return front.Shown{}, err
	}
	if is.Runs, err = ops.ListScheduleRuns.Do(ctx, a.Ops, bare(a.By), ops.ScheduleRunsAsked{ScheduleAsked: asked, Paging: ops.Paging{After: a.Text("after"), Limit: runsShown}}); err != nil {
		return front.Shown{}, err
	}
	is.Waiting = len(is.Runs.Waiting)
	is.Runs.Waiting, is.Runs.Long = is.Runs.Waiting[:min(is.Waiting, runsShown)], is.Runs.Long[:min(len(is.Runs.Long), runsShown)]
	if is.Runs.Ended.Next != "" {
		is.NextRuns = a.With("after", is.Runs.Ended.Next)
	}
	if is.Job == "" { // those of a job are the job's
		if is.Versions, err = versionsOf(ctx, a, is.Is); err != nil {
			return front.Shown{}, err
		}
	}
	return front.Shown{Title: "Schedule " + is.Is.ID, Data: is, Again: front.UntilSlot(is.Now, is.Resolution())}, nil
}

// showDeleted shows what a schedule was that is not there; the error that says so where nothing is kept of it.
func showDeleted(ctx context.Context, a front.Asked, id string, gone error) (front.Shown, error) {
	is := oneSeen{Is: ops.Schedule{Schedule: definition.Schedule{ID: id}}, Gone: true, Operator: a.Operator()}
	var err error
	if is.Versions, err = versionsOf(ctx, a, is.Is); errors.Is(err, schedule.ErrNotFound) {
		err = gone
	}
	return front.Shown{Title: "Schedule " + id, Data: is}, err
}
