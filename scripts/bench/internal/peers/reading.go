package peers

import (
	"context"
	"database/sql"
	"fmt"
	"time"

	"github.com/jmoiron/sqlx"

	"prescient/scripts/bench/internal/page"
	"prescient/scripts/bench/internal/rig"
)

// readers is on how many connections rows are read and ended.
const readers = 4

// Readers are the contestants that do the least that calls leave over: each row is read, nothing is called, and what was read is ended by its range
// of keys, so many rows in a transaction. They lose rows when they die, and overwrite what an app changes meanwhile.
func Readers() (list []rig.Contestant) {
	for _, rows := range page.ReadingRows {
		list = append(list, rig.Contestant{Name: page.ReadingName(rows), Ends: rig.All, Do: func(ctx context.Context, st *rig.Stage) error {
			return rig.InParallel(ctx, readers, readers, func(ctx context.Context, i int) error {
				first, last := keyRange(i, readers)
				return readAndEnd(ctx, st, first, last, rows)
			})
		}})
	}
	return list
}

// readAndEnd does the rows of a slot whose keys are in a range.
func readAndEnd(ctx context.Context, st *rig.Stage, first, last []byte, rows int) error {
	slot := st.Slot.Format(time.DateTime)
	for {
		n, until, err := read(ctx, st.DB, slot, first, last, rows)
		if err != nil || n == 0 {
			return err
		}
		err = rig.ReadCommitted(ctx, st.DB, func(tx *sqlx.Tx) error {
			for _, query := range []string{FloorInsert, FloorDelete} {
				result, err := tx.ExecContext(ctx, query, slot, first, until)
				if err != nil {
					return err
				}
				if ended, err := result.RowsAffected(); err != nil {
					return err
				} else if int(ended) != n {
					return fmt.Errorf("%d rows were read and %d ended", n, ended)
				}
			}
			return nil
		})
		if err != nil || n < rows {
			return err
		}
		first = until // which is gone
	}
}

// read takes the next rows, as a program needs them that calls something for each, and returns how many there were, and the last key.
func read(ctx context.Context, db *sqlx.DB, slot string, first, last []byte, rows int) (n int, until []byte, err error) {
	list, err := db.QueryContext(ctx, `SELECT job_key, entity_name, entity_key, job_exec, tag, due_at, first_check_at, check_count, error_count, put_off_count,
		last_error, total_ms, payload, revision, inserted_at, expires_at
		FROM future_job FORCE INDEX (PRIMARY) WHERE next_check_at = ? AND job_key >= ? AND job_key <= ? ORDER BY job_key LIMIT ?`, slot, first, last, rows)
	if err != nil {
		return 0, nil, err
	}
	defer list.Close()
	columns := make([]sql.RawBytes, 16)
	into := make([]any, len(columns))
	for i := range columns {
		into[i] = &columns[i]
	}
	for ; list.Next(); n++ {
		if err := list.Scan(into...); err != nil {
			return 0, nil, err
		}
		until = append(until[:0], columns[0]...)
	}
	return n, until, list.Err()
}
