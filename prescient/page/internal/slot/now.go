package slot

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
	"prescient/prescient/page/internal/mend"
	"prescient/prescient/status"
)

const (
	// The chart has as many slots, and hours, before and after now, whichever is less.
	mostSlots = 48
	mostHours = 6 * time.Hour
	// whileUnderWay is how often it is worth looking while something is under way.
	whileUnderWay = 5 * time.Second
)

// seen is what the template gets.
type nowSeen struct {
	ops.Look
	// Resolution is how long a slot is.
	Resolution time.Duration
	Sections   []section
	UnderWay   []underWay
	Slots      []around
	Chart      template.HTML
	Holes      int
	// NoForecast says that none was made yet.
	NoForecast bool
}

// section is one of the questions of the status.
type section struct {
	Is       status.Section
	Title    string
	Findings []finding
}

// finding is one of the status, with where the page shows or mends it.
type finding struct {
	status.Finding
	Ways []mend.Way
}

var titles = map[status.Section]string{status.Works: "Who works", status.Late: "What is late", status.Fails: "What fails", status.Waits: "What waits", status.Next: "What comes next"}

func showNow(ctx context.Context, a front.Asked) (front.Shown, error) {
	report, err := ops.Status.Do(ctx, a.Ops, a.By, ops.Nothing{})
	if err != nil {
		return front.Shown{}, err
	}
	resolution := time.Duration(report.ResolutionMS) * time.Millisecond
	n := max(4, min(mostSlots, int(mostHours/resolution)))
	current := report.At.UTC().Truncate(resolution) // which divides the day
	s := span{now: report.At, resolution: resolution, first: current.Add(-time.Duration(n) * resolution), last: current.Add(time.Duration(n) * resolution)}
	made, err := s.read(ctx, a)
	if err != nil {
		return front.Shown{}, err
	}
	is := nowSeen{Look: report, Resolution: resolution, UnderWay: s.underWay(), Slots: s.slots(), NoForecast: !made}
	for _, one := range status.Sections {
		of := section{Is: one, Title: titles[one]}
		for _, f := range (status.Report{Findings: report.Findings}).Of(one) {
			ways := mend.Ways(f.Finding, a.By.Role, "/")
			f.Do = mend.Do(f.Finding, a.By.Role)
			of.Findings = append(of.Findings, finding{f, ways})
		}
		is.Sections = append(is.Sections, of)
	}
	for _, one := range is.Slots {
		if one.Hole {
			is.Holes++
		}
	}
	if is.Chart, err = drawn(is.Slots, report.At).SVG(); err != nil {
		return front.Shown{}, err
	}
	again := front.UntilSlot(report.At, resolution)
	if len(is.UnderWay) > 0 || report.Backlog.Checks > 0 {
		again = min(again, whileUnderWay)
	}
	return front.Shown{Data: is, Again: again}, nil
}

// drawn is the chart of the slots around now.
func drawn(all []around, now time.Time) chart.Bars {
	c := chart.Bars{ID: "around", Title: "The slots around now", Now: now, Label: "15:04"}
	var served, due int64
	var holes []string
	for _, one := range all {
		bar := chart.Bar{At: one.At, Title: one.Text(), Hole: one.Hole, Parts: []chart.Part{{Class: "served", N: one.Done}}}
		switch {
		case one.Late:
			bar.Parts = append(bar.Parts, chart.Part{Class: "missed", N: one.Due})
		case one.Ahead:
			bar.Parts = append(bar.Parts, chart.Part{Class: "forecast", N: one.Due})
		default:
			bar.Parts = append(bar.Parts, chart.Part{Class: "due", N: one.Due})
		}
		served, due = served+one.Done, due+one.Due
		if one.Hole {
			holes = append(holes, look.Stamp(one.At))
		}
		c.Bars = append(c.Bars, bar)
	}
	c.Text = fmt.Sprintf("%s were served before now, and %s are due from now on by the forecast. ", look.Counted(served, "check", "checks"), look.Number(due))
	if len(holes) > 0 {
		c.Text += "No worker was there in the slots " + strings.Join(holes, ", ") + "."
	} else {
		c.Text += "No slot was left out."
	}
	return c
}

// Text says what became or becomes of a slot.
func (s around) Text() string {
	at := look.Stamp(s.At) + ": "
	switch {
	case s.Hole:
		return at + "no worker was there"
	case s.Late:
		return at + look.Counted(s.Due, "check", "checks") + " by the forecast, which do not end in time"
	case s.Ahead:
		return at + look.Counted(s.Due, "check", "checks") + " by the forecast"
	case s.Parts == 0 && s.Due == 0:
		return at + "nothing is known"
	}
	text := at + look.Counted(s.Done, "check", "checks") + " served"
	if s.PutOff > 0 {
		text += ", " + look.Number(s.PutOff) + " put off"
	}
	if s.Due > 0 {
		text += ", " + look.Number(s.Due) + " still due"
	}
	if s.Finished < s.Parts {
		text += ", under way"
	}
	return text
}
