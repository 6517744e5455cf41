package now

import (
	"context"
	"embed"
	"errors"
	"fmt"
	"html/template"
	"strings"
	"time"

	"prescient/prescient/forecast"
	"prescient/prescient/ops"
	"prescient/prescient/page/internal/chart"
	"prescient/prescient/page/internal/front"
	"prescient/prescient/page/internal/look"
	"prescient/prescient/status"
)

//go:embed templates/*.html
var templates embed.FS

// Group has the view.
func Group() front.Group {
	return front.Group{Templates: templates, Views: []front.View{{Path: "/", Title: "Now", Nav: "Now", Role: ops.Viewer, Template: "now", Show: show}}}
}

const (
	// The chart has as many slots, and hours, before and after now, whichever is less.
	mostSlots = 48
	mostHours = 6 * time.Hour
	// ledgerRead is how many rows of the ledger are read.
	ledgerRead = 1000
	// whileUnderWay is how often it is worth looking while something is under way.
	whileUnderWay = 5 * time.Second
)

// seen is what the template gets.
type seen struct {
	status.Report
	Sections []section
	UnderWay []underWay
	Slots    []slot
	Chart    template.HTML
	Holes    int
	// NoForecast says that none was made yet.
	NoForecast bool
}

// section is one of the questions of the status.
type section struct {
	Is       status.Section
	Title    string
	Findings []status.Finding
}

var titles = map[status.Section]string{status.Works: "Who works", status.Late: "What is late", status.Fails: "What fails", status.Waits: "What waits", status.Next: "What comes next"}

func show(ctx context.Context, a front.Asked) (front.Shown, error) {
	report, err := ops.Status.Do(ctx, a.Ops, a.By, struct{}{})
	if err != nil {
		return front.Shown{}, err
	}
	s, made, err := spanOf(ctx, a, report)
	if err != nil {
		return front.Shown{}, err
	}
	is := seen{Report: report, UnderWay: s.underWay(), Slots: s.around(), NoForecast: !made}
	for _, one := range status.Sections {
		is.Sections = append(is.Sections, section{one, titles[one], report.Of(one)})
	}
	for _, one := range is.Slots {
		if one.Hole {
			is.Holes++
		}
	}
	if is.Chart, err = drawn(is.Slots, report.At).SVG(); err != nil {
		return front.Shown{}, err
	}
	again := front.UntilSlot(report.At, report.Resolution)
	if len(is.UnderWay) > 0 || report.Backlog.Checks > 0 {
		again = min(again, whileUnderWay)
	}
	return front.Shown{Data: is, Again: again}, nil
}

// spanOf reads what the slots around now are made of; made says whether there is a forecast.
func spanOf(ctx context.Context, a front.Asked, report status.Report) (s span, made bool, err error) {
	n := min(mostSlots, int(mostHours/report.Resolution))
	n = max(n, 4)
	s = span{now: report.At, resolution: report.Resolution, back: n, on: n}
	from := report.At.UTC().Truncate(report.Resolution).Add(-time.Duration(n) * report.Resolution)
	page, err := ops.ListLedger.Do(ctx, a.Ops, a.By, ops.LedgerAsked{SlotSpan: ops.SlotSpan{From: from}, Paging: ops.Paging{Limit: ledgerRead}})
	if err != nil {
		return s, false, err
	}
	s.ledger, s.cut = page.Rows, page.Next != ""
	older, err := ops.ListLedger.Do(ctx, a.Ops, a.By, ops.LedgerAsked{SlotSpan: ops.SlotSpan{Before: from}, Paging: ops.Paging{Limit: 1}})
	if err != nil {
		return s, false, err
	}
	s.older = len(older.Rows) > 0
	told, err := ops.GetForecast.Do(ctx, a.Ops, a.By, ops.ForecastAsked{Brief: true})
	if errors.Is(err, forecast.ErrNone) {
		return s, false, nil
	}
	s.parts = told.Slots
	return s, true, err
}

// drawn is the chart of the slots around now.
func drawn(all []slot, now time.Time) chart.Bars {
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
func (s slot) Text() string {
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
