package condition

import (
	"context"
	"fmt"
	"slices"

	"github.com/jmoiron/sqlx"
)

// lock locks those of some keys that meet the condition, but for rows that another transaction has locked. Nobody is waited for: all rows of the
// batch would wait, and whoever cancels one of them.
func (f *column) lock(while string, keys []string) string {
	return "SELECT " + f.written + " FROM " + f.table + " WHERE " + f.name + " IN (" + f.list(keys) + ") AND (" + while + "\n) FOR UPDATE SKIP LOCKED"
}

// update sets rows, which repeats the condition.
func (f *column) update(set, while string, keys []string) string {
	return "UPDATE " + f.table + " SET " + set + "\nWHERE " + f.name + " IN (" + f.list(keys) + ") AND (" + while + "\n)"
}

// set updates the rows of those keys that meet the condition still. It returns which it has set, and which would have been, if another transaction did
// not have them locked.
func (f *column) set(ctx context.Context, tx *sqlx.Tx, set, while string, keys []string) (done, held map[string]bool, err error) {
	done, held = make(map[string]bool), make(map[string]bool)
	for part := range slices.Chunk(keys, mostKeys) {
		locked, err := f.keysOf(ctx, tx, f.lock(while, part), len(part))
		if err != nil {
			return nil, nil, fmt.Errorf("locking them: %w", err)
		}
		locked = slices.DeleteFunc(locked, func(key string) bool { return !slices.Contains(part, key) })
		for _, key := range locked {
			done[key] = true
		}
		if left := slices.DeleteFunc(slices.Clone(part), func(key string) bool { return done[key] }); len(left) > 0 {
			still, err := f.keysOf(ctx, tx, f.selectKeys(while, left), len(left))
			if err != nil {
				return nil, nil, fmt.Errorf("looking at those that were not locked: %w", err)
			}
			for _, key := range still {
				held[key] = true
			}
		}
		if len(locked) == 0 {
			continue
		}
		result, err := tx.ExecContext(ctx, f.update(set, while, locked))
		if err != nil {
			return nil, nil, err
		}
		switch n, err := result.RowsAffected(); {
		case err != nil:
			return nil, nil, err
		case n != int64(len(locked)):
			return nil, nil, fmt.Errorf("%d rows met the condition when they were locked, and %d when they were set", len(locked), n)
		}
	}
	return done, held, nil
}
