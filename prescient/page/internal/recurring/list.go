package recurring

import (
	"context"
	"strings"

	"prescient/prescient/ops"
	"prescient/prescient/page/internal/front"
	"prescient/prescient/schedule/timeline"
	"prescient/prescient/steps"
)

// rowsShown is how many rows a list has.
const rowsShown = 50

// narrowed is what a list is narrowed by, for its form.
type narrowed struct{ Search, Owner, State string }

func narrowedBy(q *front.Query) narrowed {
	return narrowed{strings.TrimSpace(q.Text("search")), q.Text("owner"), q.Text("state")}
}

func (n narrowed) schedules(after string, limit int) ops.SchedulesAsked {
	return ops.SchedulesAsked{Search: n.Search, Owner: n.Owner, Paused: n.State == "paused", Troubled: n.State == "troubled", Paging: ops.Paging{After: after, Limit: limit}}
}

// Given says that it narrows.
func (n narrowed) Given() bool { return n != narrowed{} }

// listSeen is what the template gets.
type listSeen struct {
	ops.Clock
	Filter   narrowed
	Rows     []listed
	Next     []string // the query of the next page
	Operator bool
}

// listed is a schedule of the list.
type listed struct {
	ops.Schedule
	Timing string
	// Job is the name of the job that lies on it; empty for none.
	Job string
}

func showSchedules(ctx context.Context, a front.Asked) (front.Shown, error) {
	is := listSeen{Filter: narrowedBy(a.Query), Operator: a.Operator()}
	var err error
	if is.Clock, err = ops.GetClock.Do(ctx, a.Ops, a.By, struct{}{}); err != nil {
		return front.Shown{}, err
	}
	asked := is.Filter.schedules(a.Text("after"), rowsShown)
	asked.Last = true
	page, err := ops.ListSchedules.Do(ctx, a.Ops, a.By, asked)
	if err != nil {
		return front.Shown{}, err
	}
	for _, s := range page.Rows {
		is.Rows = append(is.Rows, listed{Schedule: s, Timing: inWords(s.Crontabs, s.Zone), Job: jobOf(s)})
	}
	if page.Next != "" {
		is.Next = a.With("after", page.Next)
	}
	return front.Shown{Data: is, Again: front.UntilSlot(is.Now, is.Resolution())}, nil
}

// jobOf is the name of the job that lies on a schedule; empty for none.
func jobOf(s ops.Schedule) string {
	if s.JobExec != steps.Exec {
		return ""
	}
	name, _ := strings.CutPrefix(s.ID, "job/")
	return name
}

// inWords says crontabs in words, the first of several.
func inWords(crontabs []string, zone string) string {
	if len(crontabs) == 0 {
		return ""
	}
	text := timeline.Words(crontabs[0])
	if timeline.Unreadable(crontabs, zone) != "" { // of what is no crontab words say anything
		return "cannot be read: " + strings.Join(crontabs, ", ")
	}
	if text == "" {
		text = crontabs[0]
	}
	switch n := len(crontabs) - 1; n {
	case 0:
	case 1:
		text += ", and by one crontab more"
	default:
		text += ", and by more crontabs"
	}
	if zone != "" && zone != "UTC" {
		text += " (" + zone + ")"
	}
	return text
}

// bare is a caller who is shown no payloads.
func bare(by ops.Caller) ops.Caller {
	by.Role = ops.Viewer
	return by
}
