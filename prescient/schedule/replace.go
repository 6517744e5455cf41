package schedule

import (
	"context"
	"fmt"
	"time"

	"prescient/prescient"
	"prescient/prescient/audit"
	"prescient/prescient/internal/literal"
	"prescient/prescient/schedule/internal/kept"
	"prescient/prescient/schedule/internal/occurrences"
)

// replacement is a definition that takes the place of one that is locked. Both have their defaults filled in.
type replacement struct {
	old  Stored
	by   Wanted
	kept occurrences.Ahead // what is to be kept of the occurrence that its timer waits for from then on
}

// enabled says whether the schedule fires from then on. One that a person paused stays so.
func (r replacement) enabled() bool {
	return !r.by.Paused && (r.old.Enabled || r.old.DisabledReason != "")
}

// replace puts definitions in the place of others, by a few statements for some hundreds of them.
func (s *Schedules) replace(ctx context.Context, db prescient.DB, some ...replacement) error {
	if len(some) == 0 {
		return nil
	}
	now, err := s.own.NowOf(ctx, db, some[0].old.ID)
	if err != nil {
		return err
	}
	ids := idsOf(some, func(r replacement) string { return r.old.ID })
	begun, err := s.goOn(ctx, db, some, now)
	if err != nil {
		return err
	}
	met, err := s.own.End(ctx, db, ids, prescient.Superseded, s.endedBy(some, now))
	if err != nil {
		return err
	}
	var jobs []prescient.NewJob
	for i, r := range some {
		var timer *prescient.FutureJob
		if job, waits := met[prescient.KeyOf(s.own.Entity(r.old.ID), TimerExec, "")]; waits {
			timer = &job
			jobs = append(jobs, s.overtaken(r, job, met, begun)...)
			if err := s.fireDue(ctx, db, r, job, begun, now); err != nil {
				return err
			}
		}
		next, err := s.pendingFor(r, timer, now)
		if err != nil {
			return err
		}
		jobs = append(jobs, next...)
		some[i].kept = s.keptOf(r, timer, next)
	}
	if err := s.own.Insert(ctx, db, jobs, now); err != nil {
		return fmt.Errorf("inserting timers: %w", err)
	}
	if err := s.keepVersions(ctx, db, ids); err != nil {
		return err
	}
	if err := s.replaceRows(ctx, db, some, now); err != nil {
		return err
	}
	var refused []string
	for _, r := range some {
		refused = append(refused, refusedAmong(r.old)...)
	}
	if err := kept.Accept(ctx, s.tables, db, refused); err != nil {
		return err
	}
	return s.recordReplaced(ctx, db, some)
}

// pendingFor is what is to be pending for a schedule from now on. timer is the one that it had; nil for none.
func (s *Schedules) pendingFor(r replacement, timer *prescient.FutureJob, now time.Time) ([]prescient.NewJob, error) {
	schedule := r.by.Schedule
	if !r.enabled() {
		if r.by.Paused { // by whoever made the file; it may have no more occurrences
			return nil, nil
		}
		_, err := s.first(schedule, r.old.CreatedAt, now)
		return nil, err
	}
	if timer == nil || !r.old.Enabled || r.old.Version == 0 || !r.old.sameTimeline(schedule) {
		due, err := s.firstToCome(schedule, r.old.CreatedAt, r.old.firedUntil(s.zones, timer, now))
		if err != nil {
			return nil, err
		}
		return append(s.runs(schedule, due.at), s.timer(schedule, due.at)), nil
	}
	if _, err := s.first(schedule, r.old.CreatedAt, now); err != nil {
		return nil, err
	}
	due := timer.DueAt
	// Of an occurrence that has begun the run was there, and is not made again.
	if due.After(now) || r.old.JobExec == "" {
		return append(s.runs(schedule, due), s.timer(schedule, due)), nil
	}
	if schedule.Topic == "" {
		return []prescient.NewJob{s.timer(schedule, due)}, nil
	}
	line, err := schedule.timeline(s.zones, r.old.CreatedAt)
	if err != nil {
		return nil, err
	}
	next, ok := line.WalkFrom(due, r.old.kept).Next(due)
	if !ok {
		return nil, fmt.Errorf("%w: schedule %q has no time after now, %s", prescient.ErrInvalid, schedule.ID, now.Format(time.RFC3339))
	}
	return []prescient.NewJob{s.timer(schedule, next)}, nil
}

// keptOf is what is to be kept of the occurrence that the timer among some jobs waits for, in place of the one that there was; nil for none.
func (s *Schedules) keptOf(r replacement, was *prescient.FutureJob, jobs []prescient.NewJob) occurrences.Ahead {
	for _, job := range jobs {
		switch {
		case job.JobExec != TimerExec:
		case was != nil && r.old.kept.Valid && r.old.sameTimeline(r.by.Schedule) && job.DueAt.Equal(was.DueAt):
			return r.old.kept
		default:
			line, err := r.by.timeline(s.zones, r.old.CreatedAt)
			if err != nil { // which it was planned by
				return occurrences.Ahead{}
			}
			return line.Walk(job.DueAt).Keeps()
		}
	}
	return occurrences.Ahead{}
}

// replaceRows changes the rows of schedules.
func (s *Schedules) replaceRows(ctx context.Context, db prescient.DB, some []replacement, now time.Time) error {
	row := func(b []byte, r replacement) []byte {
		return s.appendRow(b, r.by.Schedule, r.enabled(), now, r.kept)
	}
	for rows := range literal.Bulks(row, some) {
		if err := s.tables.Exec(ctx, db, "changing schedules", "schedule/replace", "{rows}", rows); err != nil {
			return err
		}
	}
	return nil
}

// recordReplaced writes the audit of schedules that have another definition.
func (s *Schedules) recordReplaced(ctx context.Context, db prescient.DB, some []replacement) error {
	entries := make([]audit.Entry, len(some))
	for i, r := range some {
		entries[i] = madeBy(r.old, audit.Update, nextVersion(r.old.Version))
		entries[i].Before, entries[i].After = stateOfStored(r.old), stateOf(r.by.Schedule, r.enabled())
	}
	return s.log.Record(ctx, db, entries...)
}
