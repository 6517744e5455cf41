package claimer

import (
	"context"
	"time"

	"prescient/prescient"
)

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
	c.host.Met(len(c.met))
	c.help()
}

// unmeet forgets it. The lock is held.
func (c *Claimer) unmeet(key prescient.Key) {
	if _, is := c.met[key]; is {
		delete(c.met, key)
		c.host.Met(len(c.met))
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
	c.host.Met(0)
}
