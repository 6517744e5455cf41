package prescient

import (
	"context"
	"database/sql"
	"errors"
	"fmt"
	"math/rand/v2"
	"sync"
	"time"
)

// ledgerRow is a bucket of a slot as slot_run has it.
type ledgerRow struct {
	bucket, buckets int
	token, batchSeq uint64
	worker          string
	takeovers       int
	attemptKey      []byte
	attemptRevision uint64
	finished        bool
	allocated       bool          // somebody took it and did not give it back
	held            time.Duration // how long that lease lives yet; 0 where it has lapsed
}

// free says whether the bucket can be claimed for there is something left to do in it.
func (r ledgerRow) free() bool { return !r.finished && r.held == 0 }

// givenBack says whether somebody had the bucket and gave it back unfinished: it was stopped, or rows were locked.
func (r ledgerRow) givenBack() bool { return r.token > 0 && !r.finished && !r.allocated }

// ledger reads the buckets of a slot.
func (w *Worker) ledger(ctx context.Context, slot time.Time) ([]ledgerRow, error) {
	var list []ledgerRow
	err := w.query(ctx, func(ctx context.Context) error {
		list = nil
		rows, err := w.db.QueryContext(ctx, w.stmt.Get("slotrun/ledger"), slot)
		if err != nil {
			return err
		}
		defer rows.Close()
		for rows.Next() {
			var r ledgerRow
			var heldMicros int64
			var attempt *uint64
			if err := rows.Scan(&r.bucket, &r.buckets, &r.token, &r.batchSeq, &r.worker, &r.takeovers, &r.attemptKey,
				&attempt, &r.finished, &r.allocated, &heldMicros); err != nil {
				return err
			}
			if attempt != nil {
				r.attemptRevision = *attempt
			}
			r.held = time.Duration(heldMicros) * time.Microsecond
			list = append(list, r)
		}
		return rows.Err()
	})
	if err != nil {
		return nil, fmt.Errorf("reading the ledger of slot %s: %w", stamp(slot), err)
	}
	return list, nil
}

// openSlotRun makes the ledger rows of a slot that holds something, and returns them. The first to open it fixes the
// number of buckets; everybody else goes by that.
func (w *Worker) openSlotRun(ctx context.Context, slot time.Time) ([]ledgerRow, error) {
	list, err := w.ledger(ctx, slot)
	if err == nil && len(list) == 0 {
		list, err = w.openAll(ctx, slot)
	}
	if err != nil {
		return nil, err
	}
	if list, err = w.divide(ctx, slot, list); err != nil {
		return nil, err
	}
	buckets := list[0].buckets
	if len(list) == buckets {
		return list, nil
	}
	// It was divided, or whoever opened it did so one after the other and has not come to all.
	if _, err := w.openBuckets(ctx, "slotrun/open_rest", slot, 1, buckets); err != nil {
		return nil, err
	}
	return w.ledger(ctx, slot)
}

// openAll opens all buckets of a slot at once, unless another was faster.
func (w *Worker) openAll(ctx context.Context, slot time.Time) ([]ledgerRow, error) {
	buckets, err := w.estimateBuckets(ctx, slot)
	if err != nil {
		return nil, err
	}
	opened, err := w.openBuckets(ctx, "slotrun/open", slot, 0, buckets)
	if opened == buckets && err == nil {
		list := make([]ledgerRow, buckets)
		for i := range list {
			list[i] = ledgerRow{bucket: i, buckets: buckets}
		}
		return list, nil
	}
	if err != nil && !isError(err, errDuplicateKey) {
		return nil, err
	}
	list, err := w.ledger(ctx, slot)
	if err == nil && len(list) == 0 {
		err = fmt.Errorf("opening slot %s: %w", stamp(slot), errEarly)
	}
	return list, err
}

// divide gives a slot more buckets that was opened as one, and has more rows now than one should have: it was empty at
// its time, say, and many inserts were late. That is safe while nobody holds it, and whoever means to has to look again.
func (w *Worker) divide(ctx context.Context, slot time.Time, list []ledgerRow) ([]ledgerRow, error) {
	one := list[0]
	if one.buckets != 1 || !one.finished || one.allocated || one.takeovers > 1 {
		return list, nil
	}
	buckets, err := w.estimateBuckets(ctx, slot)
	if err != nil || buckets == 1 {
		return list, err
	}
	if _, err := w.exec(ctx, w.stmt.Get("slotrun/divide"), buckets, slot, one.token, one.batchSeq); err != nil {
		return nil, fmt.Errorf("dividing slot %s: %w", stamp(slot), err)
	}
	return w.ledger(ctx, slot)
}

// openBuckets opens the buckets of a slot from one number on, by one of two statements, and returns how many it did.
func (w *Worker) openBuckets(ctx context.Context, statement string, slot time.Time, from, buckets int) (int, error) {
	n, err := w.exec(ctx, w.fill(statement, "{buckets}", bucketList(from, buckets)), slot, buckets, slot)
	if err != nil {
		return 0, fmt.Errorf("opening slot %s: %w", stamp(slot), err)
	}
	return n, nil
}

// bucketList is a query whose rows are the numbers of buckets, from one up to another.
func bucketList(from, to int) string {
	list := fmt.Appendf(nil, "SELECT %d AS bucket", from)
	for bucket := from + 1; bucket < to; bucket++ {
		list = fmt.Appendf(list, " UNION ALL SELECT %d", bucket)
	}
	return string(list)
}

const (
	// maxBuckets bounds how finely a slot is divided.
	maxBuckets = 256
	// sharedPart: where a slot is divided only so that several buckets are worked on at a time, each has at least this
	// part of a batch.
	sharedPart = 8
	// samplePart is the part of a slot in count_sample, and fewSampled how many rows it is to have there at least.
	samplePart = 256
	fewSampled = 16
)

// estimateBuckets finds how many buckets a slot should have, from a count where that is cheap, and otherwise from a sample,
// since keys are hashes and spread evenly.
func (w *Worker) estimateBuckets(ctx context.Context, slot time.Time) (int, error) {
	few := min(4*w.options.Batch, max(w.options.Batch, fewSampled*samplePart))
	rows, err := w.countRows(ctx, "slotrun/count_few", slot, few)
	if err == nil && rows == few {
		rows, err = w.countRows(ctx, "slotrun/count_sample", slot)
		rows = max(rows*samplePart, few)
	}
	if err != nil {
		return 0, fmt.Errorf("estimating slot %s: %w", stamp(slot), err)
	}
	return bucketsFor(rows, w.options.Batch, w.buckets()), nil
}

func (w *Worker) countRows(ctx context.Context, statement string, args ...any) (rows int, err error) {
	err = w.query(ctx, func(ctx context.Context) error {
		return w.db.QueryRowContext(ctx, w.stmt.Get(statement), args...).Scan(&rows)
	})
	return rows, err
}

// bucketsFor is how many buckets a slot is divided into: one for every batch of rows, or more where those would be
// fewer than are worked on at a time, which parallel says: a multiple of that leaves none to the end by itself.
func bucketsFor(rows, batch, parallel int) int {
	n := min(max(rows/batch, 1), maxBuckets)
	if n < parallel {
		return max(n, min(rows/max(batch/sharedPart, 1), parallel, maxBuckets))
	}
	return n - n%parallel
}

// bucketRange returns the first and last job_key of a bucket. The buckets divide the keys evenly by their first 8
// bytes; together they hold every key exactly once.
func bucketRange(bucket, buckets int) (first, last Key) {
	low := bucketStart(bucket, buckets)
	for i := range 8 {
		first[i] = byte(low >> (56 - 8*i))
	}
	for i := range last {
		last[i] = 0xff
	}
	if bucket < buckets-1 {
		high := bucketStart(bucket+1, buckets) - 1
		for i := range 8 {
			last[i] = byte(high >> (56 - 8*i))
		}
	}
	return first, last
}

func bucketStart(bucket, buckets int) uint64 {
	if bucket == 0 {
		return 0
	}
	// bucket * 2^64 / buckets, without the overflow.
	const whole = ^uint64(0)
	b, n := uint64(bucket), uint64(buckets)
	return whole/n*b + (whole%n+1)*b/n
}

// next is the key after k; ok is false after the last.
func (k Key) next() (after Key, ok bool) {
	for i := len(k) - 1; i >= 0; i-- {
		k[i]++
		if k[i] != 0 {
			return k, true
		}
	}
	return k, false
}

// lease is a bucket that this worker holds.
type lease struct {
	slot      time.Time
	bucket    int
	token     uint64
	worker    string
	takeovers int
	ttl       time.Duration

	// Only the bucket's own goroutine touches these.
	batchSeq        uint64
	attemptKey      []byte
	attemptRevision uint64

	mu    sync.Mutex
	until time.Time // by the monotonic clock; counted from before the statement that took or renewed it
	lost  bool
}

// alive says whether the lease still lives. Once over it stays so, even if nobody else took it: what was left undone
// meanwhile is not picked up in the middle.
func (l *lease) alive(now time.Time) bool {
	l.mu.Lock()
	defer l.mu.Unlock()
	l.lost = l.lost || !now.Before(l.until)
	return !l.lost
}

// dueForRenewal says whether a third of the term is over.
func (l *lease) dueForRenewal(now time.Time) bool {
	l.mu.Lock()
	defer l.mu.Unlock()
	return !l.lost && l.until.Sub(now) < l.ttl*2/3
}

func (l *lease) renewed(at time.Time) {
	l.mu.Lock()
	defer l.mu.Unlock()
	l.until = at.Add(l.ttl)
}

func (l *lease) lose() {
	l.mu.Lock()
	defer l.mu.Unlock()
	l.lost = true
}

// maxStep bounds by how much a claim raises the token: far above what chance gives twice, and far below what it would
// take to run out of tokens.
const maxStep = 1 << 32

// claim takes the lease of a bucket as the ledger showed it; nil where another was faster or still holds it. The token
// goes up by a random step: the slot run and the sweep of a worker have the same name, so that only the token tells whose
// claim it was that went through without an answer.
func (w *Worker) claim(ctx context.Context, slot time.Time, r ledgerRow) (*lease, error) {
	before := time.Now()
	ttl := w.options.Lease
	l := &lease{slot: slot, bucket: r.bucket, token: r.token + 1 + rand.Uint64N(maxStep), worker: w.options.Name,
		takeovers: r.takeovers, ttl: ttl, until: before.Add(ttl), batchSeq: r.batchSeq, attemptKey: r.attemptKey,
		attemptRevision: r.attemptRevision}
	if r.allocated {
		l.takeovers++
	}
	n, tries, err := w.execCounted(ctx, w.stmt.Get("slotrun/claim"), l.token-r.token, w.options.Name, ttl.Microseconds(), slot,
		r.bucket, r.token, r.batchSeq, w.version)
	took := n > 0
	if err == nil && !took && tries > 1 {
		took, err = w.holds(ctx, l)
	}
	switch {
	case err != nil:
		return nil, fmt.Errorf("claiming bucket %d of slot %s: %w", r.bucket, stamp(slot), err)
	case !took:
		return nil, nil
	}
	return l, nil
}

// holds says whether the ledger has a lease as it was claimed.
func (w *Worker) holds(ctx context.Context, l *lease) (bool, error) {
	worker, token, seq, err := w.holder(ctx, l)
	if errors.Is(err, sql.ErrNoRows) {
		return false, nil
	}
	return err == nil && worker == l.worker && token == l.token && seq == l.batchSeq, err
}

// holder reads who has the bucket of a lease by the ledger, and how far it is.
func (w *Worker) holder(ctx context.Context, l *lease) (worker string, token, seq uint64, err error) {
	err = w.query(ctx, func(ctx context.Context) error {
		return w.db.QueryRowContext(ctx, w.stmt.Get("slotrun/committed"), l.slot, l.bucket).Scan(&worker, &token, &seq)
	})
	return worker, token, seq, err
}

// renew keeps a lease for another term. errLeaseLost where it is another's by now.
func (w *Worker) renew(ctx context.Context, l *lease) error {
	before := time.Now()
	n, err := w.exec(ctx, w.stmt.Get("slotrun/renew"), l.ttl.Microseconds(), l.slot, l.bucket, l.worker, l.token)
	if err != nil {
		return fmt.Errorf("renewing bucket %d of slot %s: %w", l.bucket, stamp(l.slot), err)
	}
	if n == 0 {
		l.lose()
		return errLeaseLost
	}
	l.renewed(before)
	return nil
}

// release gives a lease back.
func (w *Worker) release(ctx context.Context, l *lease, finished bool) error {
	_, err := w.exec(ctx, w.stmt.Get("slotrun/release"), finished, l.slot, l.bucket, l.worker, l.token)
	if err != nil {
		return fmt.Errorf("releasing bucket %d of slot %s: %w", l.bucket, stamp(l.slot), err)
	}
	return nil
}
