package recurring

import (
	"context"
	"errors"

	"prescient/prescient/ops"
	"prescient/prescient/ops/definition"
	"prescient/prescient/page/internal/front"
	"prescient/prescient/page/internal/look"
	"prescient/prescient/steps"
)

func (n narrowed) jobs(after string, limit int) ops.JobsAsked {
	return ops.JobsAsked{Search: n.Search, Paused: n.State == "paused", Paging: ops.Paging{After: after, Limit: limit}}
}

// jobsSeen is what the template gets.
type jobsSeen struct {
	ops.Clock
	Filter   narrowed
	Rows     []listedJob
	Next     []string // the query of the next page
	Operator bool
}

// listedJob is a job of the list.
type listedJob struct {
	ops.Job
	Timing string
}

func showJobs(ctx context.Context, a front.Asked) (front.Shown, error) {
	is := jobsSeen{Filter: narrowedBy(a.Query), Operator: a.Operator()}
	var err error
	if is.Clock, err = ops.GetClock.Do(ctx, a.Ops, a.By, struct{}{}); err != nil {
		return front.Shown{}, err
	}
	asked := is.Filter.jobs(a.Text("after"), rowsShown)
	asked.Last = true
	page, err := ops.ListJobs.Do(ctx, a.Ops, a.By, asked)
	if err != nil {
		return front.Shown{}, err
	}
	for _, j := range page.Rows {
		is.Rows = append(is.Rows, listedJob{Job: j, Timing: inWords(j.Crontabs, j.Zone)})
	}
	if page.Next != "" {
		is.Next = a.With("after", page.Next)
	}
	return front.Shown{Data: is, Again: front.UntilSlot(is.Now, is.Resolution())}, nil
}

// jobSeen is what the template gets.
type jobSeen struct {
	ops.Clock
	Is     ops.Job
	Fields []look.Field
	// Steps are those of its version, shared ones as they are.
	Steps    []step
	Ahead    ahead
	Runs     []run
	NextRuns []string // the query of the next runs
	Versions []ops.JobVersion
	Gone     bool // it was deleted
	// Began is a run that was asked for a moment ago.
	Began    string
	Operator bool
}

// step is a step with its place.
type step struct {
	No int
	definition.Step
}

func numbered(all []definition.Step) (shown []step) {
	for i, s := range all {
		shown = append(shown, step{i + 1, s})
	}
	return shown
}

// jobVersionsShown is how many versions of a job are listed.
const jobVersionsShown = 100

func showJob(ctx context.Context, a front.Asked) (front.Shown, error) {
	is := jobSeen{Operator: a.Operator(), Began: a.Text("began")}
	before := a.Time("before")
	if err := a.Err(); err != nil {
		return front.Shown{}, err
	}
	var err error
	if is.Clock, err = ops.GetClock.Do(ctx, a.Ops, a.By, struct{}{}); err != nil {
		return front.Shown{}, err
	}
	named := ops.JobNamed{Name: a.Text("name")}
	if is.Is, err = ops.GetJob.Do(ctx, a.Ops, a.By, ops.JobAsked{JobNamed: named}); errors.Is(err, steps.ErrNotFound) {
		return showDeletedJob(ctx, a, named, err)
	} else if err != nil {
		return front.Shown{}, err
	}
	whole, err := ops.GetJob.Do(ctx, a.Ops, a.By, ops.JobAsked{JobNamed: named, Version: is.Is.Version})
	if err != nil {
		return front.Shown{}, err
	}
	is.Steps, is.Fields = numbered(whole.Steps), timingFields(is.Is.Timing, true)
	if is.Ahead, err = aheadOf(ctx, a, is.Is.Timing, "job/"+named.Name, is.Is.CreatedAt); err != nil {
		return front.Shown{}, err
	}
	runs, err := ops.ListJobRuns.Do(ctx, a.Ops, a.By, ops.JobRunsAsked{Name: named.Name, Before: before, Limit: runsShown})
	if err != nil {
		return front.Shown{}, err
	}
	for _, r := range runs.Rows {
		is.Runs = append(is.Runs, run{r, took(r.StartedAt, r.EndedAt, is.Now)})
	}
	again := front.UntilSlot(is.Now, is.Resolution())
	for _, r := range is.Runs {
		if r.EndedAt == nil {
			again = min(again, whileUnderWay)
		}
	}
	if n := len(is.Runs); n == runsShown {
		is.NextRuns = a.With("before", is.Runs[n-1].ScheduledAt.UTC().Format("2006-01-02T15:04:05.999999Z"))
	}
	versions, err := ops.ListJobVersions.Do(ctx, a.Ops, a.By, ops.JobVersionsAsked{JobNamed: named, Limit: jobVersionsShown})
	is.Versions = versions.Rows
	return front.Shown{Title: "Job " + named.Name, Data: is, Again: again}, err
}

// showDeletedJob shows what a job was that is not there; the error that says so where nothing is kept of it.
func showDeletedJob(ctx context.Context, a front.Asked, named ops.JobNamed, gone error) (front.Shown, error) {
	is := jobSeen{Is: ops.Job{Job: definition.Job{Name: named.Name}}, Gone: true, Operator: a.Operator()}
	versions, err := ops.ListJobVersions.Do(ctx, a.Ops, a.By, ops.JobVersionsAsked{JobNamed: named, Limit: jobVersionsShown})
	if is.Versions = versions.Rows; err == nil && len(versions.Rows) == 0 {
		err = gone
	}
	return front.Shown{Title: "Job " + named.Name, Data: is}, err
}

// jobVersionSeen is what the templates of a version, and of going back to it, get.
type jobVersionSeen struct {
	Now      ops.Job
	Is       ops.Job
	Steps    []step
	Changes  []look.Change
	Shared   bool // it has shared steps
	Ahead    ahead
	Operator bool
}

// showJobVersion shows a version beside what the job is now; it is the page of going back to it, too.
func showJobVersion(ctx context.Context, a front.Asked) (front.Shown, error) {
	now, is, err := jobGoingBack(ctx, a.Ops, a.By, a.Query)
	if err != nil {
		return front.Shown{}, err
	}
	seen := jobVersionSeen{Now: now, Is: is, Steps: numbered(is.Steps), Changes: look.Changes(jobFields(now.Job), jobFields(is.Job)), Operator: a.Operator()}
	made := now.CreatedAt
	if now.Version == 0 {
		seen.Changes, made = look.Changes(nil, jobFields(is.Job)), a.Now
	}
	for _, s := range is.Steps {
		seen.Shared = seen.Shared || s.Shared
	}
	seen.Ahead, err = aheadOf(ctx, a, is.Timing, "job/"+is.Name, made)
	return front.Shown{Data: seen}, err
}

// jobGoingBack reads a job, of which there is nothing where it was deleted, and one of its versions as it can be defined again.
func jobGoingBack(ctx context.Context, o *ops.Ops, by ops.Caller, q *front.Query) (now, is ops.Job, err error) {
	named, number := ops.JobNamed{Name: q.Text("name")}, max(q.Number("version"), 1)
	if err := q.Err(); err != nil {
		return now, is, err
	}
	if now, err = ops.GetJob.Do(ctx, o, by, ops.JobAsked{JobNamed: named}); err != nil && !errors.Is(err, steps.ErrNotFound) {
		return now, is, err
	}
	is, err = ops.GetJob.Do(ctx, o, by, ops.JobAsked{JobNamed: named, Version: number})
	for i, s := range is.Steps {
		if s.Shared { // which is not the job's
			is.Steps[i] = definition.Step{Name: s.Name, Shared: true}
		}
	}
	return now, is, err
}

// jobGoBack makes a version the definition of a job again, by a version of its own.
func jobGoBack(ctx context.Context, d front.Doing) (front.Done, error) {
	asked := ops.JobGoingBack{JobNamed: ops.JobNamed{Name: d.Text("name")}, Version: d.Number("version"), Seen: d.Number("seen")}
	if err := d.Err(); err != nil {
		return front.Done{}, err
	}
	did, err := ops.GoBackJob.Do(ctx, d.Ops, d.By, asked)
	return front.Done{Path: "/job", Query: []string{"name", asked.Name}, Count: count(did.Changed)}, err
}
