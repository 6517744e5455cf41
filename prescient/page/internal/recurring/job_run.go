package recurring

import (
	"context"
	"fmt"
	"html/template"
	"strings"
	"time"

	"prescient/prescient/ops"
	"prescient/prescient/page/internal/chart"
	"prescient/prescient/page/internal/front"
	"prescient/prescient/page/internal/look"
	"prescient/prescient/steps"
)

// whileUnderWay is how often it is worth looking while a run is under way.
const whileUnderWay = 3 * time.Second

// barsShown is how many calls are drawn, the last of them.
const barsShown = 60

// run is a run of a job as it is shown.
type run struct {
	ops.JobRun
	Took string
}

// call is a call of a step as it is shown.
type call struct {
	steps.StepLog
	Took string
	// Output is what there is of it, for people.
	Output string
}

// took is how long something took, or takes by now.
func took(from, until *time.Time, now time.Time) string {
	switch {
	case from == nil:
		return "–"
	case until != nil:
		now = *until
	}
	return look.Duration(max(now.Sub(*from), 0))
}

// runSeen is what the template gets.
type runSeen struct {
	ops.Clock
	Is       ops.JobRun
	Steps    []call
	Chart    template.HTML
	Cut      int // calls that are not drawn
	Operator bool
}

func showJobRun(ctx context.Context, a front.Asked) (front.Shown, error) {
	is := runSeen{Operator: a.Operator()}
	var err error
	if is.Clock, err = ops.GetClock.Do(ctx, a.Ops, a.By, struct{}{}); err != nil {
		return front.Shown{}, err
	}
	id := a.Text("run")
	page, err := ops.ListJobRuns.Do(ctx, a.Ops, a.By, ops.JobRunsAsked{Run: id, Limit: 1})
	if err != nil {
		return front.Shown{}, err
	}
	if len(page.Rows) == 0 {
		return front.Shown{}, fmt.Errorf("%w: the log has no run %q: it did not begin, or is pruned", steps.ErrNotFound, id)
	}
	is.Is = page.Rows[0]
	drawn := is.Is.Steps
	for i, s := range drawn {
		is.Steps = append(is.Steps, call{s, took(&drawn[i].StartedAt, s.EndedAt, is.Now), readable(s.Output)})
	}
	is.Cut = max(0, len(drawn)-barsShown)
	if is.Chart, err = bars(is.Is, drawn[is.Cut:], is.Now).SVG(); err != nil {
		return front.Shown{}, err
	}
	shown := front.Shown{Title: "Run " + is.Is.Run, Data: is}
	if is.Is.EndedAt == nil {
		shown.Again = whileUnderWay
	}
	return shown, nil
}

// readable is what a step has written, a line a line, without what cannot be seen.
func readable(output string) string {
	var all strings.Builder
	for line := range strings.Lines(strings.ReplaceAll(output, "\r\n", "\n")) {
		line, ended := strings.CutSuffix(line, "\n")
		all.WriteString(look.Plain(strings.ReplaceAll(strings.ToValidUTF8(line, "\ufffd"), "\t", "    ")))
		if ended {
			all.WriteByte('\n')
		}
	}
	return all.String()
}

// bars are the calls of a run on a line of time.
func bars(run ops.JobRun, calls []steps.StepLog, now time.Time) chart.Spans {
	c := chart.Spans{ID: "run-bars", Title: "The calls of the run", Text: fmt.Sprintf("%s on one line of time. The table below has the same.", look.Counted(int64(len(calls)), "call", "calls"))}
	for _, s := range calls {
		until, class := now, "forecast"
		switch {
		case s.EndedAt != nil:
			until = *s.EndedAt
		case run.EndedAt != nil: // its agent let it lapse
			until = *run.EndedAt
		}
		switch s.Result {
		case "done":
			class = "served"
		case "", "again", "handed_on":
			if s.EndedAt != nil {
				class = "due"
			}
		default:
			class = "missed"
		}
		label := s.Step
		if s.Attempt > 1 {
			label = fmt.Sprintf("%d. %s", s.Attempt, label)
		}
		took := until.Sub(s.StartedAt)
		if took < 0 {
			until, took = s.StartedAt, 0
		}
		c.Rows = append(c.Rows, chart.Span{Label: label, Title: s.Step + ": " + look.Duration(took), From: s.StartedAt, Until: until, Class: class})
	}
	return c
}
