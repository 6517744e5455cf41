package pace

import (
	"sync"
	"time"
)

// Backlog is the pace of what is late: the slots of sweeps, of which each run goes on where the one before it was, or the rows
// that came to a finished slot. Its time is for all of it. It goes by what this process alone has done, so that workers who share
// one are done sooner. It is for concurrent use; its times are those of the process, which nobody sets.
type Backlog struct {
	run    *Run
	within time.Duration
	yields func() bool // whether something else comes first: then it takes the least

	mu      sync.Mutex
	began   time.Time // zero while there is none
	more    int       // slots after the one that is run, about
	ended   int       // slots before it
	before  int       // what the run had written when the backlog began
	guess   int       // rows of a bucket, before any was run
	rate    rate
	last    time.Time // when it was looked at
	yielded bool      // then something else came first
}

// NewBacklog is that of a process which begins to catch up as soon as Starts is called, and is to be done within a time.
func NewBacklog(most Effort, guess int, within time.Duration, yields func() bool) *Backlog {
	run := New(most)
	run.late, run.yields = true, yields
	return &Backlog{run: run, within: within, guess: guess, yields: yields}
}

// Run is the pace of the slot runs. One may take more of a server that is far away.
func (b *Backlog) Run(most Effort) *Run {
	b.run.widen(most)
	return b.run
}

// Starts says that a slot is to be run at a time, with about so many after it. The first begins the backlog, with the least effort.
func (b *Backlog) Starts(at time.Time, more int) {
	b.mu.Lock()
	defer b.mu.Unlock()
	b.more = more
	if !b.begin(at) {
		b.ended++
		b.look(at, Ledger{Buckets: 1})
	}
}

// begin begins where nothing is being caught up.
func (b *Backlog) begin(at time.Time) bool {
	if !b.began.IsZero() {
		return false
	}
	b.began, b.last, b.ended, b.before = at, at, 0, b.run.begin()
	b.rate = rate{{0, 0}}
	return true
}

// Ends says that nothing is overdue any more: what is next begins anew.
func (b *Backlog) Ends() {
	b.mu.Lock()
	defer b.mu.Unlock()
	b.began, b.more = time.Time{}, 0
}

// Every is how often to look.
func (b *Backlog) Every() time.Duration { return b.run.Every(b.within) }

// Look decides at a time by the slot that is run, of which the ledger has what this process ended, where the last look was long
// enough ago. While something else comes first it learns nothing.
func (b *Backlog) Look(at time.Time, slot Ledger) {
	b.mu.Lock()
	defer b.mu.Unlock()
	if !b.begin(at) {
		b.look(at, slot)
	}
}

func (b *Backlog) look(at time.Time, slot Ledger) {
	if yields := b.yields(); yields || b.yielded {
		b.yielded = yields
		b.last, b.rate = at, rate{{at.Sub(b.began), b.run.wrote() - b.before}}
	} else if at.Sub(b.last) >= b.Every() {
		b.last = at
		b.run.Look(b.seen(at, slot))
	}
}

// seen is what a look says. A slot that nobody has looked into has as many rows as those before it, on average; while the first is
// run, as many as that has ended, so that one large slot makes a crowd of all only as it turns out to be large.
func (b *Backlog) seen(at time.Time, slot Ledger) Seen {
	since, written := at.Sub(b.began), b.run.wrote()-b.before
	each := max(written/(b.ended+1), 1)
	guess := each
	if b.ended == 0 {
		guess, each = b.guess, max(each, b.guess)
	}
	return Seen{Remains: slot.remains(guess) + b.more*each, Left: b.within - since, Early: since < b.within/4,
		Rate: b.rate.at(since, written)}
}

// TimeFor is how long a run may take that begins so long after its slot: until a time after the slot; and where half of that is
// and a second are over, or its rows are late anyway, as long as what is late may take. That is never longer than the distance to the next slot,
// or more and more of them would be run at a time.
func TimeFor(lateness, within, late, resolution time.Duration, again bool) time.Duration {
	left := min(within-lateness, within)
	if again || lateness > max(within/2, time.Second) {
		return max(left, min(late, resolution))
	}
	return left
}
