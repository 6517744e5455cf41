package forecast

import (
	"slices"
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
	crews         []serving
	prompt        bool // whether its calls have an SLA
}

// serving is a crew that serves a slot or day: which of all it is, and how many calls each of its agents makes at a time.
type serving struct {
	crew  int
	calls []float64
}

// mostUnknown is the share of calls of unknown run time up to which a slot is said to end in time.
const mostUnknown = 0.1

// longest is how far off the end of a slot is told.
const longest = 3660 * 24 * time.Hour

// fit says when loads end that follow one another, where so many crews have nothing to do any more from before as of a time. What a crew is late
// with holds up its own slots alone.
func fit(loads []load, crews int, free time.Time, execs map[string]exec) []Fit {
	fits, frees := make([]Fit, len(loads)), slices.Repeat([]time.Time{free}, crews)
	for i, l := range loads {
		fits[i] = l.fit(frees, execs)
	}
	return fits
}

// fit says when a load ends, whose crews are free as of some times, and from when on they are then.
//
// It takes as long as its calls do at the concurrency of its agents, but no less than those of any job_exec at what that allows, and than one
// call. A crew takes part as soon as it has ended what came before: agents share their concurrency, so that is as if slots took turns.
func (l load) fit(free []time.Time, execs map[string]exec) Fit {
	crews := slices.SortedStableFunc(slices.Values(l.crews), func(a, b serving) int { return free[a.crew].Compare(free[b.crew]) })
	waits, all := make([]float64, len(crews)), make([]float64, len(crews))
	for i, c := range crews {
		waits[i] = max(float64(free[c.crew].Sub(l.start))/float64(time.Millisecond), 0)
		all[i] = sumOf(c.calls)
	}
	f := Fit{Verdict: Fits, Concurrency: rounded(sumOf(all))}
	var calls, unknown, work, end float64 // calls, and milliseconds
	for name, n := range l.calls {
		e := execs[name]
		calls += max(n, 0)
		switch {
		case n <= 0:
		case !e.known:
			unknown += n
		case len(crews) > 0:
			work += n * e.run
			end = max(end, filled(waits, e.places(crews), n*e.run), waits[0]+e.run)
		}
	}
	f.Unknown = rounded(unknown)
	switch {
	case calls <= 0:
		return f
	case len(crews) == 0:
		f.Verdict = Unserved
		return f
	case unknown == calls:
		f.Verdict = Unknown
		return f
	}
	end = max(end, filled(waits, all, work))
	begins := l.start.Add(millis(waits[0]))
	ends := l.start.Add(millis(end))
	last := slots.Later(begins, ends.Add(-millis(work/(calls-unknown))))
	for i, c := range crews {
		if waits[i] < end {
			free[c.crew] = ends
		}
	}
	f.BeginsAt, f.LastStartAt, f.EndsAt = &begins, &last, &ends
	if over := ends.Sub(l.before); over > 0 {
		f.Verdict, f.Over = Next, Millis(over.Milliseconds())
	} else if unknown > calls*mostUnknown {
		f.Verdict = Unknown
	}
	if l.prompt {
		f.promise(l, last, execs)
	}
	return f
}

// promise has it say which SLA is broken, where one is by more than the slot is late.
func (f *Fit) promise(l load, last time.Time, execs map[string]exec) {
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
}

// filled is when work is done by some who begin one after the other, each with so much at a time.
func filled(begin, rates []float64, work float64) float64 {
	var rate, at float64
	for i, next := range begin {
		if i > 0 && rate*(next-at) >= work {
			break
		}
		work -= rate * (next - at)
		at, rate = next, rate+rates[i]
	}
	return at + work/rate
}

// places are how many of its calls the agents of each crew make at a time.
func (e exec) places(crews []serving) []float64 {
	places := make([]float64, len(crews))
	for i, crew := range crews {
		for _, concurrency := range crew.calls {
			limit := float64(e.limit)
			if limit <= 0 {
				limit = max(concurrency/2, 1)
			}
			places[i] += min(limit, concurrency)
		}
	}
	return places
}

func sumOf(numbers []float64) (sum float64) {
	for _, n := range numbers {
		sum += n
	}
	return sum
}

// millis is a duration of some milliseconds that is no longer than is told.
func millis(ms float64) time.Duration {
	if ms >= float64(longest.Milliseconds()) {
		return longest
	}
	return time.Duration(ms * float64(time.Millisecond))
}
