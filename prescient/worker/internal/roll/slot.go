package roll

import (
	"context"
	"errors"
	"fmt"
	"time"

	"github.com/rs/zerolog"

	"prescient/prescient"
	"prescient/prescient/internal/store"
	"prescient/prescient/internal/tally"
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
	session := &commit.Session{Writer: r.Writer, Lease: l}
	next, last := r.Tables.Keys.Bucket(l.Bucket, buckets)
	page := max(r.Batch/2, 1)
	for more := true; more && ctx.Err() == nil; {
		rows, err := r.Rows(work, l.Slot, next, last, page)
		if err != nil || len(rows) == 0 {
			return err
		}
		if err := r.roll(ctx, work, session, rows, did); err != nil {
			return err
		}
		next, more = rows[len(rows)-1].Key.Next()
		more = more && len(rows) == page
	}
	return nil
}

// Row is one that is to be moved.
type Row struct {
	Key prescient.Key
	tally.Of
}

func keyOf(r Row) prescient.Key { return r.Key }

// Rows reads the next rows of a slot.
func (r *Roller) Rows(ctx context.Context, slot time.Time, first, last prescient.Key, limit int) (found []Row, err error) {
	err = r.Send.Query(ctx, func(ctx context.Context) (err error) {
		found, err = store.Rows(ctx, r.Send.DB, "sweep/keys", r.Tables.Stmt.Get("sweep/keys"), func(row *Row) []any {
			return []any{store.Key(&row.Key), &row.JobExec, &row.EntityName}
		}, slot, first[:], last[:], limit)
		return err
	})
	if err != nil {
		return nil, fmt.Errorf("reading slot %s: %w", slots.Stamp(slot), err)
	}
	return found, nil
}
