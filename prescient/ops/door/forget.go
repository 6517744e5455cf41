package door

import (
	"context"
	"errors"
	"fmt"

	"prescient/prescient/internal/store"
)

// oldKey is an idempotency key that is to be forgotten.
type oldKey struct {
	token uint64
	key   string
}

// atATime is as many as ops/keys_old and ops/sessions_old read.
const atATime = 500

// Forget forgets the idempotency keys that are old by now, and the sessions that are over, for half a minute each at most, and returns how many those were.
// Those that somebody has locked are left.
func (d *Door) Forget(ctx context.Context) (forgotten int, err error) {
	var errs []error
	for _, some := range []func(ctx context.Context) (int, error){d.forgetKeys, d.forgetSessions} {
		n, err := forgetAll(ctx, some)
		forgotten, errs = forgotten+n, append(errs, err)
	}
	return forgotten, errors.Join(errs...)
}

func forgetAll(ctx context.Context, some func(ctx context.Context) (int, error)) (forgotten int, err error) {
	ctx, cancel := context.WithTimeout(ctx, forgetWithin)
	defer cancel()
	for {
		n, err := some(ctx)
		forgotten += n
		if err != nil || n < atATime {
			return forgotten, err
		}
	}
}

// forgetKeys locks some keys that are free, and deletes each by itself: one statement for all might find them by a scan, and wait for others on its way.
func (d *Door) forgetKeys(ctx context.Context) (int, error) {
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

// forgetSessions does the same with sessions that are over.
func (d *Door) forgetSessions(ctx context.Context) (int, error) {
	tx, err := d.db.BeginTxx(ctx, nil)
	if err != nil {
		return 0, err
	}
	defer tx.Rollback() // after a commit it does nothing
	var numbers []uint64
	err = store.EachRow(ctx, tx, func(scan store.Scan) error {
		var n uint64
		err := scan(&n)
		numbers = append(numbers, n)
		return err
	}, d.tables.Stmt.Get("ops/sessions_old"))
	if err != nil {
		return 0, fmt.Errorf("looking for sessions that are over: %w", err)
	}
	for _, n := range numbers {
		if _, err := tx.ExecContext(ctx, d.tables.Stmt.Get("ops/session_forget"), n); err != nil {
			return 0, fmt.Errorf("forgetting a session: %w", err)
		}
	}
	if err := tx.Commit(); err != nil {
		return 0, fmt.Errorf("forgetting sessions: %w", err)
	}
	return len(numbers), nil
}
