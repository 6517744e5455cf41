package roll

import (
	"context"
	"database/sql"
	"errors"
	"fmt"
	"iter"
	"time"

	"prescient/prescient"
	"prescient/prescient/internal/errno"
	"prescient/prescient/internal/literal"
	"prescient/prescient/internal/store"
	"prescient/prescient/internal/tally"
	"prescient/prescient/worker/books"
	"prescient/prescient/worker/internal/commit"
	"prescient/prescient/worker/internal/ledger"
	"prescient/slots"
)

// errRowsLocked is returned where a move waited for a lock of somebody else's; it never leaves the package.
var errRowsLocked = errors.New("rows are locked")

// rolled is what became of a batch.
type rolled struct {
	moved      int
	passedOver int // since somebody else has them locked
}

// roll moves some rows, each behind the fence: in one transaction, or by halves where that waits for a lock though the
// rows themselves are free, since a move also locks neighbours in UNIQUE (job_key). A row that is left alone with that is
// passed over.
func (r *Roller) roll(ctx, work context.Context, session *commit.Session, rows []Row, did func(moved, passedOver int)) error {
	l := session.Lease
	waits := store.NewBackOff()
	for {
		if !l.Alive(time.Now()) {
			return ledger.ErrLost
		}
		if l.IsDue(time.Now()) {
			if err := r.Ledger.Renew(work, l); err != nil {
				return err
			}
		}
		done, err := r.batch(work, session, rows)
		switch {
		case err == nil:
			did(done.moved, done.passedOver)
			return nil
		case errors.Is(err, errRowsLocked) && len(rows) == 1:
			did(0, 1)
			return nil
		case errors.Is(err, errRowsLocked):
			if err := r.roll(ctx, work, session, rows[:len(rows)/2], did); err != nil {
				return err
			}
			rows = rows[len(rows)/2:]
			continue
		case errors.Is(err, ledger.ErrLost):
			l.Lose()
			return err
		case !errno.Passing(err):
			return fmt.Errorf("rolling slot %s forward: %w", slots.Stamp(l.Slot), err)
		}
		r.Log.Warn().Err(err).Time("slot", l.Slot).Msg("rolling forward is tried again")
		if err := store.Sleep(ctx, waits.NextBackOff()); err != nil {
			return err
		}
	}
}

// batch moves those of some rows that nobody else has locked to the next slot, in one transaction. errRowsLocked where
// it waited for a lock all the same.
func (r *Roller) batch(ctx context.Context, session *commit.Session, rows []Row) (done rolled, err error) {
	l := session.Lease
	seen, err := r.Look.At(ctx, l.Slot)
	if err != nil {
		return done, err
	}
	// The fence goes first, so the books are corrected once the count is known.
	err = session.Behind(ctx, books.Counts{}, func(ctx context.Context, tx *sql.Tx) error {
		var moved []Row
		if done, moved, err = r.moveFree(ctx, tx, l.Slot, r.Tables.Grid.Next(seen.Clock.Now()), rows); errno.Is(err, errno.LockWaitTimeout, errno.NoWait) {
			return fmt.Errorf("%w: %w", errRowsLocked, err)
		} else if err != nil {
			return err
		}
		if _, err = tx.ExecContext(ctx, r.Tables.Stmt.Get("slotrun/correct"), append((&books.Counts{PutOff: -done.moved}).Args(), l.Slot, l.Bucket)...); err != nil {
			return err
		}
		return session.PutOff(ctx, tx, ofRows(moved))
	})
	if err != nil {
		return rolled{}, err
	}
	return done, nil
}

// ofRows is what rows are.
func ofRows(rows []Row) iter.Seq[tally.Of] {
	return func(yield func(tally.Of) bool) {
		for _, row := range rows {
			if !yield(row.Of) {
				return
			}
		}
	}
}

// moveFree moves those of some rows of a slot that nobody has locked to another, and returns them.
func (r *Roller) moveFree(ctx context.Context, tx *sql.Tx, slot, target time.Time, rows []Row) (done rolled, moved []Row, err error) {
	keys := literal.Keys(rows, keyOf)
	free, err := r.rowsOf(ctx, tx, "slotrun/lock_free", slot, keys)
	if err != nil {
		return done, nil, err
	}
	for _, row := range rows {
		if free[row.Key] {
			moved = append(moved, row)
		}
	}
	if len(moved) < len(rows) {
		there, err := r.rowsOf(ctx, tx, "slotrun/present", slot, keys) // others are gone
		if err != nil {
			return done, nil, err
		}
		done.passedOver = max(len(there)-len(free), 0)
	}
	if len(moved) == 0 {
		return done, nil, nil
	}
	query := r.Tables.Fill("sweep/roll_forward", "{keys}", literal.Keys(moved, keyOf))
	if done.moved, err = store.Affected(ctx, tx, query, target, slot); err == nil && done.moved != len(moved) {
		err = fmt.Errorf("%d of %d rows that were locked were moved", done.moved, len(moved))
	}
	return done, moved, err
}

// rowsOf returns which of some rows of a slot a statement selects, by their keys.
func (r *Roller) rowsOf(ctx context.Context, tx *sql.Tx, statement string, slot time.Time, keys string) (found map[prescient.Key]bool, err error) {
	found = make(map[prescient.Key]bool)
	err = store.EachRevision(ctx, tx, r.Tables.Fill(statement, "{keys}", keys), []any{slot},
		func(key prescient.Key, _ uint64) { found[key] = true })
	if err != nil {
		return nil, fmt.Errorf("%s: %w", statement, err)
	}
	return found, nil
}
