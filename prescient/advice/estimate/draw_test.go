package estimate

import (
	"encoding/xml"
	"errors"
	"io"
	"math/rand/v2"
	"strings"
	"testing"
	"time"

	"prescient/prescient"
)

func TestACurveIsDrawnForAFileOfItsOwn(t *testing.T) {
	m := made{first: between(time.Hour, 2*time.Hour), every: time.Hour, answers: 50, happens: inTwoBouts, reports: 0.3}
	a := Advise(m.checks(t, rand.New(rand.NewPCG(1, 2)), 800), Question{Slot: quarter})
	svg, err := a.SVG(`order-unshipped <script> & "order"`)
	if err != nil {
		t.Fatal(err)
	}
	elements := make(map[string]int)
	for decoder := xml.NewDecoder(strings.NewReader(svg)); ; {
		token, err := decoder.Token()
		if errors.Is(err, io.EOF) {
			break
		}
		if err != nil {
			t.Fatalf("%v in %s", err, svg)
		}
		if start, is := token.(xml.StartElement); is {
			elements[start.Name.Local]++
		}
	}
	if elements["script"] != 0 || elements["polyline"] != 2 || elements["line"] < 5+2 || strings.Contains(svg, "NaN") || !strings.Contains(svg, "&lt;script&gt;") {
		t.Errorf("%v in %s", elements, svg)
	}
	if _, err := (Advice{None: "too few"}).SVG("x"); !errors.Is(err, prescient.ErrInvalid) {
		t.Error(err)
	}
}
