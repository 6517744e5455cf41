package prescient

import (
	"context"
	"fmt"
	"slices"
	"strings"
	"time"
)

// read reads a batch for each stream that has room, and hands it to the executor.
func (b *bucketRun) read(ctx context.Context) (read bool, err error) {
	for _, s := range b.streams {
		if s.dry || !b.hasRoom(s) {
			continue
		}
		if b.pace != nil {
			if err := b.pace(ctx, b.batch); err != nil {
				return read, err
			}
		}
		rows, err := b.readBatch(ctx, s)
		if err != nil {
			return read, err
		}
		if len(rows) < b.batch {
			s.dry = true
		}
		if len(rows) > 0 {
			var more bool
			if s.next, more = rows[len(rows)-1].key.next(); !more {
				s.dry = true
			}
			if err := b.start(ctx, s, rows); err != nil {
				return read, err
			}
			read = true
		}
	}
	return read, nil
}

// start hands rows to the executor, and answers at once for those whose job_exec is paused, or nobody registered.
func (b *bucketRun) start(ctx context.Context, s *stream, rows []*answered) error {
	var tasks []*task
	open := make(map[*lane]*task) // those that take more rows
	for _, r := range rows {
		if b.turn++; s.jobExec == "" && len(b.streams) == 1 {
			r.turn = b.turn
		}
		s.outstanding++
		b.outstanding[r.JobExec]++
		if b.paused[r.JobExec] {
			b.answerAtOnce(r, paused)
			continue
		}
		lane := b.w.executor.lanes[r.JobExec]
		if lane == nil {
			b.answerAtOnce(r, unknown)
			continue
		}
		b.hasTx = b.hasTx || lane.tx != nil
		if t := open[lane]; t != nil && len(t.rows) < lane.most() {
			t.rows = append(t.rows, r)
			continue
		}
		open[lane] = &task{rows: []*answered{r}, lane: lane, bucket: b}
		tasks = append(tasks, open[lane])
	}
	if b.careful && len(tasks) == 1 {
		if err := b.recordAttempt(ctx, rows[0]); err != nil {
			return err
		}
	}
	b.submit(tasks)
	return nil
}

// answerAtOnce answers for a row that is not called.
func (b *bucketRun) answerAtOnce(r *answered, kind answerKind) {
	r.answer = answer{kind: kind}
	b.judge(r)
	b.take([]*answered{r}, 0)
}

func (b *bucketRun) submit(tasks []*task) {
	b.mu.Lock()
	for _, t := range tasks {
		b.flying += len(t.rows)
	}
	b.mu.Unlock()
	b.w.executor.submit(tasks)
}

// startAlone hands over the rows whose time to be called by themselves has come.
func (b *bucketRun) startAlone() {
	var tasks []*task
	b.alone = slices.DeleteFunc(b.alone, func(a alone) bool {
		if time.Now().Before(a.at) {
			return false
		}
		tasks = append(tasks, &task{rows: []*answered{a.row}, lane: b.w.executor.lanes[a.row.JobExec], bucket: b})
		return true
	})
	if len(tasks) > 0 {
		b.submit(tasks)
	}
}

// readBatch reads the next rows of a stream.
func (b *bucketRun) readBatch(ctx context.Context, s *stream) ([]*answered, error) {
	filter := ""
	args := []any{b.lease.slot, s.next[:], b.last[:]}
	if s.jobExec != "" {
		filter = "AND job_exec = ?"
		args = append(args, s.jobExec)
	} else if others := b.streams[1:]; len(others) > 0 {
		filter = "AND job_exec NOT IN (?" + strings.Repeat(", ?", len(others)-1) + ")"
		for _, other := range others {
			args = append(args, other.jobExec)
		}
	}
	args = append(args, b.batch)
	query := b.w.fill("slotrun/read", "{filter}", filter)
	var batch []*answered
	err := b.w.query(ctx, func(ctx context.Context) error {
		batch = batch[:0]
		rows, err := b.w.db.QueryContext(ctx, query, args...)
		if err != nil {
			return err
		}
		defer rows.Close()
		for rows.Next() {
			r := new(answered)
			var key, payload []byte
			var lastError *string
			if err := rows.Scan(&r.EntityName, &r.EntityKey, &r.JobExec, &r.Tag, &r.DueAt, &key, &r.FirstCheckAt, &r.CheckCount,
				&r.ErrorCount, &r.PutOffCount, &lastError, &r.TotalMS, &payload, &r.Revision, &r.InsertedAt); err != nil {
				return err
			}
			copy(r.key[:], key)
			r.NextCheckAt, r.Payload = b.lease.slot, payload
			if lastError != nil {
				r.LastError = *lastError
			}
			batch = append(batch, r)
		}
		return rows.Err()
	})
	if err != nil {
		return nil, fmt.Errorf("reading slot %s: %w", stamp(b.lease.slot), err)
	}
	return batch, nil
}

// recordAttempt notes the row that is run by itself, before the call: should it kill the worker, the next one knows.
func (b *bucketRun) recordAttempt(ctx context.Context, r *answered) error {
	l := b.lease
	n, err := b.w.exec(ctx, b.w.stmt.Get("slotrun/attempt"), r.key[:], r.Revision, l.slot, l.bucket, l.worker, l.token, l.batchSeq)
	if err != nil {
		return fmt.Errorf("recording an attempt in slot %s: %w", stamp(l.slot), err)
	}
	if n == 0 {
		l.lose()
		return errLeaseLost
	}
	return nil
}

// endKiller ends the row that was running by itself when the worker before this one died.
func (b *bucketRun) endKiller(ctx context.Context) error {
	if !b.careful || b.lease.attemptKey == nil {
		return nil
	}
	killer := Key(b.lease.attemptKey)
	rows, err := b.readBatch(ctx, &stream{next: killer})
	if err != nil {
		return err
	}
	if len(rows) == 1 && rows[0].key == killer && rows[0].Revision == b.lease.attemptRevision {
		b.streamOf(rows[0].JobExec).outstanding++
		b.outstanding[rows[0].JobExec]++
		b.answerAtOnce(rows[0], killed)
		_, err = b.commitReady(ctx, true)
	}
	return err
}
