package shards

import (
	"context"
	"fmt"
	"slices"
	"strings"

	"github.com/jmoiron/sqlx"

	"prescient/prescient/internal/store"
	text "prescient/sql"
)

// Untargeted says whether statements of a pool go to whichever shards of a keyspace have their rows.
func Untargeted(ctx context.Context, db *sqlx.DB) (bool, error) {
	server, err := text.ServerOf(ctx, db)
	return err == nil && server == text.Vitess, err
}

// List asks for the shards of the keyspace that a pool is on, untargeted: those that take writes, from the first keyspace ids to the last.
func List(ctx context.Context, db *sqlx.DB) ([]string, error) {
	statements, err := text.Load("")
	if err != nil {
		return nil, err
	}
	keyspace, err := store.Keyspace(ctx, db)
	if err != nil {
		return nil, err
	}
	var all []string
	if err := db.SelectContext(ctx, &all, statements.Get("operate/shards")); err != nil {
		return nil, fmt.Errorf("asking for the shards of %s: %w", keyspace, err)
	}
	list := of(keyspace, all)
	if len(list) == 0 {
		return nil, fmt.Errorf("keyspace %s has no shard", keyspace)
	}
	return list, nil
}

// of are the shards of a keyspace out of those of all, in their order.
func of(keyspace string, all []string) []string {
	list := store.ShardsOf(keyspace, all)
	slices.SortFunc(list, byRange)
	return list
}

// byRange orders shards by where their range begins: -40, 40-80, 80-.
func byRange(a, b string) int {
	from, _, _ := strings.Cut(a, "-")
	other, _, _ := strings.Cut(b, "-")
	if from == other {
		return strings.Compare(a, b)
	}
	return strings.Compare(from, other)
}
