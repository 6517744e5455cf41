package shards

import (
	"context"
	"database/sql"
	"errors"
	"fmt"
	"slices"

	"github.com/jmoiron/sqlx"

	"prescient/prescient/internal/errno"
	"prescient/prescient/internal/store"
	text "prescient/sql"
)

// Waiting lists the shards of the keyspace that a pool is on, untargeted, which have a server and are not served: those that are to come in the place
// of others. Vtgate knows a server that was added a minute later at the latest.
func Waiting(ctx context.Context, db *sqlx.DB) ([]string, error) {
	served, err := List(ctx, db)
	if err != nil {
		return nil, err
	}
	statements, err := text.Load("")
	if err != nil {
		return nil, err
	}
	keyspace, err := store.Keyspace(ctx, db)
	if err != nil {
		return nil, err
	}
	rows, err := db.QueryContext(ctx, statements.Get("operate/tablets"))
	if err != nil {
		return nil, fmt.Errorf("asking for the tablets of %s: %w", keyspace, err)
	}
	defer rows.Close()
	var list []string
	for rows.Next() {
		var cell, of, shard, kind, state, alias, host string
		var since sql.NullString // when it became a primary
		if err := rows.Scan(&cell, &of, &shard, &kind, &state, &alias, &host, &since); err != nil {
			return nil, fmt.Errorf("reading the tablets of %s: %w", keyspace, err)
		}
		if of == keyspace && kind == "PRIMARY" && state == "SERVING" && !slices.Contains(served, shard) && !slices.Contains(list, shard) {
			list = append(list, shard)
		}
	}
	if err := rows.Err(); err != nil {
		return nil, fmt.Errorf("reading the tablets of %s: %w", keyspace, err)
	}
	slices.SortFunc(list, byRange)
	return list, nil
}

// Prepared says whether a shard that a pool is targeted at has what all shards have alike: a reshard makes the tables, and leaves these ones empty.
// The error wraps ErrNoTables where there are none.
func Prepared(ctx context.Context, db *sqlx.DB, prefix string) (bool, error) {
	statements, err := text.Load(prefix)
	if err != nil {
		return false, err
	}
	var version int
	err = store.QueryRow(ctx, db, []any{&version}, statements.Get("shard/prepared"))
	switch {
	case errno.Is(err, errno.NoSuchTable):
		return false, ErrNoTables
	case errors.Is(err, sql.ErrNoRows):
		return false, nil
	}
	return err == nil, err
}
