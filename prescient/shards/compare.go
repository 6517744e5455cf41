package shards

import (
	"context"
	"database/sql/driver"
	"fmt"
	"strings"

	"github.com/jmoiron/sqlx"

	"prescient/prescient/internal/errno"
	"prescient/prescient/internal/store"
	text "prescient/sql"
)

// Compared is how the VSchema of a keyspace differs from VSchema.
type Compared struct {
	Keyspace string
	// Looked is false on a shard that is not the first: all have the same VSchema, which is looked at once.
	Looked bool
	// Differences each name tables, without a capital and a period; none where all is well, or the keyspace is not sharded.
	Differences []string
}

// Compare asks vtgate for the VSchema of the keyspace that a pool is on, and compares it with VSchema. The pool may be targeted at a shard. That a
// reference table is one is told by that it has no vindex.
func Compare(ctx context.Context, db *sqlx.DB, prefix string) (c Compared, err error) {
	statements, err := text.Load("")
	if err != nil {
		return c, err
	}
	conn, err := db.Connx(ctx)
	if err != nil {
		return c, fmt.Errorf("asking for the VSchema: %w", err)
	}
	defer conn.Close()
	var target string
	if err := store.QueryRow(ctx, conn, []any{&target}, "SELECT COALESCE(DATABASE(), '')"); err != nil {
		return c, fmt.Errorf("asking for the keyspace: %w", err)
	}
	shard := ""
	if c.Keyspace, shard = store.Target(target); !first(shard) {
		return c, nil
	}
	defer func() { _ = conn.Raw(func(any) error { return driver.ErrBadConn }) }() // it is at another target by then
	// A session that is targeted at a shard passes everything on to its MySQL, which knows nothing of it.
	if _, err := conn.ExecContext(ctx, "USE "+quoted(c.Keyspace)); err != nil {
		return c, fmt.Errorf("asking keyspace %s for its VSchema: %w", c.Keyspace, err)
	}
	sharded, broken, err := ofKeyspace(ctx, conn, statements, c.Keyspace)
	if err == nil && sharded {
		var has map[string]route
		has, err = routesOf(ctx, conn, statements, c.Keyspace, prefix)
		c.Differences = differences(prefix, has)
	}
	if c.Looked = err == nil; broken != "" {
		c.Differences = append(c.Differences, "vtgate finds: "+broken)
	}
	return c, err
}

// ofKeyspace asks whether a keyspace is sharded, and what vtgate finds wrong with its VSchema.
func ofKeyspace(ctx context.Context, conn *sqlx.Conn, statements text.Statements, name string) (sharded bool, broken string, err error) {
	var all []struct {
		Keyspace    string `db:"Keyspace"`
		Sharded     bool   `db:"Sharded"`
		ForeignKeys string `db:"Foreign Key"`
		Comment     string `db:"Comment"`
	}
	if err := conn.SelectContext(ctx, &all, statements.Get("operate/keyspaces")); err != nil {
		return false, "", fmt.Errorf("asking for the keyspaces: %w", err)
	}
	for _, one := range all {
		if one.Keyspace == name {
			return one.Sharded, one.Comment, nil
		}
	}
	return false, "", fmt.Errorf("vtgate knows no keyspace %s", name)
}

// routesOf asks where the tables of prescient lie that the VSchema has.
func routesOf(ctx context.Context, conn *sqlx.Conn, statements text.Statements, keyspace, prefix string) (map[string]route, error) {
	has := make(map[string]route)
	for _, table := range tables() {
		name := prefix + table
		var by []struct {
			route
			Name   string `db:"Name"`
			Params string `db:"Params"`
			Owner  string `db:"Owner"`
		}
		query := strings.NewReplacer("{keyspace}", quoted(keyspace), "{table}", quoted(name)).Replace(statements.Get("operate/vindexes"))
		switch err := conn.SelectContext(ctx, &by, query); {
		case errno.Is(err, errno.NoSuchTable):
		case err != nil:
			return nil, fmt.Errorf("asking where %s lies: %w", name, err)
		case len(by) == 0:
			has[name] = route{}
		default:
			has[name] = by[0].route
		}
	}
	return has, nil
}

// first says whether a shard is that from which the keyspace ids begin, or none, which is all of them.
func first(shard string) bool { return strings.HasPrefix(shard, "-") || !strings.Contains(shard, "-") }

func quoted(name string) string { return "`" + strings.ReplaceAll(name, "`", "``") + "`" }
