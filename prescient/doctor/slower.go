package doctor

import (
	"context"
	"fmt"

	"prescient/prescient/stats"
	"prescient/prescient/stats/drift"
)

// mostSlower is how many job_execs and steps are named that have become slower.
const mostSlower = 20

// examineSlower looks for job_execs and steps whose calls take longer than in their own last weeks.
func (l *look) examineSlower(ctx context.Context) {
	report, err := stats.SlowBy(ctx, l.db, &l.tables, l.now)
	if l.err = err; err != nil {
		return
	}
	for _, s := range report.Slower[:min(len(report.Slower), mostSlower)] {
		what, do := s.JobExec, fmt.Sprintf("See what changed then: a deployment, an index, how much there is to do. `stats --exec %s` has its calls of late.", s.JobExec)
		if s.Step != "" {
			what, do = fmt.Sprintf("step %s of job %s", s.Step, s.Job), "See what changed then: a deployment, an index, how much there is to do. `runs` has its calls."
		}
		how := "became slower"
		if s.Kind == drift.Gradual {
			how = "becomes slower day by day"
		}
		l.say(warn("slower", fmt.Sprintf("%s %s: half of its calls took up to %d ms before %s, and %d ms now (%+.0f %%).", what, how, s.FromMS, s.Since.Format("2006-01-02"), s.ToMS, 100*(s.Times()-1)), do).about(what))
	}
	var parts []string
	if report.Cut {
		parts = []string{"the latest days"}
	}
	l.orPart("slower", "no job_exec and no step takes longer than in its own last weeks", parts)
}
