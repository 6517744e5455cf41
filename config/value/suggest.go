package value

import (
	"slices"
)

// Suggestion returns "; did you mean …?" if one of the known names is near to the one given.
func Suggestion(given string, known []string) string {
	if len(given) > 80 {
		return ""
	}
	best, least := "", 3
	for _, name := range known {
		if d := distance(given, name); d < least && 2*d < len(name) {
			best, least = name, d
		}
	}
	if best == "" {
		return ""
	}
	return "; did you mean " + best + "?"
}

// distance counts the bytes to insert, delete or replace to get from a to b.
func distance(a, b string) int {
	row := make([]int, len(b)+1)
	for j := range row {
		row[j] = j
	}
	for i := range len(a) {
		diagonal := row[0]
		row[0] = i + 1
		for j := range len(b) {
			replaced := diagonal
			if a[i] != b[j] {
				replaced++
			}
			diagonal = row[j+1]
			row[j+1] = slices.Min([]int{replaced, row[j] + 1, row[j+1] + 1})
		}
	}
	return row[len(b)]
}
