package claimer

import (
	"context"
	"time"

	"prescient/prescient"
	"prescient/prescient/longrun/machine"
)

const (
	// claims is how many transactions of claims are under way at a time, and together how many runs one of them claims: those that are to be
	// claimed when it begins.
	claims, together = 4, 50
)

// begin has a run claimed, where there is still a place. The lock is held.
func (c *Claimer) begin(t *tracked) {
	if !c.caller.Reserve(t.pool) {
		c.step(t, c.now(), 0, machine.Event{Kind: machine.Claimed, From: c.Agent})
		return
	}
	c.asked = append(c.asked, Claim{Key: t.key, Pool: t.pool, Agent: t.Row.Agent, Token: t.Row.Token})
	if c.claiming < claims {
		c.claiming++
		go c.claimAll()
	}
}

// claimAll claims what is to be claimed.
func (c *Claimer) claimAll() {
	for {
		c.mu.Lock()
		n := min(len(c.asked), together)
		some := c.asked[:n:n]
		c.asked = c.asked[n:]
		if n == 0 {
			c.claiming--
		}
		c.mu.Unlock()
		if n == 0 {
			return
		}
		for i, became := range c.caller.Claim(some) {
			c.caller.Unreserve(some[i].Pool) // a run that started has its place by now
			c.answered(some[i], became)
		}
	}
}

// answered has the machine hear what became of a claim. What runs here it knows by now: the caller has said so.
func (c *Claimer) answered(claim Claim, became Became) {
	c.mu.Lock()
	defer c.mu.Unlock()
	t := c.machines[claim.Key]
	if t != nil && t.State == machine.Elected { // else a slot run of this agent has started it meanwhile
		t.missed = became == Missed
		c.step(t, c.now(), 0, machine.Event{Kind: machine.Claimed, From: c.Agent})
	}
	if became == Missed {
		c.unmeetMissed(claim.Key)
	}
	if became == Settled {
		c.unmeet(claim.Key)
		if t != nil {
			c.step(t, c.now(), 0, machine.Event{Kind: machine.Done, From: c.Agent, Row: machine.Row{Token: claim.Token}})
		}
	}
	if became != Started { // the place is free for the next
		c.placeFree(claim.Pool)
	}
}

// What this agent has offered itself and may claim, it claims as soon as it has a place, also in a program that serves no claims: one that runs
// a slot and ends. Such a program leaves to others what others have offered.

// maxMet is how many such runs an agent remembers. The slots that meet the others again start them.
const maxMet = 10000

// offered is a run that was offered here.
type offered struct {
	pool   string
	before int       // looks that had begun by then
	missed time.Time // when a claim of it came to nothing for the first time; zero for never
}

// meet remembers a run that was offered here. The lock is held.
func (c *Claimer) meet(key prescient.Key, pool string) {
	if _, is := c.met[key]; !is && len(c.met) >= maxMet {
		return
	}
	c.met[key] = offered{pool: pool, before: c.began}
	c.caller.Met(len(c.met))
	c.help()
}

// unmeet forgets it. The lock is held.
func (c *Claimer) unmeet(key prescient.Key) {
	if _, is := c.met[key]; is {
		delete(c.met, key)
		c.caller.Met(len(c.met))
	}
}

// unmeetMissed forgets it where claims have been coming to nothing for the term of a lease: somebody's lock is in the way of it, or of an earlier run
// of its schedule, and this program is not to wait for that. The lock is held.
func (c *Claimer) unmeetMissed(key prescient.Key) {
	switch o, is := c.met[key]; {
	case !is:
	case o.missed.IsZero():
		o.missed = time.Now()
		c.met[key] = o
	case time.Since(o.missed) > c.Lease:
		c.unmeet(key)
	}
}

// isOurs says whether this agent claims a run. The lock is held.
func (c *Claimer) isOurs(key prescient.Key) bool {
	_, is := c.met[key]
	return is || c.serving
}

// unmeetTaken forgets what a look has shown to be another's, and what it has not shown though it has read all that a pool has to claim. The
// lock is held.
func (c *Claimer) unmeetTaken(began int, all []found, now time.Time, whole map[string]bool) {
	shown := make(map[prescient.Key]bool, len(all))
	for _, f := range all {
		shown[f.key] = true
		if f.row.Agent != "" && f.row.Until.After(now) {
			c.unmeet(f.key)
		}
	}
	for key, is := range c.met {
		if is.before < began && !shown[key] && whole[is.pool] {
			c.unmeet(key)
		}
	}
}

// help has what was met claimed until nothing of it may be. It gives up where the database has not answered for the term of a lease. The lock
// is held.
func (c *Claimer) help() {
	if c.serving || c.helping || len(c.met) == 0 {
		return
	}
	c.helping = true
	ctx, cancel := context.WithCancel(context.Background())
	go func() {
		defer cancel()
		c.serve(ctx, c.helped)
		c.mu.Lock()
		defer c.mu.Unlock()
		c.helping = false
		if ctx.Err() != nil { // the agent drains
			c.forgetMet()
		}
		c.help() // what was met just then
	}()
	go func() {
		select {
		case <-c.Stopped:
			cancel()
		case <-ctx.Done():
		}
	}()
}

// helped says whether there is nothing more to help with.
func (c *Claimer) helped(failing time.Duration) bool {
	c.mu.Lock()
	defer c.mu.Unlock()
	if failing > c.Lease {
		c.forgetMet()
	}
	return c.serving || len(c.met) == 0
}

func (c *Claimer) forgetMet() {
	clear(c.met)
	c.caller.Met(0)
}
