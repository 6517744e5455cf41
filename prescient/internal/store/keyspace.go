package store

import (
	"context"
	"fmt"
	"strings"

	"prescient/prescient"
	"prescient/prescient/internal/literal"
	"prescient/prescient/internal/reserved"
	text "prescient/sql"
)

// OnOneShard refuses to change what each shard of Vitess has for itself by a session whose statements go to any of several: Vitess would change it on
// one, and say that it is done.
func (t *Tables) OnOneShard(ctx context.Context, db prescient.DB, what string) error {
	if t.Server != text.Vitess {
		return nil
	}
	keyspace, err := Keyspace(ctx, db)
	if err != nil {
		return err
	}
	all, err := Rows(ctx, db, "asking for the shards", t.Stmt.Get("operate/shards"), func(name *string) []any { return []any{name} })
	if err != nil {
		return err
	}
	if shards := len(ShardsOf(keyspace, all)); shards > 1 {
		return fmt.Errorf("%w: each of %d shards of Vitess has its own %s; the DSN is to name one, as in /shop:-80", prescient.ErrInvalid, shards, what)
	}
	return nil
}

// Keyspace asks for the keyspace that a session is on.
func Keyspace(ctx context.Context, db prescient.DB) (keyspace string, err error) {
	if err := QueryRow(ctx, db, []any{&keyspace}, "SELECT COALESCE(DATABASE(), '')"); err != nil {
		return "", fmt.Errorf("asking for the keyspace: %w", err)
	}
	keyspace, _ = Target(keyspace)
	return keyspace, nil
}

// ShardsOf are the shards of a keyspace out of those of all, such as shop/-80.
func ShardsOf(keyspace string, all []string) (list []string) {
	keyspace, _, _ = strings.Cut(keyspace, "@")
	for _, name := range all {
		if shard, its := strings.CutPrefix(name, keyspace+"/"); its {
			list = append(list, shard)
		}
	}
	return list
}

// Places are those of schedules, by their ids, for IN (…), where the server is to be told: Vitess asks these shards alone.
func (t *Tables) Places(ids ...string) string {
	if !t.Server.Placed() {
		return ""
	}
	return literal.List(func(b []byte, id string) []byte { return literal.AppendPlace(b, reserved.PlaceOf(id)) }, ids)
}

// AppendPlace appends the place of a schedule, as the last column of a row, where the server is to be told.
func (t *Tables) AppendPlace(b []byte, id string) []byte {
	if !t.Server.Placed() {
		return b
	}
	return literal.AppendPlace(append(b, ','), reserved.PlaceOf(id))
}
