package checker

import (
	"cmp"
	"maps"
	"regexp"
	"slices"
	"strings"
	"time"

	"prescient/scripts/chaos/checker/evidence"
)

// Summed is the verdict's part about the rollup.
type Summed struct {
	Ends  int // that history had
	Hours int // in so many hours
	Days  int // that were made of hours
}

// kind is what a line of the rollup is about.
type kind struct {
	start                        time.Time
	jobExec, entityName, outcome string
}

func (k kind) String() string {
	names := strings.Trim(strings.Join([]string{k.jobExec, k.entityName, k.outcome}, " "), " ")
	return k.start.Format("2006-01-02 15:04") + " " + cmp.Or(names, "in all")
}

// summed is what such a line has.
type summed struct{ ends, started, runMS int }

// identifier is a name that the rollup tells apart; others are among the rest.
var identifier = regexp.MustCompile(`^[A-Za-z0-9_.-]{1,64}$`)

const otherNames = "(other)"

// sums decides whether the rollup says what history does, and history what became of the checks.
func (j *judgement) sums() {
	t := j.tables.Sums
	if t == nil {
		return
	}
	hours, days, noted := make(map[kind]summed), make(map[kind]summed), make(map[kind]summed)
	why, ran, ended := make(map[kind]summed), make(map[kind]summed), make(map[kind]summed)
	for _, s := range t.History {
		k := kind{s.Start, s.JobExec, s.EntityName, s.Outcome}
		switch {
		case !identifier.MatchString(k.jobExec):
			k.jobExec, k.entityName = otherNames, otherNames
		case !identifier.MatchString(k.entityName):
			k.entityName = otherNames
		}
		all := summed{s.Ends, s.Started, s.RunMS}
		add(hours, k, all)
		add(noted, kind{start: k.start}, summed{ends: s.Ends})
		if k.outcome != "done" {
			add(why, kind{start: k.start}, summed{ends: s.Ends})
		}
		if s.Started > 0 {
			add(ran, kind{start: k.start, jobExec: k.jobExec, entityName: k.entityName}, summed{started: s.Started})
		}
		if k.entityName == j.rules.Entity {
			add(ended, kind{jobExec: k.jobExec, outcome: k.outcome}, summed{ends: s.Ends})
		}
		k.start = k.start.Truncate(24 * time.Hour)
		add(days, k, all)
		j.report.Summed.Ends += s.Ends
	}
	j.report.Summed.Hours, j.report.Summed.Days = len(noted), len(daysOf(t.Days))
	j.compare("the sums of an hour have", hours, bySum(t.Hours))
	j.compare("the sums of a day have", days, bySum(t.Days))
	j.compare("stats_hour has", noted, withEnds(bySum(t.Noted)))
	j.compare("the reasons of an hour have", why, bySum(t.Why))
	j.compare("the run times of an hour have", ran, bySum(t.Ran))
	known := make(map[kind]summed)
	for id, s := range j.stories {
		for _, e := range s.ended {
			if id >= 0 && s.insert.Exec != "" {
				add(known, kind{jobExec: s.insert.Exec, outcome: e.Outcome}, summed{ends: 1})
			}
		}
	}
	for _, k := range kindsOf(known, ended) {
		if known[k] != ended[k] {
			j.find("rollup", 0, "%s %s: %d ended as the journal knows, and %d in the hours of history", k.jobExec, k.outcome, known[k].ends, ended[k].ends)
		}
	}
}

// compare finds where sums differ from history.
func (j *judgement) compare(about string, history, sums map[kind]summed) {
	for _, k := range kindsOf(history, sums) {
		if want, got := history[k], sums[k]; got != want {
			j.find("rollup", 0, "%s: %s %d ends, %d with a call and %d ms; history has %d, %d and %d", k, about, got.ends, got.started, got.runMS, want.ends, want.started, want.runMS)
		}
	}
}

func add(to map[kind]summed, k kind, more summed) {
	of := to[k]
	to[k] = summed{of.ends + more.ends, of.started + more.started, of.runMS + more.runMS}
}

func bySum(list []evidence.Sum) map[kind]summed {
	all := make(map[kind]summed)
	for _, s := range list {
		add(all, kind{s.Start, s.JobExec, s.EntityName, s.Outcome}, summed{s.Ends, s.Started, s.RunMS})
	}
	return all
}

// withEnds leaves out hours that were summed up and had no ends.
func withEnds(all map[kind]summed) map[kind]summed {
	maps.DeleteFunc(all, func(_ kind, s summed) bool { return s.ends == 0 })
	return all
}

func daysOf(list []evidence.Sum) map[time.Time]bool {
	days := make(map[time.Time]bool)
	for _, s := range list {
		days[s.Start] = true
	}
	return days
}

// kindsOf are those of either, in order.
func kindsOf(a, b map[kind]summed) []kind {
	all := maps.Clone(a)
	maps.Copy(all, b)
	return slices.SortedFunc(maps.Keys(all), func(a, b kind) int { return cmp.Or(a.start.Compare(b.start), cmp.Compare(a.String(), b.String())) })
}
