package longrun

import (
	"context"
	"sync"
	"time"

	"github.com/rs/zerolog"

	"prescient/prescient"
	"prescient/prescient/internal/store"
	"prescient/prescient/longrun/internal/claimer"
	"prescient/prescient/longrun/wakeup"
	text "prescient/sql"
)

// What is allowed.
const (
	// DefaultCapacity is how many long runs an agent has at a time.
	DefaultCapacity = 1000
	// MaxCheckpoint is how long a checkpoint may be, in bytes.
	MaxCheckpoint = 64 << 10
	// minLease is the shortest lease.
	minLease = 2 * time.Second
)

// Options are for New; zero fields mean the defaults.
type Options struct {
	// Prefix of the table names; empty by default.
	Prefix string
	// Dialect is [text.Auto] by default: what the server can do.
	Dialect text.Dialect
	// Name of this agent, at most 64 characters: that of the worker beside it. It must be no other's at the same time.
	Name string
	// Lease is how long a run stays the agent's without being renewed; 1 minute by default, from 2 s to prescient.MaxLease.
	Lease time.Duration
	// Capacity is how many runs it calls at a time; DefaultCapacity by default. What is due beyond that is offered to whoever has a place next.
	Capacity int
	// Pools are those that the agent serves, and how many runs of each it has at a time, beside Capacity; none by default. Their names
	// are identifiers.
	Pools map[string]int
	// Load says how much this machine has to do, from 0 to 1; nil for nothing but its long runs. Who has more to do claims later.
	Load func() float64
	// WakeUp tells other agents at once of what is offered, claimed and handed on; nil for none: they know it within half a second.
	WakeUp wakeup.WakeUp
	// Rules know the terms of checks; nil where none belongs to a schedule.
	Rules Rules
	// Observer is told of calls and ends; nil for none.
	Observer *Observer
	// Log takes a line at warn for each run that is lost, or taken over. The zero value is silent.
	Log zerolog.Logger
}

// Runner is the part of an agent that has its long runs: it calls their functions. A process needs one, beside its worker. It is for concurrent use.
type Runner struct {
	options Options
	tables  store.Tables
	send    *store.Sender

	mu       sync.Mutex
	execs    map[string]*exec       // by their names
	runs     map[prescient.Key]*Run // that are called here
	places   places
	leaving  int // calls that have ended, of which the others are to hear
	met      int // runs that were offered here, and that this agent claims
	draining bool
	held     bool            // it starts nothing until it goes on
	ending   bool            // it drains or is held, and calls have had their time
	quiet    []chan struct{} // of those who wait for the end of all runs
	idle     chan struct{}   // closed once it drains, and nothing is called or about to be
	handed   []chan struct{} // of those who wait, while it is held, until nothing is
	renewing sync.Once
	claimer  *claimer.Claimer
	stopped  chan struct{}

	after func(d time.Duration, do func()) (stop func() bool) // time.AfterFunc, but for tests
}

// Func is a job_exec that may take long: it answers with the next time to check, nil when the matter is settled, or an error.
//
// Its context ends where the run is lost, used up its quota or its timeout, was cancelled by the app, or is to be handed on;
// context.Cause says which. It should save checkpoints, and go on from [Run.Checkpoint] where there is one: it is called
// again after an error, and where its agent died.
type Func func(ctx context.Context, run *Run) (*time.Time, error)

// exec is a job_exec whose checks are long runs.
type exec struct {
	*Runner
	name   string
	fn     Func
	guards prescient.Guards
	pool   string // of its runs, unless their schedules name another; empty for all agents
	onEnd  OnEnd  // nil for none
}

// Running is how many runs are in hand here: they are called, or their ends are about to be committed.
func (r *Runner) Running() int {
	r.mu.Lock()
	defer r.mu.Unlock()
	return len(r.runs)
}

// placesLeft is how many runs of a pool may start. The lock is held.
func (r *Runner) placesLeft(pool string) int {
	if r.draining || r.held {
		return 0
	}
	return r.places.left(pool)
}

// reserve takes places for up to n runs of a pool that are about to start, and says how many.
func (r *Runner) reserve(pool string, n int) int {
	r.mu.Lock()
	defer r.mu.Unlock()
	n = max(min(n, r.placesLeft(pool)), 0)
	r.places.starting[pool] += n
	return n
}

// unreserve gives places back.
func (r *Runner) unreserve(pool string, n int) {
	r.mu.Lock()
	defer r.mu.Unlock()
	r.places.starting[pool] -= n
	r.still()
}

// still tells those who wait for it that nothing is called here, nor about to be. The lock is held.
func (r *Runner) still() {
	if len(r.runs)+r.places.beginning()+r.leaving > 0 {
		return
	}
	if r.met == 0 {
		for _, c := range r.quiet {
			close(c)
		}
		r.quiet = nil
	}
	for _, c := range r.handed {
		close(c)
	}
	r.handed = nil
	if !r.draining {
		return
	}
	select {
	case <-r.idle:
	default:
		close(r.idle)
	}
}

// Wait returns once all runs that were started here have ended, and nothing that was offered here may be claimed; or when ctx ends, with its error.
func (r *Runner) Wait(ctx context.Context) error {
	c := make(chan struct{})
	r.mu.Lock()
	r.quiet = append(r.quiet, c)
	r.still()
	r.mu.Unlock()
	select {
	case <-c:
		return nil
	case <-ctx.Done():
		return ctx.Err()
	}
}

// Drain ends the runner: it starts nothing more, and hands its runs on. Each goes on until it saves its next checkpoint, or returns;
// when ctx ends, their contexts end. It returns once all were handed on or ended, with the error of ctx where it had to end some.
// What a killed agent leaves is taken over when the lease has lapsed.
func (r *Runner) Drain(ctx context.Context) error {
	r.mu.Lock()
	if !r.draining {
		r.draining = true
		close(r.stopped)
		r.still()
	}
	r.mu.Unlock()
	return r.handOn(ctx, r.idle)
}

// handOn waits until all runs were handed on or ended, which closes idle, and ends them once ctx does.
func (r *Runner) handOn(ctx context.Context, idle <-chan struct{}) error {
	select {
	case <-idle:
		return nil
	case <-ctx.Done():
	}
	r.mu.Lock()
	r.ending = true
	for _, run := range r.runs {
		run.cancel(ErrHandOn)
	}
	r.mu.Unlock()
	// What ignores the end of its context for a whole lease is left behind: it is taken over then.
	select {
	case <-idle:
	case <-time.After(r.options.Lease):
	}
	return ctx.Err()
}

// Hold is Drain for an agent that stays: until GoOn the runner starts nothing, and it hands its runs on.
func (r *Runner) Hold(ctx context.Context) error {
	idle := make(chan struct{})
	r.mu.Lock()
	r.held = true
	r.handed = append(r.handed, idle)
	r.still()
	r.mu.Unlock()
	return r.handOn(ctx, idle)
}

// GoOn ends a Hold that has returned. Where there is none it does nothing.
func (r *Runner) GoOn() {
	r.mu.Lock()
	defer r.mu.Unlock()
	r.held, r.ending = false, r.ending && r.draining
}

// Stopping says whether the agent stops or is held, so that the next Save hands the run on: for a function that waits for something.
func (r *Run) Stopping() bool { return r.exec.isDraining() }

// isDraining says whether the agent stops, or is held.
func (r *Runner) isDraining() bool {
	r.mu.Lock()
	defer r.mu.Unlock()
	return r.draining || r.held
}
