package claimer

import (
	"math/rand/v2"
	"slices"
	"time"

	"prescient/prescient"
	"prescient/prescient/longrun/machine"
	"prescient/prescient/longrun/wakeup"
)

// Run is what the caller says of a run that it has.
type Run struct {
	Key     prescient.Key
	Pool    string
	JobExec string
	Token   uint64
	// Until is when its lease ends, by the database's clock, and no later than that.
	Until time.Time
	// Due is when its check was due; zero where that is not known.
	Due time.Time
}

// Started says that a run is called here.
func (c *Claimer) Started(r Run) {
	c.hear(r, machine.Event{Kind: machine.Claimed, From: c.Agent, Runs: true, Row: machine.Row{Token: r.Token, Agent: c.Agent, Until: r.Until}})
	c.mu.Lock()
	c.unmeet(r.Key)
	c.mu.Unlock()
	c.say(wakeup.Has, r)
}

// Renewed says that its lease was renewed.
func (c *Claimer) Renewed(r Run) {
	c.hear(r, machine.Event{Kind: machine.Refresh, From: c.Agent, Row: machine.Row{Token: r.Token, Agent: c.Agent, Until: r.Until}})
}

// Lapsed says that its lease is over by this agent's clock.
func (c *Claimer) Lapsed(key prescient.Key) {
	c.mu.Lock()
	defer c.mu.Unlock()
	if t := c.machines[key]; t != nil && t.State == machine.Executing {
		c.step(t, t.Timer, 0, machine.Event{Kind: machine.Timer})
	}
}

// Gone says that the row is not this agent's any more.
func (c *Claimer) Gone(r Run) {
	c.hear(r, machine.Event{Kind: machine.Claimed, Row: machine.Row{Token: r.Token + 1}})
}

// Unwanted says that its check was cancelled or changed.
func (c *Claimer) Unwanted(r Run) {
	c.hear(r, machine.Event{Kind: machine.Remove})
}

// How is how a call ended.
type How uint8

// The ways.
const (
	Lost How = iota
	Ended
	HandedOn
)

// Finished says that the call of a run is over.
func (c *Claimer) Finished(r Run, how How) {
	kind := machine.Done
	if how == HandedOn {
		kind = machine.Release
	}
	c.hear(r, machine.Event{Kind: kind, From: c.Agent, Row: machine.Row{Token: r.Token}})
	switch how {
	case Ended:
		c.say(wakeup.End, r)
	case HandedOn:
		c.say(wakeup.Offer, r)
	}
}

// PlaceFree says that a run has given back its place of a pool: mostly once its function has returned, while its end is yet to be committed.
func (c *Claimer) PlaceFree(pool string) {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.placeFree(pool)
}

// placeFree says that a place of a pool came free. The lock is held.
func (c *Claimer) placeFree(pool string) {
	c.freed[pool] = true
	if c.takeNext(pool) {
		c.lookAfter(freePace)
	} else {
		c.lookAfter(busyPace)
	}
}

// takeNext has the first of the runs of a pool that wait for a place hear that one came free. It goes by what the last look has shown: where
// another agent has it by now, the claim comes to nothing. It says whether there is one; the lock is held.
func (c *Claimer) takeNext(pool string) bool {
	now := c.now()
	var next *tracked
	for _, t := range c.machines {
		if t.pool == pool && t.State == machine.Loaded && !t.missed && !t.Row.Until.After(now) && (next == nil || first(t.due, next.due, t.place, next.place) < 0) {
			next = t
		}
	}
	if next == nil {
		return false
	}
	c.step(next, now, 0, machine.Event{Kind: machine.Refresh, Row: next.Row})
	c.step(next, now, 0, machine.Event{Kind: machine.Timer}) // a look may be under way, which need not be over for that
	c.wake.Ring()
	return true
}

// Offered says that a slot run of this agent has offered a run to the agents of its pool.
func (c *Claimer) Offered(r Run) {
	if slices.Contains(c.Pools, r.Pool) {
		c.mu.Lock()
		c.meet(r.Key, r.Pool)
		c.told(r, machine.Event{Kind: machine.Release, Row: machine.Row{Token: r.Token, Until: r.Until}})
		c.mu.Unlock()
	}
	c.say(wakeup.Offer, r)
}

// told has the machine of a run, which may be new, hear of what the next look would show as well. Before the first look it says nothing: a timer
// would be set by the clock of this machine. The lock is held.
func (c *Claimer) told(r Run, e machine.Event) {
	if c.clock.At.IsZero() {
		return
	}
	t := c.machines[r.Key]
	if t == nil {
		t = c.track(r.Key, r.Pool, r.JobExec)
	}
	if !r.Due.IsZero() {
		t.due = r.Due
	}
	if t.State == machine.Executing && e.From != "" && e.Row.Token > t.Row.Token {
		c.lookAfter(busyPace) // the row says whether that is so, not they: our lease is over before another can have it
		return
	}
	c.step(t, c.now(), 0, e)
	c.wake.Ring()
}

// hear has the machine of a run hear of what happened here.
func (c *Claimer) hear(r Run, e machine.Event) {
	c.mu.Lock()
	defer c.mu.Unlock()
	t := c.machines[r.Key]
	if t == nil {
		if !e.Runs {
			return
		}
		t = c.track(r.Key, r.Pool, r.JobExec)
	}
	c.step(t, c.now(), 0, e)
}

// heard has it hear of what another agent says.
func (c *Claimer) heard(m wakeup.Message) {
	if m.From == c.Agent || !slices.Contains(c.Pools, m.Pool) || !c.caller.Calls(m.JobExec) {
		return
	}
	e := machine.Event{From: m.From, Row: machine.Row{Token: m.Token, Agent: m.Agent, Until: m.Until}}
	switch m.Kind {
	case wakeup.Offer:
		e.Kind = machine.Release
	case wakeup.Claim:
		e.Kind, e.Announced, e.Priority = machine.Claimed, true, m.Priority
	case wakeup.Has:
		e.Kind = machine.Claimed
	case wakeup.End:
		e.Kind = machine.Done
	default:
		return // of a later version
	}
	c.mu.Lock()
	defer c.mu.Unlock()
	c.told(Run{Key: m.Key, Pool: m.Pool, JobExec: m.JobExec}, e)
}

// say tells the other agents.
func (c *Claimer) say(kind wakeup.Kind, r Run) {
	if c.WakeUp == nil {
		return
	}
	m := wakeup.Message{Kind: kind, From: c.Agent, Pool: r.Pool, Key: r.Key, JobExec: r.JobExec, Token: r.Token, Until: r.Until}
	if kind == wakeup.Has {
		m.Agent = c.Agent
	}
	c.WakeUp.Send(m)
}

// step has a machine take a step, and does what that comes to. The lock is held. more is how many claims this agent makes before one
// that is timed now.
func (c *Claimer) step(t *tracked, now time.Time, more int, e machine.Event) {
	here := machine.Agent{ID: c.Agent, Room: !c.caller.Full(t.pool), Delay: delay(c.Tables.Grid.Resolution(), c.caller.Load(t.pool, more)), Again: againPace}
	if c.WakeUp != nil {
		here.Window, here.Priority = window, rand.Uint64()
	}
	var effects []machine.Effect
	t.Machine, effects = machine.Step(t.Machine, here, now, e)
	for _, effect := range effects {
		switch effect {
		case machine.Announce:
			c.WakeUp.Send(wakeup.Message{Kind: wakeup.Claim, From: c.Agent, Pool: t.pool, Key: t.key, JobExec: t.jobExec, Token: t.Row.Token, Priority: t.Priority})
		case machine.Claim:
			c.begin(t)
		case machine.Stop:
			c.caller.Stop(t.key)
		case machine.Drop:
			c.caller.Drop(t.key)
		case machine.Look:
			c.lookAfter(busyPace)
		case machine.Forget:
			if c.machines[t.key] == t {
				delete(c.machines, t.key)
			}
		}
	}
}
