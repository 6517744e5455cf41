package ops

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"time"

	"github.com/jmoiron/sqlx"

	"prescient/prescient"
	"prescient/prescient/ops/definition"
	"prescient/prescient/steps"
)

// JobsAsked narrows a list of jobs. What is not given does not narrow it.
type JobsAsked struct {
	Paused bool   `query:"paused" doc:"Only those that do not run."`
	Search string `query:"search" maxLength:"200" doc:"Only those with this text in the name, or in that of a step or its job_exec, in upper or lower case."`
	Paging
}

// has says whether a job is one of those that are searched for.
func (a JobsAsked) has(j steps.Stored) bool {
	if a.Paused && j.Schedule.Enabled {
		return false
	}
	return a.Search == "" || definition.HasText(a.Search, j.Name) || slices.ContainsFunc(j.Steps, func(s steps.Step) bool { return definition.HasText(a.Search, s.Name, s.JobExec) })
}

// ListJobs lists jobs.
var ListJobs = query("jobs.list", Viewer, "List jobs of steps in the order of their names. A page of a search may be shorter than its limit.", func(ctx context.Context, q asked, in JobsAsked) (Page[Job], error) {
	found, next, err := q.matchingJobs(ctx, q.definitions(), in)
	if err != nil {
		return Page[Job]{}, err
	}
	rows, err := q.jobsWithNext(ctx, found...)
	return Page[Job]{Rows: rows, Next: next}, err
})

// definitions is where definitions of jobs and steps are read for a caller. Their arguments stand within their JSON, so that the account of viewers may read
// none of it; what viewers get is read by that of operators, and definition leaves the arguments out.
func (q asked) definitions() *sqlx.DB {
	if q.by.Role.May(Operator) {
		return q.db
	}
	return q.accounts.Operator
}

// matchingJobs reads a page of the jobs that match.
func (o *Ops) matchingJobs(ctx context.Context, db prescient.DB, in JobsAsked) (found []steps.Stored, next string, err error) {
	if err := errors.Join(in.behindName(), prescient.ValidText("search", in.Search, 200)); err != nil {
		return nil, "", err
	}
	return definition.Search(ctx, in.After, in.Limit, in.Search != "" || in.Paused, in.has, func(j steps.Stored) string { return j.Name }, func(after string, limit int) ([]steps.Stored, error) {
		return o.jobs.List(ctx, db, after, limit)
	})
}

// jobsWithNext are jobs as the caller may see them, with what their timers wait for.
func (q asked) jobsWithNext(ctx context.Context, found ...steps.Stored) ([]Job, error) {
	var ids []string
	for _, one := range found {
		if one.Schedule.ID != "" { // plain SQL may have deleted it
			ids = append(ids, one.Schedule.ID)
		}
	}
	due, err := q.schedules.Timers(ctx, q.db, ids...)
	rows := make([]Job, len(found))
	for i, one := range found {
		rows[i] = Job{definition.OfJob(one.Job, q.by.Role.May(Operator)), one.Version, switchOf(one.Schedule, due[one.Schedule.ID]), one.CreatedAt, one.UpdatedAt, wrongOf(one.Wrong)}
	}
	return rows, err
}

// JobNamed names a job.
type JobNamed struct {
	Name string `json:"name" query:"name" required:"true" doc:"The name of the job."`
}

// JobAsked names a job, and one of its versions.
type JobAsked struct {
	JobNamed
	Version uint64 `query:"version" doc:"This version alone, with its shared steps as they were; that which the job has by default."`
}

// GetJob returns a job.
var GetJob = query("jobs.get", Viewer, "Get a job, or one of its versions, also of a job that was deleted.", func(ctx context.Context, q asked, in JobAsked) (Job, error) {
	if in.Version != 0 {
		v, err := q.jobs.GetVersion(ctx, q.definitions(), in.Name, in.Version)
		return Job{Job: definition.OfJob(v.Job, q.by.Role.May(Operator)), Version: v.Version, CreatedAt: v.CreatedAt, UpdatedAt: v.CreatedAt, Wrong: wrongOf(v.Wrong)}, butUnreadable(err)
	}
	one, err := q.jobs.Get(ctx, q.definitions(), in.Name)
	if err := butUnreadable(err); err != nil {
		return Job{}, err
	}
	rows, err := q.jobsWithNext(ctx, one)
	return rows[0], err
})

// JobVersionsAsked says of which job.
type JobVersionsAsked struct {
	JobNamed
	Limit int `query:"limit" default:"20" minimum:"1" maximum:"100" doc:"How many, the latest first."`
}

// JobVersion is a version of a job. jobs.get has what it defines.
type JobVersion struct {
	Version   uint64    `json:"version,string"`
	CreatedAt time.Time `json:"created_at"`
	Wrong     string    `json:"wrong,omitempty" doc:"Why its definition cannot be read."`
}

// ListJobVersions lists the versions of a job.
var ListJobVersions = query("jobs.versions", Viewer, "List the versions of a job, the latest first, also of one that was deleted.", func(ctx context.Context, q asked, in JobVersionsAsked) (Page[JobVersion], error) {
	found, err := q.jobs.Versions(ctx, q.definitions(), in.Name, in.Limit)
	return Page[JobVersion]{Rows: rowsOf(found, func(v steps.Version) JobVersion { return JobVersion{v.Version, v.CreatedAt, wrongOf(v.Wrong)} })}, err
})

// CreateJob adds a job.
var CreateJob = deed("jobs.create", Operator, "Add a job of steps, which runs from now on.", func(ctx context.Context, d doing, in definition.Job) (Created, error) {
	job, err := in.Defined()
	if err != nil {
		return Created{}, err
	}
	created, err := d.jobs.Create(ctx, d.tx, job)
	return Created{created}, err
})

// JobUpdate is another definition of a job.
type JobUpdate struct {
	definition.Job
	Version uint64 `json:"version,string" required:"false" doc:"Refuse it where the job has another version by now."`
}

// UpdateJob puts another definition in the place of a job's.
var UpdateJob = deed("jobs.update", Operator, "Put another definition in the place of a job's: all of it. Runs that have begun keep their version.", func(ctx context.Context, d doing, in JobUpdate) (Changed, error) {
	job, err := in.Defined()
	if err != nil {
		return Changed{}, err
	}
	changed, err := d.jobs.Update(ctx, d.tx, job, in.Version)
	return Changed{changed}, err
})

// JobsChosen says which jobs.
type JobsChosen struct {
	Names []string `json:"names" minItems:"1" maxItems:"100" doc:"Their names. One that is not there is no error."`
}

// DeleteJobs deletes jobs.
var DeleteJobs = deed("jobs.delete", Operator, "Delete jobs with their schedules; it says how many there were. Their versions and logs stay.", func(ctx context.Context, d doing, in JobsChosen) (Counted, error) {
	n, err := d.jobs.Delete(ctx, d.tx, in.Names...)
	return Counted{n}, err
})

// PauseJob stops a job.
var PauseJob = deed("jobs.pause", Operator, "Stop a job until it is resumed: no run begins.", func(ctx context.Context, d doing, in JobNamed) (Changed, error) {
	changed, err := d.jobs.Pause(ctx, d.tx, in.Name)
	return Changed{changed}, err
})

// ResumeJob lets a job run again.
var ResumeJob = deed("jobs.resume", Operator, "Let a job run again, from now on.", func(ctx context.Context, d doing, in JobNamed) (Changed, error) {
	changed, err := d.jobs.Resume(ctx, d.tx, in.Name)
	return Changed{changed}, err
})

// RunJob runs a job once.
var RunJob = deed("jobs.run_now", Operator, "Run a job once in the next open slot; also one that is paused.", func(ctx context.Context, d doing, in JobNamed) (Begun, error) {
	occurrence, err := d.jobs.RunNow(ctx, d.tx, in.Name)
	return Begun{in.Name + "-" + occurrence}, err
})

// JobRunsAsked narrows a list of runs. What is not given does not narrow it.
type JobRunsAsked struct {
	Name   string    `query:"name" doc:"Only those of this job."`
	Run    string    `query:"run" doc:"Only this run, <job>-<unix>, with the calls of its steps."`
	From   time.Time `query:"from" doc:"Only those that were due at this time or later."`
	Before time.Time `query:"before" doc:"Only those that were due before this time: of the last of a page, for the next."`
	Open   bool      `query:"open" doc:"Only those that did not end."`
	Steps  bool      `query:"steps" doc:"With the calls of their steps."`
	Output bool      `query:"output" doc:"With the end of what these have written; for operators."`
	Limit  int       `query:"limit" default:"50" minimum:"1" maximum:"200" doc:"How many."`
}

// JobRun is a run of a job.
type JobRun struct {
	Run     string `json:"run" doc:"Its id, <job>-<unix>."`
	Version uint64 `json:"version,string" doc:"That of the job which it keeps; 0 where it did not begin."`
	steps.RunLog
}

// ListJobRuns lists runs of jobs.
var ListJobRuns = query("jobs.runs", Viewer, "List runs of jobs, the one that was due latest first.", func(ctx context.Context, q asked, in JobRunsAsked) (Page[JobRun], error) {
	if err := checkTimes(in.From, in.Before); err != nil {
		return Page[JobRun]{}, err
	}
	operator := q.by.Role.May(Operator)
	f := steps.RunFilter{Job: in.Name, Since: in.From, Before: in.Before, Open: in.Open, Limit: in.Limit, Steps: in.Steps || in.Output || in.Run != "", Output: operator && in.Output}
	if in.Run != "" {
		if in.Name != "" {
			return Page[JobRun]{}, fmt.Errorf("%w: give a name or a run, not both", prescient.ErrInvalid)
		}
		var err error
		if f.Job, f.Occurrence, err = steps.ParseRun(in.Run); err != nil {
			return Page[JobRun]{}, err
		}
		f.Output = operator
	}
	found, err := q.jobs.Runs(ctx, q.db, f)
	return Page[JobRun]{Rows: rowsOf(found, func(run steps.RunLog) JobRun { return JobRun{run.Job + "-" + run.Occurrence, run.Version, run} })}, err
})

// ListSteps lists shared steps.
var ListSteps = query("steps.list", Viewer, "List steps that jobs may share, in the order of their names.", func(ctx context.Context, q asked, in Paging) (Page[SharedStep], error) {
	if err := in.behindName(); err != nil {
		return Page[SharedStep]{}, err
	}
	found, err := q.jobs.ListSteps(ctx, q.definitions(), in.After, in.Limit+1)
	return page(rowsOf(found, q.by.sharedOf), in.Limit, err)
})

func (c Caller) sharedOf(one steps.StoredStep) SharedStep {
	return SharedStep{definition.OfStep(one.Step, c.Role.May(Operator)), one.Version, one.Jobs, one.CreatedAt, one.UpdatedAt, wrongOf(one.Wrong)}
}

// StepNamed names a shared step.
type StepNamed struct {
	Name string `json:"name" query:"name" required:"true" doc:"The name of the step."`
}

// GetStep returns a shared step.
var GetStep = query("steps.get", Viewer, "Get a shared step, with the jobs that have it.", func(ctx context.Context, q asked, in StepNamed) (SharedStep, error) {
	one, err := q.jobs.GetStep(ctx, q.definitions(), in.Name)
	return q.by.sharedOf(one), butUnreadable(err)
})

// StepUpdate is a definition of a shared step.
type StepUpdate struct {
	definition.Step
	Version uint64 `json:"version,string" required:"false" doc:"Refuse it where the step has another version by now, or is not there."`
}

// StepPut says what a new definition of a shared step did.
type StepPut struct {
	Changed bool     `json:"changed" doc:"False where it was so already."`
	Jobs    []string `json:"jobs" doc:"The jobs of which that made a new version."`
}

// PutStep defines a shared step.
var PutStep = deed("steps.put", Operator, "Define a shared step, or put another definition in the place of that which is there.", func(ctx context.Context, d doing, in StepUpdate) (StepPut, error) {
	changed, jobs, err := d.jobs.PutStep(ctx, d.tx, in.Defined(), in.Version)
	if jobs == nil {
		jobs = []string{}
	}
	return StepPut{changed, jobs}, err
})

// DeleteStep deletes a shared step.
var DeleteStep = deed("steps.delete", Operator, "Delete a shared step that no job has.", func(ctx context.Context, d doing, in StepNamed) (Counted, error) {
	err := d.jobs.DeleteStep(ctx, d.tx, in.Name)
	return Counted{1}, err
})

// Job is a job that is there.
type Job struct {
	definition.Job
	Version uint64 `json:"version,string" doc:"Rises with every change of the job, and of a shared step that it has."`
	Switch
	CreatedAt time.Time `json:"created_at"`
	UpdatedAt time.Time `json:"updated_at"`
	Wrong     string    `json:"wrong,omitempty" doc:"Why its definition, which plain SQL has written, cannot be read: there is its name alone."`
}

// Cursor is the place of the job in a list.
func (j Job) Cursor() string { return j.Name }

// SharedStep is a step that jobs may share.
type SharedStep struct {
	definition.Step
	Version   uint64    `json:"version,string"`
	Jobs      []string  `json:"jobs,omitempty" doc:"The jobs that have it; not in a list."`
	CreatedAt time.Time `json:"created_at"`
	UpdatedAt time.Time `json:"updated_at"`
	Wrong     string    `json:"wrong,omitempty" doc:"Why its definition cannot be read."`
}

// Cursor is the place of the step in a list.
func (s SharedStep) Cursor() string { return s.Name }

// butUnreadable is an error but that of a definition that plain SQL has written: what is wrong with it stands in the answer.
func butUnreadable(err error) error {
	if errors.Is(err, steps.ErrUnreadable) {
		return nil
	}
	return err
}

func wrongOf(err error) string {
	if err == nil {
		return ""
	}
	return err.Error()
}
