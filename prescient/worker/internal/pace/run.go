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
	return r.steps[r.at.step]
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
