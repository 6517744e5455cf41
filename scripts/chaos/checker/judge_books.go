package checker

import (
	"slices"
	"time"

	"prescient/scripts/chaos/checker/evidence"
)

// books decides whether the ledger of the slots agrees with history, and nobody holds a bucket any more.
func (j *judgement) books() {
	type end struct {
		slot    time.Time
		outcome string
	}
	history, behind := make(map[end]int), make(map[end]int) // how many of them may be in no books
	for _, e := range j.tables.Ended {
		history[end{e.Slot, e.Outcome}]++
		if s := j.stories[e.ID]; s != nil && j.isLong(s) && j.leftBehind(e) {
			behind[end{e.Slot, e.Outcome}]++
		}
	}
	for _, job := range slices.Concat(j.tables.Schedules.Jobs, j.tables.Jobs.Ends) {
		if job.Outcome != "" {
			history[end{job.Slot, job.Outcome}]++
			if j.rules.Long[job.Exec] && j.leftBehind(job.Ended) {
				behind[end{job.Slot, job.Outcome}]++
			}
		}
	}
	agree := func(at end, n int) bool { return n <= history[at] && n >= history[at]-behind[at] }
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
		if !agree(at, n) {
			j.find("books", 0, "slot %s: %d %s in the ledger, %d in history", at.slot.Format(time.TimeOnly), n, at.outcome, history[at])
		}
	}
	for at, n := range history {
		if _, there := booked[at]; !there && !agree(at, 0) && at.outcome != "cancelled" && at.outcome != superseded {
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
		if !agree(at, n) {
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

// leftBehind says whether a run may have ended on a shard that has no books of its slot, since those stayed on the shard that was divided meanwhile.
func (j *judgement) leftBehind(e evidence.Ended) bool {
	return slices.ContainsFunc(j.faults, func(f Event) bool {
		began, _ := j.clock.at(f.At)
		_, over := j.clock.at(f.At + f.Took)
		return f.What == Divided && e.At.After(began) && e.Slot.Before(over)
	})
}
