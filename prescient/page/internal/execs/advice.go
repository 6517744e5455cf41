package execs

import (
	"context"
	"fmt"
	"html/template"
	"time"

	"prescient/prescient"
	"prescient/prescient/advice"
	"prescient/prescient/ops"
	"prescient/prescient/page/internal/chart"
	"prescient/prescient/page/internal/front"
	"prescient/prescient/page/internal/look"
)

// adviceSeen is what the template gets.
type adviceSeen struct {
	advice.Report
	Name, Kind, Late, Cancels string
	// Of is the kind of entity that is told of; nil where nothing is known of any.
	Of *advice.Group
	// Others are the kinds that are not.
	Others []advice.Group
	// Happened are the ages by which shares have, Ages the checks that are advised, and Steps the points of the curve.
	Happened []aged
	Ages     []checked
	Steps    []step
	Curve    template.HTML
}

// aged is an age by which a share has happened.
type aged struct{ Share, Age string }

// checked is a check that is advised.
type checked struct {
	Number     int
	At, NextIn time.Duration
	By         float64
}

// step is a point of the curve.
type step struct {
	Age          time.Duration
	By, Reported float64
}

func showAdvice(ctx context.Context, a front.Asked) (front.Shown, error) {
	is := adviceSeen{Name: a.Text("job_exec"), Kind: a.Text("entity"), Late: a.Text("late"), Cancels: a.Text("cancels")}
	late, err := look.ReadSpan("late", is.Late)
	if err == nil && is.Cancels != "" && is.Cancels != "other" {
		err = fmt.Errorf("%w: cancels %.40q: other is allowed", prescient.ErrInvalid, is.Cancels)
	}
	if err != nil {
		return front.Shown{}, err
	}
	is.Report, err = ops.AdviseExec.Do(ctx, a.Ops, a.By, advice.Asked{From: a.Time("from"), Before: a.Time("before"), JobExec: is.Name, Entity: is.Kind, LateMS: late, OtherCancels: is.Cancels == "other"})
	if err != nil {
		return front.Shown{}, err
	}
	if len(is.Groups) > 0 {
		is.Of, is.Others = &is.Groups[0], is.Groups[1:]
		if err := is.draw(); err != nil {
			return front.Shown{}, err
		}
	}
	return front.Shown{Title: "When to check " + is.Name, Data: is}, nil
}

// draw fills in what is told of the one kind.
func (s *adviceSeen) draw() error {
	g := s.Of
	if g.None != "" {
		return nil
	}
	for _, share := range []float64{0.25, 0.5, 0.95, 0.99} {
		one := aged{Share: look.Share(share)}
		switch age, never, atMost := g.When(share); {
		case never:
			one.Age = "never"
		case atMost:
			one.Age = "at most " + look.Duration(age)
		default:
			one.Age = look.Duration(age)
		}
		s.Happened = append(s.Happened, one)
	}
	length := g.Drawn()
	c := chart.Curve{ID: "happened", Title: "What has happened by an age", Length: length, Every: every(length), Label: written,
		Text: fmt.Sprintf("Half of %s has happened by an age of %s, 95 %% by %s. Upright lines are the checks that are advised.", s.Name, s.Happened[1].Age, s.Happened[2].Age)}
	if g.Reported > 0 {
		c.Lines = append(c.Lines, chart.Line{Class: "reported", Title: "reported by the app", Share: func(age time.Duration) float64 { _, told := g.Advice.Happened(age); return told }})
	}
	c.Lines = append(c.Lines, chart.Line{Class: "happened", Title: "happened", Share: func(age time.Duration) float64 { by, _ := g.Advice.Happened(age); return by }})
	for i, seconds := range g.Ages {
		at := time.Duration(seconds) * time.Second
		by, _ := g.Advice.Happened(at)
		s.Ages = append(s.Ages, checked{i + 1, at, time.Duration(g.NextIn[i]) * time.Second, by})
		c.Marks = append(c.Marks, chart.Mark{At: at, Title: "checked at " + look.Duration(at)})
	}
	for i := range length/(every(length)/4) + 1 {
		age := i * every(length) / 4
		by, told := g.Advice.Happened(age)
		s.Steps = append(s.Steps, step{age, by, told})
	}
	var err error
	s.Curve, err = c.SVG()
	return err
}

// every is how far apart ages are written in a curve of a length: a dozen of them at most.
func every(length time.Duration) time.Duration {
	const day = 24 * time.Hour
	for _, one := range []time.Duration{time.Minute, 5 * time.Minute, 15 * time.Minute, 30 * time.Minute, time.Hour, 2 * time.Hour, 3 * time.Hour, 6 * time.Hour, 12 * time.Hour, day, 2 * day, 5 * day, 10 * day, 30 * day, 100 * day} {
		if length < 9*one {
			return one
		}
	}
	return max(length/9, day)
}

func written(age time.Duration) string {
	if age == 0 {
		return "0"
	}
	return look.Duration(age)
}

// FirstNow is after how long the first check is now, of half of them.
func (s adviceSeen) FirstNow() time.Duration { return time.Duration(s.Of.FirstNow) * time.Second }

// First is after how long the first check is advised.
func (s adviceSeen) First() time.Duration {
	if len(s.Ages) == 0 {
		return 0
	}
	return s.Ages[0].At
}

// Open are the checks of which nobody saw that it happened.
func (s adviceSeen) Open() int { return s.Of.Checks - s.Of.Found - s.Of.Reported }

// Calls is how many calls a check has, on average.
func (adviceSeen) Calls(calls float64) string { return fmt.Sprintf("%.2f", calls) }

// Lateness is how late what happened is found, on average.
func (adviceSeen) Lateness(seconds float64) string {
	return look.Duration(time.Duration(seconds * float64(time.Second)).Round(time.Second))
}

// Notes are what is to be known of it.
func (s adviceSeen) Notes() []string { return advice.Notes(s.Of.Advice) }
