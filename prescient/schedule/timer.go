package schedule

import (
	"encoding/json"
	"fmt"
	"strconv"
	"strings"
	"time"

	"prescient/prescient"
	"prescient/prescient/internal/reserved"
	"prescient/prescient/schedule/internal/catchup"
)

// TimerExec is the job_exec of timers, which [Schedules.Register] registers.
const TimerExec = reserved.TimerExec

// rules are what decides which of its occurrences fire.
func (s Schedule) rules() catchup.Rules {
	missed := 1
	switch s.CatchUp {
	case Skip:
		missed = 0
	case All:
		missed = MaxCatchUp
	}
	return catchup.Rules{Runs: s.JobExec != "", MostMissed: missed, Within: s.CatchUpWithin, ExpiresAfter: s.ExpiresAfter, MayCoalesce: s.MayCoalesce}
}

// timer is the check that waits for an occurrence.
func (s *Schedules) timer(one Schedule, due time.Time) prescient.NewJob {
	return prescient.NewJob{Entity: s.own.Entity(one.ID), JobExec: TimerExec, DueAt: due}
}

// runs are the checks of occurrences; none where events are sent.
func (s *Schedules) runs(one Schedule, due ...time.Time) []prescient.NewJob {
	if one.JobExec == "" {
		return nil
	}
	jobs := make([]prescient.NewJob, len(due))
	for i, t := range due {
		jobs[i] = prescient.NewJob{Entity: s.own.Entity(one.ID), JobExec: one.JobExec, Tag: tagOf(t), DueAt: t, ExpiresAfter: one.ExpiresAfter,
			Payload: s.unlessMissed(one, t)}
	}
	return jobs
}

// unlessMissed is what the payload of a run says that is to end as missed where it is not called in time, which is to the end of a
// slot; nil for all others.
func (s *Schedules) unlessMissed(one Schedule, due time.Time) json.RawMessage {
	if one.CatchUp != Skip {
		return nil
	}
	return json.RawMessage(`{"missed_after":"` + one.rules().Until(s.tables.Grid, due).UTC().Format(time.RFC3339Nano) + `"}`)
}

// tagOf is the tag of the run of an occurrence, and handTag that of a run that a person asked for: they end in a unix second.
func tagOf(t time.Time) string   { return strconv.FormatInt(t.Unix(), 10) }
func handTag(t time.Time) string { return "m" + tagOf(t) }

// byHand says whether a tag is that of a run that a person asked for.
func byHand(tag string) bool { return strings.HasPrefix(tag, "m") }

// idOf names an occurrence of a schedule, its run and its event: <schedule>-<unix>.
func idOf(schedule, tag string) string { return schedule + "-" + tag }

// ParseID parts the id of an occurrence, of its run or its event, into the id of the schedule and the tag of the run in future_job
// and job_history. The error wraps prescient.ErrInvalid.
func ParseID(id string) (schedule, tag string, err error) {
	i := strings.LastIndexByte(id, '-')
	if i > 0 {
		if _, err := strconv.ParseUint(strings.TrimPrefix(id[i+1:], "m"), 10, 63); err == nil {
			return id[:i], id[i+1:], nil
		}
	}
	return "", "", fmt.Errorf("%w: id %.160q is no occurrence; want the id of a schedule, - and a unix second", prescient.ErrInvalid, id)
}

// first is the first time after now at which a schedule is due; the zero time where none is left. An error says that its crontabs
// are no good, or finer than the slots.
func (s *Schedules) first(one Schedule, created, now time.Time) (time.Time, error) {
	line, err := one.timeline(s.zones, created)
	if err != nil {
		return time.Time{}, err
	}
	if !one.MayCoalesce {
		if err := line.TooFine(s.tables.Grid, now, line.by); err != nil {
			return time.Time{}, prescient.InField("crontab", fmt.Errorf("schedule %q: %w, unless it may coalesce", one.ID, err))
		}
	}
	first, _ := line.Next(now)
	return first, nil
}

// firstToCome is first, and an error where none is left.
func (s *Schedules) firstToCome(one Schedule, created, now time.Time) (time.Time, error) {
	first, err := s.first(one, created, now)
	if err == nil && first.IsZero() {
		err = prescient.InField("crontab", fmt.Errorf("%w: schedule %q has no time after now, %s",
			prescient.ErrInvalid, one.ID, now.Format(time.RFC3339)))
	}
	return first, err
}
