package chart

import (
	"strings"
	"testing"
	"time"
)

func TestACurveGrowsFromLeftToRight(t *testing.T) {
	half := func(age time.Duration) float64 { return float64(age) / float64(2*time.Hour) }
	is := Curve{ID: "c", Title: "<script>", Text: "Half by an hour", Length: time.Hour, Every: 15 * time.Minute, Label: time.Duration.String, Lines: []Line{{Class: "happened", Title: "happened & <b>", Share: half}},
		Marks: []Mark{{30 * time.Minute, `checked "now"`}, {2 * time.Hour, "beyond the end"}}}
	got, err := is.SVG()
	if err != nil {
		t.Fatal(err)
	}
	for _, want := range []string{`points="56.0,172.0 59.0,171.7`, `776.0,92.0"`, "happened &amp; &lt;b&gt;", `<line class="mark" x1="416.0" x2="416.0"`, "checked &#34;now&#34;", ">30m0s<", ">1h0m0s<", "100 %", "&lt;script&gt;"} {
		if !strings.Contains(string(got), want) {
			t.Errorf("%q is missing in %s", want, got)
		}
	}
	if strings.Contains(string(got), "beyond") || strings.Contains(string(got), "style=") {
		t.Errorf("%s", got)
	}
	for _, odd := range []Curve{{Label: time.Duration.String}, {Label: time.Duration.String, Length: 1<<63 - 1, Every: 1}, {Label: time.Duration.String, Length: 1000 * time.Hour, Every: time.Nanosecond}, {Label: time.Duration.String, Length: time.Hour, Lines: []Line{{Share: func(time.Duration) float64 { return 7 }}}}} {
		if got, err := odd.SVG(); err != nil || strings.Contains(string(got), "NaN") || strings.Contains(string(got), ",-") {
			t.Errorf("%s, %v", got, err)
		}
	}
}
