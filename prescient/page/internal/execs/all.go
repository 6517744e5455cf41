package execs

import (
	"context"
	"fmt"
	"slices"
	"time"

	"prescient/prescient"
	"prescient/prescient/ops"
	"prescient/prescient/page/internal/front"
)

// allSeen is what the template gets.
type allSeen struct {
	ops.Clock
	Show         string
	Execs        []exec
	All, Events  *prescient.Paused // pauses of everything, and of the events
	From, Before time.Time         // of what was of late
	Days         int               // of what is told of days
	Cut, More    bool              // of what was of late, and of the job_execs that workers told of
	Operator     bool
}

// mostForms is how many forms of job_execs are read.
const mostForms = 1000

func showAll(ctx context.Context, a front.Asked) (front.Shown, error) {
	is := allSeen{Show: a.Text("show"), Operator: a.Operator()}
	if is.Show != "" && !slices.Contains(shows, is.Show) {
		return front.Shown{}, fmt.Errorf("%w: show %.40q: %v are allowed", prescient.ErrInvalid, is.Show, shows)
	}
	var err error
	if is.Clock, err = ops.GetClock.Do(ctx, a.Ops, a.By, struct{}{}); err != nil {
		return front.Shown{}, err
	}
	forms, err := ops.ListExecs.Do(ctx, a.Ops, a.By, ops.ExecsAsked{Paging: ops.Paging{Limit: mostForms}})
	if err != nil {
		return front.Shown{}, err
	}
	pauses, err := ops.ListPauses.Do(ctx, a.Ops, a.By, ops.Nothing{})
	if err != nil {
		return front.Shown{}, err
	}
	lately, err := ops.StatsOfExecs.Do(ctx, a.Ops, a.By, ops.StatsAsked{})
	if err != nil {
		return front.Shown{}, err
	}
	slower, err := ops.StatsSlower.Do(ctx, a.Ops, a.By, ops.ExecAsked{})
	if err != nil {
		return front.Shown{}, err
	}
	days, err := ops.StatsDays.Do(ctx, a.Ops, a.By, ops.DaysAsked{})
	if err != nil {
		return front.Shown{}, err
	}
	all, err := found{forms.Rows, pauses.Rows, lately.Execs, slower.Slower, days.Days}.byName()
	if err != nil {
		return front.Shown{}, err
	}
	is.Execs = slices.DeleteFunc(all, func(e exec) bool { return !e.wrong(is.Show) })
	is.All, is.Events = of(pauses.Rows, prescient.AllExecs), of(pauses.Rows, prescient.AllEvents)
	is.From, is.Before, is.Cut, is.More = lately.From, lately.Before, lately.Cut, forms.Next != ""
	is.Days = int(days.Before.Sub(days.From) / (24 * time.Hour))
	return front.Shown{Data: is, Again: front.UntilSlot(is.Now, is.Resolution())}, nil
}

// Rate is how many calls a minute there were.
func (s allSeen) Rate(calls uint64) string { return rate(calls, s.Before.Sub(s.From)) }
