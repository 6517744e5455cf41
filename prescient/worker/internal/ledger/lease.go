package ledger

import (
	"context"
	"database/sql"
	"errors"
	"fmt"
	"math/rand/v2"
	"sync"
	"time"

	"prescient/slots"
)

// Lease is a bucket that this worker holds.
type Lease struct {
	Slot      time.Time
	Bucket    int
	Token     uint64
	Worker    string
	Takeovers int
	TTL       time.Duration

	BatchSeq uint64 // of the last commit; guarded by the mutex of commit.Session, since calls in a transaction commit, too

	// Only the bucket's own goroutine touches these.
	AttemptKey      []byte
	AttemptRevision uint64
	givenBackAs     *Row // the bucket before a GiveBack whose answer was lost

	mu    sync.Mutex
	Until time.Time // by the monotonic clock; counted from before the statement that took or renewed it
	lost  bool
}

// Alive says whether the lease still lives. Once over it stays so, even if nobody else took it: what was left undone
// meanwhile is not picked up in the middle.
func (l *Lease) Alive(now time.Time) bool {
	l.mu.Lock()
	defer l.mu.Unlock()
	l.lost = l.lost || !now.Before(l.Until)
	return !l.lost
}

// DueForRenewal says whether a third of the term is over.
func (l *Lease) DueForRenewal(now time.Time) bool {
	l.mu.Lock()
	defer l.mu.Unlock()
	return !l.lost && l.Until.Sub(now) < l.TTL*2/3
}

// Renewed has the lease live for another term, from the time at which that was asked for.
func (l *Lease) Renewed(at time.Time) {
	l.mu.Lock()
	defer l.mu.Unlock()
	l.Until = at.Add(l.TTL)
}

// Lose notes that the lease is another's.
func (l *Lease) Lose() {
	l.mu.Lock()
	defer l.mu.Unlock()
	l.lost = true
}

// maxStep bounds by how much a claim raises the token: far above what chance gives twice, and far below what it would
// take to run out of tokens.
const maxStep = 1 << 32

// Claim takes the lease of a bucket as the ledger showed it; nil where another was faster or still holds it. The token
// goes up by a random step: the slot run and the sweep of a worker have the same name, so that only the token tells whose
// claim it was that went through without an answer.
func (g *Ledger) Claim(ctx context.Context, slot time.Time, r Row, by By) (*Lease, error) {
	before := time.Now()
	ttl := g.TTL
	l := &Lease{Slot: slot, Bucket: r.Bucket, Token: r.Token + 1 + rand.Uint64N(maxStep), Worker: g.Worker,
		Takeovers: r.Takeovers, TTL: ttl, Until: before.Add(ttl), BatchSeq: r.BatchSeq, AttemptKey: r.attemptKey,
		AttemptRevision: r.attemptRevision}
	if r.Allocated {
		l.Takeovers++
	}
	n, tries, err := g.Send.ExecCounted(ctx, g.Tables.Stmt.Get("slotrun/claim"), l.Token-r.Token, g.Worker, ttl.Microseconds(), by.late(), by, slot,
		r.Bucket, r.Token, r.BatchSeq, g.Tables.Version)
	took := n > 0
	if err == nil && !took && tries > 1 {
		took, err = g.holds(ctx, l)
	}
	switch {
	case err != nil:
		return nil, fmt.Errorf("claiming bucket %d of slot %s: %w", r.Bucket, slots.Stamp(slot), err)
	case !took:
		return nil, nil
	}
	return l, nil
}

// holds says whether the ledger has a lease as it was claimed.
func (g *Ledger) holds(ctx context.Context, l *Lease) (bool, error) {
	worker, token, seq, err := g.holder(ctx, l)
	if errors.Is(err, sql.ErrNoRows) {
		return false, nil
	}
	return err == nil && worker == l.Worker && token == l.Token && seq == l.BatchSeq, err
}

// holder reads who has the bucket of a lease by the ledger, and how far it is.
func (g *Ledger) holder(ctx context.Context, l *Lease) (worker string, token, seq uint64, err error) {
	err = g.Send.Query(ctx, func(ctx context.Context) error {
		return g.Send.DB.QueryRowContext(ctx, g.Tables.Stmt.Get("slotrun/committed"), l.Slot, l.Bucket).Scan(&worker, &token, &seq)
	})
	return worker, token, seq, err
}

// Renew keeps a lease for another term. ErrLost where it is another's by now.
func (g *Ledger) Renew(ctx context.Context, l *Lease) error {
	before := time.Now()
	n, err := g.Send.Exec(ctx, g.Tables.Stmt.Get("slotrun/renew"), l.TTL.Microseconds(), l.Slot, l.Bucket, l.Worker, l.Token)
	if err != nil {
		return fmt.Errorf("renewing bucket %d of slot %s: %w", l.Bucket, slots.Stamp(l.Slot), err)
	}
	if n == 0 {
		l.Lose()
		return ErrLost
	}
	l.Renewed(before)
	return nil
}

// Release gives a lease back.
func (g *Ledger) Release(ctx context.Context, l *Lease, finished bool) error {
	_, err := g.Send.Exec(ctx, g.Tables.Stmt.Get("slotrun/release"), finished, l.Slot, l.Bucket, l.Worker, l.Token)
	if err != nil {
		return fmt.Errorf("releasing bucket %d of slot %s: %w", l.Bucket, slots.Stamp(l.Slot), err)
	}
	return nil
}

// ErrLost is returned where a lease is over, or another's by now.
var ErrLost = errors.New("lease lost")
