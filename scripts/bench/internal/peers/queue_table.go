package peers

import (
	"context"
	"database/sql"
	"errors"

	"github.com/jmoiron/sqlx"

	"prescient/scripts/bench/internal/rig"
)

// QueueTable makes the queue.
const QueueTable = `CREATE TABLE bench_queue (id BIGINT NOT NULL AUTO_INCREMENT PRIMARY KEY, state TINYINT NOT NULL, run_at DATETIME NOT NULL,
  entity VARCHAR(128) NOT NULL, payload JSON NULL, started_at DATETIME(6) NULL, finished_at DATETIME(6) NULL, KEY due (state, run_at))`

// DrainQueue claims a row, runs nothing, and finishes it, until none is due.
func DrainQueue(ctx context.Context, st *rig.Stage, connections int) error {
	return rig.InParallel(ctx, connections, connections, func(ctx context.Context, _ int) error {
		for {
			var id int64
			err := rig.ReadCommitted(ctx, st.DB, func(tx *sqlx.Tx) error {
				if err := tx.QueryRowContext(ctx, `SELECT id FROM bench_queue WHERE state = 0 AND run_at <= UTC_TIMESTAMP()
					ORDER BY run_at LIMIT 1 FOR UPDATE SKIP LOCKED`).Scan(&id); err != nil {
					return err
				}
				_, err := tx.ExecContext(ctx, "UPDATE bench_queue SET state = 1, started_at = UTC_TIMESTAMP(6) WHERE id = ?", id)
				return err
			})
			if errors.Is(err, sql.ErrNoRows) {
				return nil
			}
			if err != nil {
				return err
			}
			if _, err := st.DB.ExecContext(ctx, "UPDATE bench_queue SET state = 2, finished_at = UTC_TIMESTAMP(6) WHERE id = ?", id); err != nil {
				return err
			}
		}
	})
}
