package ahead

import (
	"context"
	"fmt"

	"github.com/jmoiron/sqlx"

	"prescient/prescient"
	"prescient/prescient/internal/errno"
	"prescient/prescient/internal/literal"
	"prescient/prescient/internal/store"
	text "prescient/sql"
)

// Run is one of the runs that an UPDATE is to change.
type Run struct {
	Key prescient.Key
	// Condition on it, as it was seen.
	Condition string
}

// Change sends an UPDATE of runs. Where somebody else has one of them locked, it leaves that out, and changes the others: one lock is not to
// cost an agent all its runs. It returns how many it hit, and those that it has left out.
func Change(ctx context.Context, db *sqlx.DB, tables *store.Tables, runs []Run, update string, args ...any) (hit int, locked []Run, err error) {
	hit, err = store.Affected(ctx, db, tables.Fill(update, "{runs}", conditions(runs)), args...)
	if !errno.Is(err, errno.LockWaitTimeout, errno.NoWait) {
		return hit, nil, err
	}
	if len(runs) == 1 {
		return 0, runs, nil
	}
	if tables.Dialect == text.Plain { // which cannot pass over one
		for _, half := range [][]Run{runs[:len(runs)/2], runs[len(runs)/2:]} {
			n, left, err := Change(ctx, db, tables, half, update, args...)
			if err != nil {
				return hit, nil, err
			}
			hit, locked = hit+n, append(locked, left...)
		}
		return hit, locked, nil
	}
	return changeFree(ctx, db, tables, runs, update, args...)
}

// changeFree changes the runs that nobody else has locked.
func changeFree(ctx context.Context, db *sqlx.DB, tables *store.Tables, runs []Run, update string, args ...any) (hit int, locked []Run, err error) {
	tx, err := db.BeginTxx(ctx, nil)
	if err != nil {
		return 0, nil, err
	}
	defer func() { _ = tx.Rollback() }() // does nothing once it is committed
	var keys [][]byte
	if err := tx.SelectContext(ctx, &keys, tables.Fill("longrun/free", "{runs}", conditions(runs))); err != nil {
		return 0, nil, fmt.Errorf("locking long runs: %w", err)
	}
	isFree := make(map[prescient.Key]bool, len(keys))
	for _, key := range keys {
		isFree[prescient.Key(key)] = true
	}
	var free []Run
	for _, run := range runs {
		if isFree[run.Key] {
			free = append(free, run)
		} else {
			locked = append(locked, run) // or it is another's by now
		}
	}
	if len(free) == 0 {
		return 0, locked, nil
	}
	if hit, err = store.Affected(ctx, tx, tables.Fill(update, "{runs}", conditions(free)), args...); err != nil {
		return 0, nil, err
	}
	return hit, locked, tx.Commit()
}

func conditions(runs []Run) string {
	return literal.Join(" OR ", func(b []byte, run Run) []byte { return append(b, run.Condition...) }, runs)
}
