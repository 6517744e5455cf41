package ledger

import (
	"bytes"
	"context"
	"sync"
	"time"

	"github.com/cenkalti/backoff/v5"

	"prescient/prescient"
	"prescient/prescient/internal/errno"
	"prescient/prescient/internal/store"
)

// A lease that lapses counts as a takeover for whoever takes the bucket next, and after two of those its rows are run one by
// one, so that one that kills its worker is found. An outage lapses leases too, and kills nobody: a worker that outlives it
// says so, by giving the lease back, or, where another was faster, by taking back that it counted.

const (
	// giveBackEvery is how often that is tried, and giveBackIn how long one try may take.
	giveBackEvery, giveBackIn = 300 * time.Millisecond, time.Second
)

// lapsed are leases that lapsed and could not be given back yet.
type lapsed struct {
	mu   sync.Mutex
	list []*Lease
}

func (o *lapsed) Add(l *Lease) {
	o.mu.Lock()
	defer o.mu.Unlock()
	o.list = append(o.list, l)
}

func (o *lapsed) take() (list []*Lease) {
	o.mu.Lock()
	defer o.mu.Unlock()
	list, o.list = o.list, nil
	return list
}

// GiveBack gives a lapsed lease back. Where the server stays away it is done before the next run.
func (g *Ledger) GiveBack(ctx context.Context, l *Lease) {
	_, err := backoff.Retry(ctx, func() (struct{}, error) {
		one, cancel := context.WithTimeout(ctx, giveBackIn)
		defer cancel()
		_, err := store.Affected(one, g.Send.DB, g.Tables.Stmt.Get("slotrun/give_back"), l.Token, l.Token, l.AttemptKey, l.AttemptRevision, l.AttemptKey,
			l.Slot, l.Bucket, l.Token)
		if err != nil && !errno.Passing(err) {
			err = backoff.Permanent(err)
		}
		return struct{}{}, err
	}, backoff.WithBackOff(backoff.NewConstantBackOff(giveBackEvery)), backoff.WithMaxElapsedTime(g.Send.Patience))
	if err != nil {
		g.Lapsed.Add(l)
		g.Log.Warn().Err(err).Time("slot", l.Slot).Int("bucket", l.Bucket).Msg("a lease that lapsed is given back later")
	}
}

// GiveBackLate gives back what could not be before.
func (g *Ledger) GiveBackLate(ctx context.Context) {
	for _, l := range g.Lapsed.take() {
		g.GiveBack(ctx, l)
	}
}

// Blames says whether the ledger still has the row on record that ran when the lease before this one lapsed.
func (g *Ledger) Blames(ctx context.Context, l *Lease, killer prescient.Key) (bool, error) {
	list, err := g.Rows(ctx, l.Slot)
	if err != nil {
		return false, err
	}
	for _, row := range list {
		if row.Bucket == l.Bucket {
			if row.Token != l.Token {
				return false, ErrLost
			}
			return bytes.Equal(row.attemptKey, killer[:]), nil
		}
	}
	return false, ErrLost // the ledger row is gone
}
