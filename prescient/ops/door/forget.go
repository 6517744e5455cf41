package door

import (
	"context"
	"fmt"

	"prescient/prescient/internal/store"
)

// oldKey is an idempotency key that is to be forgotten.
type oldKey struct {
	token uint64
	key   string
}

// atATime is as many keys as ops/keys_old reads.
const atATime = 500

// Forget forgets the idempotency keys that are old by now, for half a minute at most, and returns how many those were. Those that somebody has locked
// are left.
func (d *Door) Forget(ctx context.Context) (forgotten int, err error) {
	ctx, cancel := context.WithTimeout(ctx, forgetWithin)
	defer cancel()
	for {
		n, err := d.forgetSome(ctx)
		forgotten += n
		if err != nil || n < atATime {
			return forgotten, err
		}
	}
}

// forgetSome locks some keys that are free, and deletes each by itself: one statement for all might find them by a scan, and wait for others on its way.
func (d *Door) forgetSome(ctx context.Context) (int, error) {
	tx, err := d.db.BeginTxx(ctx, nil)
	if err != nil {
		return 0, err
	}
	defer tx.Rollback() // after a commit it does nothing
	var keys []oldKey
	err = store.EachRow(ctx, tx, func(scan store.Scan) error {
		var k oldKey
		err := scan(&k.token, &k.key)
		keys = append(keys, k)
		return err
	}, d.tables.Stmt.Get("ops/keys_old"))
	if err != nil {
		return 0, fmt.Errorf("looking for old idempotency keys: %w", err)
	}
	for _, k := range keys {
		if _, err := tx.ExecContext(ctx, d.tables.Stmt.Get("ops/key_forget"), k.token, k.key); err != nil {
			return 0, fmt.Errorf("forgetting an idempotency key: %w", err)
		}
	}
	if err := tx.Commit(); err != nil {
		return 0, fmt.Errorf("forgetting idempotency keys: %w", err)
	}
	return len(keys), nil
}
