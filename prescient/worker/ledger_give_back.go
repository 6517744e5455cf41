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
	// comesBackIn is how long to wait for a worker that may have outlived an outage, before a row is said to have killed it.
	comesBackIn = 3 * time.Second
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
func (w *Worker) giveBack(ctx context.Context, l *lease) {
	_, err := backoff.Retry(ctx, func() (struct{}, error) {
		one, cancel := context.WithTimeout(ctx, giveBackIn)
		defer cancel()
		_, err := store.Affected(one, w.db, w.tables.Stmt.Get("slotrun/give_back"), l.token, l.token, l.attemptKey, l.attemptRevision, l.attemptKey,
			l.slot, l.bucket, l.token)
		if err != nil && !errno.Passing(err) {
			err = backoff.Permanent(err)
		}
		return struct{}{}, err
	}, backoff.WithBackOff(backoff.NewConstantBackOff(giveBackEvery)), backoff.WithMaxElapsedTime(w.options.Patience))
	if err != nil {
		w.lapsed.add(l)
		w.log.Warn().Err(err).Time("slot", l.slot).Int("bucket", l.bucket).Msg("a lease that lapsed is given back later")
	}
}

// giveBackLate gives back what could not be before.
func (w *Worker) giveBackLate(ctx context.Context) {
	for _, l := range w.lapsed.take() {
		w.giveBack(ctx, l)
	}
}

// endKiller ends the row that was running by itself when the worker before this one died. One that outlived an outage says
// so in time.
func (b *bucketRun) endKiller(ctx context.Context) error {
	if !b.careful || b.lease.attemptKey == nil {
		return nil
	}
	killer, revision := prescient.Key(b.lease.attemptKey), b.lease.attemptRevision
	b.lease.attemptKey = nil
	if err := store.Sleep(ctx, comesBackIn); err != nil {
		return errStopped
	}
	blamed, err := b.w.blames(ctx, b.lease, killer)
	if err != nil || !blamed {
		return err
	}
	rows, err := b.readBatch(ctx, &stream{next: killer})
	if err != nil {
		return err
	}
	if len(rows) == 1 && rows[0].key == killer && rows[0].Revision == revision {
		b.keep(rows[0])
		b.answerAtOnce(rows[0], prescient.CauseKilled)
		_, err = b.commitReady(ctx, true)
	}
	return err
}

// blames says whether the ledger still has the row on record that ran when the lease before this one lapsed.
func (w *Worker) blames(ctx context.Context, l *lease, killer prescient.Key) (bool, error) {
	list, err := w.ledger(ctx, l.slot)
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
