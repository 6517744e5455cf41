package claimer

import (
	"context"
	"slices"
	"sync"
	"time"

	"github.com/rs/zerolog"

	"prescient/prescient"
	"prescient/prescient/internal/bell"
	"prescient/prescient/internal/store"
	"prescient/prescient/longrun/machine"
	"prescient/prescient/longrun/wakeup"
)

// Claim is a run that this agent claims, as a look has shown it: nobody has it.
type Claim struct {
	Key  prescient.Key
	Pool string
	// Agent let it lapse, unless that is empty.
	Agent string
	Token uint64
}

// Became is what became of a claim.
type Became uint8

// The ways.
const (
	// Missed: another has the run, or what it stands on. Nothing is said of it here.
	Missed Became = iota
	// Settled: the run is over, or was put off.
	Settled
	// Started: it is called here.
	Started
)

// Caller calls what is claimed. Its methods are called while the claimer is locked, but for Claim: they do not call the claimer.
type Caller interface {
	// Full says whether no run of a pool may start.
	Full(pool string) bool
	// Reserve takes a place for one, if there is one, and Unreserve gives it back.
	Reserve(pool string) bool
	Unreserve(pool string)
	// Load is the load, from 0 to 1, that there is once so many more have started.
	Load(pool string, more int) float64
	// Execs are the names of the job_execs whose functions it has, and Calls says whether one is among them.
	Execs() []string
	Calls(jobExec string) bool
	// Claim claims runs, and says of each what became of it. Of those that run it has told the claimer by then.
	Claim(some []Claim) []Became
	// Met hears how many runs are to be claimed here that a slot run of this agent has offered.
	Met(n int)
	// Stop ends the call of a run that is lost, Drop of one that is not wanted any more.
	Stop(key prescient.Key)
	Drop(key prescient.Key)
}

// Options are for New.
type Options struct {
	Agent  string
	Lease  time.Duration
	Pools  []string // that it serves; the empty one is among them
	Tables *store.Tables
	Send   *store.Sender
	// Stopped is closed once the agent drains.
	Stopped <-chan struct{}
	WakeUp  wakeup.WakeUp // nil for none
	Log     zerolog.Logger
}

// Claimer claims runs for a caller.
type Claimer struct {
	Options
	caller Caller

	mu       sync.Mutex
	machines map[prescient.Key]*tracked
	clock    store.Clock // the database's, at the last look
	lookAt   time.Time   // by it; zero before the first
	lookedAt time.Time
	looks    int
	serving  bool                      // it claims whatever it may
	wake     bell.Bell                 // has Serve see what is due
	asked    []Claim                   // that are to be made
	claiming int                       // transactions that are under way
	began    int                       // looks
	freed    map[string]bool           // pools in which a place came free since then
	met      map[prescient.Key]offered // what was offered here, and did not start yet
	helping  bool                      // it claims that
}

// tracked is a run that the agent knows of.
type tracked struct {
	machine.Machine
	key     prescient.Key
	pool    string
	jobExec string
	due     time.Time // zero where it is not known yet
	place   uint64
	missed  bool   // a claim came to nothing since the last look
	doubted uint64 // the token that the last look has shown a lower one for; 0 for none
}

// New returns a claimer.
func New(caller Caller, o Options) *Claimer {
	return &Claimer{Options: o, caller: caller, machines: make(map[prescient.Key]*tracked), met: make(map[prescient.Key]offered), freed: make(map[string]bool), wake: bell.New()}
}

// Serve claims until ctx ends.
func (c *Claimer) Serve(ctx context.Context) {
	if c.WakeUp != nil {
		stop, err := c.WakeUp.Receive(c.heard)
		if err != nil {
			c.Log.Warn().Err(err).Msg("no wake-up of agents: what others offer is known within a second")
		} else {
			defer stop()
		}
	}
	c.mu.Lock()
	c.serving = true
	c.mu.Unlock()
	defer func() {
		c.mu.Lock()
		defer c.mu.Unlock()
		c.serving = false
		c.help()
	}()
	c.wake.Ring() // what helps leaves it to this
	c.serve(ctx, func(time.Duration) bool { return false })
}

// serve looks for runs, and has them claimed, until ctx ends or it is over: that is asked with how long looks have been failing.
func (c *Claimer) serve(ctx context.Context, over func(failing time.Duration) bool) {
	wait := store.NewBackOff()
	var failed time.Time // the first look that did, since one has not; zero for none
	for ctx.Err() == nil {
		var failing time.Duration
		if !failed.IsZero() {
			failing = time.Since(failed)
		}
		if over(failing) {
			return
		}
		due, after := c.next()
		switch {
		case due:
			err := c.look(ctx)
			if err == nil {
				wait.Reset()
				failed = time.Time{}
				continue
			}
			if ctx.Err() != nil {
				return
			}
			if failed.IsZero() {
				c.Log.Warn().Err(err).Msg("agents cannot look for long runs yet")
				failed = time.Now()
			}
			c.LookIn(wait.NextBackOff() + busyPace/4)
		case after <= 0:
			c.fire()
		default:
			c.sleep(ctx, after)
		}
	}
}

// next says whether a look is due, or how long there is time until that or until a timer is over.
func (c *Claimer) next() (due bool, after time.Duration) {
	c.mu.Lock()
	defer c.mu.Unlock()
	if c.clock.At.IsZero() && c.lookAt.IsZero() {
		return true, 0
	}
	now := c.now()
	if !now.Before(c.lookAt) {
		return true, 0
	}
	first := c.lookAt
	for _, t := range c.machines {
		if t.State != machine.Executing && !t.Timer.IsZero() && t.Timer.Before(first) {
			first = t.Timer
		}
	}
	return false, first.Sub(now)
}

// now is the database's time, or before the first look, this machine's: nothing but the time of that look depends on it.
func (c *Claimer) now() time.Time {
	if c.clock.At.IsZero() {
		return time.Now().UTC()
	}
	return c.clock.Now()
}

func (c *Claimer) sleep(ctx context.Context, d time.Duration) {
	timer := time.NewTimer(d)
	defer timer.Stop()
	select {
	case <-ctx.Done():
	case <-timer.C:
	case <-c.wake:
	}
}

// LookIn has it look after a time, if it would not look before that.
func (c *Claimer) LookIn(d time.Duration) {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.lookIn(d)
}

// lookIn is LookIn; the lock is held. A look that was due already is over by then.
func (c *Claimer) lookIn(d time.Duration) {
	at := c.now().Add(d)
	if c.lookAt.After(at) || !c.now().Before(c.lookAt) {
		c.lookAt = at
		c.wake.Ring()
	}
}

// lookAfter has it look so long after the last look; the lock is held.
func (c *Claimer) lookAfter(pace time.Duration) {
	c.lookIn(max(c.lookedAt.Add(pace).Sub(c.now()), 0))
}

// fire tells machines that their timers are over.
func (c *Claimer) fire() {
	c.mu.Lock()
	defer c.mu.Unlock()
	now := c.now()
	var due []*tracked
	for _, t := range c.machines {
		if t.State != machine.Executing && !t.Timer.IsZero() && !now.Before(t.Timer) {
			due = append(due, t)
		}
	}
	slices.SortFunc(due, func(a, b *tracked) int {
		if order := a.Timer.Compare(b.Timer); order != 0 {
			return order
		}
		return first(a.due, b.due, a.place, b.place)
	})
	for _, t := range due {
		c.step(t, now, 0, machine.Event{Kind: machine.Timer})
	}
}

// Looks is how often it has looked.
func (c *Claimer) Looks() int {
	c.mu.Lock()
	defer c.mu.Unlock()
	return c.looks
}
