package chart

import (
	"encoding/xml"
	"errors"
	"io"
	"strings"
	"testing"
	"time"
)

var noon = time.Date(2026, 11, 20, 12, 0, 0, 0, time.UTC)

func four() Bars {
	return Bars{ID: "c", Title: `<script>"x"`, Text: "Four slots", Label: "15:04", Now: noon.Add(40 * time.Minute), Bars: []Bar{
		{At: noon, Title: "12:00 & <b>", Parts: []Part{{"served", 150}}}, {At: noon.Add(15 * time.Minute), Title: "nobody", Hole: true},
		{At: noon.Add(30 * time.Minute), Parts: []Part{{"served", 1}, {"due", 99}}}, {At: noon.Add(45 * time.Minute), Parts: []Part{{"forecast", 0}}}}}
}

func TestAChartShowsWhatThereIsAndWhatIsMissing(t *testing.T) {
	d := four().draw()
	if len(d.Rects) != 4 || d.Rects[0].Class != "served" || d.Rects[1].Class != "hole" || d.Rects[2].H != "1.0" || d.Rects[3].Class != "due" {
		t.Errorf("%+v", d.Rects)
	}
	if len(d.Lines) != 3 || d.Lines[2].Text != "200" || d.Lines[1].Text != "100" {
		t.Errorf("%+v", d.Lines)
	}
	if len(d.Labels) != 4 || d.Labels[1].Text != "12:15" || d.NowX != "536.0" {
		t.Errorf("%+v, %s", d.Labels, d.NowX)
	}
}

func TestAChartIsWellFormedAndHasNoStyleOfItsOwn(t *testing.T) {
	svg, err := four().SVG()
	if err != nil {
		t.Fatal(err)
	}
	for decoder := xml.NewDecoder(strings.NewReader(string(svg))); ; {
		token, err := decoder.Token()
		if errors.Is(err, io.EOF) {
			break
		}
		if err != nil {
			t.Fatalf("%v in %s", err, svg)
		}
		start, is := token.(xml.StartElement)
		if !is {
			continue
		}
		if start.Name.Local == "script" || start.Name.Local == "style" {
			t.Error(start)
		}
		for _, a := range start.Attr {
			if a.Name.Local == "style" || strings.HasPrefix(a.Name.Local, "on") {
				t.Errorf("%v", start)
			}
		}
	}
}

func TestTheTopOfAChartIsEasilyHalved(t *testing.T) {
	for n, want := range map[int64]int64{0: 1, 1: 1, 3: 4, 5: 10, 39: 40, 41: 100, 2_000_001: 4_000_000} {
		if got := (Bars{Bars: []Bar{{Parts: []Part{{"due", n}}}}}).most(); got != want {
			t.Errorf("%d: %d; want %d", n, got, want)
		}
	}
	for n, want := range map[int64]string{0: "0", 999: "999", 1500: "1.5k", 2_000_000: "2M"} {
		if got := short(n); got != want {
			t.Errorf("%s; want %s", got, want)
		}
	}
	if d := (Bars{}).draw(); len(d.Rects) != 0 || d.NowX != "" {
		t.Errorf("%+v", d)
	}
}
