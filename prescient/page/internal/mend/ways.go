// Package mend says where the page shows what a finding of the doctor is about, and where it can do something about it.
package mend

import (
	"slices"
	"strings"

	"prescient/prescient"
	"prescient/prescient/doctor"
	"prescient/prescient/ops"
)

// Way is a link to a view, or a button that leads to a deed.
type Way struct {
	Path   string
	Query  []string // names and values in turn
	Text   string
	Button bool
}

// way is one by the code of findings.
type way struct {
	path, text string
	// by is the name of the value of the address that takes what the finding is about, which stands in the text for %; empty for none.
	by     string
	with   []string // the rest of the query
	role   ops.Role
	button bool
}

func view(path, text string) way { return way{path: path, text: text, role: ops.Viewer} }

func viewOf(path, by, text string) way { return way{path: path, text: text, by: by, role: ops.Viewer} }

func deedOf(path, by, text string, with ...string) way {
	return way{path: path, text: text, by: by, with: with, role: ops.Operator, button: true}
}

var (
	jobExecs    = view("/execs", "The job_execs")
	jobExec     = viewOf("/exec", "job_exec", "More of %")
	check       = viewOf("/find", "entity", "More of %")
	schedule    = viewOf("/schedule", "id", "More of %")
	editing     = deedOf("/schedules/edit", "id", "Edit %")
	planning    = deedOf("/schedules/plan", "id", "Plan % anew")
	onSchedules = []way{schedule, view("/schedules", "The schedules"), editing}
	chains      = way{path: "/blocking", text: "Who waits for whom", role: ops.Admin}
)

// ways are by the code of a finding, or the kind that stands before it: what shows more comes first, then what mends it.
var ways = map[string][]way{
	"paused":              {view("/execs", "What is paused"), deedOf("/execs/resume", "job_exec", "Resume %")},
	"put_off":             {jobExec, viewOf("/pending", "job_exec", "Checks of %"), deedOf("/bulk/new", "job_exec", "Cancel checks of %", "deed", "cancel")},
	"execs":               {jobExec, jobExecs},
	"failing":             {jobExec, viewOf("/pending", "job_exec", "Checks of %"), deedOf("/execs/pause", "job_exec", "Pause %")},
	"slower":              {view("/execs", "What is slower")},
	"stats":               {view("/execs", "The sums")},
	"overdue":             {view("/", "How it is caught up"), view("/pending", "What is due, the oldest first"), view("/agents", "Who works"), check, chains},
	"rows":                {view("/pending", "Pending checks")},
	"forecast":            {viewOf("/slot", "slot", "Slot %"), view("/slots", "The slots to come"), deedOf("/bulk/new", "slot", "Move checks of %", "deed", "reschedule")},
	"missed":              {view("/slots", "The slots")},
	"leases":              {view("/slots", "The slots")},
	"coverage":            {view("/agents", "Who serves which slots")},
	"agents":              {view("/agents", "The agents")},
	"long_runs":           {view("/agents", "The long runs")},
	"schedules":           onSchedules,
	"schedules.timerless": append(slices.Clone(onSchedules), planning),
	"schedules.timers":    onSchedules,
	"schedules.crontabs":  onSchedules,
	"schedules.zones":     {schedule, view("/schedules", "The schedules"), planning},
	"events":              {view("/events", "The events")},
	"events.refused":      {{path: "/events", text: "Send them again, or drop them", role: ops.Operator}, deedOf("/events/resend_all", "", "Send all again")},
	"notify":              {view("/told", "Who is told, and who cannot be"), deedOf("/told/again", "", "Try again now")},
	"audit":               {view("/audit", "The audit")},
	"blocking":            {chains},
	"blocking.rows":       {check, chains},
	"purge.transaction":   {chains},
}

// jobPaths are what jobs have for the views and deeds of schedules: a schedule that a job lies on is changed with the job.
var jobPaths = map[string]string{"/schedule": "/job", "/schedules/edit": "/jobs/edit"}

// Ways are where those of a role can go from a finding that is wrong, on the view of a path, to which no way leads.
func Ways(f doctor.Finding, role ops.Role, on string) []Way {
	if !f.Severity.Wrong() {
		return nil
	}
	if found := open(ways[f.Code], f, role, on); len(found) > 0 {
		return found
	}
	kind, _, _ := strings.Cut(f.Code, ".")
	return open(ways[kind], f, role, on)
}

func open(all []way, f doctor.Finding, role ops.Role, on string) (list []Way) {
	for _, one := range all {
		switch {
		case !role.May(one.role) || one.path == on:
		case one.by == "":
			list = append(list, Way{one.path, one.with, one.text, one.button})
		default:
			for _, about := range f.About {
				path, by, value := one.path, one.by, about
				if job, is := strings.CutPrefix(about, "job/"); is && jobPaths[path] != "" {
					path, by, value = jobPaths[path], "name", job
				}
				list = append(list, Way{path, append([]string{by, value}, one.with...), strings.ReplaceAll(one.text, "%", named(about)), one.button})
			}
		}
	}
	return list
}

// named is what a finding is about, for people.
func named(about string) string {
	switch about {
	case prescient.AllExecs:
		return "everything"
	case prescient.AllEvents:
		return "the events"
	}
	return about
}
