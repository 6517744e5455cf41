package commit

import (
	"context"
	"database/sql"
	"encoding/hex"
	"encoding/json"
	"fmt"
	"iter"
	"slices"

	"prescient/prescient"
	"prescient/prescient/internal/literal"
	"prescient/prescient/internal/store"
	"prescient/prescient/internal/tally"
	"prescient/prescient/worker/books"
	"prescient/prescient/worker/internal/check"
	text "prescient/sql"
)

// writeRows writes what becomes of the rows, behind the fence, whose books have the counts of all of them.
func (s *Session) writeRows(ctx context.Context, tx *sql.Tx, batch []*check.Answered, how Lock, counts books.Counts) (Result, error) {
	result := Result{Counts: counts, Dropped: make(map[prescient.Key]bool)}
	// All rows are locked by the primary key before anything is written: a move also locks neighbours in UNIQUE
	// (job_key), from where to go on to the primary key of another row would deadlock with a cancel of that.
	locked, err := s.Lock(ctx, tx, batch, how)
	if err != nil {
		if next := Next(how, RefusalOf(err)); next.Then == InSameTx {
			locked, err = s.Lock(ctx, tx, batch, next.Lock)
		}
	}
	if err != nil {
		return result, err
	}
	result.Contested = locked.taken
	var off books.Counts // what the books above have too much of
	var moves []*check.Answered
	ends := make([]*check.Answered, 0, len(batch))
	for _, a := range batch {
		switch {
		case locked.Free(a.JobKey) && a.Verdict.Outcome == "":
			moves = append(moves, a)
		case locked.Free(a.JobKey):
			ends = append(ends, a)
		case locked.Taken(a.JobKey):
			off.Count(a.Verdict, a.Answer.Cause, 1)
		default:
			off.Count(a.Verdict, a.Answer.Cause, 1)
			result.Dropped[a.JobKey] = true
		}
	}
	if err := s.writeLocked(ctx, tx, locked, moves, ends, movesOf(s.Tables, false)); err != nil {
		return result, err
	}
	if err := s.supersede(ctx, tx, batch, result.Dropped); err != nil {
		return result, err
	}
	if err := s.byExec.write(ctx, tx, s.Tables, s.Lease, notedOf(batch, result.Contested, result.Dropped)); err != nil {
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

// PutOff writes to the books that checks were moved without a call, inside Behind.
func (s *Session) PutOff(ctx context.Context, tx *sql.Tx, checks iter.Seq[tally.Of]) error {
	return s.byExec.write(ctx, tx, s.Tables, s.Lease, func(yield func(tally.Noted) bool) {
		for of := range checks {
			if !yield(tally.Noted{Job: &prescient.FutureJob{JobExec: of.JobExec, EntityName: of.EntityName}, Cause: prescient.CauseKept, Verdict: &prescient.Verdict{}}) {
				return
			}
		}
	})
}

// writeLocked moves and ends rows that are locked.
func (s *Session) writeLocked(ctx context.Context, tx *sql.Tx, locked Locked, moves, ends []*check.Answered, how moveBy) error {
	if err := s.writeMoves(ctx, tx, moves, how); err != nil {
		return err
	}
	return s.writeEnds(ctx, tx, ends, spansOfEnds(locked.spans, ends))
}

// writeMoves moves locked rows to their later slots.
func (s *Session) writeMoves(ctx context.Context, tx *sql.Tx, rows []*check.Answered, how moveBy) error {
	if len(rows) == 0 {
		return nil
	}
	move, name := s.moveTogether, "slotrun/reschedule"
	if how&each != 0 {
		move, name = s.moveEach, "slotrun/reschedule_one"
	}
	if err := s.noteVersions(ctx, tx, rows); err != nil {
		return err
	}
	statement := s.Tables.Stmt.Get(name)
	if how&atOnce != 0 {
		statement = "SET STATEMENT innodb_lock_wait_timeout = 0 FOR " + statement
	}
	n, err := move(ctx, tx, statement, rows)
	if how&atOnce != 0 {
		err = refused(err)
	}
	if err != nil {
		return fmt.Errorf("rescheduling: %w", err)
	}
	if n != len(rows) {
		return fmt.Errorf("%w: moved %d of %d", errChanged, n, len(rows))
	}
	return nil
}

// noteVersions notes of those locked rows that their rules move by which versions these do.
func (s *Session) noteVersions(ctx context.Context, tx *sql.Tx, rows []*check.Answered) error {
	var by map[uint32][]prescient.Key
	for _, a := range rows {
		if version := a.Verdict.RuleVersion; version != 0 {
			if by == nil {
				by = make(map[uint32][]prescient.Key)
			}
			by[version] = append(by[version], a.JobKey)
		}
	}
	for version, keys := range by {
		for some := range slices.Chunk(keys, 500) { // of a list of 1000 MariaDB makes a subquery
			statement := s.Tables.Fill("slotrun/by_rule", "{version}", literal.Of(literal.AppendUint, uint64(version)), "{keys}", literal.KeysOf(some))
			switch n, err := store.Affected(ctx, tx, statement, s.Lease.Slot); {
			case err != nil:
				return fmt.Errorf("noting versions of rules: %w", err)
			case n != len(some):
				return fmt.Errorf("%w: noted the version of a rule for %d of %d", errChanged, n, len(some))
			}
		}
	}
	return nil
}

// moveTogether moves the rows by one statement, or by several where their errors are long.
func (s *Session) moveTogether(ctx context.Context, tx *sql.Tx, statement string, moves []*check.Answered) (n int, err error) {
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

// moveEach moves the rows one by one, as in the dialect plain.
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

// writeEnds writes history and deletes the rows, which are locked: by their ranges where there are some, else by single rows, since others of
// the slot may be locked by others.
func (s *Session) writeEnds(ctx context.Context, tx *sql.Tx, ends []*check.Answered, spans []Span) error {
	if len(ends) == 0 {
		return nil
	}
	if err := s.writeHistory(ctx, tx, ends, spans); err != nil {
		return err
	}
	switch {
	case spans != nil:
		return s.deleteRanges(ctx, tx, spans)
	case s.Tables.Dialect == text.Plain: // which has no JSON_TABLE to name them by
		return s.deleteByKey(ctx, tx, literal.Keys(ends, check.AnsweredKey), len(ends))
	}
	n, err := store.Affected(ctx, tx, s.Tables.Stmt.Get("slotrun/end_each"), KeysJSON(ends), s.Lease.Slot)
	return deleted(n, len(ends), err)
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
		return fmt.Errorf("%w: deleted %d of %d", errChanged, n, want)
	}
	return nil
}

// writeHistory writes the ends of rows.
func (s *Session) writeHistory(ctx context.Context, tx *sql.Tx, ends []*check.Answered, spans []Span) error {
	ranges, each := spansOfMoments(ends, spans), copiesEach(s.Tables)
	var values []byte
	sent := 0 // ends in values
	for part, next := 0, 0; next < len(ends); {
		a := ends[next]
		switch historyOf(a, ranges != nil, each) {
		case copiedRange:
			if err := s.copyRange(ctx, tx, a, ranges[part]); err != nil {
				return err
			}
			next, part = next+ranges[part].N, part+1
			continue
		case copiedRow:
			n, err := store.Affected(ctx, tx, s.Tables.CopyEnd(s.endOf(a)))
			if err := written(n, 1, err); err != nil {
				return err
			}
		case asValues, copiedEach:
			if values == nil {
				values = make([]byte, 0, min(len(ends)*400, 2*literal.BulkBytes))
			}
			if len(values) > 0 {
				values = append(values, ',')
			}
			if sent++; each {
				values = store.AppendEndOf(values, s.endOf(a))
			} else {
				values = store.AppendEnd(values, s.endOf(a))
			}
		}
		if next++; len(values) == 0 || next < len(ends) && len(values) < literal.BulkBytes {
			continue
		}
		if err := s.sendEnds(ctx, tx, string(values), sent, each); err != nil {
			return err
		}
		values, sent = values[:0], 0
	}
	return nil
}

// sendEnds writes some ends to history, all as values or what differs of each.
func (s *Session) sendEnds(ctx context.Context, tx *sql.Tx, ends string, count int, each bool) error {
	statement, args := s.Tables.Fill("slotrun/history_insert", "{rows}", ends), []any(nil)
	if each {
		statement, args = s.Tables.Stmt.Get("slotrun/history_each"), []any{s.Worker, "[" + ends + "]", s.Lease.Slot}
	}
	n, err := store.Affected(ctx, tx, statement, args...)
	return written(n, count, err)
}

// written checks an INSERT into history: all ends and no others.
func written(n, want int, err error) error {
	if err != nil {
		return fmt.Errorf("%w: %w", errHistory, err)
	}
	if n != want {
		return fmt.Errorf("%w: wrote the ends of %d instead of %d", errChanged, n, want)
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

// deleteRanges deletes the rows of ranges, which are locked.
func (s *Session) deleteRanges(ctx context.Context, tx *sql.Tx, spans []Span) error {
	all, lasts := 0, make([]prescient.Key, len(spans))
	for i, s := range spans {
		all += s.N
		lasts[i] = s.Last
	}
	if all > len(spans) {
		ranges := string(AppendRanges(nil, "job.job_key", spans, true))
		n, err := store.Affected(ctx, tx, s.Tables.Fill("slotrun/end_ranges", "{ranges}", ranges), s.Lease.Slot)
		if err := deleted(n, all-len(spans), err); err != nil {
			return err
		}
	}
	return s.deleteByKey(ctx, tx, literal.KeysOf(lasts), len(spans))
}

// copyRange writes the history of rows that are done and were called together, of which a is one.
func (s *Session) copyRange(ctx context.Context, tx *sql.Tx, a *check.Answered, of Span) error {
	ran := literal.Millis(a.Answer.Ran)
	statement := s.Tables.Fill("slotrun/history_done", "{first}", literal.Of(literal.AppendKey, of.First), "{last}", literal.Of(literal.AppendKey, of.Last))
	n, err := store.Affected(ctx, tx, statement, ran, string(prescient.Done),
		a.Answer.Started.Format(literal.MicroLayout), a.Answer.Ended.Format(literal.MicroLayout), ran, a.Lateness().Milliseconds(),
		s.Worker, s.Lease.Slot)
	return written(n, of.N, err)
}
