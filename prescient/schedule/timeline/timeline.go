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

// The years in which occurrences lie, as a database holds them: both ends are whole seconds.
var (
	earliest = time.Date(1000, 1, 1, 0, 0, 0, 0, time.UTC)
	latest   = time.Date(9999, 12, 31, 23, 59, 59, 0, time.UTC)
)

// Timeline is when a schedule fires: the union of its crontabs, each instant once. It does not change, and may be used by
// several goroutines. [Parse] makes one; the zero Timeline never fires.
type Timeline struct {
	rules []rule
	zone  *time.Location
}

// rule is one crontab.
type rule interface {
	// next is the first occurrence strictly after t, in UTC; false where there is none. It is asked for times of the years
	// 1000 to 9999 only, and may answer with one past that.
	next(t time.Time) (time.Time, bool)
}

// Parse reads 1 to [MaxCrontabs] crontabs. The zone is a name of the IANA database, in which their fields are local times;
// the empty one is UTC, and Local is refused, since it means something else on each machine. The anchor is the time from
// which @every counts, cut to the second: when the schedule was made.
//
// Its errors wrap [prescient.ErrInvalid]; they name the crontab, what is wrong with it, and what is allowed. A crontab that
// can never fire is refused. An @at that has passed is not: whether a time is past depends on now, and [Timeline.Next] says
// that nothing is left.
func Parse(crontabs []string, zone string, anchor time.Time) (*Timeline, error) {
	if len(crontabs) < 1 || len(crontabs) > MaxCrontabs {
		return nil, fmt.Errorf("%w: %d crontabs: 1 to %d are allowed", prescient.ErrInvalid, len(crontabs), MaxCrontabs)
	}
	location, err := loadZone(zone)
	if err != nil {
		return nil, fmt.Errorf("%w: %w", prescient.ErrInvalid, err)
	}
	timeline := &Timeline{zone: location}
	for _, crontab := range crontabs {
		r, err := readCrontab(crontab, location, anchor)
		if err != nil {
			return nil, fmt.Errorf("%w: crontab %.80q: %w", prescient.ErrInvalid, crontab, err)
		}
		timeline.rules = append(timeline.rules, r)
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
func (l *Timeline) Next(t time.Time) (first time.Time, ok bool) {
	if t.Before(earliest) {
		t = earliest.Add(-time.Second)
	}
	for _, r := range l.rules {
		if at, fires := nextOf(r, t); fires && (!ok || at.Before(first)) {
			first, ok = at, true
		}
	}
	return first, ok
}

// nextOf is the first occurrence of a rule strictly after t; the zero time where none is left.
func nextOf(r rule, t time.Time) (time.Time, bool) {
	if !t.Before(latest) {
		return time.Time{}, false
	}
	at, ok := r.next(t)
	if !ok || at.After(latest) {
		return time.Time{}, false
	}
	return at, true
}

// After returns the occurrences strictly after t, in order, as [Timeline.Next] would one by one.
func (l *Timeline) After(t time.Time) iter.Seq[time.Time] {
	return func(yield func(time.Time) bool) {
		if t.Before(earliest) {
			t = earliest.Add(-time.Second)
		}
		heads := make([]time.Time, len(l.rules)) // of each rule the next one; the zero time where none is left
		for i, r := range l.rules {
			heads[i], _ = nextOf(r, t)
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
			for i, r := range l.rules {
				if heads[i].Equal(first) {
					heads[i], _ = nextOf(r, first)
				}
			}
		}
	}
}
