package prescienttest

import (
	"fmt"
	"strings"
	"time"

	"prescient/prescient"
	"prescient/prescient/client"
	"prescient/prescient/worker"
)

// Pending returns all that is pending, in the order in which it comes due.
func (k *Kit) Pending() []prescient.FutureJob {
	k.t.Helper()
	page, err := k.client.Pending(k.context(), k.db, client.ListFilter{Limit: client.MaxPage})
	k.must(err)
	return page
}

// Ended returns all ends, the latest first.
func (k *Kit) Ended() []client.Ended {
	k.t.Helper()
	page, err := k.client.History(k.context(), k.db, client.ListFilter{Limit: client.MaxPage})
	k.must(err)
	return page
}

// RequirePending ends the test unless a job_exec is pending for an entity, and returns its row. Where tags are given,
// only a row with one of them counts.
func (k *Kit) RequirePending(e prescient.Entity, jobExec string, tags ...string) prescient.FutureJob {
	k.t.Helper()
	for _, job := range k.pendingOf(e) {
		if matches(job, jobExec, tags) {
			return job
		}
	}
	k.t.Fatalf("%s of %s is not pending; %s", name(jobExec, tags), e, k.state(e))
	return prescient.FutureJob{}
}

// RequirePendingAt is RequirePending, and the row's slot has to be the one of a time.
func (k *Kit) RequirePendingAt(at time.Time, e prescient.Entity, jobExec string, tags ...string) prescient.FutureJob {
	k.t.Helper()
	job := k.RequirePending(e, jobExec, tags...)
	if slot := k.grid.Ceil(at); !job.NextCheckAt.Equal(slot) {
		k.t.Fatalf("%s of %s waits for the slot %s, want %s", name(jobExec, tags), e, clockTime(job.NextCheckAt), clockTime(slot))
	}
	return job
}

// RequireNothingPending ends the test where anything is pending for an entity; of the zero Entity, where anything is
// pending at all.
func (k *Kit) RequireNothingPending(e prescient.Entity) {
	k.t.Helper()
	if pending := k.pendingOf(e); len(pending) > 0 {
		k.t.Fatalf("%d checks are still pending: %s", len(pending), describe(pending))
	}
}

// RequireEnded ends the test unless the latest check of a job_exec on an entity has ended with an outcome, and is not
// pending again; it returns its row of history. Where tags are given, only those count.
func (k *Kit) RequireEnded(e prescient.Entity, jobExec string, outcome prescient.Outcome, tags ...string) client.Ended {
	k.t.Helper()
	for _, job := range k.pendingOf(e) {
		if matches(job, jobExec, tags) {
			k.t.Fatalf("%s of %s has not ended as %s: it waits for the slot %s", name(jobExec, tags), e, outcome,
				clockTime(job.NextCheckAt)+lastError(job))
		}
	}
	for _, end := range k.endedOf(e) {
		if !matches(end.FutureJob, jobExec, tags) {
			continue
		}
		if end.Outcome != outcome {
			k.t.Fatalf("%s of %s ended as %s (%s), want %s", name(jobExec, tags), e, end.Outcome, end.Error, outcome)
		}
		return end
	}
	k.t.Fatalf("%s of %s has not ended as %s; %s", name(jobExec, tags), e, outcome, k.state(e))
	return client.Ended{}
}

// RequireCalls ends the test unless a job_exec was called n times; with "" all are counted. It returns the calls.
func (k *Kit) RequireCalls(jobExec string, n int) []worker.Result {
	k.t.Helper()
	calls := k.Calls(jobExec)
	if len(calls) != n {
		what := jobExec
		if what == "" {
			what = "job_execs"
		}
		var list strings.Builder
		for _, c := range calls {
			fmt.Fprintf(&list, "\n\t%s for %s in the slot %s", c.Job.JobExec, c.Job.Entity(), clockTime(c.Job.NextCheckAt))
		}
		k.t.Fatalf("%d calls of %s, want %d%s", len(calls), what, n, list.String())
	}
	return calls
}

func (k *Kit) pendingOf(e prescient.Entity) []prescient.FutureJob {
	k.t.Helper()
	page, err := k.client.Pending(k.context(), k.db, client.ListFilter{Entity: e, Limit: client.MaxPage})
	k.must(err)
	return page
}

func (k *Kit) endedOf(e prescient.Entity) []client.Ended {
	k.t.Helper()
	page, err := k.client.History(k.context(), k.db, client.ListFilter{Entity: e, Limit: client.MaxPage})
	k.must(err)
	return page
}

func matches(job prescient.FutureJob, jobExec string, tags []string) bool {
	if job.JobExec != jobExec {
		return false
	}
	for _, tag := range tags {
		if job.Tag == tag {
			return true
		}
	}
	return len(tags) == 0
}

// state tells what there is of an entity.
func (k *Kit) state(e prescient.Entity) string {
	k.t.Helper()
	var found []string
	if pending := k.pendingOf(e); len(pending) > 0 {
		found = append(found, "pending: "+describe(pending))
	}
	for _, end := range k.endedOf(e) {
		found = append(found, fmt.Sprintf("%s ended as %s at %s", name(end.JobExec, []string{end.Tag}), end.Outcome, clockTime(end.EndedAt)))
	}
	if len(found) == 0 {
		return "there is nothing of this entity, at " + clockTime(k.Now())
	}
	return strings.Join(found, "; ") + "; it is " + clockTime(k.Now())
}

func describe(jobs []prescient.FutureJob) string {
	var list []string
	for _, job := range jobs {
		list = append(list, fmt.Sprintf("%s of %s at %s%s", name(job.JobExec, []string{job.Tag}), job.Entity(),
			clockTime(job.NextCheckAt), lastError(job)))
	}
	return strings.Join(list, ", ")
}

func lastError(job prescient.FutureJob) string {
	if job.LastError == "" {
		return ""
	}
	return " after the error " + job.LastError
}

func name(jobExec string, tags []string) string {
	if text := strings.Join(tags, ", "); text != "" {
		return jobExec + " (" + text + ")"
	}
	return jobExec
}

func clockTime(t time.Time) string { return t.UTC().Format("2006-01-02 15:04:05.999999") }
