package sql

import (
	"context"
	"database/sql"
	"embed"
	"fmt"
	"io/fs"
	"strings"
)

// Server says whose SQL is spoken where the servers differ by more than all statements can bear.
type Server string

const (
	Common  Server = ""        // MySQL, and what all of them understand
	MariaDB Server = "mariadb" // slotrun/history_locked besides
	TiDB    Server = "tidb"    // the files in sql/tidb take the place of those of the same name
)

//go:embed tidb/migrations/*.sql tidb/slotrun/*.sql
var tidbFiles embed.FS

// ServerOf asks a server what it is.
func ServerOf(ctx context.Context, db interface {
	QueryContext(ctx context.Context, query string, args ...any) (*sql.Rows, error)
}) (Server, error) {
	rows, err := db.QueryContext(ctx, "SELECT VERSION()")
	if err != nil {
		return Common, fmt.Errorf("asking the server for its version: %w", err)
	}
	defer rows.Close()
	var version string
	if rows.Next() {
		if err := rows.Scan(&version); err != nil {
			return Common, fmt.Errorf("asking the server for its version: %w", err)
		}
	}
	if err := rows.Err(); err != nil {
		return Common, fmt.Errorf("asking the server for its version: %w", err)
	}
	switch {
	case strings.Contains(version, "TiDB"):
		return TiDB, nil
	case strings.Contains(version, "MariaDB"):
		return MariaDB, nil
	}
	return Common, nil
}

// read returns a file, or what the server has in its place.
func (s Server) read(files fs.FS, path string) ([]byte, error) {
	if s == TiDB {
		if text, err := tidbFiles.ReadFile("tidb/" + path); err == nil {
			return text, nil
		}
	}
	return fs.ReadFile(files, path)
}
