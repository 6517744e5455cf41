package pace

import "time"

// Effort is what a slot run takes of the server.
type Effort struct {
	Buckets int // that are worked on at a time
	Rows    int // of a commit, at most
	Rest    int // how many times as long as a commit took its bucket waits before the next
}

// leastRows is how many rows the smallest commit may have, where the largest has more. On 2 cores an app beside commits of 250
// rows waits as long as beside none; smaller ones cost more and spare nothing (scripts/bench: guest).
const leastRows = 250

// rests are what a run begins with. Several workers, of which each works on one bucket without a rest, fill 2 cores.
var rests = []int{3, 1}

// steps are the efforts up to the most, each about twice the one before: shorter rests first, then larger commits and more
// buckets in turns.
func steps(most Effort) (all []Effort) {
	e := Effort{Buckets: 1, Rows: min(leastRows, most.Rows)}
	for _, rest := range rests {
		all = append(all, Effort{e.Buckets, e.Rows, rest})
	}
	for larger := true; ; larger = !larger {
		if e != all[len(all)-1] {
			all = append(all, e)
		}
		if e == most {
			return all
		}
		if larger {
			e.Rows = min(2*e.Rows, most.Rows)
		} else {
			e.Buckets = min(2*e.Buckets, most.Buckets)
		}
	}
}

// Seen is what a run sees of its slot when it looks.
type Seen struct {
	Remains int           // rows that are not written yet, in the buckets of all workers
	Rate    float64       // rows a second that all workers wrote lately
	Left    time.Duration // until the slot is to have ended; negative where that is over
	Early   bool          // little of the time is over: as long as nothing was written, nothing is known
	Slow    bool          // the run's commits take much longer than its best at this effort
}

const (
	// quietLooks is for how many looks a run that went down for others asks for no more.
	quietLooks = 5
	// muchFaster is by how much faster than needed a run is that goes down: a step costs at most half of its speed.
	muchFaster = 4
)

// position is where on the steps a run is.
type position struct {
	step  int
	quiet int // looks for which it asks for no more
}

// next decides where a run goes, of so many steps.
func (p position) next(s Seen, steps int) position {
	needed := func() float64 { return float64(s.Remains) / s.Left.Seconds() }
	switch {
	case s.Remains == 0, s.Rate == 0 && s.Early:
	case s.Slow && p.quiet == 0 && p.step > 0:
		return position{p.step - 1, quietLooks}
	case p.quiet > 0:
		p.quiet--
	case s.Left <= 0 || needed() > 2*s.Rate:
		p.step += 2
	case needed() > s.Rate:
		p.step++
	case muchFaster*needed() < s.Rate && p.step > 0:
		p.step--
	}
	p.step = min(p.step, steps-1)
	return p
}
