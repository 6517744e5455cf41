package bound

import (
	"context"
	"crypto/sha256"
	"net/netip"
	"sync"
	"time"

	"golang.org/x/time/rate"
)

const (
	// triesEach is how many proofs an address may have looked up a second that sent one which is no good, in bursts of triesAtOnce.
	triesEach, triesAtOnce = 50, 50
	// tryWithin is how long the next of them waits at most; so a newcomer has a turn beside who guesses over a hundred connections.
	tryWithin = 2 * time.Second
	// mostStrangers is of how many addresses that is kept, and how many proofs are known that were good.
	mostStrangers = 10_000
)

// Strangers bounds what an address may try whose proofs are no good: each costs a look into the database. What was good before is looked up at
// once all the same: others may come from the same address, by a proxy. It is for concurrent use.
type Strangers struct {
	mu     sync.Mutex
	failed map[netip.Prefix]*rate.Limiter
	good   map[[sha256.Size]byte]bool
}

// NewStrangers knows nobody.
func NewStrangers() *Strangers {
	return &Strangers{failed: make(map[netip.Prefix]*rate.Limiter), good: make(map[[sha256.Size]byte]bool)}
}

// Stranger is what is seen of a request before it is known who sent it. Its proof is nil where it has none.
type Stranger struct {
	from  netip.Prefix
	proof *[sha256.Size]byte
}

// NewStranger is who sent a proof, a token or the like, from an address; empty for none.
func NewStranger(address, proof string) Stranger {
	s := Stranger{from: Network(address)}
	if proof != "" {
		sum := sha256.Sum256([]byte(proof))
		s.proof = &sum
	}
	return s
}

// Turn says for how long a request waits until it is looked at; may is false where that is too long.
func (s *Strangers) Turn(is Stranger, now time.Time) (wait time.Duration, may bool) {
	s.mu.Lock()
	defer s.mu.Unlock()
	limiter := s.failed[is.from]
	if is.proof == nil || limiter == nil || s.good[*is.proof] {
		return 0, true
	}
	turn := limiter.ReserveN(now, 1)
	if wait = turn.DelayFrom(now); wait > tryWithin {
		turn.CancelAt(now)
		return 0, false
	}
	return wait, true
}

// Wait waits for the turn. It is false where that takes too long, or ctx ends.
func (s *Strangers) Wait(ctx context.Context, is Stranger, now time.Time) bool {
	wait, may := s.Turn(is, now)
	if !may || wait <= 0 {
		return may
	}
	select {
	case <-ctx.Done():
		return false
	case <-time.After(wait):
		return true
	}
}

// Good notes that a proof is good.
func (s *Strangers) Good(is Stranger) {
	if is.proof == nil {
		return
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	if len(s.good) >= mostStrangers {
		clear(s.good)
	}
	s.good[*is.proof] = true
}

// Bad notes that a proof is no good.
func (s *Strangers) Bad(is Stranger) {
	if is.proof == nil {
		return
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	delete(s.good, *is.proof)
	if s.failed[is.from] == nil {
		if len(s.failed) >= mostStrangers {
			clear(s.failed)
		}
		s.failed[is.from] = rate.NewLimiter(triesEach, triesAtOnce)
	}
}
