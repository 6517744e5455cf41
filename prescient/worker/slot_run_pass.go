package worker

import (
	"cmp"
	"context"
	"errors"
	"hash/fnv"
	"sync"

	"prescient/prescient/worker/internal/bucket"
	"prescient/prescient/worker/internal/ledger"
)

// workThroughAll works through the buckets that are free, several at a time, and returns how many it had. Late rows wait in
// buckets that were finished, so those are looked at too, on the first pass.
func (r *slotRun) workThroughAll(list []ledger.Row) int {
	r.mu.Lock()
	r.todo = nil
	first := r.figures.Buckets == 0
	for _, row := range list {
		if row.Free() || first && row.Finished {
			r.todo = append(r.todo, row)
		}
	}
	// Workers that share a slot begin at different ends of it.
	if n := len(r.todo); n > 1 {
		h := fnv.New32a()
		_, _ = h.Write([]byte(r.w.options.Name))
		from := int(h.Sum32() % uint32(n))
		r.todo = append(r.todo[from:n:n], r.todo[:from]...)
	}
	before := r.figures.Buckets
	var workers sync.WaitGroup
	r.another = func() { workers.Go(r.workThrough) }
	r.busy, r.lingering = 0, 0
	r.startMore(r.pace.Effort().Buckets)
	r.mu.Unlock()
	workers.Wait()
	return r.figures.Buckets - before
}

// startMore has so many buckets worked on at a time, as far as there are some. Called with the mutex held.
func (r *slotRun) startMore(atATime int) {
	for range min(atATime-r.busy, len(r.todo)) {
		r.busy++
		r.another()
	}
}

// workThrough takes one bucket after the other, until none is left, or one lingers.
func (r *slotRun) workThrough() {
	for row, ok := r.next(); ok; row, ok = r.next() {
		lingered, err := r.bucket(row)
		if err != nil {
			r.mu.Lock()
			r.errs = append(r.errs, err) // after which there is no next
			r.mu.Unlock()
		}
		if lingered {
			return
		}
	}
}

// bucket claims a bucket, runs it and gives it back. It says whether it lingered, and another goroutine has its place.
func (r *slotRun) bucket(row ledger.Row) (lingered bool, err error) {
	const notWaited = -1
	waitedFor := notWaited // or so many locked rows
	l, err := r.w.ledger.Claim(r.work, r.slot, row, r.by)
	if err != nil || l == nil {
		return false, err
	}
	calls, cancel := context.WithCancel(r.calls)
	defer cancel()
	o := bucket.Options{Lease: l, Buckets: row.Buckets, Clock: r.Clock, Calls: calls, Stop: r.stop, BeforeRead: r.beforeRead, Pace: r.pace, Background: r.background, Paused: r.Paused,
		Hidden: &r.hidden, Wary: row.GivenBack()}
	r.mu.Lock()
	o.FirstRead = r.lastRead
	r.mu.Unlock()
	o.OnLinger = func() {
		if !lingered {
			lingered = true
			r.lingers()
		}
	}
	if r.background {
		o.OnCalled = func() { lingered = lingered || r.onlyCommits() }
	}
	o.MayWait = func(rows int) bool {
		may := r.mayWait(rows)
		if may {
			waitedFor = rows
		}
		return may
	}
	b := bucket.New(r.w.shared, o)
	r.mu.Lock()
	r.leases[l] = cancel
	r.mu.Unlock()
	err = b.Run(r.work)
	lost, locked, crowded := errors.Is(err, ledger.ErrLost), errors.Is(err, bucket.ErrRowsLocked), errors.Is(err, bucket.ErrCrowdedOut)
	b.Figures.Buckets = 1
	if row.Allocated {
		b.Figures.Takeovers = 1
	}
	if lost {
		b.Figures.LeasesLost = 1
	}
	if crowded {
		b.Figures.CrowdedOut = 1
	}
	r.mu.Lock()
	delete(r.leases, l)
	r.lastRead = cmp.Or(b.LastRead(), r.lastRead)
	r.figures.Add(b.Figures)
	if waitedFor != notWaited {
		r.waits.waiting--
		r.waits.rows -= waitedFor
	}
	if locked || crowded {
		r.waits.left[l.Bucket] = true
	}
	r.mu.Unlock()
	if lost {
		r.w.log.Warn().Time("slot", r.slot).Int("bucket", l.Bucket).Msg("lease lost; what was in flight runs again")
		r.w.ledger.GiveBack(r.work, l)
		if l.MayBeFinished() && !row.Finished {
			r.finished.Store(true)
		}
		return lingered, nil
	}
	var release error
	if !b.Finished {
		release = r.w.ledger.Release(r.work, l, err == nil)
	}
	if (err == nil || b.Finished) && !row.Finished {
		r.finished.Store(true) // also where the answer of the release was lost: the bucket may be finished
	}
	if locked && b.Figures.Locked > 0 {
		r.w.sayLocked(r.work, l, b.Figures.Locked, b.LeftLocked)
	}
	if release != nil {
		r.w.ledger.Lapsed.Add(l)
		return lingered, errors.Join(err, release)
	}
	if locked || crowded || errors.Is(err, bucket.ErrStopped) {
		return lingered, nil
	}
	return lingered, err
}

// lingers has another bucket run in the place of one that only waits. Where none is left the run only waits, too.
func (r *slotRun) lingers() {
	r.mu.Lock()
	defer r.mu.Unlock()
	r.lingering++
	if len(r.todo) > 0 {
		r.another()
		return
	}
	r.busy--
	r.givePlace()
}

// onlyCommits gives up the part of a bucket that has only to be committed, where no other is left to take it. So the sweeper
// opens the next slot while this one is committed, which for many small ones is half of the time; calls stay in the order of
// their slots. It is false where too many are being committed already, by the pace: while that rests, none beside another.
func (r *slotRun) onlyCommits() bool {
	r.mu.Lock()
	defer r.mu.Unlock()
	effort := r.pace.Effort()
	if len(r.todo) > 0 || effort.Rest > 0 || len(r.w.bounds.tails) >= effort.Buckets {
		return false
	}
	if r.busy == 1 && r.giving.tail == nil {
		tail, free := r.w.bounds.tails.try()
		if !free {
			return false
		}
		r.giving.tail = tail
	}
	r.lingering++
	r.busy--
	r.givePlace()
	return true
}

// givePlace gives the place of a run that only waits to another. Called with the mutex held.
func (r *slotRun) givePlace() {
	if r.busy == 0 && r.lingering > 0 {
		r.place.give()
		r.giving.letPurge()
	}
}

// mayWait says whether one more bucket, with so many rows in memory, may wait for locked rows. As many buckets may wait as may
// run. More may wait while they have no more rows in memory than those that run may have, or once no other bucket is left.
func (r *slotRun) mayWait(rows int) bool {
	r.mu.Lock()
	defer r.mu.Unlock()
	if len(r.todo) > 0 && r.waits.waiting >= r.parallel && r.waits.rows+rows > r.parallel*r.w.options.Load.Batch {
		return false
	}
	r.waits.waiting++
	r.waits.rows += rows
	return true
}

// next takes a bucket off the list.
func (r *slotRun) next() (row ledger.Row, ok bool) {
	r.mu.Lock()
	defer r.mu.Unlock()
	stopped := false
	select {
	case <-r.stop:
		stopped = true
	default:
	}
	if stopped || len(r.todo) == 0 || len(r.errs) > 0 || r.busy > r.pace.Effort().Buckets {
		r.busy--
		r.givePlace()
		return row, false
	}
	row, r.todo = r.todo[0], r.todo[1:]
	return row, true
}

// maxStaying is how many runs of a worker may wait for the leases of other workers to end. What runs beyond that leave, the
// sweeper has.
const maxStaying = 64

// mayStay says whether the run may wait for other workers. While it does another has its place.
func (r *slotRun) mayStay() bool {
	if !r.giving.staying {
		if r.w.bounds.staying.Add(1) > maxStaying {
			r.w.bounds.staying.Add(-1)
			return false
		}
		r.giving.staying = true
	}
	r.place.give()
	r.giving.letPurge()
	return true
}

func (r *slotRun) stopStaying() {
	if r.giving.staying {
		r.w.bounds.staying.Add(-1)
	}
}
