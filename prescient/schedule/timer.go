package schedule

import (
	"context"
	"encoding/json"
	"fmt"
	"maps"
	"slices"
	"strconv"
	"strings"
	"time"

	"prescient/prescient"
	"prescient/prescient/internal/literal"
	"prescient/prescient/schedule/internal/catchup"
	"prescient/prescient/schedule/internal/occurrences"
	"prescient/prescient/schedule/timeline"
)

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
			Payload: s.saidOf(one, t)}
	}
	return jobs
}

// said is what the payload of a run says to those who know nothing of its schedule.
type said struct {
	// MissedAfter is when it ends as missed where it was not called by then: at the end of a slot.
	MissedAfter time.Time `json:"missed_after,omitzero"`
	// Heartbeat is told of it.
	Heartbeat string `json:"heartbeat,omitempty"`
}

// saidOf is what the payload of a run says; nil for nothing.
func (s *Schedules) saidOf(one Schedule, due time.Time) json.RawMessage {
	says := said{Heartbeat: one.Heartbeat}
	if one.CatchUp == Skip {
		says.MissedAfter = one.rules().Until(s.tables.Grid, due).UTC()
	}
	if says == (said{}) {
		return nil
	}
	text, _ := json.Marshal(says) // which cannot fail
	return text
}

// HeartbeatOf is the name of the heartbeat that is told of a run of a schedule, as its row says; empty for none, and of other checks.
func HeartbeatOf(run prescient.FutureJob) string {
	if run.EntityName != prescient.ScheduleEntity || len(run.Payload) == 0 || run.Heartbeat != "" {
		return run.Heartbeat
	}
	var says said
	if json.Unmarshal(run.Payload, &says) != nil || prescient.ValidIdentifier("heartbeat", says.Heartbeat) != nil {
		return ""
	}
	return says.Heartbeat
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

// awaited is the occurrence that a timer waits for, and what is kept of it in the schedule's row. The zero one is none.
type awaited struct {
	at   time.Time
	kept occurrences.Ahead
	none error // why there is none, where somebody keeps that
}

// first is the first time after now at which a schedule is due, if any. An error says that its crontabs are no good, or finer than the slots.
func (s *Schedules) first(one Schedule, created, now time.Time) (awaited, error) {
	line, err := one.timeline(s.zones, created)
	if err != nil {
		return awaited{}, err
	}
	if !one.MayCoalesce {
		if err := line.TooFine(s.tables.Grid, now); err != nil {
			return awaited{}, prescient.InField("crontab", fmt.Errorf("schedule %q: %w, unless it may coalesce (schedule create --coalesce)", one.ID, err))
		}
	}
	w := line.Walk(now)
	at, ok := w.Next(now)
	if !ok {
		return awaited{}, nil
	}
	return awaited{at: at, kept: w.Keeps()}, nil
}

// firstToCome is first, and an error where none is left.
func (s *Schedules) firstToCome(one Schedule, created, now time.Time) (awaited, error) {
	first, err := s.first(one, created, now)
	if err == nil && first.at.IsZero() {
		err = prescient.InField("crontab", fmt.Errorf("%w: schedule %q has no time after now, %s",
			prescient.ErrInvalid, one.ID, now.Format(time.RFC3339)))
	}
	return first, err
}

// firedUntil is the time up to which the schedule has fired: now, unless the clock was put back since. Then its timer waits for a later
// occurrence than the next, and whatever comes before that has fired.
func (s Stored) firedUntil(zones timeline.Zones, timer *prescient.FutureJob, now time.Time) time.Time {
	if timer == nil || !s.Enabled || s.Version == 0 {
		return now
	}
	line, err := s.timeline(zones, s.CreatedAt)
	if err != nil {
		return now // by somebody's own SQL: it never fired
	}
	w := line.Walk(now)
	next, ok := w.Next(now)
	if !ok || !next.Before(timer.DueAt) {
		return now
	}
	// Whoever computed its time may have taken the zone to be at another offset: then it is the same local time that comes earlier here.
	if kept := w.Keeps(); kept.Valid && s.kept.Valid && occurrences.LocalAt(next, kept) >= occurrences.LocalAt(timer.DueAt, s.kept) {
		return now
	}
	return timer.DueAt.Add(-time.Second)
}

// keep writes how far local time is ahead at the occurrences that timers wait for, by id: of those for whom that is another than before.
func (s *Schedules) keep(ctx context.Context, db prescient.DB, kept map[string]occurrences.Ahead) error {
	for ids := range slices.Chunk(slices.Sorted(maps.Keys(kept)), idsPerStatement) {
		var cases []byte
		for _, id := range ids {
			cases = append(literal.AppendText(append(cases, " WHEN "...), id), " THEN "...)
			cases = appendAhead(cases, kept[id])
		}
		if err := s.tables.Exec(ctx, db, "keeping the offsets of timers", "schedule/ahead", "{ahead}", string(cases), "{ids}", idList(ids)); err != nil {
			return err
		}
	}
	return nil
}
