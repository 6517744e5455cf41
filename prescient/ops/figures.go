package ops

import (
	"context"
	"time"

	"prescient/prescient"
	"prescient/prescient/advice"
	"prescient/prescient/agent"
	"prescient/prescient/stats"
)

// StatsAsked says of which slots and job_exec something is to be told.
type StatsAsked struct {
	From    time.Time `query:"from" doc:"Slots at this time or later, an hour before the end by default."`
	Before  time.Time `query:"before" doc:"Slots before this time, now by default."`
	JobExec string    `query:"job_exec" doc:"Only this job_exec."`
}

// StatsOfExecs tells what became of checks.
var StatsOfExecs = shared(query("stats.execs", Viewer, "Tell what became of the checks of a time by job_exec, those with most errors first.", func(ctx context.Context, q asked, in StatsAsked) (stats.Report, error) {
	from, before, err := q.span(ctx, in.From, in.Before, time.Hour)
	if err != nil {
		return stats.Report{}, err
	}
	report, err := stats.ExecsWithin(ctx, q.db, q.tables, from, before, q.options.Search)
	report.Execs = stats.Of(report.Execs, in.JobExec, func(e stats.Exec) string { return e.JobExec })
	return report, err
}))

// PercentilesAsked says of which ends and job_exec something is to be told.
type PercentilesAsked struct {
	From    time.Time `query:"from" doc:"Ends from this hour on, a week before the end by default."`
	Before  time.Time `query:"before" doc:"Ends before this time, now by default."`
	JobExec string    `query:"job_exec" doc:"Only this job_exec."`
}

// Percentiles are how long calls took.
type Percentiles struct {
	From   time.Time     `json:"from"`
	Before time.Time     `json:"before"`
	Execs  []stats.Times `json:"execs"`
}

// StatsPercentiles tells how long calls took.
var StatsPercentiles = shared(query("stats.percentiles", Viewer, "Tell how long the last calls of checks took and how late they were, by job_exec, over any time.", func(ctx context.Context, q asked, in PercentilesAsked) (p Percentiles, err error) {
	if p.From, p.Before, err = q.span(ctx, in.From, in.Before, 7*24*time.Hour); err != nil {
		return p, err
	}
	if last := prescient.LatestSlot.Truncate(time.Hour); p.Before.After(last) {
		p.Before = last // whole hours are looked at
	}
	times, err := stats.Percentiles(ctx, q.db, q.options.Prefix, q.options.Dialect, p.From, p.Before)
	p.Execs = stats.Of(times, in.JobExec, func(t stats.Times) string { return t.JobExec })
	return p, err
}))

// DaysAsked says of which days and job_exec something is to be told.
type DaysAsked struct {
	From    time.Time `query:"from" doc:"Days from this one on, a week before the end by default, five weeks of one job_exec."`
	Before  time.Time `query:"before" doc:"Days that are over by this time, now by default."`
	JobExec string    `query:"job_exec" doc:"Only this job_exec: up to 93 days then, and else 14."`
}

// StatsDays tells what became of checks by day.
var StatsDays = shared(query("stats.days", Viewer, "Tell what became of the checks of whole days by job_exec: ends, how often what they wait for had not happened by then, and how long calls took.", func(ctx context.Context, q asked, in DaysAsked) (stats.DaysReport, error) {
	from, before, err := q.span(ctx, in.From, in.Before, stats.UsualDays(in.JobExec))
	if err != nil {
		return stats.DaysReport{}, err
	}
	return stats.Days(ctx, q.db, q.tables, from, before, in.JobExec)
}))

// ExecAsked narrows to a job_exec.
type ExecAsked struct {
	JobExec string `query:"job_exec" doc:"Only this job_exec."`
}

// StatsSlower tells what has become slower.
var StatsSlower = shared(query("stats.slower", Viewer, "Tell which job_execs and steps take longer than in their own last weeks, what has grown most first.", func(ctx context.Context, q asked, in ExecAsked) (stats.SlowerReport, error) {
	now, err := q.client.Now(ctx, q.db)
	if err != nil {
		return stats.SlowerReport{}, err
	}
	report, err := stats.SlowBy(ctx, q.db, q.tables, now)
	report.Slower = stats.Of(report.Slower, in.JobExec, func(s stats.Slower) string { return s.JobExec })
	return report, err
}))

// AdviseExec tells when to check best.
var AdviseExec = shared(query("execs.advise", Viewer, "Tell from history when what checks of a job_exec wait for happens, and at which ages they find it with the fewest calls. It reads for a moment, up to 20,000 ends.", func(ctx context.Context, q asked, in advice.Asked) (advice.Report, error) {
	o, err := in.Options(advice.Options{Prefix: q.options.Prefix, Dialect: q.options.Dialect}, q.options.Search)
	if err != nil {
		return advice.Report{}, err
	}
	from, before, err := q.span(ctx, in.From, in.Before, advice.Usual)
	if err != nil {
		return advice.Report{}, err
	}
	return advice.Read(ctx, q.db, o, from, before)
}))

// ExecsAsked narrows a list of job_execs.
type ExecsAsked struct {
	ExecAsked
	Paging
}

// ListExecs lists the job_execs that workers have.
var ListExecs = query("execs.list", Viewer, "List the job_execs that workers have told of, each form and set of guards by itself.", func(ctx context.Context, q asked, in ExecsAsked) (Page[agent.Exec], error) {
	rows, err := agent.Execs(ctx, q.db, q.tables, in.JobExec, in.After, in.Limit+1)
	return page(rows, in.Limit, err)
})
