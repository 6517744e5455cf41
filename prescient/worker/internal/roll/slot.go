package roll

import (
	"context"
	"errors"
	"fmt"
	"time"

	"github.com/rs/zerolog"

	"prescient/prescient"
	"prescient/prescient/internal/store"
	"prescient/prescient/worker/internal/commit"
	"prescient/prescient/worker/internal/ledger"
	"prescient/prescient/worker/internal/look"
	"prescient/slots"
)

// Roller rolls slots forward.
type Roller struct {
	Send   *store.Sender
	Tables *store.Tables
	Look   *look.Looker
	Ledger *ledger.Ledger
	Writer *commit.Writer
	// Batch is twice as many rows as are moved together.
	Batch int
	// Log has a line at warn where something is tried again.
	Log zerolog.Logger
}

// Slot moves the rows of a slot, as far as its buckets are to be had, until ctx ends; work is for what has to be ended then. did is told
// of each batch. It returns the workers that hold buckets, a name for each of those.
func (r *Roller) Slot(ctx, work context.Context, slot time.Time, did func(moved, passedOver int)) (held []string, err error) {
	list, err := r.Ledger.Open(work, slot, ledger.RollForward)
	if err != nil {
		return nil, err
	}
	for _, row := range list {
		if row.LivesFor > 0 {
			held = append(held, row.Worker)
			continue
		}
		if ctx.Err() != nil {
			continue
		}
		l, err := r.Ledger.Claim(work, slot, row, ledger.RollForward)
		if err != nil {
			return held, err
		}
		if l == nil {
			continue
		}
		passed := 0
		err = r.bucket(ctx, work, l, row.Buckets, func(moved, passedOver int) {
			passed += passedOver
			did(moved, passedOver)
		})
		if errors.Is(err, ledger.ErrLost) {
			r.Ledger.GiveBack(work, l)
			continue
		}
		if err := errors.Join(err, r.Ledger.Release(work, l, err == nil && ctx.Err() == nil && passed == 0)); err != nil {
			return held, err
		}
	}
	return held, nil
}

// bucket moves the rows of one bucket, half a batch at a time.
func (r *Roller) bucket(ctx, work context.Context, l *ledger.Lease, buckets int, did func(moved, passedOver int)) error {
	next, last := store.BucketRange(l.Bucket, buckets)
	page := max(r.Batch/2, 1)
	for more := true; more && ctx.Err() == nil; {
		keys, err := r.KeysOf(work, l.Slot, next, last, page)
		if err != nil || len(keys) == 0 {
			return err
		}
		if err := r.roll(ctx, work, l, keys, did); err != nil {
			return err
		}
		next, more = keys[len(keys)-1].Next()
		more = more && len(keys) == page
	}
	return nil
}

// KeysOf reads the keys of the next rows of a slot.
func (r *Roller) KeysOf(ctx context.Context, slot time.Time, first, last prescient.Key, limit int) ([]prescient.Key, error) {
	var found [][]byte
	err := r.Send.Query(ctx, func(ctx context.Context) error {
		found = nil
		return r.Send.DB.SelectContext(ctx, &found, r.Tables.Stmt.Get("sweep/keys"), slot, first[:], last[:], limit)
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
