package checks

import (
	"strings"
	"time"

	"prescient/cmd/internal/arguments"
)

// parseClock reads a time of day, such as 13:05 or 13:05:30, on the UTC day of now.
func parseClock(text string, now time.Time) (time.Time, bool) {
	for _, layout := range []string{"15:04", "15:04:05"} {
		if t, err := time.Parse(layout, strings.TrimSpace(text)); err == nil {
			day := now.UTC().Truncate(24 * time.Hour)
			return day.Add(t.Sub(t.Truncate(24 * time.Hour))), true
		}
	}
	return time.Time{}, false
}

func parseSpread(text string) (time.Duration, error) { return arguments.LengthOf("spread", text, 0) }

func parseExpires(text string) (time.Duration, error) { return arguments.LengthOf("expires", text, 1) }
