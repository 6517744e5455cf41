package worker

import (
	"context"
	"database/sql"
	"errors"
	"fmt"
	"time"

	"prescient/prescient"
	"prescient/prescient/internal/errno"
	"prescient/prescient/internal/literal"
	"prescient/prescient/internal/store"
	"prescient/prescient/worker/books"
	"prescient/prescient/worker/internal/bucket"
	"prescient/prescient/worker/internal/commit"
	"prescient/prescient/worker/internal/ledger"
	"prescient/slots"
)

// Rolled is what RollForward did.
type Rolled struct {
	// Moved is how many rows went to the next slot.
	Moved int `json:"moved"`
	// PassedOver is how many stayed, since somebody else has them locked. The sweeper runs them; or roll forward again.
	PassedOver int `json:"passed_over"`
}

func (r *Rolled) add(more Rolled) {
	r.Moved += more.Moved
	r.PassedOver += more.PassedOver
}

// RollForward is the other way to catch up: it moves every overdue row to the next slot, in batches, and says how many.
// Nothing is run; due_at and the counts stay. It works under the leases of the slots, so that what a live worker holds is
// left alone, and passes over rows that others have locked; progress, where given, is called after each batch with what was
// done so far.
func (w *Worker) RollForward(ctx context.Context, progress func(Rolled)) (all Rolled, err error) {
	now, err := w.Now(ctx)
	if err != nil {
		return all, err
	}
	err = w.eachOverdue(ctx, prescient.EarliestDue, w.overdueBefore(now), func(slot time.Time) error {
		var here Rolled
		err := w.rollSlot(ctx, slot, func(more Rolled) {
			here.add(more)
			all.add(more)
			if progress != nil {
				progress(all)
			}
		})
		if here != (Rolled{}) {
			w.log.Info().Time("slot", slot).Int("rows", here.Moved).Int("locked", here.PassedOver).Msg("slot rolled forward")
		}
		return err
	})
	return all, err
}

func (w *Worker) rollSlot(ctx context.Context, slot time.Time, did func(Rolled)) error {
	_, work, cancel := w.scope(ctx)
	defer cancel()
	list, err := w.ledger.Open(work, slot)
	if err != nil {
		return err
	}
	for _, row := range list {
		if row.LivesFor > 0 || ctx.Err() != nil {
			continue
		}
		l, err := w.ledger.Claim(work, slot, row)
		if err != nil {
			return err
		}
		if l == nil {
			continue
		}
		passed := 0
		err = w.rollBucket(ctx, work, l, row.Buckets, func(more Rolled) {
			passed += more.PassedOver
			did(more)
		})
		if errors.Is(err, ledger.ErrLost) {
			w.ledger.GiveBack(work, l)
			continue
		}
		if err := errors.Join(err, w.ledger.Release(work, l, err == nil && ctx.Err() == nil && passed == 0)); err != nil {
			return err
		}
	}
	return nil
}

// rollBucket moves the rows of one bucket, half a batch at a time.
func (w *Worker) rollBucket(ctx, work context.Context, l *ledger.Lease, buckets int, did func(Rolled)) error {
	next, last := store.BucketRange(l.Bucket, buckets)
	page := max(w.options.Batch/2, 1)
	for more := true; more && ctx.Err() == nil; {
		keys, err := w.keysOf(work, l.Slot, next, last, page)
		if err != nil || len(keys) == 0 {
			return err
		}
		if err := w.rollKeys(ctx, work, l, keys, did); err != nil {
			return err
		}
		next, more = keys[len(keys)-1].Next()
		more = more && len(keys) == page
	}
	return nil
}

// keysOf reads the keys of the next rows of a slot.
func (w *Worker) keysOf(ctx context.Context, slot time.Time, first, last prescient.Key, limit int) ([]prescient.Key, error) {
	var found [][]byte
	err := w.send.Query(ctx, func(ctx context.Context) error {
		found = nil
		return w.send.DB.SelectContext(ctx, &found, w.tables.Stmt.Get("sweep/keys"), slot, first[:], last[:], limit)
	})
	if err != nil {
		return nil, fmt.Errorf("reading slot %s: %w", slots.Stamp(slot), err)
	}
	keys := make([]prescient.Key, len(found))
	for i, raw := range found {
		keys[i] = prescient.Key(raw)
	}
	return keys, nil
}

// rollKeys moves some rows, each behind the fence: in one transaction, or by halves where that waits for a lock though the
// rows themselves are free, since a move also locks neighbours in UNIQUE (job_key). A row that is left alone with that is
// passed over.
func (w *Worker) rollKeys(ctx, work context.Context, l *ledger.Lease, keys []prescient.Key, did func(Rolled)) error {
	waits := store.NewBackOff()
	for {
		if !l.Alive(time.Now()) {
			return ledger.ErrLost
		}
		if l.DueForRenewal(time.Now()) {
			if err := w.ledger.Renew(work, l); err != nil {
				return err
			}
		}
		done, err := w.rollBatch(work, l, keys)
		switch {
		case err == nil:
			did(done)
			return nil
		case errors.Is(err, bucket.ErrRowsLocked) && len(keys) == 1:
			did(Rolled{PassedOver: 1})
			return nil
		case errors.Is(err, bucket.ErrRowsLocked):
			if err := w.rollKeys(ctx, work, l, keys[:len(keys)/2], did); err != nil {
				return err
			}
			keys = keys[len(keys)/2:]
			continue
		case errors.Is(err, ledger.ErrLost):
			l.Lose()
			return err
		case !errno.Passing(err):
			return fmt.Errorf("rolling slot %s forward: %w", slots.Stamp(l.Slot), err)
		}
		w.log.Warn().Err(err).Time("slot", l.Slot).Msg("rolling forward is tried again")
		if err := store.Sleep(ctx, waits.NextBackOff()); err != nil {
			return err
		}
	}
}

// rollBatch moves those of some rows that nobody else has locked to the next slot, in one transaction. bucket.ErrRowsLocked where
// it waited for a lock all the same.
func (w *Worker) rollBatch(ctx context.Context, l *ledger.Lease, keys []prescient.Key) (done Rolled, err error) {
	c, _, err := w.clockAndDue(ctx, l.Slot)
	if err != nil {
		return done, err
	}
	session := &commit.Session{Writer: w.shared.Writer, Lease: l}
	// The fence goes first, so the books are corrected once the count is known.
	err = session.Behind(ctx, books.Counts{}, func(ctx context.Context, tx *sql.Tx) error {
		if done, err = w.moveFree(ctx, tx, l.Slot, w.tables.Grid.Next(c.Now()), keys); errno.Is(err, errno.LockWaitTimeout, errno.NoWait) {
			return fmt.Errorf("%w: %w", bucket.ErrRowsLocked, err)
		} else if err != nil {
			return err
		}
		_, err = tx.ExecContext(ctx, w.tables.Stmt.Get("slotrun/correct"), append((&books.Counts{PutOff: -done.Moved}).Args(), l.Slot, l.Bucket)...)
		return err
	})
	if err != nil {
		return Rolled{}, err
	}
	return done, nil
}

// moveFree moves those of some rows of a slot that nobody has locked to another.
func (w *Worker) moveFree(ctx context.Context, tx *sql.Tx, slot, target time.Time, keys []prescient.Key) (done Rolled, err error) {
	free, err := w.rowsOf(ctx, tx, "slotrun/lock_free", slot, keys)
	if err != nil {
		return done, err
	}
	if len(free) < len(keys) {
		there, err := w.rowsOf(ctx, tx, "slotrun/present", slot, keys) // others are gone
		if err != nil {
			return done, err
		}
		done.PassedOver = max(len(there)-len(free), 0)
	}
	if len(free) == 0 {
		return done, nil
	}
	query := w.tables.Fill("sweep/roll_forward", "{keys}", literal.KeysOf(free))
	if done.Moved, err = store.Affected(ctx, tx, query, target, slot); err == nil && done.Moved != len(free) {
		err = fmt.Errorf("%d of %d rows that were locked were moved", done.Moved, len(free))
	}
	return done, err
}

// rowsOf returns which of some rows of a slot a statement selects, by their keys.
func (w *Worker) rowsOf(ctx context.Context, tx *sql.Tx, statement string, slot time.Time, keys []prescient.Key) (found []prescient.Key, err error) {
	err = store.EachRevision(ctx, tx, w.tables.Fill(statement, "{keys}", literal.KeysOf(keys)), []any{slot},
		func(key prescient.Key, _ uint64) { found = append(found, key) })
	if err != nil {
		return nil, fmt.Errorf("%s: %w", statement, err)
	}
	return found, nil
}
