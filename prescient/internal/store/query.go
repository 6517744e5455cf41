package store

import (
	"context"
	"database/sql"
	"errors"
	"math/rand/v2"
	"time"

	"github.com/cenkalti/backoff/v5"

	"prescient/prescient"
	"prescient/prescient/internal/errno"
)

// StatementTime is how long one try of a statement may take: half of the lease, from 1 s to 30 s.
func StatementTime(lease time.Duration) time.Duration {
	return min(max(lease/2, time.Second), 30*time.Second)
}

// NewBackOff waits from 50 ms to 3 s, growing and jittered.
func NewBackOff() *backoff.ExponentialBackOff {
	b := backoff.NewExponentialBackOff()
	b.InitialInterval = 50 * time.Millisecond
	b.MaxInterval = 3 * time.Second
	return b
}

// Sleep waits, or returns the context's error.
func Sleep(ctx context.Context, d time.Duration) error {
	timer := time.NewTimer(d)
	defer timer.Stop()
	select {
	case <-timer.C:
		return nil
	case <-ctx.Done():
		return ctx.Err()
	}
}

// listAge is how old what the servers show of their transactions may be: who asks sooner gets the same again, and keeps it for others, too.
const listAge = 110 * time.Millisecond

// UntilShown asks for what the server lists of everybody's statements or transactions. MySQL refuses all of it while one of those
// statements, of whomever, is no text. Then this asks again, until ctx ends, and returns that error.
func UntilShown(ctx context.Context, ask func(ctx context.Context) error) error {
	var refused error
	for {
		err := ask(ctx)
		switch {
		case errno.Is(err, errno.NotShown):
			refused = err
		case refused != nil && ctx.Err() != nil: // it ended while the server was asked again
			return refused
		default:
			return err
		}
		if Sleep(ctx, listAge+rand.N(2*listAge)) != nil { // two who ask by turns would be shown the same for ever
			return refused
		}
	}
}

// QueryRow scans the one row of a query; sql.ErrNoRows where there is none.
func QueryRow(ctx context.Context, db prescient.DB, into []any, query string, args ...any) error {
	rows, err := db.QueryContext(ctx, query, args...)
	if err != nil {
		return err
	}
	defer rows.Close()
	if !rows.Next() {
		return errors.Join(rows.Err(), orNoRows(rows.Err()))
	}
	if err := rows.Scan(into...); err != nil {
		return err
	}
	return rows.Close()
}

func orNoRows(err error) error {
	if err == nil {
		return sql.ErrNoRows
	}
	return nil
}

// Scan reads the columns of a row.
type Scan func(into ...any) error

// EachRow runs a query, and calls do for each row of its answer.
func EachRow(ctx context.Context, db prescient.DB, do func(scan Scan) error, query string, args ...any) error {
	rows, err := db.QueryContext(ctx, query, args...)
	if err != nil {
		return err
	}
	defer rows.Close()
	for rows.Next() {
		if err := do(rows.Scan); err != nil {
			return err
		}
	}
	return rows.Err()
}

// Affected runs a statement and returns how many rows it hit.
func Affected(ctx context.Context, db prescient.DB, query string, args ...any) (int, error) {
	result, err := db.ExecContext(ctx, query, args...)
	if err != nil {
		return 0, err
	}
	n, err := result.RowsAffected()
	return int(n), err
}
