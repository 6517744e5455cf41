package claimer

import (
	"context"
	"maps"
	"time"

	"prescient/prescient"
	"prescient/prescient/internal/lease"
	"prescient/prescient/internal/literal"
	"prescient/prescient/internal/store"
	"prescient/prescient/longrun/internal/ahead"
	"prescient/prescient/longrun/machine"
)

const (
	// claims is how many statements of claims are under way at a time, and together how many runs one of them claims: those that are to be
	// claimed when it is sent.
	claims, together = 4, 50
)

// asked is a claim that is to be sent.
type asked struct {
	Claim
	seen uint64 // its token
}

// begin has a run claimed, where there is still a place. The lock is held.
func (c *Claimer) begin(t *tracked) {
	if !c.host.Reserve(t.pool) {
		c.step(t, c.now(), 0, machine.Event{Kind: machine.Claimed, From: c.Agent})
		return
	}
	c.asked = append(c.asked, asked{Claim{Key: t.key, Pool: t.pool, Agent: t.Row.Agent, Until: t.Row.Until}, t.Row.Token})
	if c.claiming < claims {
		c.claiming++
		go c.claimAll()
	}
}

// claimAll claims what is to be claimed, and starts it.
func (c *Claimer) claimAll() {
	for {
		c.mu.Lock()
		n := min(len(c.asked), together)
		some := c.asked[:n:n]
		c.asked = c.asked[n:]
		until := c.now().Add(c.Lease) // from before it is asked for
		if n == 0 {
			c.claiming--
		}
		c.mu.Unlock()
		if n == 0 {
			return
		}
		c.claim(some, until)
	}
}

// claim claims some runs, and starts them.
func (c *Claimer) claim(some []asked, until time.Time) {
	hit := c.take(some, lease.Step())
	var starts []Claim
	for _, a := range some {
		defer c.host.Unreserve(a.Pool)
		switch token, is := hit[a.Key]; {
		case !is:
			c.answered(a.Claim, time.Time{})
		default:
			a.Token = token
			if c.answered(a.Claim, until) {
				starts = append(starts, a.Claim)
			}
		}
	}
	for i, runs := range c.host.Start(starts) {
		if !runs {
			c.Over(Ran{Key: starts[i].Key, Pool: starts[i].Pool, Token: starts[i].Token}, Lost)
		}
	}
}

// take sends the UPDATE of some claims, and returns the tokens of those that it has hit. Those of which that is not known are among them: a
// start proves the token.
func (c *Claimer) take(some []asked, step uint64) map[prescient.Key]uint64 {
	ctx, cancel := context.WithTimeout(store.Vital(context.Background()), c.Send.Timeout)
	defer cancel()
	hit := make(map[prescient.Key]uint64, len(some))
	runs := make([]ahead.Run, len(some))
	for i, a := range some {
		hit[a.Key] = a.seen + step
		seen := literal.AppendUint(append(literal.AppendKey([]byte("job_key = "), a.Key), " AND token = "...), a.seen)
		runs[i] = ahead.Run{Key: a.Key, Condition: string(literal.AppendText(append(seen, " AND agent = "...), a.Agent))}
	}
	n, locked, err := ahead.Change(ctx, c.Send.DB, c.Tables, runs, "longrun/claim", c.Agent, step, c.Lease.Microseconds())
	for _, run := range locked {
		delete(hit, run.Key)
	}
	switch {
	case err != nil:
		c.Log.Debug().Err(err).Msg("claims were not answered")
	case n == 0:
		clear(hit)
	case n < len(some)-len(locked):
		held, err := ahead.Look(ctx, c.Send, c.Tables, ahead.Tokens("run.", some, func(a asked) (prescient.Key, uint64) { return a.Key, a.seen + step }))
		if err == nil {
			maps.DeleteFunc(hit, func(key prescient.Key, _ uint64) bool { _, is := held[key]; return !is })
		}
	}
	return hit
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
