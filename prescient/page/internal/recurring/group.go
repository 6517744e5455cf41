package recurring

import (
	"context"
	"embed"

	"prescient/prescient/ops"
	"prescient/prescient/ops/definition"
	"prescient/prescient/page/internal/front"
	"prescient/prescient/page/internal/look"
)

//go:embed templates/*.html
var templates embed.FS

// saidOf says what was done to how many of something.
func saidOf(one, many, done string) func(n int) string {
	return func(n int) string {
		if n == 0 {
			return "Nothing was changed: it was so already."
		}
		return look.Counted(int64(n), one, many) + " " + done + "."
	}
}

// Group has the views and deeds.
func Group() front.Group {
	deed := func(path, title, button, template string, ask func(context.Context, front.Asked) (front.Shown, error), do func(context.Context, front.Doing) (front.Done, error), said func(int) string) front.Deed {
		return front.Deed{Path: path, Title: title, Button: button, Role: ops.Operator, Of: []string{"id", "name"}, Template: template, Ask: ask, Do: do, Said: said}
	}
	adds := deed("/schedules/new", "New schedule", "Create the schedule", "schedule-form", askNew, create, saidOf("schedule was", "schedules were", "created"))
	adds.Of = nil
	adds.Review = &front.Review{Next: "Look what it comes to", Fields: append([]string{"id"}, formFields...), Template: "schedule-review", Look: reviewNew}
	edits := deed("/schedules/edit", "Edit a schedule", "Save the schedule", "schedule-form", askEdit, edit, saidOf("schedule was", "schedules were", "changed"))
	edits.Review = &front.Review{Next: "Look what changes", Fields: formFields, Template: "schedule-review", Look: review}
	backs := deed("/schedules/back", "Go back to a version", "Make it the definition again", "schedule-back", askBack, goBack, saidOf("schedule was", "schedules were", "changed back"))
	backs.Of = []string{"id", "version", "of"}
	jobBacks := deed("/jobs/back", "Go back to a version", "Make it the definition again", "job-back", showJobVersion, jobGoBack, saidOf("job was", "jobs were", "changed back"))
	jobBacks.Of = []string{"name", "version"}
	addsJob := deed("/jobs/new", "New job", "Create the job", "job-form", askNewJob, createJob, saidOf("job was", "jobs were", "created"))
	addsJob.Of = nil
	addsJob.Review = &front.Review{Next: "Look what it comes to", Fields: append([]string{"name"}, jobFormFields...), Template: "job-review", Look: reviewNewJob}
	editsJob := deed("/jobs/edit", "Edit a job", "Save the job", "job-form", askEditJob, editJob, saidOf("job was", "jobs were", "changed"))
	editsJob.Of = []string{"name"}
	editsJob.Review = &front.Review{Next: "Look what changes", Fields: jobFormFields, Template: "job-review", Look: reviewJob}
	return front.Group{Templates: templates,
		Views: []front.View{
			{Path: "/schedules", Title: "Schedules", Nav: "Schedules", Role: ops.Viewer, Template: "schedules", Show: showSchedules},
			{Path: "/schedule", Title: "Schedule", Role: ops.Viewer, Template: "schedule", Show: showSchedule},
			{Path: "/schedules/preview", Title: "When crontabs fire", Role: ops.Viewer, Template: "preview", Show: showPreview},
			{Path: "/jobs", Title: "Jobs", Nav: "Jobs", Role: ops.Viewer, Template: "jobs", Show: showJobs},
			{Path: "/job", Title: "Job", Role: ops.Viewer, Template: "job", Show: showJob},
			{Path: "/job/run", Title: "Run of a job", Role: ops.Viewer, Template: "job-run", Show: showJobRun},
			{Path: "/job/version", Title: "Version of a job", Role: ops.Viewer, Template: "job-version", Show: showJobVersion},
		},
		Deeds: []front.Deed{adds, edits, backs,
			deed("/schedules/pause", "Pause schedules", "Pause", "schedule-pause", askSchedules(mostSwitched), schedulesDeed(ops.PauseSchedule, ops.PauseSchedules), saidOf("schedule was", "schedules were", "paused")),
			deed("/schedules/resume", "Resume schedules", "Resume", "schedule-resume", askSchedules(mostSwitched), schedulesDeed(ops.ResumeSchedule, ops.ResumeSchedules), saidOf("schedule was", "schedules were", "resumed")),
			deed("/schedules/run", "Run schedules now", "Run now", "schedule-run", askSchedules(mostAtOnce), runSchedules, saidOf("run was", "runs were", "asked for, in the next open slot")),
			deed("/schedules/plan", "Plan schedules anew", "Plan anew", "schedule-plan", askSchedules(mostAtOnce), planSchedules, saidOf("schedule was", "schedules were", "planned anew")),
			deed("/schedules/delete", "Delete schedules", "Delete", "schedule-delete", askSchedules(mostAtOnce), deleteSchedules, saidOf("schedule was", "schedules were", "deleted")),
			addsJob, editsJob, jobBacks,
			deed("/jobs/pause", "Pause jobs", "Pause", "schedule-pause", askJobs, jobsDeed(ops.PauseJob, ops.PauseJobs), saidOf("job was", "jobs were", "paused")),
			deed("/jobs/resume", "Resume jobs", "Resume", "schedule-resume", askJobs, jobsDeed(ops.ResumeJob, ops.ResumeJobs), saidOf("job was", "jobs were", "resumed")),
			deed("/jobs/run", "Run a job now", "Run now", "schedule-run", askJobs, runJob, saidOf("run was", "runs were", "asked for, in the next open slot")),
		}}
}

// previewSeen is what the template gets.
type previewSeen struct {
	Crontabs, Zone string
	Asked          bool
	Ahead          ahead
}

// showPreview says when crontabs fire that are filled in.
func showPreview(ctx context.Context, a front.Asked) (front.Shown, error) {
	f := filledIn(a.Query)
	is := previewSeen{Crontabs: f.Crontabs, Zone: f.Zone}
	d, _ := f.definition(definition.Schedule{})
	if len(d.Crontabs) == 0 {
		return front.Shown{Data: is}, nil
	}
	is.Asked = true
	var err error
	is.Ahead, err = aheadOf(ctx, a, definition.Timing{Crontabs: d.Crontabs, Zone: d.Zone, MayCoalesce: f.MayCoalesce}, "", a.Now)
	return front.Shown{Data: is}, err
}
