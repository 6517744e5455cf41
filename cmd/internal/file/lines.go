package file

import (
	"slices"
	"strings"
)

// Lines is what tells one text from another, by lines: those that only the first has behind -, those that only the second has
// behind +, and all others. Nothing for two that are the same.
func Lines(before, after string) (lines []string) {
	if before == after {
		return nil
	}
	a, b := slices.Collect(strings.Lines(before)), slices.Collect(strings.Lines(after))
	// most[i][j] is how many lines a[i:] and b[j:] have in common.
	most := make([][]int, len(a)+1)
	for i := range most {
		most[i] = make([]int, len(b)+1)
	}
	for i := len(a) - 1; i >= 0; i-- {
		for j := len(b) - 1; j >= 0; j-- {
			if most[i][j] = max(most[i+1][j], most[i][j+1]); a[i] == b[j] {
				most[i][j] = most[i+1][j+1] + 1
			}
		}
	}
	line := func(sign, text string) { lines = append(lines, sign+strings.TrimSuffix(text, "\n")) }
	i, j := 0, 0
	for i < len(a) || j < len(b) {
		switch {
		case i < len(a) && j < len(b) && a[i] == b[j]:
			line("  ", a[i])
			i, j = i+1, j+1
		case j == len(b) || i < len(a) && most[i+1][j] >= most[i][j+1]:
			line("- ", a[i])
			i++
		default:
			line("+ ", b[j])
			j++
		}
	}
	return lines
}
