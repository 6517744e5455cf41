package checker

import (
	"maps"
	"slices"

	"prescient/scripts/chaos/checker/apart"
	"prescient/scripts/chaos/checker/evidence"
)

// keptApart decides about the runs of a schedule that are long, where all their starts are known.
func (j *judgement) keptApart(p *plan) {
	var runs []*apart.Run
	rules := apart.Rules{Resolution: j.rules.Resolution, Lease: j.rules.Lease, Within: j.stopsWithin(), MaxErrors: j.rules.MaxErrors, Held: j.heldFast,
		Find: func(rule string, r *apart.Run, format string, args ...any) {
			j.planFinds(rule, p, "the run of %s: "+format, append([]any{stamp(r.Due)}, args...)...)
		}}
	for _, tag := range slices.Sorted(maps.Keys(p.runs)) {
		r := p.runs[tag]
		if !j.isLong(r.story) || !j.tables.AllClaims {
			continue
		}
		starts := slices.DeleteFunc(slices.Clone(j.starts[p.id]), func(s evidence.Start) bool { return s.Tag != tag })
		for _, c := range r.calls {
			if !slices.ContainsFunc(starts, func(s evidence.Start) bool { return s.Token == c.Token && s.Agent == c.Worker }) {
				j.planFinds("fenced", p, "%s called the run of %s, which it was not given, under the token %d", c.Worker, stamp(c.Due), c.Token)
			}
		}
		slices.SortFunc(r.jobs, func(a, b evidence.ScheduleJob) int { return b.InsertedAt.Compare(a.InsertedAt) })
		for i, job := range r.jobs { // the last one first
			run := &apart.Run{Due: job.Due, Inserted: job.InsertedAt, Slot: job.Slot, Outcome: job.Outcome, Ended: job.At, Worker: job.Worker}
			for len(starts) > 0 && (i == len(r.jobs)-1 || !starts[len(starts)-1].At.Before(job.InsertedAt)) {
				last := starts[len(starts)-1]
				run.Calls, starts = slices.Insert(run.Calls, 0, j.toldOf(r.story, last)), starts[:len(starts)-1]
			}
			_, at := j.clock.at(j.last)
			if len(run.Calls) > 0 {
				at = run.Calls[0].First
			} else if job.Outcome != "" {
				at = job.At
			}
			run.Terms = p.termsAt(job.Due, at)
			runs = append(runs, run)
		}
	}
	rules.Judge(runs)
}
