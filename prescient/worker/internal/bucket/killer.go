package bucket

import (
	"context"
	"time"

	"prescient/prescient"
	"prescient/prescient/internal/store"
)

// comesBackIn is how long to wait for a worker that may have outlived an outage, before a row is said to have killed it.
const comesBackIn = 3 * time.Second

// endKiller ends the row that was running by itself when the worker before this one died. One that outlived an outage says
// so in time.
func (b *Bucket) endKiller(ctx context.Context) error {
	if !b.careful || b.Lease.AttemptKey == nil {
		return nil
	}
	killer, revision := prescient.Key(b.Lease.AttemptKey), b.Lease.AttemptRevision
	b.Lease.AttemptKey = nil
	if err := store.Sleep(ctx, comesBackIn); err != nil {
		return ErrStopped
	}
	blamed, err := b.Shared.Ledger.Blames(ctx, b.Lease, killer)
	if err != nil || !blamed {
		return err
	}
	rows, err := b.readBatch(ctx, &stream{next: killer})
	if err != nil {
		return err
	}
	if len(rows) == 1 && rows[0].JobKey == killer && rows[0].Revision == revision {
		b.keep(rows[0])
		b.answerAtOnce(rows[0], prescient.Answer{Cause: prescient.CauseKilled})
		_, err = b.commitReady(ctx, true)
	}
	return err
}
