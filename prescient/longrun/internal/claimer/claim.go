package claimer

import "prescient/prescient/longrun/machine"

const (
	// claims is how many transactions of claims are under way at a time, and together how many runs one of them claims: those that are to be
	// claimed when it begins.
	claims, together = 4, 50
)

// begin has a run claimed, where there is still a place. The lock is held.
func (c *Claimer) begin(t *tracked) {
	if !c.host.Reserve(t.pool) {
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
		for i, became := range c.host.Claim(some) {
			c.host.Unreserve(some[i].Pool) // a run that started has its place by now
			c.answered(some[i], became)
		}
	}
}

// answered has the machine hear what became of a claim. What runs here it knows by now: the host has said so.
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
