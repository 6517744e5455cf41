package forward

import (
	"maps"
	"slices"
	"time"
)

const (
	// window is how many events of a shard are in memory at most.
	window = 256
	// lookPast is for how long a shard may be full until it is read past what fills it.
	lookPast = time.Second
	// mostLive is how many events of a shard are in memory at most, with those that it is read past; and a window more, at the last read.
	mostLive = 3 * window
	// mostHeldOf is how many chains of a topic wait after a failure in a shard, until all of the topic does there.
	mostHeldOf = 32
)

// crowd is what is in memory of a shard. Where a topic whose broker is slow or a key with many events fills it, reads leave that out until
// most of it is published, so that others find room. The shard's lock is held.
type crowd struct {
	live   int           // events that are not deleted
	load   map[chain]int // how many of them are of each chain
	topics map[string]bool
	chains map[chain]bool
	full   time.Time // since when there is no room; zero while there is
}

func newCrowd() crowd {
	return crowd{load: make(map[chain]int), topics: make(map[string]bool), chains: make(map[chain]bool)}
}

// add takes note of events that came or, below zero, went.
func (c *crowd) add(of chain, n int) {
	c.live += n
	if c.load[of] += n; c.load[of] <= 0 {
		delete(c.load, of)
	}
}

func (c *crowd) passes(of chain) bool { return c.topics[of.topic] || c.chains[of] }

// free is how many events there are beside those that reads leave out.
func (c *crowd) free() (n int) {
	if len(c.topics)+len(c.chains) == 0 {
		return c.live
	}
	for of, some := range c.load {
		if !c.passes(of) {
			n += some
		}
	}
	return n
}

// relent reads again what has become less, and says whether there is any.
func (c *crowd) relent() (any bool) {
	if len(c.topics)+len(c.chains) == 0 {
		return false
	}
	byTopic := make(map[string]int)
	for of, n := range c.load {
		byTopic[of.topic] += n
	}
	for topic := range c.topics {
		if byTopic[topic] <= window/4 {
			delete(c.topics, topic)
			any = true
		}
	}
	for of := range c.chains {
		if c.load[of] <= window/4 {
			delete(c.chains, of)
			any = true
		}
	}
	return any
}

// room says whether there is room for more events. Where there was none for a while, it makes some: reads leave out what fills the shard.
func (c *crowd) room(now time.Time) bool {
	c.relent()
	if c.free() <= window/2 {
		c.full = time.Time{}
		return c.live <= mostLive
	}
	if c.full.IsZero() {
		c.full = now
	}
	if now.Sub(c.full) < lookPast || c.live > mostLive {
		return false
	}
	for c.free() > window/2 {
		c.passWorst()
	}
	c.full = time.Time{}
	return true
}

// passWorst leaves out a chain that has most of what is there, or else the topic that has most.
func (c *crowd) passWorst() {
	byTopic := make(map[string]int)
	var worst string
	for of, n := range c.load {
		if c.passes(of) {
			continue
		}
		if n > window/4 {
			c.chains[of] = true
			return
		}
		if byTopic[of.topic] += n; byTopic[of.topic] > byTopic[worst] {
			worst = of.topic
		}
	}
	c.topics[worst] = true
}

// leftOut are the topics and chains that reads leave out.
func (c *crowd) leftOut() (topics []string, chains []chain) {
	topics = slices.Collect(maps.Keys(c.topics))
	for of := range c.chains {
		if !c.topics[of.topic] {
			chains = append(chains, of)
		}
	}
	return topics, chains
}

// heldTopics are the topics of which so many chains wait after a failure that all of the topic is left out, and the chains of others
// that do.
func heldTopics(held []chain) (topics []string, rest []chain) {
	byTopic := make(map[string]int)
	for _, of := range held {
		byTopic[of.topic]++
		if byTopic[of.topic] == mostHeldOf {
			topics = append(topics, of.topic)
		}
	}
	for _, of := range held {
		if byTopic[of.topic] < mostHeldOf {
			rest = append(rest, of)
		}
	}
	return topics, rest
}
