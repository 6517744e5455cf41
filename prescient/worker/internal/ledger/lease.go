package ledger

import (
	"context"
	"database/sql"
	"errors"
	"fmt"
	"sync/atomic"
	"time"

	"prescient/prescient/internal/lease"
	"prescient/prescient/internal/store"
	"prescient/slots"
)

// Lease is a bucket that this worker holds.
type Lease struct {
	lease.Term
	Slot      time.Time
	Bucket    int
	Token     uint64
	Worker    string
	Takeovers int

	BatchSeq uint64 // of the last commit; guarded by the mutex of commit.Session, since calls in a transaction commit, too

	// Only the bucket's own goroutine touches these.
	AttemptKey      []byte
	AttemptRevision uint64
	givenBackAs     *Row // the bucket before a GiveBack whose answer was lost

	finishing atomic.Bool // the last commit that was tried ends it
}

// Claim takes the lease of a bucket as the ledger showed it; nil where another was faster or still holds it. The slot run and the sweep of a
// worker have the same name, so that only the step of the token tells whose claim it was that went through without an answer.
func (g *Ledger) Claim(ctx context.Context, slot time.Time, r Row, by By) (*Lease, error) {
	l := &Lease{Slot: slot, Bucket: r.Bucket, Worker: g.Worker, Takeovers: r.Takeovers, BatchSeq: r.BatchSeq,
		AttemptKey: r.attemptKey, AttemptRevision: r.attemptRevision}
	if r.Allocated {
		l.Takeovers++
	}
	took := false
	asked, err := lease.Take(func(step uint64) error {
		l.Token = r.Token + step
		n, tries, err := g.Send.ExecCounted(ctx, g.Tables.Stmt.Get("slotrun/claim"), step, g.Worker, g.TTL.Microseconds(), by.late(), by, slot,
			r.Bucket, r.Token, r.BatchSeq, g.Tables.Version)
		if took = n > 0; err == nil && !took && tries > 1 {
			took, err = g.holds(ctx, l)
		}
		return err
	})
	switch {
	case err != nil:
		return nil, fmt.Errorf("claiming bucket %d of slot %s: %w", r.Bucket, slots.Stamp(slot), err)
	case !took:
		return nil, nil
	}
	l.Begin(asked, g.TTL)
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
	err := lease.Keep([]*Lease{l}, func() (func(*Lease) lease.Standing, error) {
		n, err := g.Send.Exec(ctx, g.Tables.Stmt.Get("slotrun/renew"), l.TTL().Microseconds(), l.Slot, l.Bucket, l.Worker, l.Token)
		return func(*Lease) lease.Standing {
			if n == 0 {
				return lease.Gone
			}
			return lease.Kept
		}, err
	})
	switch {
	case err != nil:
		return fmt.Errorf("renewing bucket %d of slot %s: %w", l.Bucket, slots.Stamp(l.Slot), err)
	case l.Lost():
		return ErrLost
	}
	return nil
}

// Gone implements lease.Held.
func (l *Lease) Gone() { l.Lose() }

// Finish ends a lease in the transaction of its last commit, which leaves nothing in its bucket.
func (g *Ledger) Finish(ctx context.Context, tx *sql.Tx, l *Lease) error {
	l.finishing.Store(true)
	n, err := store.Affected(ctx, tx, g.Tables.Stmt.Get("slotrun/release"), true, l.Slot, l.Bucket, l.Worker, l.Token)
	if err == nil && n == 0 {
		err = ErrLost
	}
	return err
}

// MayBeFinished says whether the last commit of the lease ends it, and was done, as far as anybody here knows.
func (l *Lease) MayBeFinished() bool { return l.finishing.Load() }

// Release ends a lease that the worker has: its bucket is finished, or given back unfinished.
func (g *Ledger) Release(ctx context.Context, l *Lease, finished bool) error {
	_, err := g.Send.Exec(ctx, g.Tables.Stmt.Get("slotrun/release"), finished, l.Slot, l.Bucket, l.Worker, l.Token)
	if err != nil {
		return fmt.Errorf("releasing bucket %d of slot %s: %w", l.Bucket, slots.Stamp(l.Slot), err)
	}
	return nil
}

// ErrLost is returned where a lease is over, or another's by now.
var ErrLost = errors.New("lease lost")
