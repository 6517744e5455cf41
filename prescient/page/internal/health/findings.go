package health

import (
	"context"
	"strings"
	"time"

	"prescient/prescient"
	"prescient/prescient/doctor"
	"prescient/prescient/ops"
	"prescient/prescient/page/internal/front"
)

// healthSeen is what the template gets.
type healthSeen struct {
	ops.Clock
	Severity     doctor.Severity
	Parts        []part
	Only, Ignore string
	// All says that also what is in order is shown; Fine is how much that is.
	All  bool
	Fine int
}

// part are the findings of a severity.
type part struct {
	Title, Class string
	Findings     []finding
}

// finding is one of the doctor's, with where the page can do something about it.
type finding struct {
	doctor.Finding
	Deeds []deed
}

// deed is a link to a view or to a deed.
type deed struct {
	Path, Name, Value string // of the link, with a value of its query
	Text              string
	Button            bool
}

// lookAgain is how old findings are at most while somebody looks.
const lookAgain = time.Minute

func showHealth(ctx context.Context, a front.Asked) (front.Shown, error) {
	is := healthSeen{Only: a.Text("only"), Ignore: a.Text("ignore"), All: a.Text("show") == "all"}
	found, err := ops.Examine.Do(ctx, a.Ops, a.By, ops.DoctorAsked{Only: codes(is.Only), Ignore: codes(is.Ignore)})
	if err != nil {
		return front.Shown{}, err
	}
	if is.Clock, err = ops.GetClock.Do(ctx, a.Ops, a.By, struct{}{}); err != nil {
		return front.Shown{}, err
	}
	pauses, err := ops.ListPauses.Do(ctx, a.Ops, a.By, ops.Nothing{})
	if err != nil {
		return front.Shown{}, err
	}
	is.Severity = found.Severity
	is.Parts, is.Fine = parted(found.Findings, a.By.Role, pauses.Rows, is.All)
	return front.Shown{Data: is, Again: lookAgain}, nil
}

// codes reads a list of codes.
func codes(text string) []string {
	return strings.FieldsFunc(text, func(r rune) bool { return r == ',' || r == ' ' })
}

// parted are the findings by how bad they are, the worst first; fine is how many are in order, which are there where all are wanted.
func parted(found []doctor.Finding, role ops.Role, pauses []prescient.Paused, all bool) (parts []part, fine int) {
	for _, one := range []struct {
		part
		of []doctor.Severity
	}{
		{part{Title: "What is bad", Class: "bad"}, []doctor.Severity{doctor.SeverityBad}},
		{part{Title: "What needs to be known", Class: "hint"}, []doctor.Severity{doctor.SeverityWarn}},
		{part{Title: "What was not looked at"}, []doctor.Severity{doctor.SeverityUnseen}},
		{part{Title: "What is in order", Class: "ok"}, []doctor.Severity{doctor.SeverityPart, doctor.SeverityOK}},
	} {
		for _, severity := range one.of {
			for _, f := range found {
				if f.Severity == severity {
					one.Findings = append(one.Findings, finding{f, deedsOf(f, role, pauses)})
				}
			}
		}
		if one.Class == "ok" {
			fine = len(one.Findings)
			if !all {
				continue
			}
		}
		if len(one.Findings) > 0 {
			parts = append(parts, one.part)
		}
	}
	return parts, fine
}

// places are the views that show what a finding is about, by its code or the kind that stands before it.
var places = map[string]struct {
	path, text string
	role       ops.Role
}{
	"paused": {"/execs", "What is paused", ops.Viewer}, "put_off": {"/execs", "The job_execs", ops.Viewer}, "execs": {"/execs", "The job_execs", ops.Viewer},
	"failing": {"/execs", "The job_execs", ops.Viewer}, "slower": {"/execs", "What is slower", ops.Viewer}, "stats": {"/execs", "The sums", ops.Viewer},
	"overdue": {"/", "How it is caught up", ops.Viewer}, "rows": {"/pending", "Pending checks", ops.Viewer},
	"forecast": {"/slots", "The slots to come", ops.Viewer}, "missed": {"/slots", "The slots", ops.Viewer}, "leases": {"/slots", "The slots", ops.Viewer},
	"coverage": {"/agents", "Who serves which slots", ops.Viewer}, "agents": {"/agents", "The agents", ops.Viewer}, "long_runs": {"/agents", "The long runs", ops.Viewer},
	"schedules": {"/schedules", "The schedules", ops.Viewer}, "events": {"/events", "The events", ops.Viewer}, "events.refused": {"/events", "Send them again, or drop them", ops.Operator},
	"audit": {"/audit", "The audit", ops.Viewer}, "blocking": {"/blocking", "Who waits for whom", ops.Admin}, "purge.transaction": {"/blocking", "Who waits for whom", ops.Admin},
}

// deedsOf says where the page can do something about a finding that is wrong.
func deedsOf(f doctor.Finding, role ops.Role, pauses []prescient.Paused) (deeds []deed) {
	if !f.Severity.Wrong() {
		return nil
	}
	kind, _, _ := strings.Cut(f.Code, ".")
	at, is := places[f.Code]
	if !is || !role.May(at.role) {
		at, is = places[kind]
	}
	if is && role.May(at.role) {
		deeds = append(deeds, deed{Path: at.path, Text: at.text})
	}
	if f.Code == "paused" && role.May(ops.Operator) {
		for _, p := range pauses {
			deeds = append(deeds, deed{"/execs/resume", "job_exec", p.JobExec, "Resume " + named(p.JobExec), true})
		}
	}
	return deeds
}

// named is what a pause is of, for people.
func named(jobExec string) string {
	switch jobExec {
	case prescient.AllExecs:
		return "everything"
	case prescient.AllEvents:
		return "the events"
	}
	return jobExec
}
