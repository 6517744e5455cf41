// Package lease has what the leases of buckets, long runs and the outbox's shards have in common: a term that is counted here, the step
// by which a claim raises the token, and how a lease is taken and kept by statements that each table has. Who has what until when stands in the
// tables; what a table's statements take for a lease that lives, or for none, is said by {lives} and {free} in package sql.
package lease

import (
	"math/rand/v2"
	"sync"
	"time"

	"prescient/prescient"
)

// maxStep bounds by how much a claim raises the token: far above what chance gives twice, and far below what it would take to run out of
// tokens.
const maxStep = 1 << 32

// Step is by how much a claim raises the token that it saw, 1 at least. It is random, so that a claim whose answer was lost knows its own
// token again: several parts of a process have the same name.
func Step() uint64 { return 1 + rand.Uint64N(maxStep) }

// margin is how much shorter than the longest lease every lease is that is taken. The clock by which another looks at it may be a little
// behind the one by which it was taken, on another server of a cluster or after a small step back: it has to live by that clock, too.
const margin = time.Second

// Bound is how long a lease is taken for that was asked for.
func Bound(ttl time.Duration) time.Duration { return min(ttl, prescient.MaxLease-margin) }

// Term is for how long something is this process's. It is for concurrent use, and counts by the monotonic clock of this machine.
type Term struct {
	ttl time.Duration

	mu    sync.Mutex
	until time.Time
	lost  bool
}

// Begin has a term of some length begin when it was asked for, which is before the statement that took it.
func (t *Term) Begin(asked time.Time, ttl time.Duration) {
	t.ttl = ttl
	t.Renewed(asked)
}

// TTL is the length of a term.
func (t *Term) TTL() time.Duration { return t.ttl }

// Until is when it ends unless it is renewed.
func (t *Term) Until() time.Time {
	t.mu.Lock()
	defer t.mu.Unlock()
	return t.until
}

// Alive says whether the lease still lives. Once over it stays so, even if nobody else took it: what was left undone meanwhile is not
// picked up in the middle.
func (t *Term) Alive(now time.Time) bool {
	t.mu.Lock()
	defer t.mu.Unlock()
	t.lost = t.lost || !now.Before(t.until)
	return !t.lost
}

// Lives is Alive of a lease that may be renewed also when it is over, as long as nobody else took it.
func (t *Term) Lives(now time.Time) bool {
	t.mu.Lock()
	defer t.mu.Unlock()
	return !t.lost && now.Before(t.until)
}

// IsDue says whether a third of the term is over, so that it is to be renewed.
func (t *Term) IsDue(now time.Time) bool {
	t.mu.Lock()
	defer t.mu.Unlock()
	return !t.lost && t.until.Sub(now) <= t.ttl*2/3
}

// Renewed has the lease live for another term, from the time at which that was asked for. One that is lost stays so.
func (t *Term) Renewed(asked time.Time) {
	t.mu.Lock()
	defer t.mu.Unlock()
	t.until = asked.Add(t.ttl)
}

// Lose notes that the lease is another's. It says whether that is new.
func (t *Term) Lose() (first bool) {
	t.mu.Lock()
	defer t.mu.Unlock()
	first, t.lost = !t.lost, true
	return first
}

// Lost says whether it is over for good.
func (t *Term) Lost() bool {
	t.mu.Lock()
	defer t.mu.Unlock()
	return t.lost
}
