package timeline

import "time"

// placeAt is the place at an instant by the zone's own clock.
func (l *Timeline) placeAt(t time.Time) place {
	if t.Before(earliest) {
		t = earliest.Add(-time.Second)
	}
	p := place{at: t, shown: beginning}
	if l.local {
		p.shown = latestShown(l.zone, t.Unix()-2*widest, t.Unix())
	}
	return p
}

// pass is the place at t, where all that is due until then by the zone's clock is over.
func (l *Timeline) pass(p place, t time.Time) place {
	if !t.After(p.at) {
		return p
	}
	if l.local {
		// No clock was so far ahead before that: it shows more by now.
		from := max(p.at.Unix()+1, t.Unix()-2*widest)
		p.shown = max(p.shown, latestShown(l.zone, from, t.Unix()))
	}
	p.at = t
	return p
}

// latestShown is the latest that a clock shows from one second to another; the beginning of time where there is none between.
func latestShown(zone *time.Location, from, to int64) wall {
	shown := wall(beginning)
	for from <= to {
		p := periodOf(zone, from)
		shown = max(shown, p.shows(min(to, p.end-1)))
		from = p.end
	}
	return shown
}

// next is the place of the first occurrence after a place; false where none is left.
func (l *Timeline) next(p place) (place, bool) {
	var first time.Time
	found := false
	for _, r := range l.rules {
		if at, fires := nextOf(r, p); fires && (!found || at.Before(first)) {
			first, found = at, true
		}
	}
	if !found {
		return place{}, false
	}
	return l.pass(p, first), true
}

// Walk goes from occurrence to occurrence, as [Timeline.Next] does, and knows how far local time has come. So it can go on from where
// a walk by other rules of the zone has ended: what that fired at a local time does not fire again, and nothing is left out. It is for
// one goroutine.
type Walk struct {
	line *Timeline
	here place
}

// Walk begins at a time, up to which all has fired that was due by the zone's own rules.
func (l *Timeline) Walk(from time.Time) *Walk { return &Walk{l, l.placeAt(from)} }

// WalkFrom begins at a time at which local time had come so far ahead: at an occurrence, as [Walk.Ahead] said of it.
//
// The next occurrence of a crontab of fixed local times is then the first whose local time is after that. It is due once the zone's
// clock shows that, or jumps over it; where it has by then, a second after from.
func (l *Timeline) WalkFrom(from time.Time, ahead time.Duration) *Walk {
	return &Walk{l, place{from, wall(from.Add(ahead).Unix())}}
}

// Next passes over all that is due until t, and returns the first occurrence after it, where the walk goes on next time. A time before
// that where it is stands for that. It is false where none is left.
func (w *Walk) Next(t time.Time) (time.Time, bool) {
	next, ok := w.line.next(w.line.pass(w.here, t))
	if ok {
		w.here = next
	}
	return next.at, ok
}

// Ahead is how far local time is ahead of UTC where the walk is: the offset of the zone, by the rules that it goes by. After a clock was
// put back it is more than that, until the clock shows again what it has shown. It is false where no crontab has fixed local times.
func (w *Walk) Ahead() (time.Duration, bool) {
	if !w.line.local {
		return 0, false
	}
	return time.Duration(int64(w.here.shown)-w.here.at.Unix()) * time.Second, true
}
