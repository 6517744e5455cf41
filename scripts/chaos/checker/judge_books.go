package checker

import (
	"slices"
	"time"
)

// books decides whether the ledger of the slots agrees with history, and nobody holds a bucket any more.
func (j *judgement) books() {
	type end struct {
		slot    time.Time
		outcome string
	}
	history := make(map[end]int)
	for _, e := range j.tables.Ended {
		history[end{e.Slot, e.Outcome}]++
	}
	for _, job := range slices.Concat(j.tables.Schedules.Jobs, j.tables.Jobs.Ends) {
		if job.Outcome != "" {
			history[end{job.Slot, job.Outcome}]++
		}
	}
	booked := make(map[end]int)
	for _, r := range j.tables.Runs {
		for outcome, n := range r.ByOutcome {
			booked[end{r.Slot, outcome}] += n
		}
		// One that died between its last commit and the release, where that is by itself, leaves the bucket to lapse; empty, nobody takes it over.
		if r.Held && len(j.faults) == 0 {
			j.find("lease", 0, "bucket %d of slot %s is held, and no worker is there", r.Bucket, r.Slot.Format(time.TimeOnly))
		}
	}
	for at, n := range booked {
		if history[at] != n {
			j.find("books", 0, "slot %s: %d %s in the ledger, %d in history", at.slot.Format(time.TimeOnly), n, at.outcome, history[at])
		}
	}
	for at, n := range history {
		if _, there := booked[at]; !there && at.outcome != "cancelled" && at.outcome != superseded {
			j.find("books", 0, "slot %s: none %s in the ledger, %d in history", at.slot.Format(time.TimeOnly), at.outcome, n)
		}
	}
	if j.tables.Lines == nil {
		return
	}
	lines := make(map[end]int)
	for at := range history {
		if at.outcome != "cancelled" && at.outcome != superseded {
			lines[at] = 0
		}
	}
	calls, answered := make(map[string]int), make(map[string]int)
	for _, l := range j.tables.Lines {
		calls[l.JobExec] += l.Calls
		for outcome, n := range l.ByOutcome {
			lines[end{l.Slot, outcome}] += n
		}
		answered[l.JobExec] += l.ByOutcome["done"] + l.ByOutcome["max_checks"] + l.ByOutcome["past_return"] + l.ByOutcome["beyond_horizon"]
	}
	for at, n := range lines {
		if history[at] != n {
			j.find("exec-books", 0, "slot %s: %d %s in the books by job_exec, %d in history", at.slot.Format(time.TimeOnly), n, at.outcome, history[at])
		}
	}
	for exec, made := range j.made {
		// Calls that came to nothing are in no books: those of workers that died, of rows that stayed locked, and that were handed on.
		if calls[exec] > made || calls[exec] < answered[exec] {
			j.find("exec-books", 0, "%s: %d calls in the books by job_exec; %d were made, and %d checks ended by their answers", exec, calls[exec], made, answered[exec])
		}
	}
}
