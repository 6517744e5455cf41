package blocking

import (
	"context"
	"database/sql"
	"errors"
	"fmt"
	"time"

	"github.com/jmoiron/sqlx"

	"prescient/prescient/internal/store"
)

// Transaction is one that is open.
type Transaction struct {
	Connection uint64
	Age        time.Duration
	Account    string // empty where it is not visible
}

// ShownTime bounds how long OldestTransaction asks for what MySQL does not show while somebody's statement is no text.
const ShownTime = 3 * time.Second

// OldestTransaction reads which transaction is open the longest; nil where none is.
func OldestTransaction(ctx context.Context, db *sqlx.DB, tables store.Tables) (*Transaction, error) {
	ctx, cancel := context.WithTimeout(ctx, ShownTime)
	defer cancel()
	var oldest Transaction
	var seconds int64
	err := store.UntilShown(ctx, func(ctx context.Context) error {
		return store.QueryRow(ctx, db, []any{&oldest.Connection, &seconds}, tables.Stmt.Get("operate/oldest_transaction"))
	})
	if errors.Is(err, sql.ErrNoRows) {
		return nil, nil
	}
	if err != nil {
		return nil, fmt.Errorf("asking which transaction is open the longest: %w", err)
	}
	oldest.Age = time.Duration(seconds) * time.Second
	var user, host string
	err = store.UntilShown(ctx, func(ctx context.Context) error {
		return store.QueryRow(ctx, db, []any{&user, &host}, tables.Stmt.Get("operate/connection"), oldest.Connection)
	})
	if err == nil { // else it is gone, or not shown: it counts without its account
		oldest.Account = user + "@" + host
	}
	return &oldest, nil
}
