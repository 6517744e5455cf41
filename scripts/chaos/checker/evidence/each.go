package evidence

import (
	"context"
	"database/sql"
	"fmt"
)

// each reads rows one by one.
func each(ctx context.Context, db *sql.DB, query string, do func(*sql.Rows) error) error {
	rows, err := db.QueryContext(ctx, query)
	if err != nil {
		return fmt.Errorf("reading the tables: %w", err)
	}
	defer rows.Close()
	for rows.Next() {
		if err := do(rows); err != nil {
			return fmt.Errorf("reading the tables: %w", err)
		}
	}
	if err := rows.Err(); err != nil {
		return fmt.Errorf("reading the tables: %w", err)
	}
	return nil
}
