package claimer

import (
	"context"
	"math/rand/v2"
	"time"

	"prescient/prescient/internal/store"
	"prescient/prescient/longrun/machine"
)

// maxStep bounds by how much a claim raises the token, as that of a bucket's lease.
const maxStep = 1 << 32

// begin sends the UPDATE of a claim, where there is still a place. The lock is held.
func (c *Claimer) begin(t *tracked) {
	if !c.host.Reserve(t.pool) {
		c.step(t, c.now(), 0, machine.Event{Kind: machine.Claimed, From: c.Agent})
		return
	}
	claim := Claim{Key: t.key, Pool: t.pool, Agent: t.Row.Agent, Until: t.Row.Until}
	go c.claim(claim, t.Row.Token)
}

// claim claims a run, and starts it.
func (c *Claimer) claim(claim Claim, seen uint64) {
	defer c.host.Unreserve(claim.Pool)
	c.places <- struct{}{}
	defer func() { <-c.places }()
	claim.Token = seen + 1 + rand.Uint64N(maxStep)
	c.mu.Lock()
	until := c.now().Add(c.Lease) // from before it is asked for
	c.mu.Unlock()
	if !c.take(claim, seen) {
		c.answered(claim, time.Time{})
		return
	}
	if c.answered(claim, until) && !c.host.Start(claim) {
		c.Over(Ran{Key: claim.Key, Pool: claim.Pool, Token: claim.Token}, Lost)
	}
}

// take sends the UPDATE of a claim, and says whether it hit. Where that is not known it says so, too: a start proves the token.
func (c *Claimer) take(claim Claim, seen uint64) bool {
	ctx, cancel := context.WithTimeout(context.Background(), c.Send.Timeout)
	defer cancel()
	n, err := store.Affected(ctx, c.Send.DB, c.Tables.Stmt.Get("longrun/claim"), c.Agent, claim.Token, c.Lease.Microseconds(), claim.Key[:], seen, claim.Agent)
	if err != nil {
		c.Log.Debug().Err(err).Msg("a claim was not answered")
	}
	return n > 0 || err != nil
}

// answered has the machine hear of the answer of the UPDATE: until when the run is this agent's, zero where it hit nothing. It says
// whether the run is to be started.
func (c *Claimer) answered(claim Claim, until time.Time) (start bool) {
	c.mu.Lock()
	defer c.mu.Unlock()
	t := c.machines[claim.Key]
	if t == nil || t.State != machine.Elected {
		return false // a slot run of this agent has started it meanwhile
	}
	e := machine.Event{Kind: machine.Claimed, From: c.Agent}
	t.missed = until.IsZero()
	if !t.missed {
		e.Row = machine.Row{Token: claim.Token, Agent: c.Agent, Until: until}
	}
	c.step(t, c.now(), 0, e)
	return !until.IsZero() && t.State == machine.Executing
}
