package execs

import (
	"context"
	"fmt"
	"html/template"
	"time"

	"prescient/prescient"
	"prescient/prescient/ops"
	"prescient/prescient/page/internal/chart"
	"prescient/prescient/page/internal/front"
	"prescient/prescient/page/internal/look"
	"prescient/prescient/stats"
)

// oneSeen is what the template gets.
type oneSeen struct {
	ops.Clock
	exec
	All          *prescient.Paused // the pause of everything
	From, Before time.Time         // of what was of late
	Days         stats.DaysReport
	Run, Late    template.HTML // charts over days
	Operator     bool
}

func showOne(ctx context.Context, a front.Asked) (front.Shown, error) {
	name := a.Text("job_exec")
	if err := prescient.ValidIdentifier("job_exec", name); err != nil {
		return front.Shown{}, err
	}
	from, before := a.Time("from"), a.Time("before")
	if err := a.Err(); err != nil {
		return front.Shown{}, err
	}
	is := oneSeen{Operator: a.Operator()}
	var err error
	if is.Clock, err = ops.GetClock.Do(ctx, a.Ops, a.By, struct{}{}); err != nil {
		return front.Shown{}, err
	}
	forms, err := ops.ListExecs.Do(ctx, a.Ops, a.By, ops.ExecsAsked{ExecAsked: ops.ExecAsked{JobExec: name}, Paging: ops.Paging{Limit: mostForms}})
	if err != nil {
		return front.Shown{}, err
	}
	pauses, err := ops.ListPauses.Do(ctx, a.Ops, a.By, ops.Nothing{})
	if err != nil {
		return front.Shown{}, err
	}
	lately, err := ops.StatsOfExecs.Do(ctx, a.Ops, a.By, ops.StatsAsked{JobExec: name})
	if err != nil {
		return front.Shown{}, err
	}
	slower, err := ops.StatsSlower.Do(ctx, a.Ops, a.By, ops.ExecAsked{JobExec: name})
	if err != nil {
		return front.Shown{}, err
	}
	if is.Days, err = ops.StatsDays.Do(ctx, a.Ops, a.By, ops.DaysAsked{From: from, Before: before, JobExec: name}); err != nil {
		return front.Shown{}, err
	}
	of1 := of(pauses.Rows, name)
	f := found{forms: forms.Rows, lately: lately.Execs, slower: slower.Slower, days: is.Days.Days}
	if of1 != nil {
		f.pauses = []prescient.Paused{*of1}
	}
	all, err := f.byName()
	if err != nil {
		return front.Shown{}, err
	}
	is.exec = exec{Name: name}
	if len(all) > 0 {
		is.exec = all[0]
	}
	is.All, is.From, is.Before = of(pauses.Rows, prescient.AllExecs), lately.From, lately.Before
	if is.Run, err = drawn("run", "How long last calls took, by day, in ms", is.Days, func(d stats.Day) stats.Quantiles { return d.Run }).SVG(); err != nil {
		return front.Shown{}, err
	}
	if is.Late, err = drawn("late", "How late last calls began, by day, in ms", is.Days, func(d stats.Day) stats.Quantiles { return d.Lateness }).SVG(); err != nil {
		return front.Shown{}, err
	}
	return front.Shown{Title: name, Data: is, Again: front.UntilSlot(is.Now, is.Resolution())}, nil
}

// Rate is how many calls a minute there were.
func (s oneSeen) Rate(calls uint64) string { return rate(calls, s.Before.Sub(s.From)) }

// drawn is a chart of a median, and on it what 95 of a hundred do not exceed, over the days of a report: those without ends are there, too.
func drawn(id, title string, r stats.DaysReport, of func(stats.Day) stats.Quantiles) chart.Bars {
	c := chart.Bars{ID: id, Title: title, Label: "01-02"}
	on := make(map[time.Time]stats.Day)
	for _, d := range r.Days {
		on[d.Start.UTC()] = d
	}
	var highest, lowest int64 = -1, -1
	for at := r.From.UTC(); at.Before(r.Before); at = at.Add(24 * time.Hour) {
		d, is := on[at]
		bar := chart.Bar{At: at, Title: at.Format(time.DateOnly) + ": no ends"}
		if is {
			q := of(d)
			bar.Title = fmt.Sprintf("%s: half of them %s at most, 95 %% %s, the longest %s", at.Format(time.DateOnly), look.Duration(millis(q.P50MS)), look.Duration(millis(q.P95MS)), look.Duration(millis(q.LongestMS)))
			bar.Parts = []chart.Part{{Class: "served", N: q.P50MS}, {Class: "due", N: q.P95MS - q.P50MS}}
			highest = max(highest, q.P95MS)
			if lowest < 0 || q.P95MS < lowest {
				lowest = q.P95MS
			}
		}
		c.Bars = append(c.Bars, bar)
	}
	c.Text = "There are no ends on these days."
	if highest >= 0 {
		c.Text = fmt.Sprintf("What 95 of a hundred do not exceed is from %s to %s by day.", look.Duration(millis(lowest)), look.Duration(millis(highest)))
	}
	return c
}

func millis(n int64) time.Duration { return time.Duration(n) * time.Millisecond }
