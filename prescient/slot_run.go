package prescient

import (
	"context"
	"errors"
	"fmt"
	"hash/fnv"
	"slices"
	"sync"
	"sync/atomic"
	"time"
)

// slotRun is one run of one slot by this worker: the only thing that ever executes job_execs. Run, Work and Sweep
// differ in the slots that they ask for, and in how.
type slotRun struct {
	w      *Worker
	slot   time.Time
	clock  clock
	paused pauses
	manner
	stop  <-chan struct{}
	calls context.Context
	work  context.Context

	mu      sync.Mutex
	todo    []ledgerRow
	left    map[int]bool // buckets of which this run has left rows that are locked
	waiting atomic.Int32 // buckets that have made place for others
	waitFor int          // rows that those may have in memory
	turns   chan struct{}
	another func() // starts working through todo, beside those that do
	leases  map[*lease]context.CancelFunc
	figures Figures
	errs    []error
}

// manner is how a slot is run.
type manner struct {
	parallel   int  // buckets at a time
	background bool // what is due now comes first
	pace       func(ctx context.Context, rows int) error
	stay       bool // wait for the leases of others to end, to take over what a dead worker left
	// early, where given, is told of a clock by which the slot has not come; the run ends with errSetBack then. Otherwise it
	// waits for the slot.
	early chan<- clock
}

// runSlot runs one slot: it returns when nothing of it is left that this worker may do. Ending ctx stops it gracefully.
func (w *Worker) runSlot(ctx context.Context, slot time.Time, how manner) (Figures, error) {
	began := time.Now()
	calls, work, cancel := w.scope(ctx)
	defer cancel()
	seen, err := w.awaitSlot(ctx, slot, how.early)
	if err != nil || seen.paused.all() {
		return Figures{Slot: slot, Paused: err == nil}, err
	}
	r := &slotRun{w: w, slot: slot, clock: seen.clock, paused: seen.paused, manner: how, stop: ctx.Done(), calls: calls, work: work,
		leases: make(map[*lease]context.CancelFunc), left: make(map[int]bool), figures: Figures{Slot: slot}}
	if seen.due {
		err = r.run(ctx)
	} else if _, err = w.exec(work, w.stmt.Get("slotrun/open_empty"), slot, w.options.Name, slot); err != nil {
		err = fmt.Errorf("noting the empty slot %s: %w", stamp(slot), err)
	}
	r.figures.Troubles = troubles(r.figures.Troubles).sorted()
	r.figures.Took = time.Since(began)
	w.observeRun(r.figures, err)
	return r.figures, err
}

// awaitSlot looks at the slot once it has come by the database's clock. Where it is much too early for it and tell is
// given, the clock is sent there instead.
func (w *Worker) awaitSlot(ctx context.Context, slot time.Time, tell chan<- clock) (glance, error) {
	for {
		seen, err := w.glance(ctx, slot)
		if err != nil {
			return glance{}, err
		}
		early := slot.Sub(seen.clock.now())
		if early <= 0 {
			return seen, nil
		}
		if tell != nil && early > inexact(w.grid) {
			select {
			case tell <- seen.clock:
			default: // it is being told already
			}
			return glance{}, errSetBack
		}
		if err := sleep(ctx, early); err != nil {
			return glance{}, err
		}
	}
}

func (r *slotRun) run(ctx context.Context) error {
	list, err := r.w.openSlotRun(r.work, r.slot)
	if err != nil {
		return err
	}
	if len(list) > r.parallel {
		r.widen(ctx)
	}
	r.turns = make(chan struct{}, r.parallel)
	running, ended := context.WithCancel(r.work)
	var beside sync.WaitGroup
	beside.Go(func() { r.renew(running) })
	if len(list) > 1 && !r.background {
		beside.Go(func() { r.w.putOffPurge(running) })
	}
	defer beside.Wait()
	defer ended()
	giveUp := time.Now().Add(2 * r.w.options.Lease)
	idle := time.Now() // since when there was nothing to do
	for {
		did := r.pass(list)
		if err := errors.Join(r.errs...); err != nil {
			return err
		}
		if ctx.Err() != nil {
			return nil
		}
		if list, err = r.w.reopened(r.work, r.slot); err != nil {
			return err
		}
		list = slices.DeleteFunc(list, func(row ledgerRow) bool { return r.left[row.bucket] })
		if did > 0 {
			idle = time.Now()
			giveUp = idle.Add(2 * r.w.options.Lease)
		}
		held, next := outlook(list)
		if held+next.free == 0 {
			return nil
		}
		if next.free > 0 && did > 0 {
			continue
		}
		if next.free > 0 {
			// Free, and yet not to be had: another was faster, or slot_config was changed.
			if _, _, err := r.w.look(r.work, r.slot); err != nil {
				return err
			}
		}
		if !r.stay || time.Now().After(giveUp) {
			r.figures.Held = held
			return nil
		}
		if sleep(ctx, napFor(time.Since(idle), next.lapses, r.w.options.Lease)) != nil {
			return nil
		}
	}
}

// shortestNap is how long to wait at least for others.
const shortestNap = 50 * time.Millisecond

// napFor is how long to wait for buckets that others hold, after having waited for a time. Whoever holds one is mostly about
// to finish, and a dead one is waited for in longer and longer naps: none makes the wait longer by more than an eighth, or
// goes on when a lease has lapsed.
func napFor(waited, lapses, lease time.Duration) time.Duration {
	return max(min(waited/8, lapses, lease/3), shortestNap)
}

// prospect is what the ledger promises.
type prospect struct {
	free   int           // buckets to be had now
	lapses time.Duration // when the next lease of another ends
}

// outlook counts the unfinished buckets that others hold, and says when there is something to be had.
func outlook(list []ledgerRow) (held int, next prospect) {
	for _, row := range list {
		switch {
		case row.finished:
		case row.held == 0:
			next.free++
		default:
			held++
			if next.lapses == 0 || row.held < next.lapses {
				next.lapses = row.held
			}
		}
	}
	return held, next
}

// pass works through the buckets that are free, several at a time, and returns how many it had. Late rows wait in
// buckets that were finished, so those are looked at too, on the first pass.
func (r *slotRun) pass(list []ledgerRow) int {
	r.todo = nil
	first := r.figures.Buckets == 0
	for _, row := range list {
		if row.free() || first && row.finished {
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
	for range min(r.parallel, len(r.todo)) {
		r.another()
	}
	workers.Wait()
	return r.figures.Buckets - before
}

// workThrough takes one bucket after the other, until none is left, or another goroutine has its place.
func (r *slotRun) workThrough() {
	for row, ok := r.next(); ok; row, ok = r.next() {
		replaced, err := r.bucket(row)
		if err != nil {
			r.mu.Lock()
			r.errs = append(r.errs, err)
			r.mu.Unlock()
		}
		if err != nil || replaced {
			return
		}
	}
}

// makePlace has another bucket run beside one that only waits, and may have so many rows in memory. As many may wait as
// may run, or more where their rows are no more than those that run may have; it is false where another would have to.
func (r *slotRun) makePlace(rows int, replaced *int) bool {
	r.mu.Lock()
	defer r.mu.Unlock()
	if len(r.todo) == 0 {
		return true
	}
	if int(r.waiting.Load()) >= r.parallel && r.waitFor+rows > r.parallel*r.w.options.Batch {
		return false
	}
	r.waiting.Add(1)
	r.waitFor += rows
	*replaced = rows
	r.another()
	return true
}

// next takes a bucket off the list.
func (r *slotRun) next() (row ledgerRow, ok bool) {
	r.mu.Lock()
	defer r.mu.Unlock()
	select {
	case <-r.stop:
		return row, false
	default:
	}
	if len(r.todo) == 0 || len(r.errs) > 0 {
		return row, false
	}
	row, r.todo = r.todo[0], r.todo[1:]
	return row, true
}

// bucket claims a bucket, runs it and gives it back. It says whether another goroutine has its place.
func (r *slotRun) bucket(row ledgerRow) (replaced bool, err error) {
	const inPlace = -1
	waited := inPlace // or the rows for which it waits
	l, err := r.w.claim(r.work, r.slot, row)
	if err != nil || l == nil {
		return false, err
	}
	b := r.newBucketRun(l, row.buckets)
	b.makePlace = func(rows int) bool { return r.makePlace(rows, &waited) }
	b.waiting, b.turns = &r.waiting, r.turns
	b.wary = row.givenBack()
	var cancel context.CancelFunc
	b.calls, cancel = context.WithCancel(r.calls)
	defer cancel()
	r.mu.Lock()
	r.leases[l] = cancel
	r.mu.Unlock()
	err = b.run(r.work)
	lost, locked := errors.Is(err, errLeaseLost), errors.Is(err, errRowsLocked)
	b.figures.Buckets = 1
	if row.allocated {
		b.figures.Takeovers = 1
	}
	if lost {
		b.figures.LeasesLost = 1
	}
	r.mu.Lock()
	delete(r.leases, l)
	r.figures.add(b.figures)
	if replaced = waited != inPlace; replaced {
		r.waiting.Add(-1)
		r.waitFor -= waited
	}
	if locked {
		r.left[l.bucket] = true
	}
	r.mu.Unlock()
	if lost {
		r.w.log.Warn().Time("slot", r.slot).Int("bucket", l.bucket).Msg("lease lost; what was in flight runs again")
		return replaced, nil
	}
	if locked && b.figures.Locked > 0 {
		r.w.log.Warn().Time("slot", r.slot).Int("bucket", l.bucket).Int("rows", b.figures.Locked).
			Msg("open transactions of others have rows locked; they are left to the sweeper")
	}
	if release := r.w.release(r.work, l, err == nil); release != nil {
		return replaced, errors.Join(err, release)
	}
	if locked || errors.Is(err, errStopped) {
		return replaced, nil
	}
	return replaced, err
}

// renew keeps the leases of this run alive until ctx ends. Where one is lost, the calls under it are told to end.
func (r *slotRun) renew(ctx context.Context) {
	ticker := time.NewTicker(max(r.w.options.Lease/20, 50*time.Millisecond))
	defer ticker.Stop()
	for {
		select {
		case <-ctx.Done():
			return
		case <-ticker.C:
		}
		r.mu.Lock()
		held := make(map[*lease]context.CancelFunc, len(r.leases))
		for l, cancel := range r.leases {
			held[l] = cancel
		}
		r.mu.Unlock()
		for l, cancel := range held {
			if l.dueForRenewal(time.Now()) {
				one, done := context.WithTimeout(ctx, l.ttl/3)
				err := r.w.renew(one, l)
				done()
				if err != nil && ctx.Err() == nil && !errors.Is(err, errLeaseLost) {
					r.w.log.Warn().Err(err).Msg("a lease could not be renewed yet")
				}
			}
			if !l.alive(time.Now()) {
				cancel()
			}
		}
	}
}

// sleep waits, or returns the context's error.
func sleep(ctx context.Context, d time.Duration) error {
	timer := time.NewTimer(d)
	defer timer.Stop()
	select {
	case <-timer.C:
		return nil
	case <-ctx.Done():
		return ctx.Err()
	}
}
