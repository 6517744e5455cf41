package demo

import (
	"fmt"
	"time"

	"prescient/cmd/internal/exit"
	"prescient/config/value"
)

// demoFlags are the flags of demo, as given and as read.
type demoFlags struct {
	lasts, alert, escalate string
	orders                 int
	seed                   uint64
	keep, steps            bool

	lastsFor, alertAfter, escalateAfter time.Duration
}

// parse reads the texts among the flags.
func (f *demoFlags) parse() error {
	for _, d := range []struct {
		flag, text string
		into       *time.Duration
		low, high  time.Duration
	}{
		{"for", f.lasts, &f.lastsFor, 2 * time.Second, time.Hour},
		{"alert-after", f.alert, &f.alertAfter, time.Second, time.Hour},
		{"escalate-after", f.escalate, &f.escalateAfter, time.Second, time.Hour},
	} {
		length, err := value.ParseDuration(d.text)
		if err == nil && (length < d.low || length > d.high) {
			err = fmt.Errorf("%s: %s to %s are allowed", d.text, d.low, d.high)
		}
		if err != nil {
			return exit.Usage(fmt.Errorf("--%s: %w", d.flag, err))
		}
		*d.into = length
	}
	switch {
	case f.escalateAfter <= f.alertAfter:
		return exit.Usage(fmt.Errorf("--escalate-after %s: more than --alert-after (%s) is allowed", f.escalate, f.alert))
	case f.orders < 1 || f.orders > 200_000:
		return exit.Usage(fmt.Errorf("--orders %d: 1 to 200000 are allowed", f.orders))
	}
	return nil
}
