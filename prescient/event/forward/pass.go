package forward

import (
	"errors"
	"fmt"
	"maps"
	"slices"
	"sync"
	"time"
)

// ErrLeft is wrapped by what RunUntilEmpty returns where events are left that could not be published.
var ErrLeft = errors.New("events are left in the outbox")

// pass is one pass over what was in the outbox as it began. Of what fails nothing is tried twice, so that it ends. Nil is a run that goes
// on until its context ends.
type pass struct {
	patience time.Duration // for trouble with the database, and for shards that are another forwarder's

	mu      sync.Mutex
	begun   bool
	last    map[int]uint64  // of each shard that had events, the last of them
	read    map[int]bool    // shards of which nothing is left that can be published
	topics  map[string]bool // of which nothing more is tried
	oldest  row             // of the events that failed
	why     error
	failed  int
	trouble map[string]trouble // by what cannot be done
	others  others
}

// trouble is why something cannot be done, and since when.
type trouble struct {
	since time.Time
	err   error
}

// others are the shards that other forwarders have, with the first event of each as the pass began to wait for them.
type others struct {
	since time.Time
	first map[int]uint64
}

func newPass(patience time.Duration) *pass {
	return &pass{patience: patience, last: make(map[int]uint64), read: make(map[int]bool), topics: make(map[string]bool), trouble: make(map[string]trouble)}
}

// begin takes what is in the outbox for what the pass is over.
func (p *pass) begin(last []waiting) {
	p.mu.Lock()
	defer p.mu.Unlock()
	for _, w := range last {
		p.last[w.Shard] = w.Seq
	}
	p.begun = true
}

func (p *pass) hasBegun() bool {
	p.mu.Lock()
	defer p.mu.Unlock()
	return p.begun
}

// upTo is a condition that leaves out what came after the pass began; false before that, and where the shard had nothing.
func (p *pass) upTo(shard int) (but string, ok bool) {
	p.mu.Lock()
	defer p.mu.Unlock()
	last, ok := p.last[shard]
	return fmt.Sprintf("AND seq <= %d ", last), ok
}

// without adds topics of which no more is tried in this pass, and returns all of them.
func (p *pass) without(closed []string) []string {
	if p == nil {
		return closed
	}
	p.mu.Lock()
	defer p.mu.Unlock()
	for _, topic := range closed {
		p.topics[topic] = true
	}
	return slices.Collect(maps.Keys(p.topics))
}

// ends takes note that nothing is left of a shard that can be published.
func (p *pass) ends(shard int) {
	p.mu.Lock()
	defer p.mu.Unlock()
	p.read[shard] = true
}

// leaves takes note of an event that could not be published. The oldest is the one that is named.
func (p *pass) leaves(one row, why error) {
	if p == nil {
		return
	}
	p.mu.Lock()
	defer p.mu.Unlock()
	if p.failed++; p.why == nil || one.Seq < p.oldest.Seq {
		p.oldest, p.why = one, why
	}
}

// meets takes note of what cannot be done, or can again.
func (p *pass) meets(what string, err error) {
	if p == nil {
		return
	}
	p.mu.Lock()
	defer p.mu.Unlock()
	if err == nil {
		delete(p.trouble, what)
	} else if t, is := p.trouble[what]; is {
		p.trouble[what] = trouble{t.since, err}
	} else {
		p.trouble[what] = trouble{time.Now(), err}
	}
}

// isOver says whether the pass has ended, by the shards that have events and which of them are this forwarder's: where nothing of it is left
// that can be published; where something could not be done for as long as it has patience; and where other forwarders have had the rest for
// as long. Those of these shards in which nothing went on are stuck.
func (p *pass) isOver(some []waiting, mine map[int]bool, now time.Time) (over bool, stuck []int, err error) {
	p.mu.Lock()
	defer p.mu.Unlock()
	for what, t := range p.trouble {
		if now.Sub(t.since) > p.patience {
			return true, nil, fmt.Errorf("%w: %s for %s: %w", ErrLeft, what, p.patience.Round(time.Second), t.err)
		}
	}
	if !p.begun || len(p.trouble) > 0 {
		return false, nil, nil
	}
	theirs := make(map[int]uint64)
	for _, w := range some {
		if last, is := p.last[w.Shard]; !is || w.Seq > last || p.read[w.Shard] {
			continue
		}
		if mine[w.Shard] {
			p.others = others{}
			return false, nil, nil
		}
		theirs[w.Shard] = w.Seq
	}
	switch {
	case len(theirs) == 0:
		return true, nil, nil
	case p.others.since.IsZero():
		p.others = others{now, theirs}
		return false, nil, nil
	case now.Sub(p.others.since) <= p.patience:
		return false, nil, nil
	}
	for shard, first := range theirs {
		if p.others.first[shard] == first {
			stuck = append(stuck, shard)
		}
	}
	return true, stuck, nil
}

// verdict is the error that names what failed.
func (p *pass) verdict() error {
	p.mu.Lock()
	defer p.mu.Unlock()
	if p.why == nil {
		return nil
	}
	more := ""
	if p.failed > 1 {
		more = fmt.Sprintf("; %d more failed", p.failed-1)
	}
	return fmt.Errorf("%w: event %q of topic %s with key %q: %w%s", ErrLeft, p.oldest.ID, p.oldest.Topic, p.oldest.Key, p.why, more)
}
