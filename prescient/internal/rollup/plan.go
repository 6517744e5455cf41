package rollup

import "time"

const (
	// HoursKept is for how long the lines of hours are kept at least; those of days are kept for longer.
	HoursKept = 90 * 24 * time.Hour
	// settles is how long after its end an hour is summed.
	settles = 5 * time.Minute
	// watched is for how long after its end an hour is compared with history: by then what was late to commit is there.
	watched = 24 * time.Hour
	day     = 24 * time.Hour
)

// looks are when an hour is compared with history, after its end.
var looks = []time.Duration{time.Hour, 6 * time.Hour, watched}

// KeptFrom is from when on the lines of hours are there.
func KeptFrom(now time.Time) time.Time { return dayOf(now.Add(-HoursKept)) }

// HourOf is the start of the hour that a time lies in, dayOf that of its day: UTC.
func HourOf(at time.Time) time.Time { return at.UTC().Truncate(time.Hour) }

func dayOf(at time.Time) time.Time { return at.UTC().Truncate(day) }

// nextLook is when an hour is compared next; nil for never.
func nextLook(hour, now time.Time) *time.Time {
	for _, after := range looks {
		if at := hour.Add(time.Hour + after); at.After(now) {
			return &at
		}
	}
	return nil
}

// isOver says whether an hour may be summed.
func isOver(hour, now time.Time) bool { return !now.Before(hour.Add(time.Hour + settles)) }

// following is the hour to sum after the latest that was, which is zero for none. An hour that nobody compares any more and that has no end is
// left out: firstEnd is the first end from the hour after the latest on, zero for none. The hour may not be over yet.
func following(latest, firstEnd, now time.Time) time.Time {
	next := HourOf(now.Add(-watched - time.Hour))
	if !firstEnd.IsZero() && HourOf(firstEnd).Before(next) {
		next = HourOf(firstEnd)
	}
	if after := latest.Add(time.Hour); !latest.IsZero() && next.Before(after) {
		next = after
	}
	return next
}

// state is what the tables say: the latest hour that was summed, the one whose look is due, and the first whose sums are in no day.
type state struct{ now, latest, look, undayed time.Time }

// work is a kind of it.
type work int

const (
	nothing work = iota
	toLook
	toMakeDay
	toSum
)

// task is what is due, for an hour or a day.
type task struct {
	what work
	at   time.Time
}

// due is what comes before the next hour: a look, or a day of which all hours were summed.
func (s state) due() task {
	switch {
	case !s.look.IsZero():
		return task{toLook, s.look}
	case !s.undayed.IsZero() && !s.latest.Before(dayOf(s.undayed).Add(day-time.Hour)):
		return task{toMakeDay, dayOf(s.undayed)}
	}
	return task{}
}

// Again are the hours to sum where some have changed, in their order. Of a day whose hours' lines are gone all are summed, since the day is made
// of them.
func Again(changed []time.Time, now time.Time) (hours []time.Time) {
	var last time.Time
	for _, hour := range changed {
		of := dayOf(hour)
		switch {
		case !of.Before(KeptFrom(now)):
			hours = append(hours, hour)
		case !of.Equal(last):
			last = of
			for n := range 24 {
				hours = append(hours, of.Add(time.Duration(n)*time.Hour))
			}
		}
	}
	return hours
}
