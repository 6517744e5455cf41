// Package jobs decides whether runs of jobs of steps kept their promises: from the calls of their steps, which a journal has, and from what the tables
// hold at the end. The rules are named in package checker.
package jobs

import (
	"cmp"
	"fmt"
	"maps"
	"slices"
	"time"

	"prescient/scripts/chaos/checker/evidence"
)

// Rules are what a job is.
type Rules struct {
	// Steps are those of each job, in their order, and Tx is the one whose effect commits with it.
	Steps []string
	Tx    string
	// Broke says that something was broken, and Explains whether that explains that a call was repeated.
	Broke    bool
	Explains func(before, again Call) bool
}

// Call is a call of a step, as it was told before and after it did its work.
type Call struct {
	Worker  string
	Step    string
	Seq     int
	Version uint64
	At      time.Duration
	// Returned is when it returned; 0 for never. Failed says that it did with an error.
	Returned time.Duration
	Failed   bool
}

// Finding is a promise that was not kept.
type Finding struct{ Rule, Text string }

// Report is the verdict.
type Report struct {
	Runs     int // that began
	Done     int
	Steps    int // calls
	Again    int // calls of a step after another
	Versions int // that runs had
	Effects  int
}

// judgement is a verdict in the making.
type judgement struct {
	rules    Rules
	report   Report
	findings []Finding
}

// jobRun is all that is known of a run of a job.
type jobRun struct {
	of      evidence.RunOf
	calls   []Call
	log     *evidence.JobRun
	lines   []evidence.StepCall
	ends    []evidence.ScheduleJob
	effects int
}

// Judge decides about the runs of jobs. calls are those of the steps of each.
func Judge(rules Rules, calls map[evidence.RunOf][]Call, tables evidence.Jobs) (Report, []Finding) {
	j := &judgement{rules: rules}
	runs := make(map[evidence.RunOf]*jobRun)
	run := func(of evidence.RunOf) *jobRun {
		if runs[of] == nil {
			runs[of] = &jobRun{of: of}
		}
		return runs[of]
	}
	for of, some := range calls {
		run(of).calls = some
	}
	for _, log := range tables.Runs {
		run(log.RunOf).log = &log
	}
	for _, line := range tables.Calls {
		r := run(line.RunOf)
		r.lines = append(r.lines, line)
	}
	for _, e := range tables.Ends {
		if e.Tag != "" { // of a run, and not of its timer
			r := run(evidence.RunOf{Job: e.Schedule[len("job/"):], Occurrence: e.Tag})
			r.ends = append(r.ends, e)
		}
	}
	for _, of := range tables.Effects {
		run(of).effects++
	}
	versions := make(map[string]bool)
	for _, of := range slices.SortedFunc(maps.Keys(runs), func(a, b evidence.RunOf) int {
		return cmp.Or(cmp.Compare(a.Job, b.Job), cmp.Compare(a.Occurrence, b.Occurrence))
	}) {
		r := runs[of]
		slices.SortStableFunc(r.calls, func(a, b Call) int { return cmp.Compare(a.At, b.At) })
		for _, c := range r.calls {
			versions[fmt.Sprint(of.Job, c.Version)] = true
		}
		j.steps(r)
		j.effects(r)
		j.log(r)
	}
	j.report.Versions = len(versions)
	return j.report, j.findings
}

func (j *judgement) find(rule string, r *jobRun, format string, args ...any) {
	j.findings = append(j.findings, Finding{rule, fmt.Sprintf("run %s of job %s: ", r.of.Occurrence, r.of.Job) + fmt.Sprintf(format, args...)})
}

// isDone says whether a call of a step came to its end by itself.
func (c Call) isDone() bool { return c.Returned > 0 && !c.Failed }

// steps decides about the calls of steps: each begins when the one before it has ended, is repeated only where it failed or something
// broke, and all of a run are of one version.
func (j *judgement) steps(r *jobRun) {
	latest := make(map[string]Call)
	ended := make(map[string]bool)
	for i, c := range r.calls {
		j.report.Steps++
		at := slices.Index(j.rules.Steps, c.Step)
		if at > 0 && !slices.ContainsFunc(r.calls[:i], func(o Call) bool { return o.Step == j.rules.Steps[at-1] && o.isDone() && o.Returned <= c.At }) {
			j.find("step-order", r, "%s called %s, and %s had not ended", c.Worker, c.Step, j.rules.Steps[at-1])
		}
		if c.Version != r.calls[0].Version {
			j.find("step-version", r, "%s called %s by version %d, and it began with %d", c.Worker, c.Step, c.Version, r.calls[0].Version)
		}
		before, again := latest[c.Step]
		latest[c.Step] = c
		if again {
			j.report.Again++
			if !before.Failed && !j.rules.Explains(before, c) && c.Step != j.rules.Tx { // a transaction may be rolled back, and what it did with it
				j.find("step-twice", r, "%s called %s again %s after %s did, and neither a fault nor a failure was between", c.Worker, c.Step, c.At-before.At, before.Worker)
			}
		}
		ended[c.Step] = ended[c.Step] || c.isDone()
	}
	if len(r.ends) == 0 || r.ends[0].Outcome != "done" {
		return
	}
	j.report.Done++
	for _, step := range j.rules.Steps {
		if !ended[step] {
			j.find("step-lost", r, "it ended as done, and %s never came to its end", step)
		}
	}
}

// effects decides whether the effect of a step that commits with it is there once.
func (j *judgement) effects(r *jobRun) {
	j.report.Effects += r.effects
	passed := len(r.ends) > 0 && r.ends[0].Outcome == "done" || slices.ContainsFunc(r.calls, func(c Call) bool {
		return slices.Index(j.rules.Steps, c.Step) > slices.Index(j.rules.Steps, j.rules.Tx)
	})
	if r.effects > 1 || passed && r.effects == 0 {
		j.find("step-effect", r, "the effect of %s is there %d times", j.rules.Tx, r.effects)
	}
}

// log decides whether the logs agree with history, and with what was called.
func (j *judgement) log(r *jobRun) {
	if len(r.calls) > 0 || r.log != nil && r.log.Version > 0 {
		j.report.Runs++
	}
	if len(r.ends) > 1 {
		j.find("step-log", r, "it ended %d times, as %v", len(r.ends), r.ends)
	}
	switch broke := j.rules.Broke; {
	case r.log == nil:
		if len(r.ends) == 0 || r.ends[0].Outcome != "crashed" || !broke { // where it killed its worker nobody else tells
			j.find("step-log", r, "it is not in the log; %d calls, ended as %v", len(r.calls), r.ends)
		}
	case len(r.ends) == 0 && r.log.Ended:
		j.find("step-log", r, "it ended as %s by the log, and not by history", r.log.Result)
	case len(r.ends) > 0 && r.log.Result != r.ends[0].Outcome && (r.ends[0].Outcome != "crashed" || !broke):
		j.find("step-log", r, "it ended as %s by history, and as %q by the log", r.ends[0].Outcome, r.log.Result)
	}
	for i, line := range r.lines {
		switch {
		case line.Seq != i+1:
			j.find("step-log", r, "call %d of a step stands where %d should", line.Seq, i+1)
			return
		case i < len(r.lines)-1 && !line.Ended, r.log != nil && r.log.Result == "done" && !line.Ended:
			j.find("step-log", r, "call %d, of %s, has not ended", line.Seq, line.Step)
		}
	}
	for _, c := range r.calls {
		if c.Seq < 1 || c.Seq > len(r.lines) || r.lines[c.Seq-1].Step != c.Step {
			j.find("step-log", r, "%s was called as call %d, which the log does not say", c.Step, c.Seq)
		}
	}
}
