package duty

import (
	"context"
	"database/sql"
	"errors"
	"fmt"

	"prescient/prescient"
	"prescient/prescient/internal/store"
)

// Holder is the worker that has a duty; empty where none has.
func Holder(ctx context.Context, db prescient.DB, tables *store.Tables, name string) (worker string, err error) {
	var free bool
	err = store.QueryRow(ctx, db, []any{&worker, &free}, tables.Stmt.Get("duty/holder"), name)
	switch {
	case errors.Is(err, sql.ErrNoRows) || err == nil && free:
		return "", nil
	case err != nil:
		return "", fmt.Errorf("looking for who has the duty %s: %w", name, err)
	}
	return worker, nil
}

// Recall takes a duty from the worker that has it, which sees that by its token; it is empty where none had. Whoever looks first takes it then.
func Recall(ctx context.Context, db prescient.DB, tables *store.Tables, name string) (worker string, err error) {
	if worker, err = Holder(ctx, db, tables, name); worker == "" || err != nil {
		return "", err
	}
	n, err := store.Affected(ctx, db, tables.Stmt.Get("duty/recall"), name)
	if err != nil {
		return "", fmt.Errorf("taking the duty %s from %s: %w", name, worker, err)
	}
	if n == 0 {
		return "", nil
	}
	return worker, nil
}
