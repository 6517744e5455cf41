// Package handle knows whose transaction a client works in, by the handle that it is given: the caller's, or one that the client begins
// itself and may try again.
package handle

import (
	"context"
	"database/sql"
	"fmt"

	"prescient/prescient"
	"prescient/prescient/internal/errno"
)

// What a client may begin a transaction of its own on, and may try again on, are pools and single connections. A pool is known
// by its Conn, which lends a connection, as no transaction does: *sql.DB, *sqlx.DB, and what embeds one of them or has its Conn.
// A single connection has Raw. Whatever has Commit or Rollback is a transaction, even if it begins others, such as savepoints.
// All else is taken for a transaction of the caller: to begin one beside it would commit the check without the domain event.
type (
	// Beginner begins transactions.
	Beginner interface {
		BeginTx(ctx context.Context, options *sql.TxOptions) (*sql.Tx, error)
	}
	// Lender is a pool.
	Lender interface {
		Conn(ctx context.Context) (*sql.Conn, error)
	}
	rawConn interface {
		Raw(do func(conn any) error) error
	}
)

// OwnTx is a transaction that a client began itself READ COMMITTED, so that a plain read shows the latest rows.
type OwnTx struct{ *sql.Tx }

// ends says whether a handle can end a transaction.
func ends(db prescient.DB) bool {
	switch db.(type) {
	case interface{ Commit() error }, interface{ Rollback() error }:
		return true
	}
	return false
}

// BeginnerOf returns a handle as one on which a client begins transactions; ok is false for all that is, or may be, a
// transaction of the caller.
func BeginnerOf(db prescient.DB) (begin Beginner, ok bool) {
	begin, ok = db.(Beginner)
	if !ok || ends(db) {
		return nil, false
	}
	_, lends := db.(Lender)
	_, raw := db.(rawConn)
	return begin, lends || raw
}

// IsCallersTx says whether a handle may be inside a transaction of the caller, which may be older than the latest rows.
// A single connection may: somebody can have begun one on it by hand.
func IsCallersTx(db prescient.DB) bool {
	if _, own := db.(OwnTx); own {
		return false
	}
	_, raw := db.(rawConn)
	_, begins := BeginnerOf(db)
	return raw || !begins
}

// CommitsByItself says whether each statement on a handle is a transaction of its own.
func CommitsByItself(db prescient.DB) bool {
	_, begins := BeginnerOf(db)
	return begins && !IsCallersTx(db)
}

// IsInside makes sure that a handle is inside of a transaction, where it begins transactions and is taken for one all the same. On a pool that
// is not known as one, each statement would be committed by itself.
func IsInside(ctx context.Context, db prescient.DB) error {
	if _, begins := db.(Beginner); !begins || ends(db) {
		return nil
	}
	inside, err := isInside(ctx, db)
	if err == nil && !inside {
		err = fmt.Errorf("%w: a %T begins transactions, but is neither in one nor a known pool; embed the *sql.DB, or pass that or a transaction",
			prescient.ErrInvalid, db)
	}
	return err
}

// isInside says whether a connection is inside of a transaction: a savepoint stays only there.
func isInside(ctx context.Context, db prescient.DB) (bool, error) {
	if _, err := db.ExecContext(ctx, "SAVEPOINT prescient_inside"); err != nil {
		return false, fmt.Errorf("setting a savepoint: %w", err)
	}
	_, err := db.ExecContext(ctx, "RELEASE SAVEPOINT prescient_inside")
	if errno.Is(err, errno.NoSuchName) {
		return false, nil
	}
	if err != nil {
		return false, fmt.Errorf("releasing a savepoint: %w", err)
	}
	return true, nil
}
