package main

import (
	"fmt"
	"html"
	"strings"
)

// bar of a chart.
type bar struct {
	name  string
	value float64
	label string
}

// chart is an SVG with a bar for each value. It brings its own background, so that it reads on any page.
func chart(title string, bars []bar) string {
	const left, width, step, top = 330, 420, 26, 44
	most := 1e-9
	for _, b := range bars {
		most = max(most, b.value)
	}
	height := top + step*len(bars) + 10
	var s strings.Builder
	fmt.Fprintf(&s, `<svg xmlns="http://www.w3.org/2000/svg" width="%[1]d" height="%[2]d" viewBox="0 0 %[1]d %[2]d" font-family="sans-serif" font-size="13">`+"\n", left+width+90, height)
	fmt.Fprintf(&s, `<rect width="100%%" height="100%%" fill="#fff"/><text x="10" y="24" font-weight="bold" fill="#222">%s</text>`+"\n", html.EscapeString(title))
	for i, b := range bars {
		y, length := top+step*i, b.value/most*width
		color := "#9aa5b1"
		if strings.HasPrefix(b.name, "prescient") {
			color = "#2f6fb0"
		}
		fmt.Fprintf(&s, `<text x="%d" y="%d" text-anchor="end" fill="#222">%s</text>`, left-8, y+14, html.EscapeString(b.name))
		fmt.Fprintf(&s, `<rect x="%d" y="%d" width="%.1f" height="18" fill="%s"/>`, left, y, length, color)
		fmt.Fprintf(&s, `<text x="%.1f" y="%d" fill="#222">%s</text>`+"\n", float64(left)+length+6, y+14, html.EscapeString(b.label))
	}
	s.WriteString("</svg>\n")
	return s.String()
}
