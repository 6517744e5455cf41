package words

import (
	"strings"
)

// LongestComplaint is the longest line about an error, in characters: a value that is wrong may be of any length.
const LongestComplaint = 1000

// Complaint is what stands on stderr about an error: a line for each thing that is wrong.
func Complaint(program string, err error) string {
	var lines strings.Builder
	for line := range strings.SplitSeq(strings.TrimSpace(Of(err)), "\n") {
		lines.WriteString(program + ": " + Clip(line, LongestComplaint) + "\n")
	}
	return lines.String()
}
