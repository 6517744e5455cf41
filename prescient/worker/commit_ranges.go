package worker

import (
	"context"
	"database/sql"
	"fmt"

	"prescient/prescient"
	"prescient/prescient/internal/errno"
	"prescient/prescient/internal/literal"
	"prescient/prescient/internal/store"
)

// Rows that follow one another in the table are locked, written to history and deleted by their range: the statements
// stay short, and the servers read them in one pass. What is committed is the same as row by row, since nothing is taken
// on trust: the lock returns each row, and must return exactly those that were read; whatever comes between them
// afterwards makes a count too large, and the commit is rolled back and done by the rows' keys.

// How many rows a range should have on average for it to pay, and how many a statement that copies ends into history.
const (
	minRange  = 16
	minCopied = 32
)

// span is a range of rows that follow one another.
type span struct {
	first, last prescient.Key
	n           int
}

// spansOf divides rows, in the order of their keys, into ranges that had no other rows when they were read; nil where
// that is not known, or where they are too many to pay.
func spansOf(batch []*answered) []span {
	var spans []span
	var turn uint64
	for _, a := range batch {
		switch {
		case a.turn == 0:
			return nil
		case turn != 0 && a.turn == turn+1:
			s := &spans[len(spans)-1]
			s.last, s.n = a.key, s.n+1
		default:
			if (len(spans)+1)*minRange > max(len(batch), 2*minRange) {
				return nil
			}
			spans = append(spans, span{a.key, a.key, 1})
		}
		turn = a.turn
	}
	return spans
}

// appendRanges appends the condition that holds for the rows of ranges; below leaves out the last of each.
func appendRanges(to []byte, column string, spans []span, below bool) []byte {
	last := " <= "
	if below {
		last = " < "
	}
	for i, s := range spans {
		if i > 0 {
			to = append(to, " OR "...)
		}
		to = literal.AppendKey(append(append(to, column...), " >= "...), s.first)
		to = literal.AppendKey(append(append(append(to, " AND "...), column...), last...), s.last)
	}
	return to
}

// lockRanges locks the rows of a batch by their ranges. It returns false where they are not just those that were read.
func (s *session) lockRanges(ctx context.Context, tx *sql.Tx, batch []*answered, spans []span) (same bool, err error) {
	ranges := string(appendRanges(nil, "job_key", spans, false))
	same, err = sameAs(ctx, tx, batch, s.tables.Fill("slotrun/lock_ranges", "{ranges}", ranges), s.lease.slot, len(batch))
	return same, refused(err)
}

// refused says of the error of a statement that waits for no lock that somebody has one.
func refused(err error) error {
	if errno.Is(err, errno.LockWaitTimeout, errno.NoWait) {
		return fmt.Errorf("%w: %w", errAtOnce, err)
	}
	return err
}

// sameAs runs a statement that locks rows and returns their job_key and revision, and says whether they are just those
// of a batch, in its order.
func sameAs(ctx context.Context, tx *sql.Tx, batch []*answered, query string, args ...any) (same bool, err error) {
	rows, err := tx.QueryContext(ctx, query, args...)
	if err != nil {
		return false, fmt.Errorf("locking ranges: %w", err)
	}
	defer rows.Close()
	n := 0
	same = true
	var key sql.RawBytes
	var revision uint64
	for rows.Next() {
		if err := rows.Scan(&key, &revision); err != nil {
			return false, fmt.Errorf("locking ranges: %w", err)
		}
		same = same && n < len(batch) && string(key) == string(batch[n].key[:]) && revision == batch[n].Revision
		n++
	}
	if err := rows.Err(); err != nil {
		return false, fmt.Errorf("locking ranges: %w", err)
	}
	return same && n == len(batch), nil
}

// spansOfEnds keeps of ranges what is left of them once the other rows have moved: from the first to the last that ended.
// Both are in the order of the keys.
func spansOfEnds(spans []span, ends []*answered) []span {
	var left []span
	for _, s := range spans {
		of := span{}
		for len(ends) > 0 && string(ends[0].key[:]) <= string(s.last[:]) {
			if of.n == 0 {
				of.first = ends[0].key
			}
			of.last, of.n = ends[0].key, of.n+1
			ends = ends[1:]
		}
		if of.n > 0 {
			left = append(left, of)
		}
	}
	return left
}

// endRanges writes history and deletes the rows of ranges, which are locked.
func (s *session) endRanges(ctx context.Context, tx *sql.Tx, ends []*answered, spans []span) error {
	if done := together(ends, spans); done != nil {
		for _, d := range done {
			if err := s.historyOf(ctx, tx, ends[0], d); err != nil {
				return err
			}
			ends = ends[d.n:]
		}
	} else if err := s.writeHistory(ctx, tx, ends); err != nil {
		return err
	}
	return s.deleteRanges(ctx, tx, spans)
}

// endInOnePass locks the rows of ranges as it writes their history, and deletes them. MariaDB tells only those who may read
// history what they wrote there, which is no right of the role worker: without it commits take two passes.
func (s *session) endInOnePass(ctx context.Context, tx *sql.Tx, ends []*answered, spans, done []span) error {
	for _, d := range done {
		same, err := sameAs(ctx, tx, ends[:d.n], s.tables.Stmt.Get("slotrun/history_locked"), append(s.historyArgs(ends[0], d), d.n)...)
		switch {
		case errno.Is(err, errno.TableDenied, errno.ColumnDenied):
			s.onePass.Store(false) // the right was taken away
			return fmt.Errorf("%w: %w", errChanged, err)
		case err != nil:
			return fmt.Errorf("writing history: %w", refused(err))
		case !same:
			return fmt.Errorf("%w: the ends written were not those of the rows that were called", errChanged)
		}
		ends = ends[d.n:]
	}
	return s.deleteRanges(ctx, tx, spans)
}

// written checks an INSERT into history: all ends and no others.
func written(n, want int, err error) error {
	if err != nil {
		return fmt.Errorf("writing history: %w", err)
	}
	if n != want {
		return fmt.Errorf("%w: wrote the ends of %d instead of %d", errChanged, n, want)
	}
	return nil
}

// deleteRanges deletes the rows of ranges, which are locked.
func (s *session) deleteRanges(ctx context.Context, tx *sql.Tx, spans []span) error {
	all, lasts := 0, make([]prescient.Key, len(spans))
	for i, s := range spans {
		all += s.n
		lasts[i] = s.last
	}
	if all > len(spans) {
		ranges := string(appendRanges(nil, "job.job_key", spans, true))
		n, err := store.Affected(ctx, tx, s.tables.Fill("slotrun/end_ranges", "{ranges}", ranges), s.lease.slot)
		if err := deleted(n, all-len(spans), err); err != nil {
			return err
		}
	}
	return s.deleteByKey(ctx, tx, literal.Keys(lasts, func(k prescient.Key) prescient.Key { return k }), len(spans))
}

// together divides ended rows into those that were called together; nil where they are too few to pay, or ended
// otherwise than done.
func together(ends []*answered, spans []span) []span {
	var parts []span
	most := len(ends)/minCopied + 1
	for _, s := range spans {
		of := ends[:s.n]
		ends = ends[s.n:]
		for i, a := range of {
			if a.verdict.Outcome != prescient.Done || a.bare {
				return nil
			}
			if i > 0 && sameCall(of[i-1], a) {
				p := &parts[len(parts)-1]
				p.last, p.n = a.key, p.n+1
				continue
			}
			if len(parts) == most {
				return nil
			}
			parts = append(parts, span{a.key, a.key, 1})
		}
	}
	return parts
}

// sameCall says whether history has the same times for two rows.
func sameCall(x, y *answered) bool {
	a, b := &x.answer, &y.answer
	return a.started.Equal(b.started) && a.ended.Equal(b.ended) && literal.Millis(a.ran) == literal.Millis(b.ran)
}

// historyOf writes the history of rows that are done and were called together, of which a is one.
func (s *session) historyOf(ctx context.Context, tx *sql.Tx, a *answered, of span) error {
	n, err := store.Affected(ctx, tx, s.tables.Stmt.Get("slotrun/history_done"), s.historyArgs(a, of)...)
	return written(n, of.n, err)
}

// historyArgs are those of history_done.
func (s *session) historyArgs(a *answered, of span) []any {
	ran := literal.Millis(a.answer.ran)
	return []any{ran, string(prescient.Done), a.answer.started.Format(literal.MicroLayout), a.answer.ended.Format(literal.MicroLayout), ran,
		a.lateness().Milliseconds(), s.worker, s.lease.slot, of.first[:], of.last[:]}
}
