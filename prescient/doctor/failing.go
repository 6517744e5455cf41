package doctor

import (
	"context"
	"fmt"
	"strings"
	"time"

	"prescient/prescient/agent"
	"prescient/prescient/stats"
	"prescient/slots"
)

const (
	// DefaultFailing is the percentage of failed calls from which on they are a finding.
	DefaultFailing = 10
	// DefaultFailingCalls is how many have to fail for that.
	DefaultFailingCalls = 10
)

// failingBad is the percentage of calls that fail from which on that is bad, while calls fail in the latest slot that has some.
const failingBad = 50

// examineFailing looks for job_execs of whose calls many fail.
func (l *look) examineFailing(ctx context.Context) {
	report, err := stats.Lately(ctx, l.db, &l.tables, l.now)
	if l.err = err; err != nil {
		return
	}
	for _, e := range report.Execs {
		l.judgeFailing(e, report.From, stats.LatelyFor(l.tables.Grid))
	}
	var parts []string
	if report.Cut {
		parts = []string{"the slots from " + slots.Stamp(report.From) + " on"}
	}
	l.orPart("failing", fmt.Sprintf("of the last %s, no job_exec has %d failed calls that are %d %% of its calls", stats.LatelyFor(l.tables.Grid), l.options.FailingCalls, l.options.Failing), parts)
}

// judgeFailing judges the calls of a job_exec in the time from then on, lately long. What was mended is no longer bad, and said until that time has no
// slot of it.
func (l *look) judgeFailing(e stats.Exec, from time.Time, lately time.Duration) {
	percent := 100 * e.Share()
	if e.Errors < uint64(l.options.FailingCalls) || percent < float64(l.options.Failing) {
		return
	}
	text := fmt.Sprintf("%s: %s of %s calls since %s failed (%.1f %%)", e.JobExec, many(int(e.Errors)), many(int(e.Calls)), slots.Stamp(from), percent)
	if e.FailsSince != nil {
		text += ", some in each slot since " + slots.Stamp(*e.FailsSince)
	} else if e.FailedLast != nil {
		text += fmt.Sprintf(", none in its latest slot: the last did in that of %s. While no more fail, this is said until %s at the latest", slots.Stamp(*e.FailedLast), slots.Stamp(e.FailedLast.Add(lately)))
	}
	text += "."
	if len(e.Reasons) > 0 {
		r := e.Reasons[0]
		line, _, _ := strings.Cut(r.Example.Error, "\n")
		text += fmt.Sprintf(" The commonest reason, of %s: %s. One of them is %s: %s", many(int(r.Checks)), r.Text, r.Example.EntityKey, line)
	}
	f := warn("failing", text, fmt.Sprintf("See `stats --exec %[1]s`, and mend what the error names. `pause %[1]s` keeps its checks until then.", e.JobExec)).about(e.JobExec)
	if percent >= failingBad && e.FailsSince != nil {
		f.Severity = SeverityBad
	}
	l.say(f)
}

// examineExecs looks for job_execs that workers have in two ways at once.
func (l *look) examineExecs(ctx context.Context) {
	const most = 1000
	var several []struct {
		JobExec string    `db:"job_exec"`
		Ways    int       `db:"ways"`
		Since   time.Time `db:"since"`
		Workers string    `db:"workers"`
	}
	l.rows(ctx, &several, "operate/exec_ways", l.now.Add(-agent.ExecKnownFor), l.now.Add(-agent.ExecKnownFor), most)
	for _, s := range several {
		l.say(warn("execs", fmt.Sprintf("Workers have the job_exec %s in %d ways, since %s: its form or its guards differ. Those that said so last: %s.", s.JobExec, s.Ways, slots.Stamp(s.Since), s.Workers),
			"See that all workers run the same version, with the same configuration: `agents` has their versions. exec_known has the guards of each.").about(s.JobExec))
	}
	l.orFine(ctx, "execs", "all workers have their job_execs in the same form, with the same guards")
}
