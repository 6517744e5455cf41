package check

import (
	"cmp"
	"context"
	"slices"
	"time"

	"golang.org/x/sync/errgroup"

	"prescient/prescient/client"
	"prescient/prescient/ops"
	"prescient/prescient/page/internal/front"
	"prescient/prescient/stats"
)

// week is how long before a span the one stands that is beside it.
const week = 7 * 24 * time.Hour

// usualSpan is the span of ends where none is given.
const usualSpan = 24 * time.Hour

// endsSeen is what the template gets.
type endsSeen struct {
	ops.Clock
	Filter       filter
	From, Before time.Time // of the counts
	Cut          bool
	Execs        []execEnds
	Rows         []client.Ended
	Next         []string // the query of the next page
	All          []string // the query of all that matches
	Reached      *time.Time
	Operator     bool
}

// execEnds is what became of the checks of a job_exec, beside the week before.
type execEnds struct {
	stats.Exec
	Before *stats.Exec
	Times  *stats.Times
}

// Share is the part of calls that failed.
func (e execEnds) Share() float64 { return e.Exec.Share() }

func showEnds(ctx context.Context, a front.Asked) (front.Shown, error) {
	is := endsSeen{Filter: filterOf(a), Operator: a.Operator()}
	if err := a.Err(); err != nil {
		return front.Shown{}, err
	}
	var err error
	if is.Clock, err = ops.GetClock.Do(ctx, a.Ops, a.By, struct{}{}); err != nil {
		return front.Shown{}, err
	}
	is.Before = is.Filter.Before
	if is.Before.IsZero() || is.Before.After(is.Now) {
		is.Before = is.Now
	}
	if is.From = is.Filter.From; is.From.IsZero() {
		is.From = is.Before.Add(-usualSpan)
	}
	var page ops.Page[client.Ended]
	group, both := errgroup.WithContext(ctx) // each of them may take a tenth of a second among 50 million ends
	if a.Text("after") == "" {               // the first page has the counts, too
		group.Go(func() error { return is.count(both, a) })
	}
	group.Go(func() (err error) {
		page, err = ops.ListEnded.Do(both, a.Ops, a.By, ops.EndsAsked{ListAsked: is.Filter.asked(a.Text("after")), Outcome: is.Filter.Outcome})
		return err
	})
	if err := group.Wait(); err != nil {
		return front.Shown{}, err
	}
	is.Rows, is.Reached, is.All = page.Rows, page.Reached, a.With("after", "")
	if page.Next != "" {
		is.Next = a.With("after", page.Next)
	}
	return front.Shown{Data: is, Again: front.UntilSlot(is.Now, is.Resolution())}, nil
}

// count reads the counts of the span, of the same a week before, and how long calls took.
func (e *endsSeen) count(ctx context.Context, a front.Asked) error {
	now, err := ops.StatsOfExecs.Do(ctx, a.Ops, a.By, ops.StatsAsked{From: e.From, Before: e.Before, JobExec: e.Filter.JobExec})
	if err != nil {
		return err
	}
	e.From, e.Cut = now.From, now.Cut
	var before stats.Report
	var times ops.Percentiles
	group, ctx := errgroup.WithContext(ctx)
	group.Go(func() (err error) {
		before, err = ops.StatsOfExecs.Do(ctx, a.Ops, a.By, ops.StatsAsked{From: e.From.Add(-week), Before: e.Before.Add(-week), JobExec: e.Filter.JobExec})
		return err
	})
	group.Go(func() (err error) {
		times, err = ops.StatsPercentiles.Do(ctx, a.Ops, a.By, ops.PercentilesAsked{From: e.From, Before: e.Before, JobExec: e.Filter.JobExec})
		return err
	})
	if err := group.Wait(); err != nil {
		return err
	}
	if before.Cut {
		before.Execs = nil // what is beside is of as long a time
	}
	e.Execs = beside(now.Execs, before.Execs, times.Execs)
	return nil
}

// beside puts what belongs to a job_exec beside one another; those with most errors first.
func beside(now, before []stats.Exec, times []stats.Times) []execEnds {
	of := make(map[string]*execEnds)
	at := func(jobExec string) *execEnds {
		if of[jobExec] == nil {
			of[jobExec] = &execEnds{Exec: stats.Exec{JobExec: jobExec}}
		}
		return of[jobExec]
	}
	for _, e := range now {
		at(e.JobExec).Exec = e
	}
	for i, e := range before {
		at(e.JobExec).Before = &before[i]
	}
	for i, t := range times {
		at(t.JobExec).Times = &times[i]
	}
	all := make([]execEnds, 0, len(of))
	for _, e := range of {
		all = append(all, *e)
	}
	slices.SortFunc(all, func(a, b execEnds) int {
		return cmp.Or(cmp.Compare(b.Errors, a.Errors), cmp.Compare(a.JobExec, b.JobExec))
	})
	return all
}
