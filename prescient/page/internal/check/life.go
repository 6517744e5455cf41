package check

import (
	"context"
	"slices"
	"strings"
	"time"

	"prescient/prescient"
	"prescient/prescient/client"
	"prescient/prescient/longrun"
	"prescient/prescient/ops"
	"prescient/prescient/page/internal/front"
	"prescient/prescient/rule"
)

// lifeSeen is what the template gets.
type lifeSeen struct {
	ops.Clock
	Entity   string
	Kind     string // where only a kind was given
	Asked    bool
	Operator bool
	Pending  []pending
	More     bool
	Line     []moment
	Counts   counts
	// EndedNext and AuditMore say that there is more than is shown.
	EndedNext string
	AuditMore bool
}

// RuleOf is the rule of a check with a tag; empty for none.
func (lifeSeen) RuleOf(tag string) string {
	name, is := rule.NameOf(tag)
	if !is {
		return ""
	}
	return name
}

// pending is a check that is pending, and what happens to it next.
type pending struct {
	prescient.FutureJob
	Next string
}

// counts are what there is on the line.
type counts struct {
	Pending, Ended, Failed int
	LastError              string
}

// moment is a place on the line of time: one of its fields is there.
type moment struct {
	At    time.Time
	Ended *client.Ended
	Run   *longrun.State
	Audit *ops.AuditEntry
}

func showLife(ctx context.Context, a front.Asked) (front.Shown, error) {
	is := lifeSeen{Entity: strings.TrimLeft(a.Text("entity"), " "), Operator: a.Operator()}
	if is.Entity == "" {
		return front.Shown{Data: is}, nil
	}
	is.Asked = true
	if !strings.Contains(is.Entity, "/") {
		is.Kind = is.Entity
		return front.Shown{Data: is}, nil
	}
	var err error
	if is.Clock, err = ops.GetClock.Do(ctx, a.Ops, a.By, struct{}{}); err != nil {
		return front.Shown{}, err
	}
	life, err := ops.GetLife.Do(ctx, a.Ops, a.By, ops.LifeAsked{Entity: is.Entity, Before: a.Time("before"), Limit: rowsShown})
	if err != nil {
		return front.Shown{}, err
	}
	is.More, is.EndedNext, is.AuditMore = life.PendingMore, life.EndedNext, life.AuditMore
	of, err := aheadOf(ctx, a, is.Now, life)
	if err != nil {
		return front.Shown{}, err
	}
	for _, job := range life.Pending {
		is.Pending = append(is.Pending, pending{job, of(job).next(job)})
	}
	is.Line, is.Counts = line(life), countsOf(life)
	return front.Shown{Title: is.Entity, Data: is, Again: front.UntilSlot(is.Now, is.Resolution())}, nil
}

// line is what was, the latest first.
func line(life ops.Life) (all []moment) {
	for i, r := range life.Runs {
		if r.StartedAt != nil {
			all = append(all, moment{At: *r.StartedAt, Run: &life.Runs[i]})
		}
	}
	for i, e := range life.Ended {
		all = append(all, moment{At: e.EndedAt, Ended: &life.Ended[i]})
	}
	for i, e := range life.Audit {
		all = append(all, moment{At: e.At, Audit: &life.Audit[i]})
	}
	slices.SortStableFunc(all, func(a, b moment) int { return b.At.Compare(a.At) })
	return all
}

func countsOf(life ops.Life) counts {
	c := counts{Pending: len(life.Pending), Ended: len(life.Ended)}
	for _, job := range life.Pending {
		if job.LastError != "" {
			c.LastError = job.LastError
		}
	}
	for _, e := range life.Ended { // the latest first
		if e.Outcome != prescient.Done && !e.Outcome.ByApp() {
			c.Failed++
		}
		if c.LastError == "" && !e.Outcome.ByApp() {
			c.LastError = e.Error
		}
	}
	return c
}

// mostExecs is of how many job_execs the guards are looked up for one page.
const mostExecs = 20

// aheadOf reads what is to become of pending checks.
func aheadOf(ctx context.Context, a front.Asked, now time.Time, life ops.Life) (func(job prescient.FutureJob) ahead, error) {
	paused, err := ops.ListPauses.Do(ctx, a.Ops, a.By, ops.Nothing{})
	if err != nil {
		return nil, err
	}
	known := make(map[string]*guards)
	for _, job := range life.Pending {
		if _, looked := known[job.JobExec]; looked || len(known) >= mostExecs {
			continue
		}
		if known[job.JobExec], err = guardsOf(ctx, a, job.JobExec); err != nil {
			return nil, err
		}
	}
	return func(job prescient.FutureJob) ahead {
		is := ahead{now: now, guards: known[job.JobExec]}
		for i, p := range paused.Rows {
			if p.JobExec == job.JobExec || p.JobExec == prescient.AllExecs {
				is.paused = &paused.Rows[i]
			}
		}
		is.under = slices.ContainsFunc(life.Runs, func(r longrun.State) bool { return r.Occurrence == job.Tag && r.StartedAt != nil })
		return is
	}, nil
}

// guardsOf are those of a job_exec, as a worker that is there told of them last; nil where none did.
func guardsOf(ctx context.Context, a front.Asked, jobExec string) (*guards, error) {
	const versions = 20
	page, err := ops.ListExecs.Do(ctx, a.Ops, a.By, ops.ExecsAsked{ExecAsked: ops.ExecAsked{JobExec: jobExec}, Paging: ops.Paging{Limit: versions}})
	if err != nil {
		return nil, err
	}
	var seen time.Time
	var is *guards
	for _, e := range page.Rows {
		if e.There && e.SeenAt.After(seen) {
			seen = e.SeenAt
			if is, err = readGuards(e.Guards); err != nil {
				return nil, err
			}
		}
	}
	return is, nil
}
