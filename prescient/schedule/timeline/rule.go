package timeline

import "time"

// rule is one crontab.
type rule interface {
	// next is the first occurrence strictly after a place, in UTC; false where there is none. It is asked for times of the years
	// 1000 to 9999 only, and may answer with one past that.
	next(p place) (time.Time, bool)
}

// place is how far local time has come at an instant: shown is the latest that the clock has shown by then. What is due at a fixed local
// time has fired up to there.
type place struct {
	at    time.Time
	shown wall
}

// The years in which occurrences lie, as a database holds them: both ends are whole seconds.
var (
	earliest = time.Date(1000, 1, 1, 0, 0, 0, 0, time.UTC)
	latest   = time.Date(9999, 12, 31, 23, 59, 59, 0, time.UTC)
)

// nextOf is the first occurrence of a rule strictly after a place; the zero time where none is left.
func nextOf(r rule, p place) (time.Time, bool) {
	if !p.at.Before(latest) {
		return time.Time{}, false
	}
	at, ok := r.next(p)
	if !ok || at.After(latest) {
		return time.Time{}, false
	}
	return at, true
}
