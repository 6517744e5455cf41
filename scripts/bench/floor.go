package main

import (
	"bytes"
	"context"
	"encoding/binary"
	"fmt"
	"time"

	"github.com/jmoiron/sqlx"

	"prescient/prescient/worker"
)

var floorSection = section{
	name:     "floor",
	noBinlog: true,
	about:    "what the server itself needs to end rows: one INSERT..SELECT and one DELETE, in one transaction on each of 1, 2 and 4 connections, and in many",
	run: func(ctx context.Context, b *bench, s *server) error {
		return b.onStage(ctx, s, "floor", floors())
	},
}

// floors are the contestants that are SQL only.
func floors() (list []contestant) {
	for _, n := range []int{1, 2, 4} {
		list = append(list, contestant{name: floorName(n), ends: all, do: func(ctx context.Context, st *stage) error { return floor(ctx, st, n, n) }})
	}
	return append(list, floorOfCommits())
}

// floorOfCommits is the floor at two connections in commits as large as those of a slot run: what is deleted is purged then
// while the rest is still to do, and others wait for no more rows than these at a time.
func floorOfCommits() contestant {
	return contestant{name: floorCommitsName, ends: all, do: func(ctx context.Context, st *stage) error {
		return floor(ctx, st, 2, max(st.due/commitRows, 2))
	}}
}

// commitRows is how many rows a slot run commits together by default.
const commitRows = worker.DefaultBatch / 2

var floorCommitsName = fmt.Sprintf("%s, commits of %d rows", floorName(2), commitRows)

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

// floor ends the rows of a slot on several connections. Their keys, which are hashes, are divided into ranges of equal size,
// each a transaction.
func floor(ctx context.Context, st *stage, connections, ranges int) error {
	slot := st.slot.Format(time.DateTime)
	return inParallel(ctx, connections, ranges, func(ctx context.Context, i int) error {
		first, last := keyRange(i, ranges)
		return readCommitted(ctx, st.db, func(tx *sqlx.Tx) error {
			for _, query := range []string{floorInsert, floorDelete} {
				if _, err := tx.ExecContext(ctx, query, slot, first, last); err != nil {
					return err
				}
			}
			return nil
		})
	})
}

// keyRange is the first and the last key of one of so many ranges.
func keyRange(i, ranges int) (first, last []byte) {
	start := func(i int) uint32 { return uint32(uint64(i) << 32 / uint64(ranges)) }
	first = append(binary.BigEndian.AppendUint32(nil, start(i)), make([]byte, 12)...)
	last = append(binary.BigEndian.AppendUint32(nil, start(i+1)-1), bytes.Repeat([]byte{0xff}, 12)...)
	return first, last
}
