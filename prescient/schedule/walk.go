package schedule

import (
	"context"
	"database/sql"
	"maps"
	"slices"
	"time"

	"prescient/prescient"
	"prescient/prescient/internal/literal"
	"prescient/prescient/schedule/timeline"
)

// ahead is how far local time is ahead of UTC at the occurrence that a timer waits for, in seconds, by the zone of whoever computed that:
// what timeline.Walk calls Ahead. It is NULL where all crontabs go by instants, and in rows in which nobody has written it yet.
type ahead = sql.NullInt64

// walk goes from occurrence to occurrence, of which each is due a while later than the crontabs say.
type walk struct {
	*timeline.Walk
	by time.Duration
}

// walk begins at a time, up to which all has fired by the zone's own rules.
func (s shifted) walk(from time.Time) walk { return walk{s.Timeline.Walk(from.Add(-s.by)), s.by} }

// mostAhead is more than local time has been from UTC anywhere, in seconds. A row that says more is not believed.
const mostAhead = 26 * 60 * 60

// walkFrom begins at an occurrence, as whoever computed it has left it.
func (s shifted) walkFrom(due time.Time, kept ahead) walk {
	if !kept.Valid || max(kept.Int64, -kept.Int64) > mostAhead {
		return s.walk(due)
	}
	return walk{s.Timeline.WalkFrom(due.Add(-s.by), time.Duration(kept.Int64)*time.Second), s.by}
}

// anew is the occurrence that a timer should wait for at a time by the zone's own rules, in place of one that is to come, and what is to be
// kept of it. What would have been due by then is due a second later. Where the clock was put back nothing changes: what is due before the
// timer's time has fired.
func (s shifted) anew(due time.Time, kept ahead, now time.Time) (time.Time, ahead) {
	before := due.Add(-time.Second)
	w := s.walk(before)
	if at, ok := w.Next(before); ok && at.Equal(due) && (!kept.Valid || w.keeps() == kept) {
		return due, w.keeps()
	}
	w = s.walk(now)
	next, ok := w.Next(now)
	if kept.Valid && ok {
		if next.Before(due) && localAt(next, w.keeps()) < localAt(due, kept) {
			return due, kept
		}
		w = walk{s.Timeline.WalkFrom(now.Add(-s.by), time.Duration(localAt(due, kept)-1-now.Unix())*time.Second), s.by}
		next, ok = w.Next(now)
	}
	if !ok {
		return due, kept
	}
	return next, w.keeps()
}

// Next is that of timeline.Walk.
func (w walk) Next(t time.Time) (time.Time, bool) {
	at, ok := w.Walk.Next(t.Add(-w.by))
	if !ok {
		return time.Time{}, false
	}
	return at.Add(w.by), true
}

// keeps is what is to be kept of the occurrence at which it is.
func (w walk) keeps() ahead {
	d, is := w.Ahead()
	return ahead{Int64: int64(d / time.Second), Valid: is}
}

// keptFirst is what is to be kept of the first occurrence after a time; nothing of a schedule that is no good.
func (s *Schedules) keptFirst(one Schedule, created, from time.Time) ahead {
	line, err := one.timeline(s.zones, created)
	if err != nil {
		return ahead{}
	}
	w := line.walk(from)
	if _, ok := w.Next(from); !ok {
		return ahead{}
	}
	return w.keeps()
}

// keep writes how far local time is ahead at the occurrences that timers wait for, by id: of those for whom that is another than before.
func (s *Schedules) keep(ctx context.Context, db prescient.DB, kept map[string]ahead) error {
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

func appendAhead(b []byte, kept ahead) []byte {
	if !kept.Valid {
		return append(b, "NULL"...)
	}
	return literal.AppendInt(b, kept.Int64)
}

// localAt is how far local time has come at an occurrence, as a unix second.
func localAt(due time.Time, kept ahead) int64 { return due.Unix() + kept.Int64 }
