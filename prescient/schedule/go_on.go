package schedule

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strconv"
	"strings"
	"time"

	"prescient/prescient"
	"prescient/prescient/client"
	"prescient/prescient/internal/errno"
	"prescient/prescient/schedule/internal/catchup"
)

// What an update does with occurrences that were due before it. Their runs wait, maybe to be tried again, or are under way, and no row tells
// which. So a run goes on under the new definition, as a row that is another: it is called as that, with its times and counts. What a slot
// run had called before, and is about to commit, meets the other row then, and ends it as superseded; so does the agent of a long run.

// begun says whether a row is the run of an occurrence that was due by now, or one that a person asked for.
func begun(job prescient.FutureJob, now time.Time) bool {
	return job.JobExec != TimerExec && !notBegun(now)(job)
}

// goesOn says whether the runs of a schedule that have begun go on under its new definition. A long run cannot become another check while an
// agent may have it, and what is no run any more can be none.
func (r replacement) goesOn() bool {
	return r.by.JobExec != "" && r.old.JobExec != "" && (!r.old.Long && !r.by.Long || r.old.Long == r.by.Long && r.old.JobExec == r.by.JobExec)
}

// goOn has the runs that have begun go on under the new definitions, and returns all of them as they were. Those of jobs of steps have a
// version of their own, and are left alone.
func (s *Schedules) goOn(ctx context.Context, db prescient.DB, some []replacement, now time.Time) (met map[prescient.Key]prescient.FutureJob, err error) {
	if s.ofJobs {
		return nil, nil
	}
	by := make(map[string]replacement, len(some))
	for _, r := range some {
		by[r.old.ID] = r
	}
	rows, err := s.own.Renew(ctx, db, idsOf(some, func(r replacement) string { return r.old.ID }), func(job prescient.FutureJob) (client.Renewal, bool) {
		r := by[job.EntityKey]
		if !begun(job, now) || !r.goesOn() || job.JobExec != r.old.JobExec {
			return client.Renewal{}, false
		}
		to := client.Renewal{JobExec: r.by.JobExec, ExpiresAfter: r.by.ExpiresAfter}
		if second, err := strconv.ParseInt(strings.TrimPrefix(job.Tag, "m"), 10, 64); err == nil {
			to.Payload = s.saidOf(r.by.Schedule, time.Unix(second, 0).UTC())
		}
		return to, true
	})
	met = make(map[prescient.Key]prescient.FutureJob)
	for _, job := range rows {
		if begun(job, now) {
			met[job.Key()] = job
		}
	}
	return met, err
}

// endedBy says what updates end: timers, the runs of occurrences that are to come, and those that have begun and cannot go on.
func (s *Schedules) endedBy(some []replacement, now time.Time) func(prescient.FutureJob) bool {
	goOn := make(map[string]bool, len(some))
	for _, r := range some {
		goOn[r.old.ID] = s.ofJobs || r.goesOn()
	}
	return func(job prescient.FutureJob) bool { return !goOn[job.EntityKey] || !begun(job, now) }
}

// overtaken are the runs, under the new definition, of occurrences that the timer has left behind, though they were to come by the time at which
// the update began: it then waited for the rows while their slot was run. They begin anew. What they are to be events of, is among those
// that have begun from then on.
func (s *Schedules) overtaken(r replacement, timer prescient.FutureJob, met, begun map[prescient.Key]prescient.FutureJob) (jobs []prescient.NewJob) {
	if s.ofJobs || r.old.JobExec == "" {
		return nil
	}
	for key, run := range met {
		if _, is := begun[key]; is || run.EntityKey != r.old.ID || run.JobExec != r.old.JobExec || byHand(run.Tag) || !run.DueAt.Before(timer.DueAt) {
			continue
		}
		if begun[key] = run; r.goesOn() {
			jobs = append(jobs, s.runs(r.by.Schedule, run.DueAt)...)
		}
	}
	return jobs
}

// fireDue fires, by its new definition, what was due of a schedule before an update, and goes on otherwise neither as a run nor by the timer
// that it is to have.
func (s *Schedules) fireDue(ctx context.Context, db prescient.DB, r replacement, timer prescient.FutureJob, begun map[prescient.Key]prescient.FutureJob, now time.Time) error {
	if s.ofJobs || !r.old.Enabled {
		return nil
	}
	one := r.old
	one.Schedule = r.by.Schedule
	one.Crontabs, one.Zone, one.Jitter = r.old.Crontabs, r.old.Zone, r.old.Jitter
	one.size = 0                                // no payload is copied from the row, which has the old one as yet
	if r.old.JobExec != "" && one.Topic != "" { // runs that waited are events
		var events []sent
		for _, run := range begun {
			if run.EntityKey == one.ID {
				events = append(events, eventOf(one, run.DueAt, run.Tag))
			}
		}
		slices.SortFunc(events, func(a, b sent) int { return a.GeneratedAt.Compare(b.GeneratedAt) })
		return s.send(ctx, db, events)
	}
	if r.enabled() && r.old.sameTimeline(r.by.Schedule) {
		return nil // the timer stays
	}
	if r.old.JobExec == "" && !timer.DueAt.After(now) {
		if err := s.own.Insert(ctx, db, s.runs(one.Schedule, timer.DueAt), now); err != nil {
			return fmt.Errorf("inserting a run that was due: %w", err)
		}
	}
	asIs := make(map[prescient.Key]prescient.FutureJob, len(begun))
	for _, run := range begun { // by the keys that they have from now on
		asIs[prescient.KeyOf(run.Entity(), one.JobExec, run.Tag)] = run
	}
	return s.fireUntil(ctx, db, one, timer, asIs, now)
}

// fireUntil fires what a timer that waits no more had to fire up to now: what its calls would, one after the other. met are the rows
// that were pending for the schedule.
func (s *Schedules) fireUntil(ctx context.Context, db prescient.DB, one Stored, timer prescient.FutureJob, met map[prescient.Key]prescient.FutureJob, now time.Time) error {
	if one.Version == 0 || timer.DueAt.After(now) {
		return nil
	}
	line, err := one.timeline(s.zones, one.CreatedAt)
	if err != nil {
		return nil // by somebody's own SQL: it never fired
	}
	grid := s.tables.Grid
	f := s.newFiring(one)
	c := catchup.Call{Due: timer.DueAt, Slot: grid.Floor(now), Now: now, Caught: one.caught, Most: maxSent}
	if one.JobExec != "" && timer.NextCheckAt.After(grid.Ceil(timer.DueAt)) { // it was held up, for which its run does not wait
		run, waits := met[runKey(timer.Entity(), one.JobExec, timer.DueAt)]
		c.Ran = !waits || run.CheckCount+run.ErrorCount > 0
	}
	w := line.WalkFrom(timer.DueAt, one.kept)
	for !c.Due.IsZero() && !c.Due.After(now) {
		do := one.rules().Fire(w, grid, c)
		do.Runs = slices.DeleteFunc(do.Runs, func(t time.Time) bool { return t.After(now) })
		f.take(one, do)
		c.Due, c.Caught, c.Ran = do.Next, do.Caught, false
	}
	f.passed = slices.Compact(f.passed)
	if one.caught > 0 {
		f.caught[one.ID] = 0
	} else {
		delete(f.caught, one.ID)
	}
	// What no event may have, as a topic, is somebody's own SQL: none of its events was ever sent.
	if err := s.send(ctx, db, f.events); err != nil && !errors.Is(err, prescient.ErrInvalid) && !errno.KeepsRow(err) {
		return err
	}
	if err := s.own.Insert(ctx, db, f.runs, now); err != nil {
		return fmt.Errorf("inserting runs that were due: %w", err)
	}
	return f.tally(ctx, db)
}
