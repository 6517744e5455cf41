package forward

import "github.com/jmoiron/sqlx"

// OnPool has a forwarder work on another pool.
func (f *Forwarder) OnPool(db *sqlx.DB) { f.db = db }
