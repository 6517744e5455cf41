package main

import (
	"context"
	"database/sql"
	"errors"
	"fmt"

	"github.com/jmoiron/sqlx"
)

var queueSection = section{
	name:  "queue",
	about: "a queue table as it is usually made, claimed row by row with SKIP LOCKED on the same server, beside a slot run: alone, and with a million more pending",
	run:   aloneAndAmong(20_000, (*bench).queue),
}

// queue lets a queue table and prescient compete at one number of pending jobs.
func (b *bench) queue(ctx context.Context, s *server, due, pending int) error {
	st, err := b.makeStage(ctx, s, "queue", due, pending)
	if err != nil {
		return err
	}
	if !b.keep {
		defer st.drop(ctx)
	}
	suffix := ""
	if pending > 0 {
		suffix = amongPending
	}
	for _, query := range []string{queueTable,
		fmt.Sprintf("INSERT INTO bench_queue (state, run_at, entity) SELECT 0, UTC_TIMESTAMP() + INTERVAL 1 + n MOD 28 DAY, n FROM bench_n WHERE n < %d", pending)} {
		if _, err := st.exec(ctx, query); err != nil {
			return err
		}
	}
	if err := st.analyze(ctx, "bench_queue"); err != nil {
		return err
	}
	st.also = []string{"DELETE FROM bench_queue WHERE run_at <= UTC_TIMESTAMP()", // those of turns that leave them alone, too
		fmt.Sprintf("INSERT INTO bench_queue (state, run_at, entity) SELECT 0, UTC_TIMESTAMP(), n FROM bench_n WHERE n < %d", due)}
	for round := 1; round <= b.rounds; round++ {
		for _, connections := range []int{1, 8} {
			if err := st.set(ctx); err != nil {
				return err
			}
			if _, err := b.took(floorQueueName(connections)+suffix, round, []int{st.pid}, func() (int, error) { return st.due, st.drainQueue(ctx, connections) }); err != nil {
				return err
			}
			var finished, left int
			if err := st.app.QueryRowContext(ctx, "SELECT COALESCE(SUM(state = 2), 0), COALESCE(SUM(state < 2), 0) FROM bench_queue WHERE run_at <= UTC_TIMESTAMP()").
				Scan(&finished, &left); err != nil {
				return err
			}
			if finished != st.due || left > 0 {
				return fmt.Errorf("%d in the queue are finished, and %d left; want %d", finished, left, st.due)
			}
		}
		if err := b.slotRuns(ctx, st, round, suffix); err != nil {
			return err
		}
	}
	return nil
}

// slotRuns are prescient's turns beside a peer, and that of what the server itself needs for the same.
func (b *bench) slotRuns(ctx context.Context, st *stage, round int, suffix string) error {
	for _, c := range []contestant{slotRunOf("prescient, ends", "one"), slotRunOf("prescient, ends, batch handler", "batch"), floors()[0], floorOfCommits()} {
		if err := st.set(ctx); err != nil {
			return err
		}
		if _, err := b.took(c.name+suffix, round, []int{st.pid}, func() (int, error) { return st.due, c.do(ctx, st) }); err != nil {
			return err
		}
		if err := st.ended(ctx, st.due, 0); err != nil {
			return err
		}
	}
	return nil
}

func floorQueueName(connections int) string {
	if connections == 1 {
		return "SKIP LOCKED queue, 1 connection"
	}
	return "SKIP LOCKED queue, 8 connections"
}

const queueTable = `CREATE TABLE bench_queue (id BIGINT NOT NULL AUTO_INCREMENT PRIMARY KEY, state TINYINT NOT NULL, run_at DATETIME NOT NULL,
  entity VARCHAR(128) NOT NULL, payload JSON NULL, started_at DATETIME(6) NULL, finished_at DATETIME(6) NULL, KEY due (state, run_at))`

// drainQueue claims a row, runs nothing, and finishes it, until none is due.
func (st *stage) drainQueue(ctx context.Context, connections int) error {
	return inParallel(ctx, connections, connections, func(ctx context.Context, _ int) error {
		for {
			var id int64
			err := readCommitted(ctx, st.db, func(tx *sqlx.Tx) error {
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
			if _, err := st.db.ExecContext(ctx, "UPDATE bench_queue SET state = 2, finished_at = UTC_TIMESTAMP(6) WHERE id = ?", id); err != nil {
				return err
			}
		}
	})
}
