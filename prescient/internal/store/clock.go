package store

import (
	"time"
)

// Clock tells the database's time between two answers of the server: the time that it told last plus what has elapsed since, by the
// monotonic clock. The machine's own wall clock plays no part. It is at most a round trip behind, never ahead.
type Clock struct {
	Told time.Time // by the server
	At   time.Time // here, with a monotonic reading, when its answer had arrived
}

// ClockAt is the clock of a server that has just told its time.
func ClockAt(told time.Time) Clock { return Clock{Told: told.UTC(), At: time.Now()} }

// Now returns the database's time.
func (c Clock) Now() time.Time { return c.Told.Add(time.Since(c.At)) }

// When returns the database's time of a moment here.
func (c Clock) When(here time.Time) time.Time { return c.Told.Add(here.Sub(c.At)) }

// ParseTime reads a DATETIME as the server writes it.
func ParseTime(text string) (time.Time, error) {
	return time.ParseInLocation("2006-01-02 15:04:05.999999", text, time.UTC)
}
