package slots

import (
	"strconv"
	"strings"
	"time"
)

// Later returns the later of two times.
func Later(a, b time.Time) time.Time {
	if a.After(b) {
		return a
	}
	return b
}

// Earlier returns the earlier of two times, of which a may be zero for none.
func Earlier(a, b time.Time) time.Time {
	if a.IsZero() || b.Before(a) {
		return b
	}
	return a
}

// RoundUp is t in UTC, rounded up to the microsecond that a DATETIME(6) holds.
func RoundUp(t time.Time) time.Time {
	if rest := t.Nanosecond() % 1000; rest != 0 {
		t = t.Add(time.Duration(1000 - rest))
	}
	return t.UTC().Round(0)
}

// Stamp writes a time for people, in UTC.
func Stamp(t time.Time) string { return t.UTC().Format(time.RFC3339Nano) }

// Short writes a duration as people do: 1h for 1h0m0s, 30d for 720h0m0s.
func Short(d time.Duration) string {
	const day = 24 * time.Hour
	if d != 0 && d%day == 0 && d > day {
		return strconv.FormatInt(int64(d/day), 10) + "d"
	}
	text := d.String()
	if strings.HasSuffix(text, "m0s") {
		text = strings.TrimSuffix(text, "0s")
	}
	if strings.HasSuffix(text, "h0m") {
		text = strings.TrimSuffix(text, "0m")
	}
	return text
}

// OverdueBefore is the first moment whose slots are not swept yet: those before the current one and older than the grace,
// so that a timer a few seconds late keeps its own slot.
func OverdueBefore(grid Grid, now time.Time, grace time.Duration) time.Time {
	if old := now.Add(-grace); old.Before(grid.Floor(now)) {
		return old
	}
	return grid.Floor(now)
}
