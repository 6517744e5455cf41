package main

import (
	"context"
	"fmt"
	"strings"
	"time"

	"github.com/jmoiron/sqlx"
	"golang.org/x/sync/errgroup"
)

var floorSection = section{
	name:     "floor",
	noBinlog: true,
	about:    "what the server itself needs to end rows: one INSERT..SELECT and one DELETE a transaction, at 1, 2 and 4 connections",
	run: func(ctx context.Context, b *bench, s *server) error {
		return b.onStage(ctx, s, "floor", floors())
	},
}

// floors are the contestants that are SQL only.
func floors() (list []contestant) {
	for _, n := range []int{1, 2, 4} {
		list = append(list, contestant{name: floorName(n), ends: all, do: func(ctx context.Context, st *stage) error { return floor(ctx, st, n) }})
	}
	return list
}

func floorName(connections int) string {
	return fmt.Sprintf("SQL only, %d connection%s", connections, map[bool]string{true: "s"}[connections > 1])
}

// onStage lets contestants compete for 200 thousand due rows among a million pending.
func (b *bench) onStage(ctx context.Context, s *server, name string, list []contestant) error {
	st, err := b.makeStage(ctx, s, name, b.scaled(200_000), b.scaled(1_000_000))
	if err != nil {
		return err
	}
	if !b.keep {
		defer st.drop(ctx)
	}
	return b.compete(ctx, st, list)
}

const floorInsert = `INSERT INTO job_history (entity_name, entity_key, job_exec, tag, due_at, job_key, first_check_at, next_check_at,
  check_count, error_count, put_off_count, last_error, total_ms, payload, revision, inserted_at,
  slot, outcome, error, started_at, ended_at, run_ms, lateness_ms, worker)
SELECT entity_name, entity_key, job_exec, tag, due_at, job_key, first_check_at, next_check_at,
  check_count, error_count, put_off_count, last_error, total_ms, payload, revision, inserted_at,
  next_check_at, 'done', NULL, UTC_TIMESTAMP(6), UTC_TIMESTAMP(6), 0, 0, 'floor'
FROM future_job WHERE next_check_at = ? AND job_key >= ? AND job_key <= ?`

const floorDelete = "DELETE FROM future_job WHERE next_check_at = ? AND job_key >= ? AND job_key <= ?"

// floor ends the rows of a slot, divided by ranges of their key among connections.
func floor(ctx context.Context, st *stage, connections int) error {
	group, ctx := errgroup.WithContext(ctx)
	for i := range connections {
		first := append([]byte{byte(256 * i / connections)}, make([]byte, 15)...)
		last := append([]byte{byte(256*(i+1)/connections - 1)}, []byte(strings.Repeat("\xff", 15))...)
		group.Go(func() error {
			return readCommitted(ctx, st.db, func(tx *sqlx.Tx) error {
				slot := st.slot.Format(time.DateTime)
				for _, query := range []string{floorInsert, floorDelete} {
					if _, err := tx.ExecContext(ctx, query, slot, first, last); err != nil {
						return err
					}
				}
				return nil
			})
		})
	}
	return group.Wait()
}
