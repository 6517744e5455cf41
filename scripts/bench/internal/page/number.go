package page

import (
	"fmt"
	"maps"
	"slices"
	"strings"
)

// Median of numbers: of an even number of them half-way between the two in the middle; 0 of none.
func Median(list []float64) float64 {
	if len(list) == 0 {
		return 0
	}
	sorted := slices.Sorted(slices.Values(list))
	return (sorted[(len(sorted)-1)/2] + sorted[len(sorted)/2]) / 2
}

// Short writes a number as people say it.
func Short(n float64) string {
	switch {
	case n >= 1e6:
		return fmt.Sprintf("%.3gM", n/1e6)
	case n >= 1e4:
		return fmt.Sprintf("%.3gk", n/1e3)
	default:
		return fmt.Sprintf("%.4g", n)
	}
}

// FiguresText lists figures by name.
func FiguresText(figures map[string]float64) string {
	var parts []string
	for _, name := range slices.Sorted(maps.Keys(figures)) {
		parts = append(parts, fmt.Sprintf("%s %s", name, Short(figures[name])))
	}
	return strings.Join(parts, ", ")
}

// precise is a number with what matters of it.
func precise(n float64) string {
	if n < 10 {
		return fmt.Sprintf("%.2f", n)
	}
	return fmt.Sprintf("%.0f", n)
}

// Percentile of a sorted list.
func Percentile(sorted []float64, percent int) float64 {
	if len(sorted) == 0 {
		return 0
	}
	return sorted[max((len(sorted)*percent+99)/100, 1)-1]
}
