package rollup

import (
	"cmp"
	"context"
	"database/sql"
	"errors"
	"fmt"
	"maps"
	"slices"
	"strings"
	"time"

	"prescient/prescient/internal/literal"
	"prescient/prescient/internal/store"
	"prescient/prescient/internal/tally"
)

// rowsAtATime are the rows of an INSERT.
const rowsAtATime = 1000

// write writes the lines of an hour in place of those that there are, behind the fence. An hour that had more ends keeps its lines: history is gone
// of a part of it.
func (r *Rollup) write(ctx context.Context, hour time.Time, s *sums, next *time.Time) error {
	return r.inTx(ctx, func(ctx context.Context, tx *sql.Tx) error {
		there, err := Hours(ctx, tx, r.tables, hour, hour.Add(time.Hour))
		if err != nil {
			return err
		}
		if len(there) > 0 && there[0].Start.Equal(hour) && there[0].Ends > s.ends {
			_, err := tx.ExecContext(ctx, r.tables.Stmt.Get("rollup/looked"), next, hour)
			return err
		}
		if err := r.clear(ctx, tx, "hour", hour); err != nil {
			return err
		}
		head := append(literal.AppendSecond([]byte("('hour',"), hour), ',')
		for statement, rows := range map[string][][]byte{"rollup/lines": s.lineRows(head), "rollup/buckets": s.bucketRows(head), "rollup/reasons": s.reasonRows(head)} {
			for some := range slices.Chunk(rows, rowsAtATime) {
				if err := r.tables.Exec(ctx, tx, "writing the lines of an hour", statement, "{rows}", joined(some)); err != nil {
					return err
				}
			}
		}
		_, err = tx.ExecContext(ctx, r.tables.Stmt.Get("rollup/hour"), hour, s.ends, next)
		return err
	})
}

// errFewer says that a day would get fewer ends than it has.
var errFewer = errors.New("the lines of the day would be of fewer ends")

// writeDay writes the lines of a day, which are sums of those of its hours. Where lines of hours are gone it has these summed again, as far as
// history is there; a day keeps its lines rather than get fewer ends.
func (r *Rollup) writeDay(ctx context.Context, of time.Time) error {
	before := of.Add(day)
	lacking, summed, whole, err := r.lacking(ctx, of)
	if err != nil || len(lacking) > 0 {
		r.Redo(lacking)
		return err
	}
	inDay := func(ctx context.Context, tx *sql.Tx) error {
		_, err := tx.ExecContext(ctx, r.tables.Stmt.Get("rollup/in_day"), of, before)
		return err
	}
	var had, has uint64
	ends := r.tables.Stmt.Get("rollup/day_ends")
	err = r.inTx(ctx, func(ctx context.Context, tx *sql.Tx) error {
		if err := tx.QueryRowContext(ctx, ends, of).Scan(&had); err != nil {
			return err
		}
		if err := r.clear(ctx, tx, "day", of); err != nil {
			return err
		}
		for _, statement := range []string{"rollup/day_lines", "rollup/day_buckets", "rollup/day_reasons"} {
			if _, err := tx.ExecContext(ctx, r.tables.Stmt.Get(statement), of, of, before); err != nil {
				return err
			}
		}
		if err := tx.QueryRowContext(ctx, ends, of).Scan(&has); err != nil {
			return err
		}
		if has < max(had, summed) || !whole && had > 0 {
			return errFewer
		}
		return inDay(ctx, tx)
	})
	switch {
	case !errors.Is(err, errFewer):
		return err
	case has < summed: // prune deletes hours at this moment: the next look sees which
		return nil
	}
	return r.inTx(ctx, inDay)
}

// lacking are the hours of a day the lines of which are not whole, where history is; summed is how many ends the lines of all its hours have. whole
// says that they lack none.
func (r *Rollup) lacking(ctx context.Context, of time.Time) (hours []time.Time, summed uint64, whole bool, err error) {
	all, err := Hours(ctx, r.db, r.tables, of, of.Add(day))
	if err != nil {
		return nil, 0, false, err
	}
	whole = true
	for _, h := range all {
		summed += h.Lines
		if h.Lines == h.Ends {
			continue
		}
		whole = whole && h.Lines > h.Ends
		n, err := Count(ctx, r.db, r.tables, h.Start)
		if err != nil {
			return nil, 0, false, err
		}
		if n >= h.Ends {
			hours = append(hours, h.Start)
		}
	}
	return hours, summed, whole, nil
}

// clear deletes the lines of an hour or a day.
func (r *Rollup) clear(ctx context.Context, tx *sql.Tx, grain string, start time.Time) error {
	for _, statement := range []string{"rollup/clear_lines", "rollup/clear_buckets", "rollup/clear_reasons"} {
		if _, err := tx.ExecContext(ctx, r.tables.Stmt.Get(statement), grain, start); err != nil {
			return err
		}
	}
	return nil
}

// inTx has something done behind the fence. What is done twice, since a COMMIT's answer was lost, comes to the same.
func (r *Rollup) inTx(ctx context.Context, do func(ctx context.Context, tx *sql.Tx) error) (err error) {
	ctx, cancel := context.WithTimeout(store.MayIdle(ctx, store.IdleInCommit), mostTime)
	defer cancel()
	tx, err := r.db.BeginTx(ctx, nil)
	if err != nil {
		return fmt.Errorf("writing the rollup: %w", err)
	}
	if err = r.held.Fence(ctx, tx); err == nil {
		err = do(ctx, tx)
	}
	if err == nil {
		err = tx.Commit()
	} else {
		_ = store.Rollback(tx) // the error that led here says more
	}
	if err != nil {
		return fmt.Errorf("writing the rollup: %w", err)
	}
	return nil
}

// The rows are in the order of the primary keys, in which they are written fastest.

func (s *sums) lineRows(head []byte) (rows [][]byte) {
	order := slices.SortedFunc(maps.Keys(s.lines), func(a, b lineOf) int {
		return cmp.Or(compareOf(a.Of, b.Of), strings.Compare(string(a.outcome), string(b.outcome)))
	})
	for _, of := range order {
		b := appendText(appendOf(slices.Clone(head), of.Of), string(of.outcome))
		l := s.lines[of]
		rows = append(rows, appendNumbers(b, l.ends, l.calls, l.errors, l.notYet, l.waited, l.started, l.runMS, l.totalMS, l.latenessMS, l.dueLatenessMS))
	}
	return rows
}

func (s *sums) bucketRows(head []byte) (rows [][]byte) {
	for _, of := range slices.SortedFunc(maps.Keys(s.spreads), compareOf) {
		for m, histogram := range s.spreads[of] {
			for _, bucket := range slices.Sorted(maps.Keys(histogram)) {
				b := appendText(appendOf(slices.Clone(head), of), measureNames[m])
				rows = append(rows, appendNumbers(b, uint64(bucket), histogram[bucket]))
			}
		}
	}
	return rows
}

func (s *sums) reasonRows(head []byte) (rows [][]byte) {
	order := slices.SortedFunc(maps.Keys(s.reasons), func(a, b reasonOf) int {
		return cmp.Or(strings.Compare(a.jobExec, b.jobExec), strings.Compare(a.text, b.text))
	})
	for _, of := range order {
		b := appendText(appendText(slices.Clone(head), of.jobExec), of.text)
		rows = append(rows, appendNumbers(b, s.reasons[of]))
	}
	return rows
}

func compareOf(a, b tally.Of) int {
	return cmp.Or(strings.Compare(a.JobExec, b.JobExec), strings.Compare(a.EntityName, b.EntityName))
}

func appendOf(b []byte, of tally.Of) []byte {
	return appendText(appendText(b, of.JobExec), of.EntityName)
}

func appendText(b []byte, s string) []byte { return append(literal.AppendText(b, s), ',') }

// appendNumbers ends a row.
func appendNumbers(b []byte, all ...uint64) []byte {
	for i, n := range all {
		if i > 0 {
			b = append(b, ',')
		}
		b = literal.AppendUint(b, n)
	}
	return append(b, ')')
}

func joined(rows [][]byte) string {
	var b strings.Builder
	for i, row := range rows {
		if i > 0 {
			b.WriteByte(',')
		}
		b.Write(row)
	}
	return b.String()
}
