package bucket

import (
	"context"
	"database/sql"
	"fmt"
	"slices"
	"strings"
	"time"

	"prescient/prescient"
	"prescient/prescient/internal/literal"
	"prescient/prescient/internal/reserved"
	"prescient/prescient/internal/store"
	"prescient/prescient/worker/internal/check"
	"prescient/prescient/worker/internal/execute"
	"prescient/slots"
)

// read takes what was read, hands it to the executor, and has the next batch read for a stream that has room. It does
// not wait: wake tells when there is something to take.
func (b *Bucket) read(ctx context.Context) (read bool, err error) {
	if b.reading != nil {
		select {
		case <-b.reading.done:
		default:
			return false, nil
		}
		r := b.reading
		b.stopReading()
		if r.err != nil {
			return false, r.err
		}
		if read, err = b.took(ctx, r); err != nil {
			return read, err
		}
	}
	for i := range b.streams {
		s := b.streams[(b.readNext+i)%len(b.streams)]
		room := b.hasRoom(s)
		if s.dry || !room && (s.waits || s.outstanding > 0) {
			continue
		}
		b.readNext = (b.readNext + i + 1) % len(b.streams)
		b.startReading(ctx, s, room)
		break
	}
	return read, nil
}

// firstPart is how many times less the first read of a run takes than later ones may: it is soon done, and committed while the next goes on. In later
// buckets it would be one more commit: they begin with what the last one came to.
const firstPart = 4

// startReading has the next rows of a stream read. Where there is no room for them, it only looks whether there are any.
func (b *Bucket) startReading(ctx context.Context, s *stream, room bool) {
	ctx, cancel := context.WithCancel(ctx)
	if s.limit == 0 {
		s.limit = max(b.batch/firstPart, 1)
	}
	r := &reading{stream: s, limit: s.limit, probes: !room, cancel: cancel, done: make(chan struct{})}
	if r.probes {
		r.limit = 1
	}
	b.reading = r
	query, args := b.nextRows(s, r.limit)
	lingering := b.lingering
	go func() {
		defer b.wake.Ring()
		defer close(r.done)
		if b.BeforeRead != nil {
			if r.err = b.BeforeRead(ctx, r.limit); r.err != nil {
				return
			}
		}
		done, err := b.Shared.acquireSender(ctx, lingering)
		if err != nil {
			r.err = err
			return
		}
		defer done()
		r.rows, r.size, r.cut, r.err = b.readRows(ctx, query, args, r.limit)
	}()
}

// LastRead is how many rows the bucket would ask for next: what those of the same slot may begin with.
func (b *Bucket) LastRead() int {
	if b.careful {
		return 0
	}
	return b.streams[0].limit
}

// nextLimit is how many rows to ask for after a read of some, whose payloads and errors had a size: twice as many, unless rows
// like those would be more than is held in memory.
func nextLimit(asked, most, rows, size int) int {
	limit := min(2*asked, most)
	if size > 0 {
		limit = min(limit, int(int64(readBytes)*int64(rows)/int64(size)))
	}
	return max(limit, 1)
}

// stopReading ends a read that is under way and waits for its end; what it has read is thrown away.
func (b *Bucket) stopReading() {
	if b.reading != nil {
		b.reading.cancel()
		<-b.reading.done
		b.reading = nil
	}
}

// took takes the rows that were read for a stream.
func (b *Bucket) took(ctx context.Context, r *reading) (read bool, err error) {
	s, rows := r.stream, r.rows
	defer b.endWait(s)
	s.dry = len(rows) < r.limit && !r.cut
	if s.waits = r.probes && !s.dry; s.waits {
		return true, nil
	}
	if len(rows) == 0 {
		return true, nil
	}
	s.limit = nextLimit(r.limit, b.batch, len(rows), r.size)
	var more bool
	if s.next, more = rows[len(rows)-1].JobKey.Next(); !more {
		s.dry = true
	}
	if b.Wary {
		if rows, err = b.withoutLocked(ctx, rows); err != nil {
			return true, err
		}
	}
	return true, b.start(ctx, s, rows)
}

// start hands rows to the executor, and answers at once for those whose job_exec is paused, or nobody registered.
func (b *Bucket) start(ctx context.Context, s *stream, rows []*check.Answered) error {
	var tasks []*execute.Task
	open := make(map[*execute.Lane]*execute.Task) // those that take more rows
	for _, r := range rows {
		if b.seq++; s.JobExec == "" && len(b.streams) == 1 {
			r.Seq = b.seq
		}
		if b.Shared.Kept.leaves(r) {
			b.Figures.Stuck++
			continue
		}
		b.keep(r)
		if r.LateByRule {
			b.Figures.LateByRule++
		}
		switch lane := b.Shared.Executor.Lanes[r.JobExec]; {
		case r.ByRule != nil && !prescient.IsKept(r.FutureJob):
			b.answerAtOnce(r, *r.ByRule)
		case b.Paused[r.JobExec]:
			b.answerAtOnce(r, prescient.Answer{Cause: prescient.CausePaused})
		case prescient.IsKept(r.FutureJob):
			b.answerAtOnce(r, prescient.Answer{Cause: prescient.CauseKept})
		case lane == nil:
			b.answerAtOnce(r, reserved.Unregistered(r.FutureJob))
		case r.Unread:
			b.hasTx = b.hasTx || lane.InTx()
			b.answerAtOnce(r, prescient.Answer{Cause: prescient.CauseUnreadable})
		case open[lane] != nil:
			open[lane].Rows = append(open[lane].Rows, r)
		default:
			b.hasTx = b.hasTx || lane.InTx()
			open[lane] = &execute.Task{Rows: []*check.Answered{r}, Lane: lane, Sink: b}
			tasks = append(tasks, open[lane])
		}
	}
	if b.careful && len(tasks) == 1 {
		if err := b.Shared.Ledger.Attempt(ctx, b.Lease, rows[0].JobKey, rows[0].Revision); err != nil {
			return err
		}
	}
	b.submit(tasks)
	return nil
}

// answerAtOnce answers for a row that is not called.
func (b *Bucket) answerAtOnce(r *check.Answered, a prescient.Answer) {
	r.Answer = check.Of(a)
	b.judge(r)
	b.take([]*check.Answered{r}, 0, b.enough())
}

func (b *Bucket) submit(tasks []*execute.Task) {
	rows := 0
	for _, t := range tasks {
		rows += len(t.Rows)
	}
	b.sent(rows)
	b.Shared.Executor.Submit(tasks)
}

// startAlone hands over the rows whose time to be called by themselves has come.
func (b *Bucket) startAlone() {
	var tasks []*execute.Task
	b.alone = slices.DeleteFunc(b.alone, func(a alone) bool {
		if time.Now().Before(a.at) {
			return false
		}
		tasks = append(tasks, &execute.Task{Rows: []*check.Answered{a.row}, Lane: b.Shared.Executor.Lanes[a.row.JobExec], Sink: b, Alone: true, Contested: a.row.Locked})
		return true
	})
	if len(tasks) > 0 {
		b.submit(tasks)
	}
}

// readBatch reads the next rows of a stream.
func (b *Bucket) readBatch(ctx context.Context, s *stream) ([]*check.Answered, error) {
	query, args := b.nextRows(s, b.batch)
	rows, _, _, err := b.readRows(ctx, query, args, b.batch)
	return rows, err
}

// nextRows returns the query for the next rows of a stream.
func (b *Bucket) nextRows(s *stream, limit int) (query string, args []any) {
	filter := ""
	args = []any{prescient.MaxRead, b.Lease.Slot}
	if s.JobExec != "" {
		filter = "AND job_exec = ?"
		args = append(args, s.JobExec)
	} else if others := b.streams[1:]; len(others) > 0 {
		filter = "AND job_exec NOT IN (?" + strings.Repeat(", ?", len(others)-1) + ")"
		for _, other := range others {
			args = append(args, other.JobExec)
		}
	}
	args = append(args, limit)
	return b.Shared.Tables.Fill("slotrun/read", "{first}", literal.Of(literal.AppendKey, s.next), "{last}", literal.Of(literal.AppendKey, b.last), "{filter}", filter), args
}

// readRows runs a query for rows, limit at most, of nextRows. It says how large their payloads and errors are, and whether it was cut short for that.
func (b *Bucket) readRows(ctx context.Context, query string, args []any, limit int) (batch []*check.Answered, size int, cut bool, err error) {
	asked, err := store.Answered(limit, func(rows, longest int) (err error) {
		args[0], args[len(args)-1] = longest, rows
		batch, size, cut, err = b.readAnswer(ctx, query, args, rows)
		return err
	})
	return batch, size, cut || asked < limit && len(batch) == asked, err
}

// readAnswer is readRows for one answer.
func (b *Bucket) readAnswer(ctx context.Context, query string, args []any, limit int) (batch []*check.Answered, size int, cut bool, err error) {
	err = b.Shared.Send.Query(ctx, func(ctx context.Context) error {
		ctx, cancel := context.WithCancel(ctx)
		defer cancel()
		batch, size, cut = batch[:0], 0, false
		rows, err := b.Shared.Send.DB.QueryContext(ctx, query, args...)
		if err != nil {
			return err
		}
		defer rows.Close()
		var entityName, jobExec, key sql.RawBytes
		var payload []byte
		var lastError sql.NullString
		var expiresAt sql.NullTime
		var version, occasion sql.NullInt64
		names := make(map[string]string) // the few that all rows have, once each
		for rows.Next() {
			r := new(check.Answered)
			if err := rows.Scan(&entityName, &r.EntityKey, &jobExec, &r.Tag, &r.DueAt, &key, &r.FirstCheckAt, &r.CheckCount,
				&r.ErrorCount, &r.PutOffCount, &lastError, &r.TotalMS, &payload, &r.Revision, &r.InsertedAt, &expiresAt, store.Trace(&r.Trace), &version, &occasion); err != nil {
				return err
			}
			copy(r.JobKey[:], key)
			r.EntityName, r.JobExec = once(names, entityName), once(names, jobExec)
			r.NextCheckAt, r.LastError = b.Lease.Slot, lastError.String
			if expiresAt.Valid {
				r.ExpiresAt = prescient.At(expiresAt.Time)
			}
			if r.RuleVersion = uint32(version.Int64); occasion.Valid {
				r.OccasionAt = prescient.At(time.UnixMicro(occasion.Int64).UTC())
			}
			if r.Unread = payload != nil && len(payload) == 0; !r.Unread { // JSON is never empty
				r.Payload = payload
			}
			batch = append(batch, r)
			if size += r.Size(); size >= readBytes && len(batch) < limit {
				cut = true
				cancel() // what is still to come is not worth the reading: the connection is given up
				return nil
			}
		}
		return rows.Err()
	})
	if err == nil {
		err = b.askRules(ctx, batch)
	}
	if err != nil {
		return nil, 0, false, fmt.Errorf("reading slot %s: %w", slots.Stamp(b.Lease.Slot), err)
	}
	return batch, size, cut, nil
}

// once returns a text, the same string each time.
func once(texts map[string]string, text []byte) string {
	if s, ok := texts[string(text)]; ok {
		return s
	}
	s := string(text)
	texts[s] = s
	return s
}
