package sql

import (
	"context"
	"database/sql"
	"fmt"
	"strings"
)

// Server is what a server is, by what it says of itself: its error numbers, its locks and its rights go by that. Which
// statements it is sent goes by the [Dialect].
type Server string

// The servers that differ in more than their dialect.
const (
	MySQL   Server = "" // and whatever says nothing else of itself
	MariaDB Server = "mariadb"
	TiDB    Server = "tidb"
	Vitess  Server = "vitess" // and PlanetScale, which is one
	// VitessShard is a Vitess in a session that is targeted at a shard. Statements come to its MySQL nearly as they are, but for those that make a
	// procedure, and named locks.
	VitessShard Server = "vitess-shard"
)

// Placed says whether rows are written with where they lie, in the columns place: a keyspace of Vitess may be sharded.
func (s Server) Placed() bool { return s == Vitess || s == VitessShard }

// Querier is what *sql.DB, *sql.Conn and *sqlx.DB have in common.
type Querier interface {
	QueryContext(ctx context.Context, query string, args ...any) (*sql.Rows, error)
}

// ServerOf asks a server what it is.
func ServerOf(ctx context.Context, db Querier) (Server, error) {
	// Not VERSION(), which a shard of Vitess answers for its MySQL. DATABASE() is the target there.
	rows, err := db.QueryContext(ctx, "SELECT @@version, COALESCE(DATABASE(), '')")
	if err != nil {
		return MySQL, fmt.Errorf("asking the server for its version: %w", err)
	}
	defer rows.Close()
	var version, database string
	if rows.Next() {
		if err := rows.Scan(&version, &database); err != nil {
			return MySQL, fmt.Errorf("asking the server for its version: %w", err)
		}
	}
	if err := rows.Err(); err != nil {
		return MySQL, fmt.Errorf("asking the server for its version: %w", err)
	}
	return serverBy(version, database), nil
}

// serverBy reads what @@version says, such as 11.8.3-MariaDB, 8.0.11-TiDB-v8.4.0 or 8.0.30-Vitess, and the database: on Vitess shop@replica is a
// keyspace, and shop:-80, shop/-80 or shop[-80] a part of one.
func serverBy(version, database string) Server {
	version = strings.ToLower(version)
	switch {
	case strings.Contains(version, "tidb"):
		return TiDB
	case strings.Contains(version, "vitess"), strings.Contains(version, "planetscale"):
		if strings.ContainsAny(database, ":/[") {
			return VitessShard
		}
		return Vitess
	case strings.Contains(version, "mariadb"):
		return MariaDB
	}
	return MySQL
}
