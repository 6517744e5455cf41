package store

import (
	"context"
	"fmt"
	"strings"
	"time"

	"prescient/prescient"
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

// ReadClock asks for the time by the database's clock.
func (t *Tables) ReadClock(ctx context.Context, db prescient.DB) (now time.Time, err error) {
	if err := QueryRow(ctx, db, []any{&now}, t.Stmt.Get("operate/now")); err != nil {
		return now, fmt.Errorf("asking for the time: %w", err)
	}
	return now.UTC(), nil
}

// When returns the database's time of a moment here.
func (c Clock) When(here time.Time) time.Time { return c.Told.Add(here.Sub(c.At)) }

// ParseTime reads a DATETIME as the server writes it. Where the sql_mode of a session allows that, plain SQL may have written a date that is
// none. It is read as the driver does: a zero date as the zero time, a month or day 0 as the first, and the 31st of February as a day of March.
func ParseTime(text string) (time.Time, error) {
	at, err := ParseCalendar(text)
	if err == nil {
		return at, nil
	}
	var year, month, day int
	date, clock, _ := strings.Cut(text, " ")
	if n, wrong := fmt.Sscanf(date, "%4d-%2d-%2d", &year, &month, &day); n != 3 || wrong != nil || month > 12 || day > 31 || year == 0 && (month != 0 || day != 0) {
		return time.Time{}, err
	}
	if year == 0 {
		return time.Time{}, nil
	}
	in, wrong := time.ParseInLocation("15:04:05.999999", clock, time.UTC)
	if wrong != nil {
		return time.Time{}, err
	}
	return time.Date(year, time.Month(max(month, 1)), max(day, 1), in.Hour(), in.Minute(), in.Second(), in.Nanosecond(), time.UTC), nil
}

// ParseCalendar is ParseTime that refuses what is no day of the calendar.
func ParseCalendar(text string) (time.Time, error) {
	return time.ParseInLocation("2006-01-02 15:04:05.999999", text, time.UTC)
}
