package estimate

import (
	"fmt"
	"html/template"
	"strconv"
	"strings"
	"sync"
	"time"

	"prescient/prescient"
	"prescient/slots"
)

// The measures of a drawing.
const (
	left, right, top, bottom = 56, 24, 40, 44
	wide, high               = 720, 240
	marks                    = 6
)

// drawn is a curve as its template has it.
type drawn struct {
	Title, Text          string
	Width, Height        int
	Left, End, Top, Base int
	Happened, Reported   string // points of polylines
	Rows                 []mark
	Columns, Checks      []mark
}

type mark struct{ At, Text string }

// SVG draws when it happens, by age, with a line for each check that is advised, for a file of its own.
func (a Advice) SVG(title string) (string, error) {
	if a.Curve == nil {
		return "", fmt.Errorf("%w: there is no curve to draw: %s", prescient.ErrInvalid, a.None)
	}
	var out strings.Builder
	if err := drawing().Execute(&out, a.draw(title)); err != nil {
		return "", fmt.Errorf("drawing a curve: %w", err)
	}
	return out.String(), nil
}

func (a Advice) draw(title string) drawn {
	d := drawn{Title: title, Width: left + wide + right, Height: top + high + bottom, Left: left, End: left + wide, Top: top, Base: top + high,
		Text: fmt.Sprintf("What has happened by an age. Of %d checks %d were found to have, and %d reported. Upright lines are the checks that are advised.", a.Checks, a.Found, a.Reported)}
	last := a.length(a.Inserted())
	x := func(age float64) string { return short(left + wide*age/last) }
	y := func(share float64) string { return short(top + high*(1-share)) }
	var happened, reported []string
	const steps = 360
	for i := range steps + 1 {
		age := last * float64(i) / steps
		by, told := a.Happened(duration(age))
		happened, reported = append(happened, x(age)+","+y(by)), append(reported, x(age)+","+y(told))
	}
	d.Happened = strings.Join(happened, " ")
	if a.Reported > 0 {
		d.Reported = strings.Join(reported, " ")
	}
	for _, percent := range []int{0, 25, 50, 75, 100} {
		d.Rows = append(d.Rows, mark{y(float64(percent) / 100), fmt.Sprintf("%d %%", percent)})
	}
	for i := range marks + 1 {
		age := last * float64(i) / marks
		d.Columns = append(d.Columns, mark{x(age), slots.Short(duration(age).Round(time.Minute))})
	}
	for _, age := range a.Ages {
		if float64(age) <= last {
			d.Checks = append(d.Checks, mark{x(float64(age)), "checked at " + slots.Short(time.Duration(age)*time.Second)})
		}
	}
	return d
}

// length is up to which age is drawn: nearly all that happens.
func (a Advice) length(inserted time.Time) float64 {
	last := a.Curve.Points[len(a.Curve.Points)-1]
	for _, age := range a.Ages {
		if by, _ := a.Curve.Happened(inserted, time.Duration(age)*time.Second); by >= 0.99*last.Happened {
			return float64(age) * 1.02
		}
	}
	return float64(last.AgeSeconds)
}

func short(f float64) string { return strconv.FormatFloat(f, 'f', 1, 64) }

var drawing = sync.OnceValue(func() *template.Template {
	return template.Must(template.New("curve").Parse(`<svg xmlns="http://www.w3.org/2000/svg" role="img" viewBox="0 0 {{.Width}} {{.Height}}" width="{{.Width}}" height="{{.Height}}" font-family="sans-serif" font-size="12" aria-labelledby="title text">
<title id="title">{{.Title}}</title><desc id="text">{{.Text}}</desc>
<rect width="{{.Width}}" height="{{.Height}}" fill="white"/><text x="{{.Left}}" y="22" font-size="14">{{.Title}}</text>
{{$d := .}}{{range .Rows}}<line x1="{{$d.Left}}" x2="{{$d.End}}" y1="{{.At}}" y2="{{.At}}" stroke="#dddddd"/><text x="{{$d.Left}}" y="{{.At}}" dx="-6" dy="4" text-anchor="end">{{.Text}}</text>
{{end}}{{range .Columns}}<text x="{{.At}}" y="{{$d.Base}}" dy="18" text-anchor="middle">{{.Text}}</text>
{{end}}{{range .Checks}}<line x1="{{.At}}" x2="{{.At}}" y1="{{$d.Top}}" y2="{{$d.Base}}" stroke="#c05020" stroke-dasharray="4 3"><title>{{.Text}}</title></line>
{{end}}{{with .Reported}}<polyline points="{{.}}" fill="none" stroke="#909090" stroke-width="1.5"><title>reported by the app</title></polyline>
{{end}}<polyline points="{{.Happened}}" fill="none" stroke="#2060a0" stroke-width="2"><title>happened</title></polyline>
</svg>
`))
})
