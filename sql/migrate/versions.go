package migrate

import (
	"context"
	"fmt"

	"github.com/pressly/goose/v3/database"
)

// versions is goose's store of the migrations that are applied, but for its look whether the table is there: it asks for tables of DATABASE(), which
// on a shard of Vitess is the target of the session, and no database.
type versions struct{ database.Store }

// TableExists implements database.StoreExtender.
func (v versions) TableExists(ctx context.Context, db database.DBTxConn) (bool, error) {
	rows, err := db.QueryContext(ctx, "SELECT 1 FROM "+v.Tablename()+" LIMIT 1")
	if noSuchTable(err) {
		return false, nil
	}
	if err != nil {
		return false, fmt.Errorf("looking for %s: %w", v.Tablename(), err)
	}
	defer rows.Close()
	for rows.Next() {
	}
	return true, rows.Err()
}
