package chart

import (
	"strings"
	"testing"
	"time"
)

func TestSpansStandOnOneLineOfTime(t *testing.T) {
	at := time.Date(2026, 11, 20, 13, 0, 0, 0, time.UTC)
	is := Spans{ID: "run", Title: "A run <b>", Text: "It took a while.", Rows: []Span{
		{Label: "dump", Title: "dump took 1 h", From: at, Until: at.Add(time.Hour), Class: "served"},
		{Label: `<script>alert("a long one")</script>`, From: at.Add(time.Hour), Until: at.Add(4 * time.Hour), Class: "missed"},
		{Label: "at once", From: at.Add(4 * time.Hour), Until: at.Add(4 * time.Hour), Class: "due"},
	}}
	got, err := is.SVG()
	if err != nil {
		t.Fatal(err)
	}
	for _, want := range []string{`x="160.0" y="15.0" width="180.0"`, `x="340.0" y="37.0" width="540.0"`, `x="880.0" y="59.0" width="2.0"`, "13:00:00", "17:00:00", "A run &lt;b&gt;", "dump took 1 h", "&lt;script&gt;alert(&#34;a long…", `height="108"`} {
		if !strings.Contains(string(got), want) {
			t.Errorf("%q is missing in %s", want, got)
		}
	}
	for _, none := range []Spans{{}, {Rows: []Span{{From: at, Until: at}}}, {Rows: []Span{{From: at.Add(time.Hour), Until: at}}}} {
		got, err := none.SVG()
		if err != nil || strings.Contains(string(got), "NaN") || strings.Contains(string(got), `width="-`) {
			t.Errorf("%s, %v", got, err)
		}
	}
}
