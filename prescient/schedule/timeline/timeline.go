package timeline

import (
	"fmt"
	"iter"
	"time"

	"prescient/prescient"
)

// What [Parse] takes, so that a text from anywhere is read in no time.
const (
	// MaxCrontabs is how many crontabs a schedule has at most.
	MaxCrontabs = 32
	// MaxLength is how many bytes a crontab has at most.
	MaxLength = 255
)

// Timeline is when a schedule fires: the union of its crontabs, each instant once. It does not change, and may be used by
// several goroutines. [Parse] makes one; the zero Timeline never fires.
type Timeline struct {
	rules []rule
	zone  *time.Location
	local bool // a crontab has fixed local times
}

// Parse reads 1 to [MaxCrontabs] crontabs. The zone is a name of the IANA database, in which their fields are local times;
// the empty one is UTC, and Local is refused, since it means something else on each machine. The anchor is the time from
// which @every counts, cut to the second: when the schedule was made.
//
// Its errors wrap [prescient.ErrInvalid]; they name the crontab, what is wrong with it, and what is allowed. A crontab that
// can never fire is refused. An @at that has passed is not: whether a time is past depends on now, and [Timeline.Next] says
// that nothing is left.
func Parse(crontabs []string, zone string, anchor time.Time) (*Timeline, error) {
	return parse(crontabs, zone, anchor, loadZone, true)
}

// Zones returns a time zone by its name.
type Zones func(name string) (*time.Location, error)

// ParseStored is Parse for crontabs that were taken once: it reads those, too, that Parse refuses by now, as they were read then. These
// are lists with a star in a field of days. Nil zones are those of this machine.
func ParseStored(crontabs []string, zone string, anchor time.Time, zones Zones) (*Timeline, error) {
	if zones == nil {
		zones = loadZone
	}
	return parse(crontabs, zone, anchor, zones, false)
}

// Unreadable says why crontabs that were taken once cannot be read by the zones of this machine; empty where they can.
func Unreadable(crontabs []string, zone string) string {
	if _, err := ParseStored(crontabs, zone, time.Time{}, nil); err != nil {
		return err.Error()
	}
	return ""
}

func parse(crontabs []string, zone string, anchor time.Time, zones Zones, fresh bool) (*Timeline, error) {
	if len(crontabs) < 1 || len(crontabs) > MaxCrontabs {
		return nil, prescient.InField("crontab", fmt.Errorf("%w: %d crontabs: 1 to %d are allowed", prescient.ErrInvalid, len(crontabs), MaxCrontabs))
	}
	location, err := zones(zone)
	if err != nil {
		return nil, prescient.InField("zone", fmt.Errorf("%w: %w", prescient.ErrInvalid, err))
	}
	timeline := &Timeline{zone: location}
	for i, crontab := range crontabs {
		r, err := readCrontab(crontab, location, anchor, fresh)
		if err != nil {
			return nil, prescient.InField(fmt.Sprintf("crontab[%d]", i), fmt.Errorf("%w: crontab %.80q: %w", prescient.ErrInvalid, crontab, err))
		}
		_, local := r.(*fixed)
		timeline.rules, timeline.local = append(timeline.rules, r), timeline.local || local
	}
	return timeline, nil
}

// Zone is the time zone in which fields are local times.
func (l *Timeline) Zone() *time.Location {
	if l.zone == nil {
		return time.UTC
	}
	return l.zone
}

// Next returns the first occurrence strictly after t, in UTC: whole seconds; an @at with a fraction is rounded up. It is false
// where none is left, which is so after the last @at of a schedule that has nothing else, and after the year 9999. No
// occurrence lies before the year 1000.
func (l *Timeline) Next(t time.Time) (time.Time, bool) {
	at, ok := l.next(l.placeAt(t))
	return at.at, ok
}

// After returns the occurrences strictly after t, in order, as [Timeline.Next] would one by one.
func (l *Timeline) After(t time.Time) iter.Seq[time.Time] {
	return func(yield func(time.Time) bool) {
		from := l.placeAt(t)
		heads := make([]time.Time, len(l.rules)) // of each rule the next one; the zero time where none is left
		for i, r := range l.rules {
			heads[i], _ = nextOf(r, from)
		}
		for {
			var first time.Time
			for _, head := range heads {
				if !head.IsZero() && (first.IsZero() || head.Before(first)) {
					first = head
				}
			}
			if first.IsZero() || !yield(first) {
				return
			}
			from = l.pass(from, first)
			for i, r := range l.rules {
				if heads[i].Equal(first) {
					heads[i], _ = nextOf(r, from)
				}
			}
		}
	}
}
