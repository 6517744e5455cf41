package checks

import (
	"context"
	"errors"
	"fmt"
	"strings"
	"time"

	"prescient/cmd/internal/exit"
	"prescient/cmd/internal/program"
	"prescient/config/value"
)

// timeWanted is the end of what is said about a time that cannot be read.
const timeWanted = `want now, 2006-01-02 15:04 (UTC), 2006-01-02T15:04:05+02:00, or +3h or now-1d12h`

// dateLayouts are the forms of a date and a time of day, behind which a zone may stand.
var dateLayouts = []string{"2006-01-02T15:04:05", "2006-01-02 15:04:05", "2006-01-02T15:04", "2006-01-02 15:04"}

// zoneLayouts are the forms of a zone; with none of them a time is UTC.
var zoneLayouts = []string{"", "Z07:00", " Z07:00", " UTC", " -0700", "-0700"}

// parseTime reads a time of the command line and returns it in UTC. now is what "now" means.
func parseTime(text string, now time.Time) (time.Time, error) {
	trimmed := strings.TrimSpace(text)
	if relative(trimmed) {
		return parseRelative(trimmed, now)
	}
	for _, date := range dateLayouts {
		for _, zone := range zoneLayouts {
			if t, err := time.Parse(date+zone, trimmed); err == nil {
				return inRange(t.UTC(), text)
			}
		}
	}
	return time.Time{}, fmt.Errorf("time %.80q: %s", text, timeWanted)
}

// relative reports whether a time depends on now.
func relative(text string) bool {
	return strings.HasPrefix(text, "now") || strings.HasPrefix(text, "+") || strings.HasPrefix(text, "-")
}

func parseRelative(text string, now time.Time) (time.Time, error) {
	distance := strings.TrimPrefix(text, "now")
	if distance == "" {
		return now.UTC(), nil
	}
	if !strings.HasPrefix(distance, "+") && !strings.HasPrefix(distance, "-") {
		return time.Time{}, fmt.Errorf("time %.80q: %s", text, timeWanted)
	}
	d, err := value.ParseDuration(distance)
	if err != nil {
		return time.Time{}, fmt.Errorf("time %.80q: %w; %s", text, err, timeWanted)
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

// when is the pair of flags that give the time of a check.
type when struct{ at, in string }

var errNoWhen = errors.New("give --at TIME or --in DURATION, such as --in 3h")

// check reads the flags as far as it can without knowing what time it is.
func (w when) check() error {
	_, err := w.resolve(time.Unix(0, 0))
	return err
}

// resolve returns the time that the flags mean.
func (w when) resolve(now time.Time) (time.Time, error) {
	switch {
	case w.at != "" && w.in != "":
		return time.Time{}, exit.Usage(errors.New("--at and --in exclude each other; give one of them"))
	case w.at != "":
		t, err := parseTime(w.at, now)
		if err != nil {
			return time.Time{}, exit.Usage(fmt.Errorf("--at: %w", err))
		}
		return t, nil
	case w.in != "":
		d, err := value.ParseDuration(w.in)
		if err == nil && d < 0 {
			err = fmt.Errorf("duration %q is negative", w.in)
		}
		if err != nil {
			return time.Time{}, exit.Usage(fmt.Errorf("--in: %w; want a duration such as 90s, 3h, 1d12h", err))
		}
		return now.Add(d).UTC(), nil
	}
	return time.Time{}, exit.Usage(errNoWhen)
}

// moment returns the time that a flag means, or the zero time where it was not given. The database is asked for its
// time only where that matters.
func moment(ctx context.Context, s *program.Session, flag, text string) (time.Time, error) {
	if text == "" {
		return time.Time{}, nil
	}
	var now time.Time
	if relative(strings.TrimSpace(text)) {
		var err error
		if now, err = s.Now(ctx); err != nil {
			return time.Time{}, err
		}
	}
	t, err := parseTime(text, now)
	if err != nil {
		return time.Time{}, exit.Usage(fmt.Errorf("--%s: %w", flag, err))
	}
	return t, nil
}

// checkTime reads a time flag as far as it can without knowing what time it is.
func checkTime(flag, text string) error {
	if text == "" {
		return nil
	}
	if _, err := parseTime(text, time.Unix(0, 0)); err != nil {
		return exit.Usage(fmt.Errorf("--%s: %w", flag, err))
	}
	return nil
}
