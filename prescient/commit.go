package prescient

import (
	"bytes"
	"context"
	"database/sql"
	"encoding/hex"
	"encoding/json"
	"errors"
	"fmt"
	"slices"
	"time"
)

// errChanged is returned inside a commit when rows changed between the look and the write; the commit starts over.
var errChanged = errors.New("rows changed under the commit")

// commitReady commits what is answered if it is a batch, or nothing else is running, or it has waited long enough; or
// all of it, where all says so. It returns errLeaseLost where another has the bucket by now.
func (b *bucketRun) commitReady(ctx context.Context, all bool) (committed bool, err error) {
	b.mu.Lock()
	n := len(b.answers)
	ready := n >= b.batch || n > 0 && (all || b.flying == 0 || time.Since(b.oldest) >= flushEvery)
	var batch []answered
	if ready {
		batch, b.answers = b.answers, nil
	}
	b.mu.Unlock()
	if len(b.held) > 0 && (all || !time.Now().Before(b.retryAt)) {
		held := b.held
		b.held = nil
		if err := b.commit(ctx, held, true); err != nil {
			return false, err
		}
		committed = true
	}
	for part := range slices.Chunk(batch, max(b.batch, 1)) {
		if err := b.commit(ctx, part, false); err != nil {
			return committed, err
		}
	}
	return committed || ready, nil
}

// commit writes what becomes of a batch of answers, once. Rows that somebody else has locked are kept for later, with
// their answers.
func (b *bucketRun) commit(ctx context.Context, batch []answered, contested bool) error {
	batch = b.forget(batch, func(a answered) bool { return a.answer.kind == notStarted })
	if len(batch) == 0 {
		return nil
	}
	slices.SortFunc(batch, func(x, y answered) int { return bytes.Compare(x.key[:], y.key[:]) })
	waits := newBackOff()
	for tries := 0; ; tries++ {
		if !b.lease.alive(time.Now()) {
			return errLeaseLost
		}
		result, err := b.tryCommit(ctx, batch, contested)
		switch {
		case err == nil:
			b.settle(batch, result)
			return nil
		case errors.Is(err, errLeaseLost):
			b.lease.lose()
			return err
		case errors.Is(err, errChanged):
			// At once: the look is made again.
		case isError(err, errLockWaitTimeout) && !contested:
			contested = true
		case !passing(err):
			return fmt.Errorf("committing slot %s: %w", stamp(b.lease.slot), err)
		default:
			b.w.log.Warn().Err(err).Time("slot", b.lease.slot).Int("bucket", b.lease.bucket).Msg("commit is tried again")
			if err := sleep(ctx, waits.NextBackOff()); err != nil {
				return err
			}
		}
		b.figures.Retries++
	}
}

// commitResult says what a commit did with each of its rows.
type commitResult struct {
	counts    Counts
	contested map[Key]bool // not committed: somebody has them locked
}

// settle takes note of a commit that was done.
func (b *bucketRun) settle(batch []answered, result commitResult) {
	b.lease.batchSeq++
	b.figures.Counts.add(result.counts)
	for _, a := range batch {
		if result.contested[a.key] {
			continue
		}
		if a.answer.kind == called {
			late := a.answer.started.Sub(a.NextCheckAt)
			b.figures.Lateness = max(b.figures.Lateness, late)
			if sla := b.w.guardsOf(a.JobExec).SLA; sla > 0 && late > sla {
				b.figures.OverSLA++
			}
		}
	}
	still := b.forget(batch, func(a answered) bool { return !result.contested[a.key] })
	if len(still) > 0 {
		b.held = append(b.held, still...)
		b.retryAt = time.Now().Add(time.Second)
	}
}

// forget drops the answers that match: their rows leave memory.
func (b *bucketRun) forget(batch []answered, match func(answered) bool) []answered {
	return slices.DeleteFunc(slices.Clone(batch), func(a answered) bool {
		if !match(a) {
			return false
		}
		b.streamOf(a.JobExec).outstanding--
		b.outstanding[a.JobExec]--
		return true
	})
}

// tryCommit makes one attempt, in one transaction: the fence first, then the moves, then the ends.
func (b *bucketRun) tryCommit(ctx context.Context, batch []answered, contested bool) (result commitResult, err error) {
	ctx, cancel := context.WithTimeout(ctx, b.w.statementTimeout())
	defer cancel()
	tx, err := b.w.db.BeginTx(ctx, nil)
	if err != nil {
		return result, fmt.Errorf("beginning: %w", err)
	}
	before := time.Now()
	result, err = b.write(ctx, tx, batch, contested)
	if err != nil {
		return result, errors.Join(err, rollback(tx))
	}
	if err := tx.Commit(); err != nil {
		if done, lookErr := b.w.wasCommitted(ctx, b.lease); lookErr != nil {
			return result, errors.Join(fmt.Errorf("committing: %w", err), lookErr)
		} else if !done {
			return result, fmt.Errorf("committing: %w", err)
		}
	}
	b.lease.renewed(before)
	return result, nil
}

// wasCommitted finds out what became of a COMMIT whose answer was lost: batch_seq tells.
func (w *Worker) wasCommitted(ctx context.Context, l *lease) (bool, error) {
	var worker string
	var token, seq uint64
	ctx = context.WithoutCancel(ctx)
	err := w.query(ctx, func(ctx context.Context) error {
		return w.db.QueryRowContext(ctx, w.stmt.Get("slotrun/committed"), l.slot, l.bucket).Scan(&worker, &token, &seq)
	})
	switch {
	case err != nil:
		return false, fmt.Errorf("finding out whether a commit was done: %w", err)
	case worker != l.worker || token != l.token:
		return false, errLeaseLost
	}
	return seq == l.batchSeq+1, nil
}

// write runs the statements of a commit.
func (b *bucketRun) write(ctx context.Context, tx *sql.Tx, batch []answered, contested bool) (commitResult, error) {
	var counts Counts
	for _, a := range batch {
		counts.count(a.verdict, a.answer.kind, 1)
	}
	l := b.lease
	args := append([]any{l.ttl.Microseconds()}, counts.args()...)
	n, err := affected(ctx, tx, b.w.stmt.Get("slotrun/fence"), append(args, l.slot, l.bucket, l.worker, l.token, l.batchSeq)...)
	if err != nil {
		return commitResult{}, fmt.Errorf("fence: %w", err)
	}
	if n == 0 {
		return commitResult{}, errLeaseLost
	}
	result := commitResult{counts: counts}
	var off Counts // what the books above have too much of
	drop := func(a answered, n int) {
		off.count(a.verdict, a.answer.kind, n)
		off.Dropped += n
	}
	if contested {
		free, taken, err := b.lockFree(ctx, tx, batch)
		if err != nil {
			return result, err
		}
		result.contested = taken
		batch = slices.DeleteFunc(slices.Clone(batch), func(a answered) bool {
			if !free[a.key] && !taken[a.key] {
				drop(a, 1)
			} else if taken[a.key] {
				off.count(a.verdict, a.answer.kind, 1)
			}
			return !free[a.key]
		})
	}
	ends := slices.DeleteFunc(slices.Clone(batch), func(a answered) bool { return a.verdict.outcome == "" })
	moves := slices.DeleteFunc(slices.Clone(batch), func(a answered) bool { return a.verdict.outcome != "" })
	if err := b.writeMoves(ctx, tx, moves, &off); err != nil {
		return result, err
	}
	if err := b.writeEnds(ctx, tx, ends, drop); err != nil {
		return result, err
	}
	if off != (Counts{}) {
		if _, err := tx.ExecContext(ctx, b.w.stmt.Get("slotrun/correct"), append(off.args(), l.slot, l.bucket)...); err != nil {
			return result, fmt.Errorf("correcting the books: %w", err)
		}
		dropped := off.Dropped
		off.Dropped = 0
		theirs := off.fields()
		for i, field := range result.counts.fields() {
			*field -= *theirs[i]
		}
		result.counts.Dropped += dropped
	}
	return result, nil
}

// lockFree locks those rows of a batch that nobody else has locked, and are as they were read; taken are those that
// somebody has. The others are gone or changed.
func (b *bucketRun) lockFree(ctx context.Context, tx *sql.Tx, batch []answered) (free, taken map[Key]bool, err error) {
	keys := keyList(batch, func(a answered) Key { return a.key })
	if free, err = b.sameRows(ctx, tx, "slotrun/lock_free", keys, batch); err != nil {
		return nil, nil, err
	}
	there, err := b.sameRows(ctx, tx, "slotrun/seen", keys, batch)
	if err != nil {
		return nil, nil, err
	}
	taken = make(map[Key]bool)
	for key := range there {
		if !free[key] {
			taken[key] = true
		}
	}
	return free, taken, nil
}

// sameRows runs one of the statements that select job_key and revision, and returns the keys of the rows that are as
// they were read.
func (b *bucketRun) sameRows(ctx context.Context, tx *sql.Tx, statement, keys string, batch []answered) (map[Key]bool, error) {
	rows, err := tx.QueryContext(ctx, b.w.fill(statement, "{keys}", keys), b.lease.slot)
	if err != nil {
		return nil, fmt.Errorf("%s: %w", statement, err)
	}
	defer rows.Close()
	revisions := make(map[Key]uint64, len(batch))
	for _, a := range batch {
		revisions[a.key] = a.Revision
	}
	same := make(map[Key]bool, len(batch))
	for rows.Next() {
		var raw sql.RawBytes
		var revision uint64
		if err := rows.Scan(&raw, &revision); err != nil {
			return nil, fmt.Errorf("%s: %w", statement, err)
		}
		key := Key(raw)
		if revisions[key] == revision {
			same[key] = true
		}
	}
	if err := rows.Err(); err != nil {
		return nil, fmt.Errorf("%s: %w", statement, err)
	}
	return same, nil
}

// writeMoves moves rows to their later slots. Those that the app changed meanwhile do not match and are not touched.
func (b *bucketRun) writeMoves(ctx context.Context, tx *sql.Tx, moves []answered, off *Counts) error {
	if len(moves) == 0 {
		return nil
	}
	n, err := affected(ctx, tx, b.w.stmt.Get("slotrun/reschedule"), movesJSON(moves), b.lease.slot)
	if err != nil {
		return fmt.Errorf("rescheduling: %w", err)
	}
	if n == len(moves) {
		return nil
	}
	// Which of them were dropped only matters to the books, where called and put off are told apart.
	dropped := len(moves) - n
	for _, a := range moves {
		if dropped == 0 {
			break
		}
		off.count(a.verdict, a.answer.kind, 1)
		dropped--
	}
	off.Dropped += len(moves) - n
	return nil
}

func movesJSON(moves []answered) string {
	b := make([]byte, 0, len(moves)*160)
	b = append(b, '[')
	for i, a := range moves {
		if i > 0 {
			b = append(b, ',')
		}
		v := &a.verdict
		b = append(b, '[', '"')
		b = hex.AppendEncode(b, a.key[:])
		b = append(b, '"', ',')
		b = append(appendUint(b, a.Revision), ',', '"')
		b = append(v.slot.AppendFormat(b, secondLayout), '"', ',', '"')
		b = append(v.dueAt.AppendFormat(b, microLayout), '"', ',')
		b = append(appendInt(b, int64(v.checkCount)), ',')
		b = append(appendInt(b, int64(v.errorCount)), ',')
		b = append(appendInt(b, int64(v.putOffCount)), ',')
		b = append(appendInt(b, a.total()), ',')
		if v.reason == "" {
			b = append(b, "null"...)
		} else {
			reason, _ := json.Marshal(v.reason) // a string cannot fail
			b = append(b, reason...)
		}
		b = append(b, ']')
	}
	return string(append(b, ']'))
}

// total is the run time of all checks, with this one.
func (a *answered) total() int64 { return a.TotalMS + millis(a.answer.ran) }

// writeEnds writes history and deletes the rows, those that are still as they were read.
func (b *bucketRun) writeEnds(ctx context.Context, tx *sql.Tx, ends []answered, drop func(answered, int)) error {
	if len(ends) == 0 {
		return nil
	}
	same, err := b.sameRows(ctx, tx, "slotrun/lock", keyList(ends, func(a answered) Key { return a.key }), ends)
	if err != nil {
		return err
	}
	history := make([]byte, 0, len(ends)*400)
	gone := make([]answered, 0, len(ends))
	for _, a := range ends {
		if !same[a.key] {
			drop(a, 1)
			continue
		}
		gone = append(gone, a)
		if len(history) > 0 {
			history = append(history, ',')
		}
		history = b.appendEnd(history, a)
	}
	if len(gone) == 0 {
		return nil
	}
	if _, err := tx.ExecContext(ctx, b.w.fill("slotrun/history_insert", "{rows}", string(history))); err != nil {
		return fmt.Errorf("writing history: %w", err)
	}
	keys := keyList(gone, func(a answered) Key { return a.key })
	n, err := affected(ctx, tx, b.w.fill("slotrun/end", "{keys}", keys), b.lease.slot)
	if err != nil {
		return fmt.Errorf("deleting ended rows: %w", err)
	}
	if n != len(gone) {
		return fmt.Errorf("%w: deleted %d of %d", errChanged, n, len(gone))
	}
	return nil
}

func (b *bucketRun) appendEnd(to []byte, a answered) []byte {
	job := a.FutureJob
	job.CheckCount, job.ErrorCount, job.PutOffCount = a.verdict.checkCount, a.verdict.errorCount, a.verdict.putOffCount
	job.TotalMS = a.total()
	return appendHistory(to, historyRow{job: job, key: a.key, outcome: a.verdict.outcome, reason: a.verdict.reason,
		started: a.answer.started, ended: a.answer.ended, ran: a.answer.ran, worker: b.w.options.Name})
}
