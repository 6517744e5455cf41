package commit

import (
	"context"
	"database/sql"
	"fmt"
	"maps"
	"slices"

	"prescient/prescient"
	"prescient/prescient/internal/literal"
	"prescient/prescient/internal/store"
	"prescient/prescient/worker/internal/check"
)

// Locked says which rows of a batch a transaction has locked.
type Locked struct {
	spans       []Span // all rows, by their ranges
	free, taken map[prescient.Key]bool
}

// Free says whether a row is locked, and as it was read.
func (l *Locked) Free(key prescient.Key) bool { return l.spans != nil || l.free[key] }

// Taken says whether somebody else has a row locked. Those that are neither are gone or changed.
func (l *Locked) Taken(key prescient.Key) bool { return l.taken[key] }

// LeaveOut has a transaction whose rows are not all to be written go by their keys: their ranges have holes.
func (l *Locked) LeaveOut() { l.spans = nil }

// Lock locks the rows of a batch.
func (s *Session) Lock(ctx context.Context, tx *sql.Tx, batch []*check.Answered, how Lock) (locked Locked, err error) {
	if how == ByRanges {
		locked.spans = SpansOf(batch)
		return locked, s.lockRanges(ctx, tx, batch, locked.spans)
	}
	keys := literal.Keys(batch, check.AnsweredKey)
	if locked.free, err = s.sameRows(ctx, tx, "slotrun/lock_free", keys, batch); err != nil {
		return locked, err
	}
	if how == FreeInUnique && len(locked.free) > 0 {
		keys := literal.KeysOf(slices.Collect(maps.Keys(locked.free)))
		if locked.free, err = s.sameRows(ctx, tx, "slotrun/lock_free_unique", keys, batch); err != nil {
			return locked, err
		}
	}
	if len(locked.free) == len(batch) {
		return locked, nil
	}
	there, err := s.sameRows(ctx, tx, "slotrun/present", keys, batch)
	if err != nil {
		return locked, err
	}
	locked.taken = make(map[prescient.Key]bool)
	for key := range there {
		if !locked.free[key] {
			locked.taken[key] = true
		}
	}
	return locked, nil
}

// lockRanges locks the rows of a batch by their ranges: just those that were read, in their order.
func (s *Session) lockRanges(ctx context.Context, tx *sql.Tx, batch []*check.Answered, spans []Span) error {
	ranges := string(AppendRanges(nil, "job_key", spans, false))
	n, same := 0, true
	err := store.EachRevision(ctx, tx, s.Tables.Fill("slotrun/lock_ranges", "{ranges}", ranges), []any{s.Lease.Slot, len(batch)},
		func(key prescient.Key, revision uint64) {
			same = same && n < len(batch) && key == batch[n].JobKey && revision == batch[n].Revision
			n++
		})
	switch {
	case err != nil:
		return refused(fmt.Errorf("locking ranges: %w", err))
	case !same || n != len(batch):
		return errOthers
	}
	return nil
}

// sameRows runs one of the statements that select job_key and revision, and returns the keys of the rows that are as
// they were read.
func (s *Session) sameRows(ctx context.Context, tx *sql.Tx, statement, keys string, batch []*check.Answered) (map[prescient.Key]bool, error) {
	revisions := make(map[prescient.Key]uint64, len(batch))
	for _, a := range batch {
		revisions[a.JobKey] = a.Revision
	}
	same := make(map[prescient.Key]bool, len(batch))
	err := store.EachRevision(ctx, tx, s.Tables.Fill(statement, "{keys}", keys), []any{s.Lease.Slot}, func(key prescient.Key, revision uint64) {
		if revisions[key] == revision {
			same[key] = true
		}
	})
	if err != nil {
		return nil, fmt.Errorf("%s: %w", statement, err)
	}
	return same, nil
}
