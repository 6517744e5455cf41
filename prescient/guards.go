package prescient

import (
	"cmp"
	"fmt"
	"time"
)

// None is the value of a counting guard that allows not even one.
const None = -1

// Guards keep a bad check from living for ever. A zero field means the default: in the guards of one job_exec that of the
// worker, and in those of a worker the documented value.
type Guards struct {
	// Timeout is how long one call may take; 30 s by default. A call that ignores the end of its context is abandoned.
	Timeout time.Duration
	// MaxChecks is how many returned times are accepted; the next one ends the check as max_checks. 5 by default,
	// None for none.
	MaxChecks int
	// MaxErrors is how many errors in a row are retried; the next one ends the check as failed, or as timed_out; so does one that is
	// Final. 5 by default, None for none.
	MaxErrors int
	// RetryWithin is how long a retry waits at most, or one slot where a slot is longer: after errors in a row a check waits 1, 2,
	// 4, … slots, up to this. 0, the default, for no bound but the horizon; of Endless checks, for no growth at all. An error that says
	// by Retry how long is not bounded by it.
	RetryWithin time.Duration
	// Horizon is how far ahead of now a check may be; 30 days by default.
	Horizon time.Duration
	// ExpiresAfter is how long after due_at a check expires that has no expires_at of its own: from then on it is not called
	// any more, retries included, and ends as expired. 0, the default, for never.
	ExpiresAfter time.Duration
	// Endless is for checks that must not end by a guard, such as the timers of schedules: MaxChecks, Horizon, MaxErrors and
	// ExpiresAfter do not hold for them. After an error, and where one killed its worker, they are called again, however often: at
	// the next open slot, or later as a RetryWithin of their own allows; they take none from the guards of the worker. One that
	// answers with a time that is over is called again at the next open slot.
	Endless bool
	// Concurrency is how many calls of one job_exec run at a time in one worker, abandoned ones included; half of the
	// worker's concurrency by default. When as many are abandoned, its rows are put off.
	Concurrency int
	// SLA is the lateness above which a run is warned about and counted; 0 for none.
	SLA time.Duration
}

// DefaultGuards are the documented defaults.
func DefaultGuards() Guards {
	return Guards{Timeout: 30 * time.Second, MaxChecks: 5, MaxErrors: 5, Horizon: 30 * 24 * time.Hour}
}

// MaxHorizon is the longest horizon that can be configured: 10 years.
const MaxHorizon = 10 * 366 * 24 * time.Hour

// Or returns g with its zero fields taken from d.
func (g Guards) Or(d Guards) Guards {
	g.Timeout = cmp.Or(g.Timeout, d.Timeout)
	g.MaxChecks = cmp.Or(g.MaxChecks, d.MaxChecks)
	g.MaxErrors = cmp.Or(g.MaxErrors, d.MaxErrors)
	if !g.Endless {
		g.RetryWithin = cmp.Or(g.RetryWithin, d.RetryWithin)
	}
	g.Horizon = cmp.Or(g.Horizon, d.Horizon)
	g.Concurrency = cmp.Or(g.Concurrency, d.Concurrency)
	g.SLA = cmp.Or(g.SLA, d.SLA)
	g.ExpiresAfter = cmp.Or(g.ExpiresAfter, d.ExpiresAfter)
	g.Endless = g.Endless || d.Endless
	return g
}

// Ahead is how far ahead of now a check may be: Horizon, or MaxHorizon where they are Endless.
func (g Guards) Ahead() time.Duration {
	if g.Endless {
		return MaxHorizon
	}
	return g.Horizon
}

// Validate returns an error that wraps ErrInvalid and names the guard, what was given and what is allowed.
func (g Guards) Validate() error {
	switch {
	case g.Timeout < 0:
		return fmt.Errorf("%w: guard timeout %s: positive times are allowed, and 0 for the default", ErrInvalid, g.Timeout)
	case g.MaxChecks < None:
		return fmt.Errorf("%w: guard max_checks %d: positive numbers are allowed, 0 for the default, and -1 for none", ErrInvalid, g.MaxChecks)
	case g.MaxErrors < None:
		return fmt.Errorf("%w: guard max_errors %d: positive numbers are allowed, 0 for the default, and -1 for none", ErrInvalid, g.MaxErrors)
	case g.RetryWithin < 0:
		return fmt.Errorf("%w: guard retry_within %s: positive times are allowed, and 0 for no bound but the horizon", ErrInvalid, g.RetryWithin)
	case g.Horizon < 0 || g.Horizon > MaxHorizon:
		return fmt.Errorf("%w: guard horizon %s: positive times up to %s are allowed, and 0 for the default", ErrInvalid, g.Horizon, MaxHorizon)
	case g.ExpiresAfter < 0:
		return fmt.Errorf("%w: guard expires_after %s: positive times are allowed, and 0 for never", ErrInvalid, g.ExpiresAfter)
	case g.Concurrency < 0:
		return fmt.Errorf("%w: guard concurrency %d: positive numbers are allowed, and 0 for the default", ErrInvalid, g.Concurrency)
	case g.SLA < 0:
		return fmt.Errorf("%w: guard sla %s: positive times are allowed, and 0 for none", ErrInvalid, g.SLA)
	}
	return nil
}

// allowed reads a counting guard: None is zero.
func allowed(n int) int { return max(n, 0) }
