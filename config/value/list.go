package value

import (
	"strings"
)

// List joins words, the last by a conjunction: a, b and c.
func List(list []string, conjunction string) string {
	last := len(list) - 1
	if last < 1 {
		return strings.Join(list, "")
	}
	return strings.Join(list[:last], ", ") + " " + conjunction + " " + list[last]
}
