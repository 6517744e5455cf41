package ops

import (
	"cmp"
	"context"
	"fmt"
	"time"

	"prescient/prescient"
	"prescient/prescient/audit"
	"prescient/prescient/ops/definition"
	"prescient/prescient/steps"
)

// Nothing is asked of what needs no question.
type Nothing struct{}

// ListPauses lists what is paused.
var ListPauses = query("pauses.list", Viewer, "List what is paused.", func(ctx context.Context, q asked, _ Nothing) (Page[prescient.Paused], error) {
	rows, err := q.client.Pauses(ctx, q.db)
	return Page[prescient.Paused]{Rows: rows}, err
})

// Pausing says what to pause.
type Pausing struct {
	JobExecs []string `json:"job_execs" minItems:"1" maxItems:"100" doc:"Names of job_execs; * is everything, *events what forwarders publish."`
	Reason   string   `json:"reason,omitempty" maxLength:"1000" doc:"Why, for all who see the pause; by default that of the request."`
}

// SetPauses pauses job_execs, events or everything.
var SetPauses = deed("pauses.set", Operator, "Pause job_execs, events or everything, until the pause is lifted.", func(ctx context.Context, d doing, in Pausing) (Counted, error) {
	for _, name := range in.JobExecs {
		err := d.client.Pause(ctx, d.tx, prescient.Paused{JobExec: name, By: d.by.Name, Reason: cmp.Or(in.Reason, d.by.Reason)})
		if err != nil {
			return Counted{}, err
		}
	}
	return Counted{len(in.JobExecs)}, nil
})

// Lifting says which pauses to lift.
type Lifting struct {
	JobExecs []string `json:"job_execs" minItems:"1" maxItems:"100" doc:"What was paused: names of job_execs, * or *events. That one of them is not paused is no error."`
}

// LiftPauses ends pauses.
var LiftPauses = deed("pauses.lift", Operator, "Lift pauses; it says how many there were.", func(ctx context.Context, d doing, in Lifting) (Counted, error) {
	n, err := d.client.Resume(ctx, d.tx, in.JobExecs...)
	return Counted{n}, err
})

// Switching says which schedules or jobs to pause or resume together: those that are named, or all that a filter matches.
type Switching struct {
	Names    []string `json:"names,omitempty" maxItems:"500" doc:"The ids of schedules, or the names of jobs. One that is not there is no error."`
	Owner    string   `json:"owner,omitempty" doc:"Instead of names: schedules of this owner."`
	Troubled bool     `json:"troubled,omitempty" doc:"Schedules that were disabled since they are no good."`
	Search   string   `json:"search,omitempty" maxLength:"200" doc:"Those with this text in them, as lists search for it."`
	After    string   `json:"after,omitempty" doc:"Of a filter: those behind this one, next of the answer before."`
}

// switchDeed pauses or resumes many in one transaction, which leaves one entry of the audit beside those of their versions.
func switchDeed(id, summary, verb string, match func(ctx context.Context, d doing, in Switching, p Paging) (names []string, next string, err error),
	do func(ctx context.Context, d doing, name string) (changed bool, err error)) Operation[Switching, definition.Switched] {
	return lasting(time.Minute, deed(id, Operator, summary, func(ctx context.Context, d doing, in Switching) (out definition.Switched, err error) {
		names, next := in.Names, ""
		filtered := in.Owner != "" || in.Troubled || in.Search != ""
		if filtered == (len(names) > 0) {
			return out, fmt.Errorf("%w: give names, or a filter", prescient.ErrInvalid)
		}
		if filtered {
			if names, next, err = match(ctx, d, in, Paging{After: in.After, Limit: definition.MostSwitched}); err != nil {
				return out, err
			}
		}
		if out, err = definition.SwitchAll(names, func(name string) (bool, error) { return do(ctx, d, name) }); err != nil {
			return out, err
		}
		out.Next = next
		return out, d.audit.Record(ctx, d.tx, audit.Entry{Kind: audit.Installation, ID: audit.InstallationID, Verb: verb, Before: in, After: out})
	}))
}

func matchSchedules(ctx context.Context, d doing, in Switching, p Paging) (names []string, next string, err error) {
	found, next, err := d.matching(ctx, d.tx, SchedulesAsked{Owner: in.Owner, Troubled: in.Troubled, Search: in.Search, Paging: p})
	for _, s := range found {
		if s.JobExec != steps.Exec { // jobs are stopped by their names
			names = append(names, s.ID)
		}
	}
	return names, next, err
}

func matchJobs(ctx context.Context, d doing, in Switching, p Paging) (names []string, next string, err error) {
	if in.Owner != "" || in.Troubled {
		return nil, "", fmt.Errorf("%w: owner and troubled are for schedules", prescient.ErrInvalid)
	}
	found, next, err := d.matchingJobs(ctx, d.tx, JobsAsked{Search: in.Search, Paging: p})
	for _, j := range found {
		names = append(names, j.Name)
	}
	return names, next, err
}

// These pause and resume many.
var (
	PauseSchedules = switchDeed("schedules.pause_all", "Stop all schedules that are named, or that a filter matches, up to 500 at once.", "pause.schedules", matchSchedules,
		func(ctx context.Context, d doing, id string) (bool, error) { return d.schedules.Pause(ctx, d.tx, id) })
	ResumeSchedules = switchDeed("schedules.resume_all", "Let all schedules fire again that are named, or that a filter matches, up to 500 at once.", "resume.schedules", matchSchedules,
		func(ctx context.Context, d doing, id string) (bool, error) { return d.schedules.Resume(ctx, d.tx, id) })
	PauseJobs = switchDeed("jobs.pause_all", "Stop all jobs that are named, or that a search matches, up to 500 at once.", "pause.jobs", matchJobs,
		func(ctx context.Context, d doing, name string) (bool, error) { return d.jobs.Pause(ctx, d.tx, name) })
	ResumeJobs = switchDeed("jobs.resume_all", "Let all jobs run again that are named, or that a search matches, up to 500 at once.", "resume.jobs", matchJobs,
		func(ctx context.Context, d doing, name string) (bool, error) { return d.jobs.Resume(ctx, d.tx, name) })
)
