package longrun

import (
	"maps"
	"slices"
	"time"
)

// SetAfter has a test say when the time of a call is over, in the place of time.AfterFunc.
func (r *Runner) SetAfter(after func(d time.Duration, do func()) (stop func() bool)) { r.after = after }

// RenewAll renews the leases of all runs, as happens when a third of the term is over.
func (r *Runner) RenewAll() error {
	r.mu.Lock()
	all := slices.Collect(maps.Values(r.runs))
	r.mu.Unlock()
	return r.renewSome(all)
}

// Looks is how often the agent has looked for runs.
func (r *Runner) Looks() int { return r.claimer.Looks() }
