package client

import (
	"bytes"
	"cmp"
	"context"
	"errors"
	"fmt"
	"slices"
	"time"

	"prescient/prescient"
	"prescient/prescient/client/internal/handle"
	"prescient/prescient/client/internal/rowtext"
	"prescient/prescient/internal/errno"
	"prescient/prescient/internal/literal"
	"prescient/prescient/internal/reserved"
)

// InsertMany is Insert for many: all of them or, with an error, none. On a handle that is no transaction it takes one
// of its own. What happened to each stands at its place in the result. A check that stands twice in the list is
// inserted in the order of the list.
func (c *Client) InsertMany(ctx context.Context, db prescient.DB, jobs []prescient.NewJob) (did []Inserted, err error) {
	for i, job := range jobs {
		if err := errors.Join(job.Validate(), reserved.RefuseNew(job.Entity)); err != nil {
			return nil, fmt.Errorf("check %d: %w", i+1, err)
		}
	}
	trace, end := c.trace.Begin(ctx, jobs...)
	defer func() { end(err) }()
	if trace != "" {
		jobs = slices.Clone(jobs)
		for i := range jobs {
			jobs[i].Trace = cmp.Or(jobs[i].Trace, trace)
		}
	}
	return c.insertAll(ctx, db, jobs)
}

// insertAll is InsertMany for jobs that are valid.
func (c *Client) insertAll(ctx context.Context, db prescient.DB, jobs []prescient.NewJob) ([]Inserted, error) {
	jobs = inPlace(jobs)
	// Most jobs are new. Only after a duplicate is it worth a read before each write: the failed INSERT would leave a
	// lock on the row's unique key, from which to write by the primary key can deadlock with a slot run.
	did, err := c.insertMany(ctx, db, jobs, false)
	if errno.Is(err, errno.DuplicateKey) {
		did, err = c.insertMany(ctx, db, jobs, true)
	}
	if err != nil {
		return nil, err
	}
	return did, nil
}

func (c *Client) insertMany(ctx context.Context, db prescient.DB, jobs []prescient.NewJob, readsFirst bool) ([]Inserted, error) {
	all := newBulk(c, jobs)
	if to, _ := all.chunk(0); to == len(jobs) && !readsFirst && handle.CommitsByItself(db) {
		// One statement is all of them or none by itself.
		_, err := handle.Retried(func() (struct{}, error) {
			b := all
			b.db = db
			return struct{}{}, b.insert(ctx)
		})
		return all.did, err
	}
	err := handle.InTx(ctx, c.tables.Server, db, func(db prescient.DB) error {
		b := all
		b.db, b.readsFirst = db, readsFirst || handle.IsCallersTx(db)
		return b.insert(ctx)
	})
	return all.did, err
}

// bulk is one InsertMany under way.
type bulk struct {
	client     *Client
	db         prescient.DB
	jobs       []prescient.NewJob
	did        []Inserted
	readsFirst bool // reads what is pending before each chunk
	keys       []prescient.Key
	// order is that of the keys, which is that of the indexes: the servers put rows beside each other, and two who insert
	// the same jobs do not deadlock. All that follows counts places in it.
	order []int
}

func newBulk(c *Client, jobs []prescient.NewJob) bulk {
	b := bulk{client: c, jobs: jobs, did: make([]Inserted, len(jobs)), keys: make([]prescient.Key, len(jobs))}
	var check [4]byte
	for i := range jobs {
		job := &jobs[i]
		if i == 0 || job.JobExec != jobs[i-1].JobExec || job.Tag != jobs[i-1].Tag { // most lists have one of each
			check = prescient.CheckPart(job.JobExec, job.Tag)
		}
		b.keys[i] = job.Entity.KeyWith(check)
	}
	b.order = byKey(len(jobs), func(i int) prescient.Key { return b.keys[i] })
	return b
}

func (b *bulk) job(place int) *prescient.NewJob { return &b.jobs[b.order[place]] }

func (b *bulk) key(place int) prescient.Key { return b.keys[b.order[place]] }

// note keeps what became of a job. named is an error about it.
func (b *bulk) note(place int, did Inserted) { b.did[b.order[place]] = did }

func (b *bulk) named(place int, err error) error {
	return fmt.Errorf("check %d: %w", b.order[place]+1, err)
}

func (b *bulk) insert(ctx context.Context) error {
	for from := 0; from < len(b.jobs); {
		to, twice := b.chunk(from)
		if err := b.insertChunk(ctx, from, to); err != nil {
			return err
		}
		from = to
		if twice {
			if err := b.insertOne(ctx, from); err != nil {
				return err
			}
			from++
		}
	}
	return nil
}

// chunk returns where the chunk that starts at from ends: at its bounds, or before a job that stands in it already.
func (b *bulk) chunk(from int) (to int, twice bool) {
	size := 0
	for to = from; to < len(b.jobs) && to-from < bulkRows && size < literal.BulkBytes; to++ {
		if to > from && b.key(to) == b.key(to-1) {
			return to, true
		}
		size += 2*len(b.job(to).Payload) + 400
	}
	return to, false
}

func (b *bulk) insertOne(ctx context.Context, i int) error {
	did, err := b.client.insertValid(ctx, b.db, *b.job(i))
	if err != nil {
		return b.named(i, err)
	}
	b.note(i, did)
	return nil
}

func (b *bulk) insertChunk(ctx context.Context, from, to int) error {
	if from == to {
		return nil
	}
	for _, lock := range []bool{false, handle.IsCallersTx(b.db)} {
		pending, err := b.pending(ctx, from, to, lock)
		if err != nil {
			return err
		}
		now, err := b.client.now(ctx, b.db)
		if err != nil {
			return err
		}
		err = b.write(ctx, from, to, pending, now)
		if !b.readsFirst || !errno.Is(err, errno.DuplicateKey) {
			return err
		}
		// Inserted by somebody else between the read and the write, or after this transaction's snapshot.
	}
	for i := from; i < to; i++ {
		if err := b.insertOne(ctx, i); err != nil {
			return err
		}
	}
	return nil
}

// pending returns the rows of a chunk that are there already.
func (b *bulk) pending(ctx context.Context, from, to int, lock bool) (map[prescient.Key]*prescient.FutureJob, error) {
	pending := make(map[prescient.Key]*prescient.FutureJob)
	if !b.readsFirst {
		return pending, nil
	}
	keys := make([]prescient.Key, 0, to-from)
	for i := from; i < to; i++ {
		keys = append(keys, b.key(i))
	}
	found, err := b.client.findKeys(ctx, b.db, rowtext.Columns, keys, lock)
	for i := range found {
		pending[found[i].Key()] = &found[i]
	}
	return pending, err
}

// write inserts what is not pending in one statement, and the rest one by one.
func (b *bulk) write(ctx context.Context, from, to int, pending map[prescient.Key]*prescient.FutureJob, now time.Time) error {
	rows, m, err := b.text(from, to, pending, now)
	if err != nil {
		return err
	}
	if len(rows) > 0 {
		if _, err := b.db.ExecContext(ctx, b.client.insertRows(rows, m)); err != nil {
			err = b.client.explain(ctx, b.db, *b.job(from), err)
			if to-from == 1 {
				return b.named(from, err)
			}
			return fmt.Errorf("among %d checks: %w", to-from, err)
		}
	}
	for i := from; i < to; i++ {
		row := pending[b.key(i)]
		if row == nil {
			continue
		}
		did, err := b.client.insert(ctx, b.db, *b.job(i), row, now)
		if err != nil {
			return b.named(i, err)
		}
		b.note(i, did)
	}
	return nil
}

// text returns the rows of what is not pending, for insertRows.
func (b *bulk) text(from, to int, pending map[prescient.Key]*prescient.FutureJob, now time.Time) (rows []byte, m rowtext.More, err error) {
	for i := from; i < to && m != (rowtext.More{Text: true, Expires: true, Trace: true, Rule: true}); i++ {
		m = m.Or(rowtext.MoreOf(b.job(i)))
	}
	rows = make([]byte, 0, (to-from)*192)
	var last *prescient.NewJob // of which the times are
	var due, slot time.Time
	var times rowtext.Times
	for i := from; i < to; i++ {
		job, key := b.job(i), b.key(i)
		if pending[key] != nil {
			continue
		}
		if last == nil || job.DueAt != last.DueAt || job.JobExec != last.JobExec || job.ExpiresAfter != last.ExpiresAfter || job.RuleVersion != 0 { // most lists have one of each
			if due, slot, err = b.client.placeNew(job, now); err != nil {
				return nil, m, b.named(i, err)
			}
			last, times = job, rowtext.TimesOf(b.client.tables.Dialect, due, slot, job.ExpiresAfter)
		}
		if len(rows) > 0 {
			rows = append(rows, ',')
		}
		rows = rowtext.Append(rows, job, key, times, m)
		b.note(i, Inserted{Did: DidInsert, DueAt: due, Slot: slot})
	}
	return rows, m, nil
}

// inPlace is InPlace of prescient.NewJob for many; the list is copied where it changes.
func inPlace(jobs []prescient.NewJob) []prescient.NewJob {
	if !slices.ContainsFunc(jobs, func(job prescient.NewJob) bool { return job.Spread > 0 }) {
		return jobs
	}
	jobs = slices.Clone(jobs)
	for i, job := range jobs {
		jobs[i] = job.InPlace()
	}
	return jobs
}

// byKey returns the numbers below n in the order of their keys, those of one key as they are.
func byKey(n int, key func(i int) prescient.Key) []int {
	keys, order := make([]prescient.Key, n), make([]int, n)
	for i := range order {
		keys[i], order[i] = key(i), i
	}
	slices.SortStableFunc(order, func(i, j int) int { return bytes.Compare(keys[i][:], keys[j][:]) })
	return order
}
