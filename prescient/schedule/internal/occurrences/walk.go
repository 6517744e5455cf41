package occurrences

import (
	"database/sql"
	"time"

	"prescient/prescient/schedule/timeline"
)

// Ahead is how far local time is ahead of UTC at the occurrence that a timer waits for, in seconds, by the zone of whoever computed that:
// what timeline.Walk calls Ahead. It is NULL where all crontabs go by instants, and in rows in which nobody has written it yet.
type Ahead = sql.NullInt64

// Walk goes from occurrence to occurrence, of which each is due a while later than the crontabs say.
type Walk struct {
	walk *timeline.Walk
	by   time.Duration
}

// Walk begins at a time, up to which all has fired by the zone's own rules.
func (l Line) Walk(from time.Time) Walk { return Walk{l.line.Walk(from.Add(-l.by)), l.by} }

// mostAhead is more than local time has been from UTC anywhere, in seconds. A row that says more is not believed.
const mostAhead = 26 * 60 * 60

// WalkFrom begins at an occurrence, as whoever computed it has left it.
func (l Line) WalkFrom(due time.Time, kept Ahead) Walk {
	if !kept.Valid || max(kept.Int64, -kept.Int64) > mostAhead {
		return l.Walk(due)
	}
	return Walk{l.line.WalkFrom(due.Add(-l.by), time.Duration(kept.Int64)*time.Second), l.by}
}

// Anew is the occurrence that a timer should wait for at a time by the zone's own rules, in place of one that is to come, and what is to be
// kept of it. What would have been due by then is due a second later. Where the clock was put back nothing changes: what is due before the
// timer's time has fired.
func (l Line) Anew(due time.Time, kept Ahead, now time.Time) (time.Time, Ahead) {
	before := due.Add(-time.Second)
	w := l.Walk(before)
	if at, ok := w.Next(before); ok && at.Equal(due) && (!kept.Valid || w.Keeps() == kept) {
		return due, w.Keeps()
	}
	w = l.Walk(now)
	next, ok := w.Next(now)
	if kept.Valid && ok {
		if next.Before(due) && LocalAt(next, w.Keeps()) < LocalAt(due, kept) {
			return due, kept
		}
		w = Walk{l.line.WalkFrom(now.Add(-l.by), time.Duration(LocalAt(due, kept)-1-now.Unix())*time.Second), l.by}
		next, ok = w.Next(now)
	}
	if !ok {
		return due, kept
	}
	return next, w.Keeps()
}

// Next is that of timeline.Walk.
func (w Walk) Next(t time.Time) (time.Time, bool) {
	at, ok := w.walk.Next(t.Add(-w.by))
	if !ok {
		return time.Time{}, false
	}
	return at.Add(w.by), true
}

// Keeps is what is to be kept of the occurrence at which it is.
func (w Walk) Keeps() Ahead {
	d, is := w.walk.Ahead()
	return Ahead{Int64: int64(d / time.Second), Valid: is}
}

// LocalAt is how far local time has come at an occurrence, as a unix second.
func LocalAt(due time.Time, kept Ahead) int64 { return due.Unix() + kept.Int64 }
