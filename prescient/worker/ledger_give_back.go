package worker

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
	list []*lease
}

func (o *lapsed) add(l *lease) {
	o.mu.Lock()
	defer o.mu.Unlock()
	o.list = append(o.list, l)
}

func (o *lapsed) take() (list []*lease) {
	o.mu.Lock()
	defer o.mu.Unlock()
	list, o.list = o.list, nil
	return list
}

// giveBack gives a lapsed lease back. Where the server stays away it is done before the next run.
func (g *ledger) giveBack(ctx context.Context, l *lease) {
	_, err := backoff.Retry(ctx, func() (struct{}, error) {
		one, cancel := context.WithTimeout(ctx, giveBackIn)
		defer cancel()
		_, err := store.Affected(one, g.send.DB, g.tables.Stmt.Get("slotrun/give_back"), l.token, l.token, l.attemptKey, l.attemptRevision, l.attemptKey,
			l.slot, l.bucket, l.token)
		if err != nil && !errno.Passing(err) {
			err = backoff.Permanent(err)
		}
		return struct{}{}, err
	}, backoff.WithBackOff(backoff.NewConstantBackOff(giveBackEvery)), backoff.WithMaxElapsedTime(g.send.Patience))
	if err != nil {
		g.lapsed.add(l)
		g.log.Warn().Err(err).Time("slot", l.slot).Int("bucket", l.bucket).Msg("a lease that lapsed is given back later")
	}
}

// giveBackLate gives back what could not be before.
func (g *ledger) giveBackLate(ctx context.Context) {
	for _, l := range g.lapsed.take() {
		g.giveBack(ctx, l)
	}
}

// blames says whether the ledger still has the row on record that ran when the lease before this one lapsed.
func (g *ledger) blames(ctx context.Context, l *lease, killer prescient.Key) (bool, error) {
	list, err := g.rows(ctx, l.slot)
	if err != nil {
		return false, err
	}
	for _, row := range list {
		if row.bucket == l.bucket {
			if row.token != l.token {
				return false, errLeaseLost
			}
			return bytes.Equal(row.attemptKey, killer[:]), nil
		}
	}
	return false, errLeaseLost // the ledger row is gone
}
