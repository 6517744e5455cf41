package peers

import (
	"bytes"
	"context"
	"encoding/binary"
	"time"

	"github.com/jmoiron/sqlx"

	"prescient/scripts/bench/internal/page"
	"prescient/scripts/bench/internal/rig"
)

// Floors are the contestants that are SQL only.
func Floors() (list []rig.Contestant) {
	for _, n := range []int{1, 2, 4} {
		list = append(list, rig.Contestant{Name: page.FloorName(n), Ends: rig.All, Do: func(ctx context.Context, st *rig.Stage) error { return floor(ctx, st, n, n) }})
	}
	return append(list, FloorOfCommits())
}

// FloorOfCommits is the floor at two connections in commits as large as those of a slot run: what is deleted is purged then
// while the rest is still to do, and others wait for no more rows than these at a time.
func FloorOfCommits() rig.Contestant {
	return rig.Contestant{Name: page.FloorCommitsName, Ends: rig.All, Do: func(ctx context.Context, st *rig.Stage) error {
		return floor(ctx, st, 2, max(st.Due/page.CommitRows, 2))
	}}
}

// floor ends the rows of a slot on several connections. Their keys, which are hashes, are divided into ranges of equal size,
// each a transaction.
func floor(ctx context.Context, st *rig.Stage, connections, ranges int) error {
	return rig.InParallel(ctx, connections, ranges, func(ctx context.Context, i int) error { return EndRange(ctx, st.DB, st.Slot, i, ranges) })
}

// EndRange ends the rows of a slot whose keys are in one of so many ranges, in a transaction.
func EndRange(ctx context.Context, db *sqlx.DB, slot time.Time, i, ranges int) error {
	first, last := keyRange(i, ranges)
	return rig.ReadCommitted(ctx, db, func(tx *sqlx.Tx) error {
		for _, query := range []string{FloorInsert, FloorDelete} {
			if _, err := tx.ExecContext(ctx, query, slot.Format(time.DateTime), first, last); err != nil {
				return err
			}
		}
		return nil
	})
}

// keyRange is the first and the last key of one of so many ranges.
func keyRange(i, ranges int) (first, last []byte) {
	start := func(i int) uint32 { return uint32(uint64(i) << 32 / uint64(ranges)) }
	first = append(binary.BigEndian.AppendUint32(nil, start(i)), make([]byte, 12)...)
	last = append(binary.BigEndian.AppendUint32(nil, start(i+1)-1), bytes.Repeat([]byte{0xff}, 12)...)
	return first, last
}

// FloorInsert and FloorDelete end the rows of a slot whose keys are in a range.
const FloorInsert = `INSERT INTO job_history (entity_name, entity_key, job_exec, tag, due_at, job_key, first_check_at, next_check_at,
  check_count, error_count, put_off_count, last_error, total_ms, payload, revision, inserted_at,
  slot, outcome, error, started_at, ended_at, run_ms, lateness_ms, worker, expires_at)
SELECT entity_name, entity_key, job_exec, tag, due_at, job_key, first_check_at, next_check_at,
  check_count, error_count, put_off_count, last_error, total_ms, payload, revision, inserted_at,
  next_check_at, 'done', NULL, UTC_TIMESTAMP(6), UTC_TIMESTAMP(6), 0, 0, 'floor', expires_at
FROM future_job WHERE next_check_at = ? AND job_key >= ? AND job_key <= ?`

const FloorDelete = "DELETE FROM future_job WHERE next_check_at = ? AND job_key >= ? AND job_key <= ?"
