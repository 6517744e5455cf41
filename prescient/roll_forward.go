package prescient

import (
	"context"
	"errors"
	"fmt"
	"time"
)

// RollForward is the other way to catch up: it moves every overdue row to the next slot, in batches, and returns how
// many. Nothing is run; due_at and the counts stay. It works under the leases of the slots, so that what a live worker
// holds is left alone; progress, where given, is called after each batch with the rows moved so far.
func (w *Worker) RollForward(ctx context.Context, progress func(moved int)) (moved int, err error) {
	now, err := w.Now(ctx)
	if err != nil {
		return 0, err
	}
	err = w.eachOverdue(ctx, now, func(slot time.Time) error {
		n, err := w.rollSlot(ctx, slot, func(inSlot int) {
			if progress != nil {
				progress(moved + inSlot)
			}
		})
		moved += n
		if n > 0 {
			w.log.Info().Time("slot", slot).Int("rows", n).Msg("slot rolled forward")
		}
		return err
	})
	return moved, err
}

func (w *Worker) rollSlot(ctx context.Context, slot time.Time, progress func(moved int)) (moved int, err error) {
	_, work, cancel := w.scope(ctx)
	defer cancel()
	list, err := w.openSlotRun(work, slot)
	if err != nil {
		return 0, err
	}
	for _, row := range list {
		if row.held > 0 || ctx.Err() != nil {
			continue
		}
		l, err := w.claim(work, slot, row)
		if err != nil {
			return moved, err
		}
		if l == nil {
			continue
		}
		err = w.rollBucket(ctx, work, l, row.buckets, func(n int) {
			moved += n
			progress(moved)
		})
		if errors.Is(err, errLeaseLost) {
			continue
		}
		if err := errors.Join(err, w.release(work, l, err == nil && ctx.Err() == nil)); err != nil {
			return moved, err
		}
	}
	return moved, nil
}

// rollBucket moves the rows of one bucket, half a batch a transaction, each behind the fence.
func (w *Worker) rollBucket(ctx, work context.Context, l *lease, buckets int, did func(n int)) error {
	next, last := bucketRange(l.bucket, buckets)
	for more := true; more && ctx.Err() == nil; {
		end, full, err := w.batchEnd(work, l.slot, next, last)
		if err != nil {
			return err
		}
		if !l.alive(time.Now()) {
			return errLeaseLost
		}
		waits := newBackOff()
		n, err := w.rollBatch(work, l, next, end)
		for passing(err) && l.alive(time.Now()) {
			w.log.Warn().Err(err).Time("slot", l.slot).Msg("rolling forward is tried again")
			if err := sleep(ctx, waits.NextBackOff()); err != nil {
				return err
			}
			n, err = w.rollBatch(work, l, next, end)
		}
		if err != nil {
			return fmt.Errorf("rolling slot %s forward: %w", stamp(l.slot), err)
		}
		did(n)
		next, more = end.next()
		more = more && full
	}
	return nil
}

// batchEnd returns the last key of the next batch; full is false where that is the end of the bucket.
func (w *Worker) batchEnd(ctx context.Context, slot time.Time, first, last Key) (end Key, full bool, err error) {
	var found [][]byte
	err = w.query(ctx, func(ctx context.Context) error {
		found = nil
		return w.db.SelectContext(ctx, &found, w.stmt.Get("sweep/batch_end"), slot, first[:], last[:], half(w.options.Batch)-1)
	})
	switch {
	case err != nil:
		return end, false, fmt.Errorf("reading slot %s: %w", stamp(slot), err)
	case len(found) == 0:
		return last, false, nil
	}
	return Key(found[0]), true, nil
}

// rollBatch moves the rows from first to last to the next slot, in one transaction.
func (w *Worker) rollBatch(ctx context.Context, l *lease, first, last Key) (moved int, err error) {
	c, _, err := w.look(ctx, l.slot)
	if err != nil {
		return 0, err
	}
	ctx, cancel := context.WithTimeout(ctx, w.statementTimeout())
	defer cancel()
	tx, err := w.db.BeginTx(ctx, nil)
	if err != nil {
		return 0, err
	}
	before := time.Now()
	err = func() error {
		target := w.grid.Next(c.now())
		// The fence goes first, so the books are corrected once the count is known.
		if err := w.fence(ctx, tx, l, Counts{}); err != nil {
			return err
		}
		if moved, err = affected(ctx, tx, w.stmt.Get("sweep/roll_forward"), target, l.slot, first[:], last[:]); err != nil {
			return err
		}
		_, err = tx.ExecContext(ctx, w.stmt.Get("slotrun/correct"), append((&Counts{PutOff: -moved}).args(), l.slot, l.bucket)...)
		return err
	}()
	if err != nil {
		return 0, errors.Join(err, rollback(tx))
	}
	if err := tx.Commit(); err != nil {
		if done, lookErr := w.wasCommitted(ctx, l); lookErr != nil || !done {
			return 0, errors.Join(fmt.Errorf("committing: %w", err), lookErr)
		}
	}
	l.batchSeq++
	l.renewed(before)
	return moved, nil
}
