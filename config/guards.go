package config

import (
	"time"

	"prescient/config/value"
)

// None is the value of MaxChecks and MaxErrors that allows not even one; in a configuration it is written 0.
const None = -1

// Guards bound a job_exec. Each field is the one of prescient.Guards that has its name; in those of one job a zero field
// means that the worker's holds.
type Guards struct {
	// Timeout is how long one call may take.
	Timeout time.Duration
	// MaxChecks is how many returned times are accepted, or None.
	MaxChecks int
	// MaxErrors is how many errors in a row are retried, or None.
	MaxErrors int
	// RetryWithin is how long a retry waits at most, where a slot is not longer; 0 for no bound but Horizon.
	RetryWithin time.Duration
	// Horizon is how far ahead a check may be.
	Horizon time.Duration
	// ExpiresAfter is how long after it is due a check expires that has no expiry of its own; 0 for never.
	ExpiresAfter time.Duration
	// Concurrency is how many calls of one job_exec run at a time; 0 for half of the worker's concurrency.
	Concurrency int
	// SLA is the lateness above which a run is warned about; 0 for none.
	SLA time.Duration
}

// A guard is a key, of all job_execs below guards, and of one beside its other keys.
type guard struct {
	name     string
	fallback string // of all
	kind     string
	usage    string
	// all and one read the text for all job_execs, and for one.
	all, one value.Parser
}

// guards are the guards, in the order of the example file, set to fill g.
func guards(g *Guards) []guard {
	// A 0 for all that says "no bound" has no counterpart for one job_exec, where what is not given is that of all.
	duration := func(name, fallback string, into *time.Duration, least, most time.Duration, usage string) guard {
		return guard{name, fallback, "duration", usage, value.Duration(into, least, most), value.Duration(into, max(least, time.Millisecond), most)}
	}
	allowance := func(name string, into *int, usage string) guard {
		set := value.Allowance(into, mostAllowed, None)
		return guard{name, "5", "number", usage, set, set}
	}
	return []guard{
		duration("timeout", "30s", &g.Timeout, time.Millisecond, value.Day, "time that one call of a job_exec may take"),
		allowance("max_checks", &g.MaxChecks, "returned times that are accepted; 0 for none"),
		allowance("max_errors", &g.MaxErrors, "errors in a row that are retried; 0 for none"),
		duration("retry_within", "0s", &g.RetryWithin, 0, longest, "time that a retry waits at most, or one slot; 0s for no bound but --guards-horizon"),
		duration("horizon", "30d", &g.Horizon, time.Second, longest, "how far ahead a check may be"),
		duration("expires_after", "0s", &g.ExpiresAfter, 0, longest, "time from when it is due after which a check is not called any more; 0s for never"),
		{"concurrency", "0", "number", "calls of one job_exec that run at a time; 0 for half of --worker-concurrency",
			value.Number(&g.Concurrency, 0, mostConcurrency), value.Number(&g.Concurrency, 1, mostConcurrency)},
		duration("sla", "0s", &g.SLA, 0, longest, "lateness above which a run is warned about; 0s for none"),
	}
}

// guardsOfAll are the keys of the guards of all job_execs.
func guardsOfAll(g *Guards) (list []field) {
	for _, one := range guards(g) {
		list = append(list, field{"guards." + one.name, one.fallback, one.all, one.kind, one.usage})
	}
	return list
}

// guardsOfOne are the keys of the guards of one job_exec.
func guardsOfOne(prefix string, g *Guards) (list []field) {
	for _, one := range guards(g) {
		list = append(list, field{name: prefix + one.name, set: one.one})
	}
	return list
}
