package arguments

import (
	"errors"
	"fmt"
	"math"
	"time"

	"github.com/spf13/pflag"

	"prescient/cmd/internal/exit"
	"prescient/cmd/internal/times"
	"prescient/config/value"
)

// When is the pair of flags that give the time of a check.
type When struct{ At, In string }

var errNoWhen = errors.New("give --at TIME or --in DURATION, such as --in 3h")

// Check reads the flags as far as it can without knowing what time it is.
func (w When) Check() error {
	_, err := w.Resolve(time.Unix(0, 0))
	return err
}

// Resolve returns the time that the flags mean.
func (w When) Resolve(now time.Time) (time.Time, error) {
	switch {
	case w.At != "" && w.In != "":
		return time.Time{}, exit.Usage(errors.New("--at and --in exclude each other; give one of them"))
	case w.At != "":
		t, err := times.Parse(w.At, now)
		if err != nil {
			return time.Time{}, exit.Usage(fmt.Errorf("--at: %w", err))
		}
		return t, nil
	case w.In != "":
		d, err := LengthOf("in", w.In, 0)
		if err != nil {
			return time.Time{}, err
		}
		return now.Add(d).UTC(), nil
	}
	return time.Time{}, exit.Usage(errNoWhen)
}

// AddFlags adds the flags.
func (w *When) AddFlags(flags *pflag.FlagSet) {
	flags.StringVar(&w.At, "at", "", "when: now, 2006-01-02 15:04 (UTC), 2006-01-02T15:04:05+02:00, now+1d12h")
	flags.StringVar(&w.In, "in", "", "when, from now on: 90s, 3h, 1d12h")
}

// LengthOf reads the duration of a flag, or of a line of a file; empty is none.
func LengthOf(flag, text string, least time.Duration) (length time.Duration, err error) {
	if text == "" {
		return 0, nil
	}
	if err := value.Duration(&length, least, math.MaxInt64)(text); err != nil {
		return 0, exit.Usage(value.Named("--"+flag, err))
	}
	return length, nil
}
