package checks

import (
	"errors"
	"fmt"
	"math"
	"strings"
	"time"

	"prescient/cmd/internal/exit"
	"prescient/cmd/internal/times"
	"prescient/config/value"
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
		t, err := times.Parse(w.at, now)
		if err != nil {
			return time.Time{}, exit.Usage(fmt.Errorf("--at: %w", err))
		}
		return t, nil
	case w.in != "":
		d, err := lengthOf("in", w.in, 0)
		if err != nil {
			return time.Time{}, err
		}
		return now.Add(d).UTC(), nil
	}
	return time.Time{}, exit.Usage(errNoWhen)
}

// lengthOf reads the duration of a flag, or of a line of a file; empty is none.
func lengthOf(flag, text string, least time.Duration) (length time.Duration, err error) {
	if text == "" {
		return 0, nil
	}
	if err := value.Duration(&length, least, math.MaxInt64)(text); err != nil {
		return 0, exit.Usage(value.Named("--"+flag, err))
	}
	return length, nil
}

func parseSpread(text string) (time.Duration, error) { return lengthOf("spread", text, 0) }

func parseExpires(text string) (time.Duration, error) { return lengthOf("expires", text, 1) }
