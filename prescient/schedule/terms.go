package schedule

import (
	"context"
	"slices"
	"strconv"
	"time"

	"github.com/jmoiron/sqlx"

	"prescient/prescient"
	"prescient/prescient/internal/literal"
	"prescient/prescient/internal/store"
	"prescient/prescient/longrun"
	"prescient/prescient/schedule/timeline"
)

// Schedules are the rules of long runs.
var _ longrun.Rules = (*Schedules)(nil)

// Terms implements longrun.Rules: it locks the schedules of checks that are long. Checks of others have the zero terms.
func (s *Schedules) Terms(ctx context.Context, tx *sqlx.Tx, checks []prescient.FutureJob) (terms []longrun.Terms, now time.Time, err error) {
	ids := idsOf(checks, func(check prescient.FutureJob) string { return check.EntityKey })
	slices.Sort(ids)
	ids = slices.Compact(ids)
	rows, err := store.Rows(ctx, tx, "locking schedules", s.tables.Fill("schedule/terms", "{ids}", idList(ids)), func(row *longSchedule) []any {
		return []any{&row.ID, lines(&row.Crontabs), &row.Zone, store.Seconds(&row.Jitter), &row.MayCoalesce, &row.CreatedAt, store.OrZero(&row.Overlap),
			store.Seconds(&row.Tolerance), quota{&row.Quota}, &row.Pool, store.OrZero(&row.LastStartedAt), &row.now}
	})
	if err != nil {
		return nil, now, err
	}
	long := make(map[string]*Stored)
	for i := range rows {
		one := &rows[i].Stored
		one.Long = true
		one.Schedule = one.withDefaults()
		long[one.ID], now = one, rows[i].now
	}
	ids = slices.DeleteFunc(ids, func(id string) bool { return long[id] != nil })
	locked, err := s.idsBy(ctx, tx, "schedule/long", ids)
	if err != nil {
		return nil, now, err
	}
	terms = make([]longrun.Terms, len(checks))
	for i, check := range checks {
		if terms[i].Contested = locked[check.EntityKey]; terms[i].Contested {
			continue
		}
		if one := long[check.EntityKey]; one != nil {
			if terms[i], err = one.terms(s.zones, check); err != nil {
				return nil, now, err
			}
		}
	}
	return terms, now, nil
}

// longSchedule is a row of schedule/terms.
type longSchedule struct {
	Stored
	now time.Time
}

// idsBy returns those of some ids that a statement selects.
func (s *Schedules) idsBy(ctx context.Context, tx *sqlx.Tx, statement string, ids []string) (found map[string]bool, err error) {
	found = make(map[string]bool)
	if len(ids) == 0 {
		return found, nil
	}
	some, err := store.Rows(ctx, tx, "locking schedules", s.tables.Fill(statement, "{ids}", idList(ids)), func(id *string) []any { return []any{id} })
	for _, id := range some {
		found[id] = true
	}
	return found, err
}

// terms are those of a run. A run that a person asked for has no next occurrence, so that it is never too soon.
func (s Stored) terms(zones timeline.Zones, run prescient.FutureJob) (longrun.Terms, error) {
	t := longrun.Terms{Schedule: s.ID, Overlap: s.Overlap, LastStart: s.LastStartedAt, Quota: max(s.Quota, 0), Pool: s.Pool}
	line, err := s.timeline(zones, s.CreatedAt)
	if err != nil {
		return t, err
	}
	due := run.DueAt // of the occurrence, also where its job_exec has asked for another time since
	if second, err := strconv.ParseInt(run.Tag, 10, 64); err == nil {
		due = time.Unix(second, 0).UTC()
	}
	next, ok := line.Next(due)
	if !byHand(run.Tag) {
		next, ok = line.Following(due)
	}
	if !ok {
		return t, nil
	}
	t.Interval = next.Sub(due)
	if s.Quota == 0 {
		t.Quota = t.Interval / 2
	}
	if byHand(run.Tag) {
		t.Interval = 0
		return t, nil
	}
	t.Interval = line.GapBefore(due, t.Interval)
	t.Next, t.Tolerance = next, s.Tolerance
	if t.Tolerance == 0 {
		t.Tolerance = t.Interval / 10
	}
	return t, nil
}

// Started implements longrun.Rules.
func (s *Schedules) Started(ctx context.Context, tx *sqlx.Tx, schedules []string, at time.Time) error {
	return s.tables.Exec(ctx, tx, "noting that long runs started", "schedule/started", "{at}", literal.Of(literal.AppendMicro, at), "{ids}", idList(schedules))
}
