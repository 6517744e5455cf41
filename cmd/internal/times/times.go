// Package times reads a time as it is written on a command line: now, RFC 3339, 2006-01-02 15:04, or counted from now.
package times

import (
	"fmt"
	"strings"
	"time"

	"prescient/config/value"
)

// wanted is the end of what is said about a time that cannot be read.
const wanted = `want now, 2006-01-02 15:04 (UTC), 2006-01-02T15:04:05+02:00, or +3h or now-1d12h`

// dateLayouts are the forms of a date and a time of day, behind which a zone may stand.
var dateLayouts = []string{"2006-01-02T15:04:05", "2006-01-02 15:04:05", "2006-01-02T15:04", "2006-01-02 15:04"}

// zoneLayouts are the forms of a zone; with none of them a time is UTC.
var zoneLayouts = []string{"", "Z07:00", " Z07:00", " UTC", " -0700", "-0700"}

// Parse reads a time and returns it in UTC. now is what "now" means.
func Parse(text string, now time.Time) (time.Time, error) {
	trimmed := strings.TrimSpace(text)
	if Relative(trimmed) {
		return parseRelative(trimmed, now)
	}
	for _, date := range dateLayouts {
		for _, zone := range zoneLayouts {
			if t, err := time.Parse(date+zone, trimmed); err == nil {
				return inRange(t.UTC(), text)
			}
		}
	}
	return time.Time{}, fmt.Errorf("time %.80q: %s", text, wanted)
}

// Relative reports whether a time depends on now.
func Relative(text string) bool {
	text = strings.TrimSpace(text)
	return strings.HasPrefix(text, "now") || strings.HasPrefix(text, "+") || strings.HasPrefix(text, "-")
}

func parseRelative(text string, now time.Time) (time.Time, error) {
	distance := strings.TrimPrefix(text, "now")
	if distance == "" {
		return now.UTC(), nil
	}
	if !strings.HasPrefix(distance, "+") && !strings.HasPrefix(distance, "-") {
		return time.Time{}, fmt.Errorf("time %.80q: %s", text, wanted)
	}
	d, err := value.ParseDuration(distance)
	if err != nil {
		return time.Time{}, fmt.Errorf("time %.80q: %w; %s", text, err, wanted)
	}
	return inRange(now.Add(d).UTC(), text)
}

// inRange refuses what a DATETIME column cannot hold.
func inRange(t time.Time, text string) (time.Time, error) {
	if t.Year() < 1000 || t.Year() > 9999 {
		return time.Time{}, fmt.Errorf("time %.80q: years from 1000 to 9999 are allowed", text)
	}
	return t, nil
}
