package bucket

import (
	"context"
	"errors"
	"fmt"
	"maps"
	"slices"
	"time"

	"prescient/prescient"
	"prescient/prescient/internal/errno"
	"prescient/prescient/internal/literal"
	"prescient/prescient/internal/store"
	"prescient/prescient/worker/internal/check"
	"prescient/prescient/worker/internal/commit"
	text "prescient/sql"
)

// What a bucket does about rows that open transactions of others have locked: their answers are kept and tried again.
// When nothing else is left in the bucket it gives its place to the next, and waits on, for a while; then it is given back
// unfinished, and its rows stay as they are. Whoever takes it later looks first which rows are locked yet, and leaves
// those alone: their job_execs are called once more when they are free, and not each time that somebody looks.

// noteLocked notes that somebody else has a row locked.
func (b *Bucket) noteLocked(a *check.Answered) {
	if !a.Locked {
		a.Locked = true
		b.locked++
	}
}

// noteLeft notes a row that is left behind, so that the log can name it.
func (b *Bucket) noteLeft(a *check.Answered) {
	if b.LeftLocked == nil {
		job := a.FutureJob
		job.Payload = nil
		b.LeftLocked = &job
	}
}

// onlyLocked says whether nothing is left in the bucket but rows that others have locked.
func (b *Bucket) onlyLocked() bool {
	outstanding := 0
	for _, s := range b.streams {
		if !s.dry && !s.waits {
			return false
		}
		outstanding += s.outstanding
	}
	return b.reading == nil && outstanding > 0 && outstanding == b.locked
}

// waitForLocks says whether to wait for locked rows, where there is nothing else to do. The first time it makes place
// for another bucket.
func (b *Bucket) waitForLocks(now time.Time) bool {
	if b.waitUntil.IsZero() {
		b.waitUntil = now.Add(b.waitFor)
		if !b.lingering {
			if b.MayWait != nil && !b.MayWait(b.inMemory()) {
				return false
			}
			b.linger()
		}
	}
	return now.Before(b.waitUntil)
}

// inMemory is how many rows the bucket has, those aside that are about to be committed.
func (b *Bucket) inMemory() int {
	rows := -b.inbox.waiting()
	for _, s := range b.streams {
		rows += s.outstanding
	}
	return rows
}

// withoutLocked leaves out the rows of a batch that others have locked.
func (b *Bucket) withoutLocked(ctx context.Context, batch []*check.Answered) ([]*check.Answered, error) {
	free := make(map[prescient.Key]bool, len(batch))
	if err := b.findFree(ctx, batch, free); err != nil || len(free) == len(batch) {
		return batch, err
	}
	there, err := b.keysOf(ctx, "slotrun/present", literal.Keys(batch, check.AnsweredKey))
	if err != nil {
		return nil, err
	}
	before := len(batch)
	batch = slices.DeleteFunc(batch, func(a *check.Answered) bool {
		locked := there[a.JobKey] && !free[a.JobKey]
		if locked {
			b.noteLeft(a)
		}
		return locked
	})
	b.Figures.Locked += before - len(batch)
	return batch, nil
}

// findFree adds the rows that nobody else has locked. The dialect plain cannot pass over locked rows: the server refuses them
// all, and they are halved until the locked ones are alone.
func (b *Bucket) findFree(ctx context.Context, rows []*check.Answered, free map[prescient.Key]bool) error {
	found, err := b.keysOf(ctx, "slotrun/lock_free", literal.Keys(rows, check.AnsweredKey))
	if err == nil && len(found) > 0 {
		found, err = b.keysOf(ctx, "slotrun/lock_free_unique", literal.KeysOf(slices.Collect(maps.Keys(found))))
	}
	switch {
	case errors.Is(err, commit.ErrAtOnce) && len(rows) > 1:
		half := len(rows) / 2
		if err := b.findFree(ctx, rows[:half], free); err != nil {
			return err
		}
		return b.findFree(ctx, rows[half:], free)
	case errors.Is(err, commit.ErrAtOnce):
		return nil
	case err != nil:
		return err
	}
	maps.Copy(free, found)
	return nil
}

// keysOf runs one of the statements that select job_key and revision, by itself, and returns the keys.
// Where it locks rows, they are free again afterwards. In the dialect plain ErrAtOnce where somebody else has one locked.
func (b *Bucket) keysOf(ctx context.Context, statement, keys string) (found map[prescient.Key]bool, err error) {
	refuses := b.Shared.Tables.Dialect == text.Plain && statement != "slotrun/present"
	var locked error // is an answer here: not to be asked for again
	err = b.Shared.Send.Query(ctx, func(ctx context.Context) (err error) {
		defer func() {
			if refuses && errno.Is(err, errno.NoWait, errno.LockWaitTimeout) {
				locked, err = fmt.Errorf("%w: %w", commit.ErrAtOnce, err), nil
			}
		}()
		found, locked = make(map[prescient.Key]bool), nil
		tx, err := b.Shared.Send.DB.BeginTx(store.MayIdle(ctx, store.IdleInCommit), nil) // without one TiDB locks nothing
		if err != nil {
			return err
		}
		defer func() { _ = tx.Rollback() }()
		return store.EachRevision(ctx, tx, b.Shared.Tables.Fill(statement, "{keys}", keys), []any{b.Lease.Slot},
			func(key prescient.Key, _ uint64) { found[key] = true })
	})
	if err = errors.Join(err, locked); err != nil {
		return nil, fmt.Errorf("%s: %w", statement, err)
	}
	return found, nil
}
