package advice

import (
	"cmp"
	"fmt"
	"slices"
	"strings"

	"prescient/prescient"
	"prescient/prescient/advice/estimate"
)

// grouped gives advice on each job_exec and kind of entity, and says how many it does not name.
func grouped(rows []row, o Options) (groups []Group, further int) {
	type name struct{ jobExec, entity string }
	of := make(map[name][]estimate.Check)
	for _, row := range rows {
		n := name{row.jobExec, row.entity}
		if o.OtherCancels && row.check.Outcome == prescient.Cancelled {
			row.check.Outcome = prescient.Superseded // it had not happened as long as its answers say
		}
		of[n] = append(of[n], row.check)
	}
	groups = make([]Group, 0, len(of))
	for n := range of {
		groups = append(groups, Group{JobExec: n.jobExec, Entity: n.entity})
	}
	slices.SortFunc(groups, func(x, y Group) int {
		return cmp.Or(cmp.Compare(len(of[name{y.JobExec, y.Entity}]), len(of[name{x.JobExec, x.Entity}])), strings.Compare(x.JobExec, y.JobExec), strings.Compare(x.Entity, y.Entity))
	})
	further = max(len(groups)-MaxNamed, 0)
	groups = groups[:len(groups)-further]
	advised := cmp.Or(o.MostGroups, MaxGroups)
	for i := range groups {
		checks := of[name{groups[i].JobExec, groups[i].Entity}]
		if i >= advised {
			groups[i].Checks, groups[i].None = len(checks), fmt.Sprintf("it is not one of the %d of most checks: ask for it by its name", advised)
			continue
		}
		groups[i].Advice = estimate.Advise(spread(checks, cmp.Or(o.MostChecks, MaxChecks)), o.Question)
	}
	return groups, further
}

// spread takes as many checks as are made use of, evenly from all.
func spread(checks []estimate.Check, most int) []estimate.Check {
	if len(checks) <= most {
		return checks
	}
	some := make([]estimate.Check, most)
	for i := range some {
		some[i] = checks[i*len(checks)/most]
	}
	return some
}
