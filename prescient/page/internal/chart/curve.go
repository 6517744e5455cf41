package chart

import (
	"fmt"
	"html/template"
	"strings"
	"sync"
	"time"
)

// Curve is a chart of shares that grow with an age.
type Curve struct {
	// ID tells the chart from others of its page.
	ID string
	// Title and Text say what is seen, for those who do not see it.
	Title, Text string
	// Length is the age at the end; Every is how far apart ages are written.
	Length, Every time.Duration
	Lines         []Line
	// Marks are upright lines.
	Marks []Mark
	// Label is how an age is written below.
	Label func(age time.Duration) string
}

// Line is what has a share by each age.
type Line struct {
	// Class is its colour in the stylesheet: happened or reported.
	Class, Title string
	Share        func(age time.Duration) float64
}

// Mark is what is at an age.
type Mark struct {
	At    time.Duration
	Title string
}

// mostAges is how many ages are written at most.
const mostAges = 12

type drawnCurve struct {
	Curve
	Width, Height, Left, Top, Base, End int
	Rows                                []line
	Columns                             []label
	Polylines                           []polyline
	Uprights                            []label
}

type polyline struct{ Class, Title, Points string }

// SVG draws the chart.
func (c Curve) SVG() (template.HTML, error) {
	var out strings.Builder
	if err := drawingCurve().Execute(&out, c.draw()); err != nil {
		return "", fmt.Errorf("drawing a chart: %w", err)
	}
	return template.HTML(out.String()), nil //nolint:gosec // html/template has escaped it
}

func (c Curve) draw() drawnCurve {
	const steps = 240
	d := drawnCurve{Curve: c, Width: left + wide + halfLabel, Height: top + high + bottom, Left: left, Top: top, Base: top + high, End: left + wide}
	length := max(c.Length, time.Second)
	x := func(age time.Duration) string { return round(left + wide*float64(age)/float64(length)) }
	y := func(share float64) string { return round(top + high*(1-min(max(share, 0), 1))) }
	for _, percent := range []int{0, 25, 50, 75, 100} {
		d.Rows = append(d.Rows, line{y(float64(percent) / 100), fmt.Sprintf("%d %%", percent)})
	}
	for i := range min(int(length/max(c.Every, length/mostAges)), mostAges) + 1 {
		age := time.Duration(i) * max(c.Every, length/mostAges)
		d.Columns = append(d.Columns, label{x(age), c.Label(age)})
	}
	for _, l := range c.Lines {
		points := make([]string, 0, steps+1)
		for i := range steps + 1 {
			age := length / steps * time.Duration(i)
			points = append(points, x(age)+","+y(l.Share(age)))
		}
		d.Polylines = append(d.Polylines, polyline{l.Class, l.Title, strings.Join(points, " ")})
	}
	for _, m := range c.Marks {
		if m.At <= length {
			d.Uprights = append(d.Uprights, label{x(m.At), m.Title})
		}
	}
	return d
}

var drawingCurve = sync.OnceValue(func() *template.Template {
	return template.Must(template.New("curve").Parse(`<svg class="chart" role="img" viewBox="0 0 {{.Width}} {{.Height}}" width="{{.Width}}" height="{{.Height}}" aria-labelledby="{{.ID}}-title {{.ID}}-text">
<title id="{{.ID}}-title">{{.Title}}</title><desc id="{{.ID}}-text">{{.Text}}</desc>
{{$d := .}}{{range .Rows}}<line class="axis" x1="{{$d.Left}}" x2="{{$d.End}}" y1="{{.Y}}" y2="{{.Y}}"/><text x="4" y="{{.Y}}" dy="4">{{.Text}}</text>
{{end}}{{range .Columns}}<text x="{{.X}}" y="{{$d.Base}}" dy="18" text-anchor="middle">{{.Text}}</text>
{{end}}{{range .Uprights}}<line class="mark" x1="{{.X}}" x2="{{.X}}" y1="{{$d.Top}}" y2="{{$d.Base}}"><title>{{.Text}}</title></line>
{{end}}{{range .Polylines}}<polyline class="{{.Class}}" points="{{.Points}}"><title>{{.Title}}</title></polyline>
{{end}}</svg>`))
})
