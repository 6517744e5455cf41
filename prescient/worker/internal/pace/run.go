package pace

import (
	"sync"
	"time"
)

// Run is the pace of one slot run. It is for concurrent use.
type Run struct {
	mu     sync.Mutex
	steps  []Effort
	at     position
	probes []probe // a step each

	written   int         // rows, by this process
	late      bool        // it is of what is late: its rests are kept from one bucket to the next, as slots may be small
	yields    func() bool // whether something else comes first; nil where nothing does
	restUntil time.Time
}

// New returns the pace of a run that takes what it needs, up to a most.
func New(most Effort) *Run {
	all := steps(most)
	return &Run{steps: all, probes: make([]probe, len(all))}
}

// Full returns the pace of a run that always takes the most.
func Full(most Effort) *Run {
	return &Run{steps: []Effort{most}, probes: make([]probe, 1)}
}

// Adapts says whether the effort may change.
func (r *Run) Adapts() bool { return len(r.steps) > 1 }

// Effort is what the run may take now.
func (r *Run) Effort() Effort {
	r.mu.Lock()
	defer r.mu.Unlock()
	if r.yields != nil && r.yields() {
		return r.steps[0]
	}
	return r.steps[r.at.step]
}

// longestRest bounds what a run waits between two commits, whatever held one up.
const longestRest = 100 * time.Millisecond

// Wrote takes note of a commit of so many rows, which ended at a time after it took so long, and returns until when its bucket
// rests.
func (r *Run) Wrote(rows int, at time.Time, took time.Duration) time.Time {
	until := at.Add(min(time.Duration(r.Effort().Rest)*took, longestRest))
	r.mu.Lock()
	defer r.mu.Unlock()
	r.written += rows
	if r.late {
		r.restUntil = until
	}
	return until
}

// RestUntil is until when a bucket rests that begins.
func (r *Run) RestUntil() time.Time {
	r.mu.Lock()
	defer r.mu.Unlock()
	return r.restUntil
}

// wrote is how many rows were written.
func (r *Run) wrote() int {
	r.mu.Lock()
	defer r.mu.Unlock()
	return r.written
}

// begin goes back to the least effort, and returns how many rows were written until then.
func (r *Run) begin() int {
	r.mu.Lock()
	defer r.mu.Unlock()
	r.at = position{}
	r.probes[0].anew = true
	return r.written
}

// widen has the run go up to another most. What it knows of the steps that both have stays.
func (r *Run) widen(most Effort) {
	r.mu.Lock()
	defer r.mu.Unlock()
	if most == r.steps[len(r.steps)-1] {
		return
	}
	all := steps(most)
	probes := make([]probe, len(all))
	same := 0
	for same < min(len(all), len(r.steps)) && all[same] == r.steps[same] {
		probes[same] = r.probes[same]
		same++
	}
	r.steps, r.probes = all, probes
	r.at.step = min(r.at.step, len(all)-1)
}

// Every is how long to wait for the next look at a slot that is to end within a time. Whether less than the most will do is not
// urgent.
func (r *Run) Every(within time.Duration) time.Duration {
	r.mu.Lock()
	defer r.mu.Unlock()
	if r.at.step == len(r.steps)-1 {
		return seldom
	}
	return every(within)
}

// Committed takes note of how long a commit waited for the server: its fence and its COMMIT, whose work is much the same each time.
func (r *Run) Committed(took time.Duration) {
	r.mu.Lock()
	defer r.mu.Unlock()
	r.probes[r.at.step].note(took)
}

// Look decides by what was seen, and returns the effort from now on. What is slow it knows by itself.
func (r *Run) Look(s Seen) Effort {
	r.mu.Lock()
	defer r.mu.Unlock()
	p := &r.probes[r.at.step]
	s.Slow = p.slow()
	p.count = 0
	before := r.at.step
	if r.at = r.at.next(s, len(r.steps)); r.at.step != before {
		r.probes[r.at.step].anew = true
	}
	return r.steps[r.at.step]
}

// probe is how long commits take at one effort.
type probe struct {
	smoothed time.Duration
	best     time.Duration // the least that smoothed was
	count    int           // since the last look
	all      int
	anew     bool // the run was at another effort since the last commit: what smoothed says is of long ago
}

const (
	// smoothing is over how many commits the mean is.
	smoothing = 8
	// slowdown is how many times longer than at their best commits take that somebody holds up.
	slowdown = 3
)

func (p *probe) note(took time.Duration) {
	p.count++
	if p.all++; p.all == 1 || p.anew {
		p.smoothed, p.anew = took, false
	}
	p.smoothed += (took - p.smoothed) / smoothing
	if p.all >= smoothing && (p.best == 0 || p.smoothed < p.best) {
		p.best = p.smoothed
	}
}

// slow says whether the commits since the last look took much longer than the best.
func (p *probe) slow() bool { return p.count > 1 && p.best > 0 && p.smoothed > slowdown*p.best }
