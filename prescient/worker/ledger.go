package worker

import (
	"context"
	"database/sql"
	"errors"
	"fmt"
	"math/rand/v2"
	"sync"
	"time"

	"github.com/rs/zerolog"

	"prescient/prescient/internal/store"
	"prescient/slots"
)

// ledger is how a worker works with slot_run.
type ledger struct {
	send     *store.Sender
	tables   *store.Tables
	worker   string
	ttl      time.Duration // of a lease
	batch    int           // rows of a bucket that are in flight at a time
	parallel int           // buckets that are worked on at a time
	log      zerolog.Logger
	lapsed   lapsed // leases that an outage has cost, and that are still to be given back
}

// ledgerRow is a bucket of a slot as slot_run has it.
type ledgerRow struct {
	bucket, buckets int
	token, batchSeq uint64
	worker          string
	takeovers       int
	attemptKey      []byte
	attemptRevision uint64
	finished        bool
	allocated       bool          // somebody took it and did not give it back
	held            time.Duration // how long that lease lives yet; 0 where it has lapsed
}

// free says whether the bucket can be claimed for there is something left to do in it.
func (r ledgerRow) free() bool { return !r.finished && r.held == 0 }

// givenBack says whether somebody had the bucket and gave it back unfinished: it was stopped, or rows were locked.
func (r ledgerRow) givenBack() bool { return r.token > 0 && !r.finished && !r.allocated }

// ledger reads the buckets of a slot.
func (g *ledger) rows(ctx context.Context, slot time.Time) ([]ledgerRow, error) {
	var list []ledgerRow
	err := g.send.Query(ctx, func(ctx context.Context) error {
		list = nil
		rows, err := g.send.DB.QueryContext(ctx, g.tables.Stmt.Get("slotrun/ledger"), slot)
		if err != nil {
			return err
		}
		defer rows.Close()
		for rows.Next() {
			var r ledgerRow
			var heldMicros int64
			var attempt *uint64
			if err := rows.Scan(&r.bucket, &r.buckets, &r.token, &r.batchSeq, &r.worker, &r.takeovers, &r.attemptKey,
				&attempt, &r.finished, &r.allocated, &heldMicros); err != nil {
				return err
			}
			if attempt != nil {
				r.attemptRevision = *attempt
			}
			r.held = time.Duration(heldMicros) * time.Microsecond
			list = append(list, r)
		}
		return rows.Err()
	})
	if err != nil {
		return nil, fmt.Errorf("reading the ledger of slot %s: %w", slots.Stamp(slot), err)
	}
	return list, nil
}

// lease is a bucket that this worker holds.
type lease struct {
	slot      time.Time
	bucket    int
	token     uint64
	worker    string
	takeovers int
	ttl       time.Duration

	// Only the bucket's own goroutine touches these.
	batchSeq        uint64
	attemptKey      []byte
	attemptRevision uint64

	mu    sync.Mutex
	until time.Time // by the monotonic clock; counted from before the statement that took or renewed it
	lost  bool
}

// alive says whether the lease still lives. Once over it stays so, even if nobody else took it: what was left undone
// meanwhile is not picked up in the middle.
func (l *lease) alive(now time.Time) bool {
	l.mu.Lock()
	defer l.mu.Unlock()
	l.lost = l.lost || !now.Before(l.until)
	return !l.lost
}

// dueForRenewal says whether a third of the term is over.
func (l *lease) dueForRenewal(now time.Time) bool {
	l.mu.Lock()
	defer l.mu.Unlock()
	return !l.lost && l.until.Sub(now) < l.ttl*2/3
}

func (l *lease) renewed(at time.Time) {
	l.mu.Lock()
	defer l.mu.Unlock()
	l.until = at.Add(l.ttl)
}

func (l *lease) lose() {
	l.mu.Lock()
	defer l.mu.Unlock()
	l.lost = true
}

// maxStep bounds by how much a claim raises the token: far above what chance gives twice, and far below what it would
// take to run out of tokens.
const maxStep = 1 << 32

// claim takes the lease of a bucket as the ledger showed it; nil where another was faster or still holds it. The token
// goes up by a random step: the slot run and the sweep of a worker have the same name, so that only the token tells whose
// claim it was that went through without an answer.
func (g *ledger) claim(ctx context.Context, slot time.Time, r ledgerRow) (*lease, error) {
	before := time.Now()
	ttl := g.ttl
	l := &lease{slot: slot, bucket: r.bucket, token: r.token + 1 + rand.Uint64N(maxStep), worker: g.worker,
		takeovers: r.takeovers, ttl: ttl, until: before.Add(ttl), batchSeq: r.batchSeq, attemptKey: r.attemptKey,
		attemptRevision: r.attemptRevision}
	if r.allocated {
		l.takeovers++
	}
	n, tries, err := g.send.ExecCounted(ctx, g.tables.Stmt.Get("slotrun/claim"), l.token-r.token, g.worker, ttl.Microseconds(), slot,
		r.bucket, r.token, r.batchSeq, g.tables.Version)
	took := n > 0
	if err == nil && !took && tries > 1 {
		took, err = g.holds(ctx, l)
	}
	switch {
	case err != nil:
		return nil, fmt.Errorf("claiming bucket %d of slot %s: %w", r.bucket, slots.Stamp(slot), err)
	case !took:
		return nil, nil
	}
	return l, nil
}

// holds says whether the ledger has a lease as it was claimed.
func (g *ledger) holds(ctx context.Context, l *lease) (bool, error) {
	worker, token, seq, err := g.holder(ctx, l)
	if errors.Is(err, sql.ErrNoRows) {
		return false, nil
	}
	return err == nil && worker == l.worker && token == l.token && seq == l.batchSeq, err
}

// holder reads who has the bucket of a lease by the ledger, and how far it is.
func (g *ledger) holder(ctx context.Context, l *lease) (worker string, token, seq uint64, err error) {
	err = g.send.Query(ctx, func(ctx context.Context) error {
		return g.send.DB.QueryRowContext(ctx, g.tables.Stmt.Get("slotrun/committed"), l.slot, l.bucket).Scan(&worker, &token, &seq)
	})
	return worker, token, seq, err
}

// renew keeps a lease for another term. errLeaseLost where it is another's by now.
func (g *ledger) renew(ctx context.Context, l *lease) error {
	before := time.Now()
	n, err := g.send.Exec(ctx, g.tables.Stmt.Get("slotrun/renew"), l.ttl.Microseconds(), l.slot, l.bucket, l.worker, l.token)
	if err != nil {
		return fmt.Errorf("renewing bucket %d of slot %s: %w", l.bucket, slots.Stamp(l.slot), err)
	}
	if n == 0 {
		l.lose()
		return errLeaseLost
	}
	l.renewed(before)
	return nil
}

// release gives a lease back.
func (g *ledger) release(ctx context.Context, l *lease, finished bool) error {
	_, err := g.send.Exec(ctx, g.tables.Stmt.Get("slotrun/release"), finished, l.slot, l.bucket, l.worker, l.token)
	if err != nil {
		return fmt.Errorf("releasing bucket %d of slot %s: %w", l.bucket, slots.Stamp(l.slot), err)
	}
	return nil
}
