package peers

import (
	"context"
	"database/sql"
	"errors"
	"fmt"

	"github.com/jmoiron/sqlx"

	"prescient/scripts/bench/internal/page"
	"prescient/scripts/bench/internal/rig"
)

// QueueTable makes the queue.
const QueueTable = `CREATE TABLE bench_queue (id BIGINT NOT NULL AUTO_INCREMENT PRIMARY KEY, state TINYINT NOT NULL, run_at DATETIME NOT NULL,
  entity VARCHAR(128) NOT NULL, payload JSON NULL, started_at DATETIME(6) NULL, finished_at DATETIME(6) NULL, KEY due (state, run_at))`

// Queues are the contestants that claim rows with SKIP LOCKED: row by row on one and on 8 connections, and many in a transaction.
func Queues() (list []rig.Contestant) {
	for _, connections := range []int{1, queueConnections} {
		list = append(list, rig.Contestant{Name: page.FloorQueueName(connections), Do: func(ctx context.Context, st *rig.Stage) error {
			return drainQueue(ctx, st, connections, oneOfQueue)
		}})
	}
	for _, rows := range page.QueueRows {
		list = append(list, rig.Contestant{Name: page.QueueBatchName(rows), Do: func(ctx context.Context, st *rig.Stage) error {
			return drainQueue(ctx, st, queueConnections, func(ctx context.Context, st *rig.Stage) (bool, error) { return someOfQueue(ctx, st, rows) })
		}})
	}
	return list
}

const queueConnections = 8

// drainQueue does rows until none is due.
func drainQueue(ctx context.Context, st *rig.Stage, connections int, do func(context.Context, *rig.Stage) (more bool, err error)) error {
	return rig.InParallel(ctx, connections, connections, func(ctx context.Context, _ int) error {
		for more := true; more; {
			var err error
			if more, err = do(ctx, st); err != nil {
				return err
			}
		}
		return nil
	})
}

// oneOfQueue claims a row, runs nothing, and finishes it.
func oneOfQueue(ctx context.Context, st *rig.Stage) (more bool, err error) {
	var id int64
	err = rig.ReadCommitted(ctx, st.DB, func(tx *sqlx.Tx) error {
		if err := tx.QueryRowContext(ctx, `SELECT id FROM bench_queue WHERE state = 0 AND run_at <= UTC_TIMESTAMP()
			ORDER BY run_at LIMIT 1 FOR UPDATE SKIP LOCKED`).Scan(&id); err != nil {
			return err
		}
		_, err := tx.ExecContext(ctx, "UPDATE bench_queue SET state = 1, started_at = UTC_TIMESTAMP(6) WHERE id = ?", id)
		return err
	})
	if errors.Is(err, sql.ErrNoRows) {
		return false, nil
	}
	if err != nil {
		return false, err
	}
	_, err = st.DB.ExecContext(ctx, "UPDATE bench_queue SET state = 2, finished_at = UTC_TIMESTAMP(6) WHERE id = ?", id)
	return true, err
}

// someOfQueue claims rows, runs nothing, and finishes them in the same transaction: the best that a team would write.
func someOfQueue(ctx context.Context, st *rig.Stage, rows int) (more bool, err error) {
	var ids []int64
	err = rig.ReadCommitted(ctx, st.DB, func(tx *sqlx.Tx) error {
		var jobs []struct {
			ID      int64   `db:"id"`
			Entity  string  `db:"entity"`
			Payload *[]byte `db:"payload"`
		}
		if err := tx.SelectContext(ctx, &jobs, fmt.Sprintf(`SELECT id, entity, payload FROM bench_queue WHERE state = 0 AND run_at <= UTC_TIMESTAMP()
			ORDER BY run_at LIMIT %d FOR UPDATE SKIP LOCKED`, rows)); err != nil || len(jobs) == 0 {
			return err
		}
		for _, job := range jobs {
			ids = append(ids, job.ID)
		}
		query, args, err := sqlx.In("UPDATE bench_queue SET state = 2, started_at = UTC_TIMESTAMP(6), finished_at = UTC_TIMESTAMP(6) WHERE id IN (?)", ids)
		if err != nil {
			return err
		}
		_, err = tx.ExecContext(ctx, query, args...)
		return err
	})
	return len(ids) > 0, err
}
