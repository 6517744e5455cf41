package chart

import (
	"fmt"
	"html/template"
	"math"
	"strconv"
	"strings"
	"sync"
	"time"
)

// Bars is a chart of numbers over time, a bar each.
type Bars struct {
	// ID tells the chart from others of its page.
	ID string
	// Title and Text say what is seen, for those who do not see it.
	Title, Text string
	Bars        []Bar
	// Now is where the line of now stands; zero for none.
	Now time.Time
	// Label is how a time is written below the bars, as time.Format has it.
	Label string
}

// Bar is what is at a time.
type Bar struct {
	At time.Time
	// Title says what is at that time.
	Title string
	// Parts stand on one another.
	Parts []Part
	// Hole is where something is missing: it is drawn as high as the chart is.
	Hole bool
}

// Part is a part of a bar.
type Part struct {
	// Class is its colour in the stylesheet: due, served, forecast or missed.
	Class string
	N     int64
}

// The measures of a chart, in units of its own.
const (
	left, right, top, bottom = 56, 12, 12, 30
	high                     = 160
	wide                     = 720 // of all bars
	labels                   = 8   // about as many times are written
)

// drawn is a chart as its template has it.
type drawn struct {
	Bars
	Width, Height, Left, Base, End int
	Rects                          []rect
	Lines                          []line
	Labels                         []label
	NowX                           string
}

type rect struct{ X, Y, W, H, Class, Title string }

type line struct {
	Y    string
	Text string
}

type label struct{ X, Text string }

// SVG draws the chart.
func (b Bars) SVG() (template.HTML, error) {
	var out strings.Builder
	if err := drawing().Execute(&out, b.draw()); err != nil {
		return "", fmt.Errorf("drawing a chart: %w", err)
	}
	return template.HTML(out.String()), nil //nolint:gosec // html/template has escaped it
}

func (b Bars) draw() drawn {
	d := drawn{Bars: b, Width: left + wide + right, Height: top + high + bottom, Left: left, Base: top + high, End: left + wide}
	most := b.most()
	scale := float64(high) / float64(most)
	each := float64(wide) / float64(max(1, len(b.Bars)))
	for i, bar := range b.Bars {
		x, y := left+float64(i)*each, float64(top+high)
		if bar.Hole {
			d.Rects = append(d.Rects, rect{round(x + 1), round(top + 1), round(max(each-2, 1)), round(high - 1), "hole", bar.Title})
		}
		for _, part := range bar.Parts {
			if part.N <= 0 {
				continue
			}
			h := max(float64(part.N)*scale, 1) // what there is is seen
			y -= h
			d.Rects = append(d.Rects, rect{round(x + 0.5), round(y), round(max(each-1, 1)), round(h), part.Class, bar.Title})
		}
		if every := max(1, (len(b.Bars)+labels-1)/labels); i%every == 0 {
			d.Labels = append(d.Labels, label{round(x + each/2), bar.At.UTC().Format(b.Label)})
		}
	}
	for _, n := range []int64{0, most / 2, most} {
		if n == 0 && len(d.Lines) > 0 {
			continue
		}
		d.Lines = append(d.Lines, line{round(float64(top+high) - float64(n)*scale), short(n)})
	}
	d.NowX = b.nowAt(each)
	return d
}

// most is the number at the top: 1, 2 or 5 with zeros, so that the half of it is easily read.
func (b Bars) most() int64 {
	var highest int64
	for _, bar := range b.Bars {
		var sum int64
		for _, part := range bar.Parts {
			sum += max(part.N, 0)
		}
		highest = max(highest, sum)
	}
	for size := int64(1); size <= math.MaxInt64/100; size *= 10 {
		for _, n := range []int64{size, 2 * size, 4 * size} {
			if highest <= n {
				return n
			}
		}
	}
	return highest
}

// nowAt is where the line of now stands, between the bars before and behind it; empty for nowhere.
func (b Bars) nowAt(each float64) string {
	if b.Now.IsZero() || len(b.Bars) < 2 {
		return ""
	}
	first, step := b.Bars[0].At, b.Bars[1].At.Sub(b.Bars[0].At)
	x := left + float64(b.Now.Sub(first))/float64(step)*each
	if step <= 0 || x < left || x > left+wide {
		return ""
	}
	return round(x)
}

func round(f float64) string { return strconv.FormatFloat(f, 'f', 1, 64) }

// short is a number in few characters.
func short(n int64) string {
	for _, unit := range []struct {
		is   int64
		name string
	}{{1_000_000_000, "G"}, {1_000_000, "M"}, {1_000, "k"}} {
		if n >= unit.is {
			return strings.TrimSuffix(strconv.FormatFloat(float64(n)/float64(unit.is), 'f', 1, 64), ".0") + unit.name
		}
	}
	return strconv.FormatInt(n, 10)
}

var drawing = sync.OnceValue(func() *template.Template {
	return template.Must(template.New("chart").Parse(`<svg class="chart" role="img" viewBox="0 0 {{.Width}} {{.Height}}" width="{{.Width}}" height="{{.Height}}" aria-labelledby="{{.ID}}-title {{.ID}}-text">
<title id="{{.ID}}-title">{{.Title}}</title><desc id="{{.ID}}-text">{{.Text}}</desc>
{{$d := .}}{{range .Lines}}<line class="axis" x1="{{$d.Left}}" x2="{{$d.End}}" y1="{{.Y}}" y2="{{.Y}}"/><text x="4" y="{{.Y}}" dy="4">{{.Text}}</text>
{{end}}{{range .Rects}}<rect class="{{.Class}}" x="{{.X}}" y="{{.Y}}" width="{{.W}}" height="{{.H}}"><title>{{.Title}}</title></rect>
{{end}}{{with .NowX}}<line class="now" x1="{{.}}" x2="{{.}}" y1="4" y2="{{$d.Base}}"/>
{{end}}{{range .Labels}}<text x="{{.X}}" y="{{$d.Base}}" dy="18" text-anchor="middle">{{.Text}}</text>
{{end}}</svg>`))
})
