package forecast

import (
	"time"

	"prescient/slots"
)

// exec is what is known of a job_exec.
type exec struct {
	run   float64 // mean time of a call, in milliseconds
	known bool    // that mean
	again float64 // share of its calls after which the check goes on
	limit int     // calls at a time in one worker; 0 for half of its concurrency
	sla   time.Duration
}

// load is what a slot or day is to do, and who does it.
type load struct {
	start, before time.Time // before: when the next begins
	calls         map[string]float64
	agents        []float64 // how many calls each agent that serves it makes at a time
	prompt        bool      // whether its calls have an SLA
}

// mostUnknown is the share of calls of unknown run time up to which a slot is said to end in time.
const mostUnknown = 0.1

// longest is how far off the end of a slot is told.
const longest = 3660 * 24 * time.Hour

// fit says when loads end that follow one another. free is when the agents have nothing to do any more from before.
//
// A load takes as long as its calls do at the concurrency of its agents, but no less than those of any job_exec at what that allows, and than one
// call. It begins when the one before has ended: agents share their concurrency, so that is as if they took turns.
func fit(loads []load, free time.Time, execs map[string]exec) []Fit {
	fits := make([]Fit, len(loads))
	for i, l := range loads {
		fits[i], free = l.fit(free, execs)
	}
	return fits
}

func (l load) fit(free time.Time, execs map[string]exec) (Fit, time.Time) {
	f := Fit{Verdict: Fits, Concurrency: rounded(sumOf(l.agents))}
	var all, unknown, work, span float64 // calls, and milliseconds
	for name, n := range l.calls {
		e := execs[name]
		all += n
		switch {
		case n <= 0:
		case !e.known:
			unknown += n
		case len(l.agents) > 0:
			work += n * e.run
			span = max(span, n*e.run/e.places(l.agents), e.run)
		}
	}
	f.Unknown = rounded(unknown)
	switch {
	case all <= 0:
		return f, free
	case len(l.agents) == 0:
		f.Verdict = Unserved
		return f, free
	case unknown == all:
		f.Verdict = Unknown
		return f, free
	}
	span = max(span, work/sumOf(l.agents))
	begins := slots.Later(l.start, free)
	ends := begins.Add(millis(span))
	last := slots.Later(begins, ends.Add(-millis(work/(all-unknown))))
	f.BeginsAt, f.LastStartAt, f.EndsAt = &begins, &last, &ends
	if over := ends.Sub(l.before); over > 0 {
		f.Verdict, f.Over = Next, Millis(over.Milliseconds())
	} else if unknown > all*mostUnknown {
		f.Verdict = Unknown
	}
	if !l.prompt {
		return f, ends
	}
	for name, n := range l.calls {
		// Those of all job_execs are mixed by their keys, so any may have the last one.
		over := last.Sub(l.start) - execs[name].sla
		if n <= 0 || execs[name].sla <= 0 || over <= 0 {
			continue
		}
		if ms := Millis(over.Milliseconds()); !f.Verdict.Late() || ms > f.Over || f.Verdict == SLA && ms == f.Over && name < f.JobExec {
			f.Verdict, f.Over, f.JobExec = SLA, ms, name
		}
	}
	return f, ends
}

// places are how many of its calls some agents make at a time.
func (e exec) places(agents []float64) (n float64) {
	for _, concurrency := range agents {
		limit := float64(e.limit)
		if limit <= 0 {
			limit = max(concurrency/2, 1)
		}
		n += min(limit, concurrency)
	}
	return n
}

func sumOf(agents []float64) (n float64) {
	for _, concurrency := range agents {
		n += concurrency
	}
	return n
}

// millis is a duration of some milliseconds that is no longer than is told.
func millis(ms float64) time.Duration {
	if ms >= float64(longest.Milliseconds()) {
		return longest
	}
	return time.Duration(ms * float64(time.Millisecond))
}
