package config

import (
	"strconv"
	"time"

	"prescient/config/value"
	"prescient/prescient"
	"prescient/slots"
)

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
func guards(g *prescient.Guards) []guard {
	defaults := prescient.DefaultGuards()
	// A 0 for all that says "no bound" has no counterpart for one job_exec, where what is not given is that of all.
	duration := func(name string, fallback time.Duration, into *time.Duration, least, most time.Duration, usage string) guard {
		return guard{name, slots.Short(fallback), "duration", usage, value.Duration(into, least, most), value.Duration(into, max(least, time.Millisecond), most)}
	}
	allowance := func(name string, fallback int, into *int, usage string) guard {
		set := value.Allowance(into, mostAllowed, prescient.None)
		return guard{name, strconv.Itoa(fallback), "number", usage, set, set}
	}
	return []guard{
		duration("timeout", defaults.Timeout, &g.Timeout, time.Millisecond, value.Day, "time that one call of a job_exec may take"),
		allowance("max_checks", defaults.MaxChecks, &g.MaxChecks, "returned times that are accepted; 0 for none"),
		allowance("max_errors", defaults.MaxErrors, &g.MaxErrors, "errors in a row that are retried; 0 for none"),
		duration("retry_within", defaults.RetryWithin, &g.RetryWithin, 0, longest, "time that a retry waits at most, or one slot; 0s for no bound but --guards-horizon"),
		duration("horizon", defaults.Horizon, &g.Horizon, time.Second, prescient.MaxHorizon, "how far ahead a check may be"),
		duration("expires_after", defaults.ExpiresAfter, &g.ExpiresAfter, 0, longest, "time from when it is due after which a check is not called any more; 0s for never"),
		{"concurrency", "0", "number", "calls of one job_exec that run at a time; 0 for half of --worker-concurrency",
			value.Number(&g.Concurrency, 0, mostConcurrency), value.Number(&g.Concurrency, 1, mostConcurrency)},
		duration("sla", defaults.SLA, &g.SLA, 0, longest, "lateness above which a run is warned about; 0s for none"),
	}
}

// guardsOfAll are the keys of the guards of all job_execs.
func guardsOfAll(g *prescient.Guards) (list []field) {
	for _, one := range guards(g) {
		list = append(list, field{"guards." + one.name, one.fallback, one.all, one.kind, one.usage})
	}
	return list
}

// guardsOfOne are the keys of the guards of one job_exec.
func guardsOfOne(prefix string, g *prescient.Guards) (list []field) {
	for _, one := range guards(g) {
		list = append(list, field{name: prefix + one.name, set: one.one})
	}
	return list
}
