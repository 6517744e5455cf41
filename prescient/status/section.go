package status

import (
	"strings"

	"prescient/prescient/doctor"
)

// Section is one of the questions that a report answers, in this order.
type Section string

// The sections.
const (
	Works Section = "works"
	Late  Section = "late"
	Fails Section = "fails"
	Waits Section = "waits"
	Next  Section = "next"
)

// Sections are all of them, in their order.
var Sections = []Section{Works, Late, Fails, Waits, Next}

// looks are the examinations of the doctor that a report has, and whose section each belongs to. The others look at what does not change in a
// night: settings, rights, the tables themselves.
var looks = []struct {
	code string
	of   Section
}{
	{"agents", Works}, {"missed", Works}, {"leases", Works},
	{"overdue", Late}, {"blocking", Late},
	{"failing", Fails}, {"put_off", Fails}, {"execs", Fails}, {"slower", Fails},
	{"paused", Waits}, {"schedules", Waits}, {"long_runs", Waits}, {"events", Waits}, {"notify", Waits},
	{"forecast", Next},
}

// sectionOf is the section of a finding; Works for what no look has, as that tables are missing.
func sectionOf(f doctor.Finding) Section {
	kind, _, _ := strings.Cut(f.Code, ".")
	for _, l := range looks {
		if l.code == kind {
			return l.of
		}
	}
	return Works
}

func codes() (list []string) {
	for _, l := range looks {
		list = append(list, l.code)
	}
	return list
}
