package file

import (
	"fmt"
	"slices"
	"strings"
)

// Counts are how many entries of each kind a file has.
type Counts map[Kind]int

// kinds are all of them, with the words for several and the command that takes them.
var kinds = []struct {
	kind          Kind
	many, command string
}{{Schedule, "schedules", "schedule import"}, {Job, "jobs", "job import"}, {Step, "steps", "job import"}, {Rule, "rules", "rule import"}}

// Named names the kinds that are there, and those that are wanted: schedules, jobs and steps.
func (c Counts) Named(wanted ...Kind) string {
	var all []string
	for _, k := range kinds {
		if c[k.kind] > 0 && !slices.Contains(wanted, k.kind) && (k.kind == Job || k.kind == Step) { // which stand for one another
			wanted = append(wanted, Job, Step)
		}
	}
	for _, k := range kinds {
		if c[k.kind] > 0 || slices.Contains(wanted, k.kind) {
			all = append(all, k.many)
		}
	}
	if len(all) < 2 {
		return strings.Join(all, "")
	}
	return strings.Join(all[:len(all)-1], ", ") + " and " + all[len(all)-1]
}

// Left says which command takes what is of another kind than is wanted.
func (c Counts) Left(wanted ...Kind) (lines []string) {
	others := make(Counts)
	for kind, n := range c {
		if kind != "" && !slices.Contains(wanted, kind) {
			others[kind] = n
		}
	}
	for i, k := range kinds {
		n := others[k.kind]
		if k.kind == Job {
			n += others[Step]
		}
		if n > 0 && (i == 0 || k.command != kinds[i-1].command) {
			lines = append(lines, fmt.Sprintf("the %s of the file (%d) are left to %s", Counts{k.kind: n}.Named(), n, k.command))
		}
	}
	return lines
}
