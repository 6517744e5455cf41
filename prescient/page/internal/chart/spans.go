package chart

import (
	"fmt"
	"html/template"
	"strings"
	"sync"
	"time"
)

// Spans is a chart of what took how long on one line of time, a row each.
type Spans struct {
	// ID tells the chart from others of its page.
	ID string
	// Title and Text say what is seen, for those who do not see it.
	Title, Text string
	Rows        []Span
}

// Span is what took a time.
type Span struct {
	// Label stands before it, Title says more.
	Label, Title string
	From, Until  time.Time
	// Class is its colour in the stylesheet: served, missed, due or forecast.
	Class string
}

// The measures of a chart of spans, beside those of bars.
const (
	labelWide  = 160
	rowHigh    = 22
	labelChars = 22
	halfLabel  = 28 // of the time below the last mark
)

type drawnSpans struct {
	Spans
	Width, Height, Left, Base int
	Rects                     []rect
	Texts                     []text
	Labels                    []label
}

type text struct{ Y, Text string }

// SVG draws the chart.
func (s Spans) SVG() (template.HTML, error) {
	var out strings.Builder
	if err := drawingSpans().Execute(&out, s.draw()); err != nil {
		return "", fmt.Errorf("drawing a chart: %w", err)
	}
	return template.HTML(out.String()), nil //nolint:gosec // html/template has escaped it
}

func (s Spans) draw() drawnSpans {
	d := drawnSpans{Spans: s, Width: labelWide + wide + halfLabel, Height: top + rowHigh*len(s.Rows) + bottom, Left: labelWide, Base: top + rowHigh*len(s.Rows)}
	first, last := s.ends()
	length := max(last.Sub(first), time.Second)
	at := func(t time.Time) float64 { return labelWide + wide*float64(t.Sub(first))/float64(length) }
	for i, row := range s.Rows {
		y := top + rowHigh*i
		x := at(row.From)
		d.Rects = append(d.Rects, rect{round(x), round(float64(y + 3)), round(max(at(row.Until)-x, 2)), round(rowHigh - 6), row.Class, row.Title})
		label := []rune(row.Label)
		if len(label) > labelChars {
			label = append(label[:labelChars-1], '…')
		}
		d.Texts = append(d.Texts, text{round(float64(y) + rowHigh/2), string(label)})
	}
	const marks = 4
	layout := "15:04:05"
	if length > 24*time.Hour {
		layout = "01-02 15:04"
	}
	for i := range marks + 1 {
		t := first.Add(length * time.Duration(i) / marks)
		d.Labels = append(d.Labels, label{round(at(t)), t.UTC().Format(layout)})
	}
	return d
}

// ends are when the first of them begins, and when the last is over.
func (s Spans) ends() (first, last time.Time) {
	for i, row := range s.Rows {
		if i == 0 || row.From.Before(first) {
			first = row.From
		}
		if i == 0 || row.Until.After(last) {
			last = row.Until
		}
	}
	return first, last
}

var drawingSpans = sync.OnceValue(func() *template.Template {
	return template.Must(template.New("spans").Parse(`<svg class="chart" role="img" viewBox="0 0 {{.Width}} {{.Height}}" width="{{.Width}}" height="{{.Height}}" aria-labelledby="{{.ID}}-title {{.ID}}-text">
<title id="{{.ID}}-title">{{.Title}}</title><desc id="{{.ID}}-text">{{.Text}}</desc>
{{$d := .}}{{range .Labels}}<line class="axis" x1="{{.X}}" x2="{{.X}}" y1="4" y2="{{$d.Base}}"/><text x="{{.X}}" y="{{$d.Base}}" dy="18" text-anchor="middle">{{.Text}}</text>
{{end}}{{range .Texts}}<text x="4" y="{{.Y}}" dy="4">{{.Text}}</text>
{{end}}{{range .Rects}}<rect class="{{.Class}}" x="{{.X}}" y="{{.Y}}" width="{{.W}}" height="{{.H}}"><title>{{.Title}}</title></rect>
{{end}}</svg>`))
})
