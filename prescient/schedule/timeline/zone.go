package timeline

import (
	"fmt"
	"math"
	"strings"
	"sync"
	"time"
)

// zones are those that were loaded, by name: loading reads files. It holds no more than there are in the database.
var zones sync.Map

// maxZone is how long a name may be; the longest of the database has 32 bytes.
const maxZone = 64

// loadZone returns a zone of the IANA database.
func loadZone(name string) (*time.Location, error) {
	if name == "" {
		return time.UTC, nil
	}
	if known, ok := zones.Load(name); ok {
		return known.(*time.Location), nil
	}
	const allowed = "allowed are names of the IANA database, such as Europe/Berlin or UTC"
	of, _, _ := strings.Cut(name, "/")
	switch strings.ToLower(of) {
	case "local", "localtime":
		return nil, fmt.Errorf("time zone %.80q means something else on each machine; %s", name, allowed)
	case "right", "posix", "posixrules": // folders of a machine: the first counts leap seconds
		return nil, fmt.Errorf("time zone %.80q is not known; %s", name, allowed)
	}
	if len(name) > maxZone {
		return nil, fmt.Errorf("time zone %.80q is longer than %d bytes; %s", name, maxZone, allowed)
	}
	location, err := time.LoadLocation(name)
	if err != nil { // its text names files of this machine
		return nil, fmt.Errorf("time zone %.80q is not known; %s", name, allowed)
	}
	zones.Store(name, location)
	return location, nil
}

// period is the time between two changes of the clocks in a zone, in seconds since the epoch: start is in it, end is not.
type period struct{ start, end, offset int64 }

// shows is what the local clock shows at an instant of the period.
func (p period) shows(at int64) wall { return wall(at + p.offset) }

// at is the first instant from the start of the period on at which the clock shows w or more.
func (p period) at(w wall) int64 { return max(int64(w)-p.offset, p.start) }

// The ends of time, with room for sums.
const (
	beginning = math.MinInt64 / 4
	ending    = math.MaxInt64 / 4
)

// periodOf is the period in which an instant lies.
func periodOf(zone *time.Location, at int64) period {
	t := time.Unix(at, 0).In(zone)
	_, offset := t.Zone()
	p := period{start: beginning, end: ending, offset: int64(offset)}
	start, end := t.ZoneBounds()
	if !start.IsZero() {
		p.start = start.Unix()
	}
	if !end.IsZero() {
		p.end = end.Unix()
	}
	// On the last day of a leap year beyond the tables of a zone, ZoneBounds of Go 1.26 returns an end that is not after t:
	// it takes the year to have 365 days. No clock is changed on that day, so that the next one is taken for the end.
	if p.end <= at {
		p.end = (floorDiv(at, secondsOfDay) + 1) * secondsOfDay
	}
	return p
}

// widest is more than any local clock has been from UTC, in seconds; two of them are never twice that apart.
const widest = 26 * 60 * 60

// fixed is a crontab of fixed local times. It fires when the local clock first shows, or jumps over, each of them.
type fixed struct {
	calendar
	zone *time.Location
}

func (f *fixed) next(p place) (time.Time, bool) {
	w, ok := f.calendar.next(p.shown)
	if !ok {
		return time.Time{}, false
	}
	// No clock shows w before it shows that time in UTC, less the widest.
	now := p.at.Unix() + 1
	current := periodOf(f.zone, now)
	if from := int64(w) - widest; from >= current.end {
		current = periodOf(f.zone, from)
	}
	at := max(current.at(w), now) // the clock may show more by now, where other rules said what it has shown
	for at >= current.end {
		current = periodOf(f.zone, current.end)
		at = current.at(w)
	}
	return time.Unix(at, 0).UTC(), true
}

// hourly is a crontab for every hour. It fires at each instant whose local time matches.
type hourly struct {
	calendar
	zone *time.Location
}

func (h *hourly) next(after place) (time.Time, bool) {
	for from := after.at.Unix() + 1; ; {
		p := periodOf(h.zone, from)
		w, ok := h.calendar.next(p.shows(from) - 1)
		if !ok {
			return time.Time{}, false
		}
		if at := p.at(w); at < p.end {
			return time.Unix(at, 0).UTC(), true
		}
		// The clock may be put back at the end of the period, but not by so much that it shows anything earlier than this.
		if w, ok = h.calendar.next(wall(p.end - widest - 1)); !ok {
			return time.Time{}, false
		}
		from = max(p.end, int64(w)-widest)
	}
}
