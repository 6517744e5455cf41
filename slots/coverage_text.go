package slots

import (
	"fmt"
	"slices"
	"strconv"
	"strings"
	"time"
)

// How much of a long list is spelled out.
const (
	maxSlotsListed    = 12
	maxOverlapsListed = 4
)

// String says in one or two lines which slots are not served and which are
// served more than once, naming an assignment by its number and text. See
// [Coverage.Describe].
func (c Coverage) String() string {
	return c.Describe(func(i int) string {
		if i < len(c.assignments) {
			return fmt.Sprintf("assignment %d (%s)", i, c.assignments[i])
		}
		return "assignment " + strconv.Itoa(i)
	})
}

// Describe says in one or two lines, without a newline at the end, which slots
// are not served and which are served more than once; name gives the name of an
// assignment by its number, such as that of the worker that has it.
//
// A slot is named by its minute (":15", or ":15:20" where seconds are needed)
// if the period divides an hour, by its time of day ("13:15 UTC") if it divides
// a day, and otherwise by its offset in a period counted from the Unix epoch.
// Of a long list the beginning is spelled out and the rest counted.
func (c Coverage) Describe(name func(assignment int) string) string {
	var lines []string
	if len(c.Unserved) > 0 {
		lines = append(lines, "nobody serves "+c.list(c.Unserved))
	}
	if len(c.Doubled) > 0 {
		lines = append(lines, c.listOverlaps(name))
	}
	if len(lines) == 0 {
		return "every slot is served exactly once"
	}
	return strings.Join(lines, "\n")
}

// listOverlaps gathers the slots that the same assignments serve.
func (c Coverage) listOverlaps(name func(int) string) string {
	type group struct {
		assignments []int
		offsets     []time.Duration
	}
	var groups []*group
	byAssignments := map[string]*group{}
	for _, overlap := range c.Doubled {
		key := fmt.Sprint(overlap.Assignments)
		if byAssignments[key] == nil {
			byAssignments[key] = &group{assignments: overlap.Assignments}
			groups = append(groups, byAssignments[key])
		}
		byAssignments[key].offsets = append(byAssignments[key].offsets, overlap.Offset)
	}
	var texts []string
	for _, group := range groups[:min(len(groups), maxOverlapsListed)] {
		var names []string
		for _, assignment := range group.assignments {
			names = append(names, name(assignment))
		}
		together := " both serve "
		if len(names) > 2 {
			together = " all serve "
		}
		texts = append(texts, enumerate(names)+together+c.list(group.offsets))
	}
	if more := len(groups) - maxOverlapsListed; more > 0 {
		texts = append(texts, fmt.Sprintf("%d more combinations share slots", more))
	}
	return strings.Join(texts, "; ")
}

func (c Coverage) list(offsets []time.Duration) string {
	switch {
	case c.repeatsIn(time.Hour):
		return c.listWithin(time.Hour, offsets, func(offset time.Duration) string {
			return ":" + clock(offset, time.Minute)
		})
	case c.repeatsIn(24 * time.Hour):
		return c.listWithin(24*time.Hour, offsets, func(offset time.Duration) string {
			return clock(offset, time.Hour)
		}) + " UTC"
	default:
		return c.listWithin(c.Period, offsets, func(offset time.Duration) string {
			return "+" + offset.String()
		}) + " of every " + c.Period.String() + " since 1970-01-01 UTC"
	}
}

func (c Coverage) repeatsIn(window time.Duration) bool {
	return c.Period > 0 && window%c.Period == 0
}

// listWithin repeats the offsets of one period until the window is full.
func (c Coverage) listWithin(window time.Duration, offsets []time.Duration, label func(time.Duration) string) string {
	var labels []string
	for start := time.Duration(0); start < window && len(labels) < maxSlotsListed; start += c.Period {
		for _, offset := range offsets[:min(len(offsets), maxSlotsListed-len(labels))] {
			labels = append(labels, label(start+offset))
		}
	}
	if more := len(offsets)*int(window/c.Period) - len(labels); more > 0 {
		return fmt.Sprintf("%s and %d more", strings.Join(labels, ", "), more)
	}
	return strings.Join(labels, ", ")
}

// clock writes an offset in two-digit fields, from the given unit down to
// minutes, or to seconds where there are any.
func clock(offset, unit time.Duration) string {
	var fields []string
	for _, u := range []time.Duration{time.Hour, time.Minute, time.Second} {
		if u > unit || u == time.Second && offset%time.Minute == 0 {
			continue
		}
		fields = append(fields, fmt.Sprintf("%02d", offset/u%60))
	}
	return strings.Join(fields, ":")
}

func enumerate(names []string) string {
	last := len(names) - 1
	return strings.Join(slices.Concat([]string{strings.Join(names[:last], ", ")}, names[last:]), " and ")
}
