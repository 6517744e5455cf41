package ledger

import (
	"bytes"
	"context"
	"errors"
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

// Add keeps a lease to be given back later.
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
		err := g.tryToGiveBack(one, l)
		if err != nil && !errno.Passing(err) && !errors.Is(err, errSeenBefore) {
			err = backoff.Permanent(err)
		}
		return struct{}{}, err
	}, backoff.WithBackOff(backoff.NewConstantBackOff(giveBackEvery)), backoff.WithMaxElapsedTime(g.Send.Patience))
	if err != nil {
		g.Lapsed.Add(l)
		g.Log.Warn().Err(err).Time("slot", l.Slot).Int("bucket", l.Bucket).Msg("a lease that lapsed is given back later")
	}
}

// errSeenBefore is returned where somebody changed the bucket after it was read.
var errSeenBefore = errors.New("the bucket was changed meanwhile")

// tryToGiveBack gives a lapsed lease back as its bucket is seen in the ledger. A try whose answer is lost may have gone
// through: those after it go by what it saw, and so change nothing if it did, or if others did since. At worst a takeover
// counts that was none.
func (g *Ledger) tryToGiveBack(ctx context.Context, l *Lease) error {
	repeated := l.givenBackAs != nil
	if !repeated {
		row, err := g.bucket(ctx, l)
		if errors.Is(err, ErrLost) || err == nil && row.Token != l.Token && row.Takeovers <= l.Takeovers {
			return nil // its row is gone, or nobody who took it since counted a takeover
		}
		if err != nil {
			return err
		}
		l.givenBackAs = &row
	}
	n, err := store.Affected(store.Vital(ctx), g.Send.DB, g.Tables.Stmt.Get("slotrun/give_back"), l.Token, l.Token, l.AttemptKey, l.AttemptRevision,
		l.AttemptKey, l.Slot, l.Bucket, l.givenBackAs.Token, l.givenBackAs.Takeovers)
	if err == nil && n == 0 && !repeated {
		l.givenBackAs, err = nil, errSeenBefore
	}
	return err
}

// GiveBackLate gives back what could not be before.
func (g *Ledger) GiveBackLate(ctx context.Context) {
	for _, l := range g.Lapsed.take() {
		g.GiveBack(ctx, l)
	}
}

// Blames says whether the ledger still has the row on record that ran when the lease before this one lapsed.
func (g *Ledger) Blames(ctx context.Context, l *Lease, killer prescient.Key) (bool, error) {
	row, err := g.bucket(ctx, l)
	if err == nil && row.Token != l.Token {
		err = ErrLost
	}
	return err == nil && bytes.Equal(row.attemptKey, killer[:]), err
}

// bucket reads the bucket of a lease from the ledger; ErrLost where its row is gone.
func (g *Ledger) bucket(ctx context.Context, l *Lease) (Row, error) {
	list, err := g.Rows(ctx, l.Slot)
	if err != nil {
		return Row{}, err
	}
	for _, row := range list {
		if row.Bucket == l.Bucket {
			return row, nil
		}
	}
	return Row{}, ErrLost
}
