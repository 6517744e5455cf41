package page

import (
	"fmt"
	"html"
	"math"
	"strings"
)

// bar of a chart.
type bar struct {
	name  string
	value float64
	label string
}

// chart is an SVG with a bar for each value. It brings its own background, so that it reads on any page.
func chart(title string, bars []bar) string { return chartTo(title, bars, 0, math.Inf(1)) }

// chartTo is a chart with a line at a value, if it is not 0; bars that are longer than the limit are cut there.
func chartTo(title string, bars []bar, line, limit float64) string {
	const width, step, top = 420, 26, 44
	left := 330
	for _, b := range bars {
		left = max(left, 7*len([]rune(b.name))+20)
	}
	most := max(line, 1e-9)
	for _, b := range bars {
		most = max(most, min(b.value, limit))
	}
	height := top + step*len(bars) + 10
	var s strings.Builder
	fmt.Fprintf(&s, `<svg xmlns="http://www.w3.org/2000/svg" width="%[1]d" height="%[2]d" viewBox="0 0 %[1]d %[2]d" font-family="sans-serif" font-size="13">`+"\n", left+width+260, height)
	fmt.Fprintf(&s, `<rect width="100%%" height="100%%" fill="#fff"/><text x="10" y="24" font-weight="bold" fill="#222">%s</text>`+"\n", html.EscapeString(title))
	for i, b := range bars {
		y, length := top+step*i, min(b.value, limit)/most*width
		color := "#9aa5b1"
		if strings.HasPrefix(b.name, "prescient") || line > 0 && b.value >= line {
			color = "#2f6fb0"
		}
		fmt.Fprintf(&s, `<text x="%d" y="%d" text-anchor="end" fill="#222">%s</text>`, left-8, y+14, html.EscapeString(b.name))
		fmt.Fprintf(&s, `<rect x="%d" y="%d" width="%.1f" height="18" fill="%s"/>`, left, y, length, color)
		fmt.Fprintf(&s, `<text x="%.1f" y="%d" fill="#222">%s</text>`+"\n", float64(left)+length+6, y+14, html.EscapeString(b.label))
	}
	if line > 0 {
		x := float64(left) + line/most*width
		fmt.Fprintf(&s, `<line x1="%.1f" y1="%d" x2="%.1f" y2="%d" stroke="#c0392b" stroke-width="2"/>`+"\n", x, top-6, x, height-6)
	}
	s.WriteString("</svg>\n")
	return s.String()
}
