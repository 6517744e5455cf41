package worker

import (
	"hash/fnv"
	"sync"

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
