package commit

import (
	"context"
	"database/sql"
	"encoding/hex"
	"encoding/json"
	"fmt"
	"maps"
	"slices"

	"prescient/prescient"
	"prescient/prescient/internal/literal"
	"prescient/prescient/internal/store"
	"prescient/prescient/worker/books"
	"prescient/prescient/worker/internal/check"
	text "prescient/sql"
)

// writeRows writes what becomes of the rows, behind the fence, whose books have the counts of all of them: by their ranges, or
// by their keys, where it passes over those that somebody else has locked.
func (s *Session) writeRows(ctx context.Context, tx *sql.Tx, batch []*check.Answered, spans []Span, hidden bool, counts books.Counts) (Result, error) {
	result := Result{Counts: counts, Dropped: make(map[prescient.Key]bool)}
	if len(spans) > 0 {
		same, err := s.lockRanges(ctx, tx, batch, spans)
		if err != nil {
			return result, err
		}
		if same {
			return result, s.writeRanges(ctx, tx, batch, spans)
		}
	}
	// All rows are locked by the primary key before anything is written: a move also locks neighbours in UNIQUE
	// (job_key), from where to go on to the primary key of another row would deadlock with a cancel of that.
	free, taken, err := s.lock(ctx, tx, batch, hidden)
	if err != nil {
		return result, err
	}
	result.Contested = taken
	var off books.Counts // what the books above have too much of
	var moves, ends []*check.Answered
	for _, a := range batch {
		switch {
		case free[a.JobKey] && a.Verdict.Outcome == "":
			moves = append(moves, a)
		case free[a.JobKey]:
			ends = append(ends, a)
		case taken[a.JobKey]:
			off.Count(a.Verdict, a.Answer.Cause, 1)
		default:
			off.Count(a.Verdict, a.Answer.Cause, 1)
			result.Dropped[a.JobKey] = true
		}
	}
	if err := s.writeMoves(ctx, tx, moves, true); err != nil {
		return result, err
	}
	if err := s.writeEnds(ctx, tx, ends); err != nil {
		return result, err
	}
	if err := s.supersede(ctx, tx, batch, result.Dropped); err != nil {
		return result, err
	}
	if off == (books.Counts{}) {
		return result, nil
	}
	off.Dropped = len(result.Dropped)
	if _, err := tx.ExecContext(ctx, s.Tables.Stmt.Get("slotrun/correct"), append(off.Args(), s.Lease.Slot, s.Lease.Bucket)...); err != nil {
		return result, fmt.Errorf("correcting the books: %w", err)
	}
	off.Dropped = -off.Dropped // the only one that is added
	theirs := off.Fields()
	for i, field := range result.Counts.Fields() {
		*field -= *theirs[i]
	}
	return result, nil
}

// writeRanges writes what becomes of a batch whose rows are locked and all there.
func (s *Session) writeRanges(ctx context.Context, tx *sql.Tx, batch []*check.Answered, spans []Span) error {
	var moves []*check.Answered
	ends := make([]*check.Answered, 0, len(batch))
	for _, a := range batch {
		if a.Verdict.Outcome == "" {
			moves = append(moves, a)
		} else {
			ends = append(ends, a)
		}
	}
	if err := s.writeMoves(ctx, tx, moves, true); err != nil || len(ends) == 0 {
		return err
	}
	return s.endRanges(ctx, tx, ends, spansOfEnds(spans, ends))
}

// lock locks the rows of a batch, and returns which are as they were read. It passes over those that somebody else has locked,
// or, with hidden, of which somebody has the entry in UNIQUE (job_key): taken. The others are gone or changed.
func (s *Session) lock(ctx context.Context, tx *sql.Tx, batch []*check.Answered, hidden bool) (free, taken map[prescient.Key]bool, err error) {
	keys := literal.Keys(batch, check.AnsweredKey)
	if free, err = s.sameRows(ctx, tx, "slotrun/lock_free", keys, batch); err != nil {
		return nil, nil, err
	}
	if hidden && len(free) > 0 {
		keys := literal.KeysOf(slices.Collect(maps.Keys(free)))
		if free, err = s.sameRows(ctx, tx, "slotrun/lock_free_unique", keys, batch); err != nil {
			return nil, nil, err
		}
	}
	if len(free) == len(batch) {
		return free, nil, nil
	}
	there, err := s.sameRows(ctx, tx, "slotrun/present", keys, batch)
	if err != nil {
		return nil, nil, err
	}
	taken = make(map[prescient.Key]bool)
	for key := range there {
		if !free[key] {
			taken[key] = true
		}
	}
	return free, taken, nil
}

// sameRows runs one of the statements that select job_key and revision, and returns the keys of the rows that are as
// they were read.
func (s *Session) sameRows(ctx context.Context, tx *sql.Tx, statement, keys string, batch []*check.Answered) (map[prescient.Key]bool, error) {
	revisions := make(map[prescient.Key]uint64, len(batch))
	for _, a := range batch {
		revisions[a.JobKey] = a.Revision
	}
	same := make(map[prescient.Key]bool, len(batch))
	err := store.EachRevision(ctx, tx, s.Tables.Fill(statement, "{keys}", keys), []any{s.Lease.Slot}, func(key prescient.Key, revision uint64) {
		if revisions[key] == revision {
			same[key] = true
		}
	})
	if err != nil {
		return nil, fmt.Errorf("%s: %w", statement, err)
	}
	return same, nil
}

// writeMoves moves locked rows to their later slots.
//
// On MariaDB a move also locks the row after its own in UNIQUE (job_key), which an app may just be inserting; MySQL does not.
// With atOnce it fails there instead of waiting: then another try, or smaller ones, cost less than the wait.
func (s *Session) writeMoves(ctx context.Context, tx *sql.Tx, moves []*check.Answered, atOnce bool) error {
	atOnce = atOnce && s.Tables.Server == text.MariaDB
	if len(moves) == 0 {
		return nil
	}
	statement := s.Tables.Stmt.Get("slotrun/reschedule")
	if atOnce {
		statement = "SET STATEMENT innodb_lock_wait_timeout = 0 FOR " + statement
	}
	move := s.moveAll
	if s.Tables.Dialect == text.Plain {
		move = s.moveEach
	}
	n, err := move(ctx, tx, statement, moves)
	if atOnce {
		err = refused(err)
	}
	if err != nil {
		return fmt.Errorf("rescheduling: %w", err)
	}
	if n != len(moves) {
		return fmt.Errorf("%w: moved %d of %d", ErrChanged, n, len(moves))
	}
	return nil
}

// moveAll moves the rows by one statement, or by several where their errors are long.
func (s *Session) moveAll(ctx context.Context, tx *sql.Tx, statement string, moves []*check.Answered) (n int, err error) {
	for len(moves) > 0 {
		list, in := MovesJSON(moves)
		some, err := store.Affected(ctx, tx, statement, list, s.Lease.Slot)
		if err != nil {
			return n, err
		}
		n, moves = n+some, moves[in:]
	}
	return n, nil
}

// moveEach moves the rows one by one, as the statement of the dialect plain does.
func (s *Session) moveEach(ctx context.Context, tx *sql.Tx, statement string, moves []*check.Answered) (n int, err error) {
	for _, a := range moves {
		v := &a.Verdict
		var expiresAt sql.NullString
		if at := prescient.MovedExpiry(a.FutureJob, v.DueAt); at != nil {
			expiresAt = sql.NullString{String: at.Format(literal.MicroLayout), Valid: true}
		}
		one, err := store.Affected(ctx, tx, statement, v.Slot.Format(literal.SecondLayout), v.DueAt.Format(literal.MicroLayout),
			v.CheckCount, v.ErrorCount, v.PutOffCount, a.Total(), sql.NullString{String: v.Reason, Valid: v.Reason != ""}, expiresAt,
			s.Lease.Slot, a.JobKey[:], a.Revision)
		if err != nil {
			return n, err
		}
		n += one
	}
	return n, nil
}

// MovesJSON is the list for a statement, and says how many of the moves are in it: as many as make it no larger than about
// literal.BulkBytes.
func MovesJSON(moves []*check.Answered) (list string, n int) {
	b := make([]byte, 0, min(len(moves)*160, 2*literal.BulkBytes))
	b = append(b, '[')
	for _, a := range moves {
		if len(b) >= literal.BulkBytes {
			break
		}
		if n++; n > 1 {
			b = append(b, ',')
		}
		v := &a.Verdict
		b = append(b, '[', '"')
		b = hex.AppendEncode(b, a.JobKey[:])
		b = append(b, '"', ',')
		b = append(literal.AppendUint(b, a.Revision), ',', '"')
		b = append(v.Slot.AppendFormat(b, literal.SecondLayout), '"', ',', '"')
		b = append(v.DueAt.AppendFormat(b, literal.MicroLayout), '"', ',')
		b = append(literal.AppendInt(b, int64(v.CheckCount)), ',')
		b = append(literal.AppendInt(b, int64(v.ErrorCount)), ',')
		b = append(literal.AppendInt(b, int64(v.PutOffCount)), ',')
		b = append(literal.AppendInt(b, a.Total()), ',')
		if v.Reason == "" {
			b = append(b, "null"...)
		} else {
			reason, _ := json.Marshal(v.Reason) // a string cannot fail
			b = append(b, reason...)
		}
		if at := prescient.MovedExpiry(a.FutureJob, v.DueAt); at == nil {
			b = append(b, ",null"...)
		} else {
			b = append(at.AppendFormat(append(b, ',', '"'), literal.MicroLayout), '"')
		}
		b = append(b, ']')
	}
	return string(append(b, ']')), n
}

// KeysJSON is the list of rows for slotrun/end_each.
func KeysJSON(rows []*check.Answered) string {
	b := make([]byte, 0, len(rows)*35)
	b = append(b, '[')
	for i, a := range rows {
		if i > 0 {
			b = append(b, ',')
		}
		b = append(b, '"')
		b = append(hex.AppendEncode(b, a.JobKey[:]), '"')
	}
	return string(append(b, ']'))
}

// writeEnds writes history and deletes the rows, which are locked, by single rows: others of the slot may be locked by others.
func (s *Session) writeEnds(ctx context.Context, tx *sql.Tx, ends []*check.Answered) error {
	if len(ends) == 0 {
		return nil
	}
	if err := s.writeHistory(ctx, tx, ends); err != nil {
		return err
	}
	if s.Tables.Dialect != text.Plain { // which has no JSON_TABLE to name them by
		n, err := store.Affected(ctx, tx, s.Tables.Stmt.Get("slotrun/end_each"), KeysJSON(ends), s.Lease.Slot)
		return deleted(n, len(ends), err)
	}
	return s.deleteByKey(ctx, tx, literal.Keys(ends, check.AnsweredKey), len(ends))
}

// deleteByKey deletes as many rows by their keys.
func (s *Session) deleteByKey(ctx context.Context, tx *sql.Tx, keys string, want int) error {
	n, err := store.Affected(ctx, tx, s.Tables.Fill("slotrun/end", "{keys}", keys), s.Lease.Slot)
	return deleted(n, want, err)
}

// deleted checks a DELETE: all rows and no others.
func deleted(n, want int, err error) error {
	if err != nil {
		return fmt.Errorf("deleting ended rows: %w", err)
	}
	if n != want {
		return fmt.Errorf("%w: deleted %d of %d", ErrChanged, n, want)
	}
	return nil
}

// writeHistory writes ends row by row: those with a long payload each by a statement of its own, by which the server copies
// it, the others together.
func (s *Session) writeHistory(ctx context.Context, tx *sql.Tx, ends []*check.Answered) error {
	history := make([]byte, 0, min(len(ends)*400, 2*literal.BulkBytes))
	for i, a := range ends {
		if a.Copied() {
			n, err := store.Affected(ctx, tx, s.Tables.CopyEnd(s.endOf(a)))
			if err := written(n, 1, err); err != nil {
				return err
			}
		} else {
			if len(history) > 0 {
				history = append(history, ',')
			}
			history = store.AppendEnd(history, s.endOf(a))
		}
		if len(history) == 0 || i < len(ends)-1 && len(history) < literal.BulkBytes {
			continue
		}
		if _, err := tx.ExecContext(ctx, s.Tables.Fill("slotrun/history_insert", "{rows}", string(history))); err != nil {
			return fmt.Errorf("%w: %w", errHistory, err)
		}
		history = history[:0]
	}
	return nil
}

// endOf is the end of a row.
func (s *Session) endOf(a *check.Answered) store.End {
	job := a.FutureJob
	job.CheckCount, job.ErrorCount, job.PutOffCount = a.Verdict.CheckCount, a.Verdict.ErrorCount, a.Verdict.PutOffCount
	job.TotalMS = a.Total()
	return store.End{Job: job, Key: a.JobKey, Outcome: a.Verdict.Outcome, Reason: a.Verdict.Reason,
		Started: a.Answer.Started, Ended: a.Answer.Ended, Ran: a.Answer.Ran, Worker: s.Worker, Bare: a.Bare}
}
