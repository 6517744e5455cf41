package worker

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"maps"
	"slices"
	"sync"
	"sync/atomic"
	"time"

	"prescient/prescient/internal/store"
	"prescient/prescient/worker/books"
	"prescient/prescient/worker/internal/ledger"
	"prescient/prescient/worker/internal/look"
	"prescient/prescient/worker/internal/pace"
	"prescient/slots"
)

// slotRun is one run of one slot by this worker: the only thing that ever executes job_execs. Run, Work and Sweep
// differ in the slots that they ask for, and in how.
type slotRun struct {
	w    *Worker
	slot time.Time
	look.State
	runOptions
	ends

	mu sync.Mutex // of what follows
	pass
	pace    *pace.Run
	backlog *pace.Backlog // that the run is of; nil for a slot whose time has come
	waits   lockWaits
	hidden  atomic.Bool // a commit waited for locks that do not show by the primary key
	giving  giving
	leases  map[*ledger.Lease]context.CancelFunc
	figures books.Figures
	// lastRead is how many rows the bucket that ended last would have asked for next.
	lastRead int

	served bool // no bucket of the slot is unfinished
}

// ends are what tells a slot run to end.
type ends struct {
	stop  <-chan struct{} // nothing new is to be started
	calls context.Context // nothing of the calls is wanted any more
	work  context.Context // nothing is to be committed any more
}

// giving is what a slot run gives to others while it only waits.
type giving struct {
	tail     *place // of a sweep that has nothing to do but to commit
	staying  bool   // the run waits for other workers
	letPurge func() // ends what is put off for the run
}

// pass is one round through the buckets of the slot that are free.
type pass struct {
	todo      []ledger.Row
	another   func() // starts one more goroutine that works through them
	busy      int    // goroutines that work on buckets which do not linger
	lingering int    // buckets of the pass that do, or did
	errs      []error
}

// lockWaits are the buckets of a slot run that have to do with rows which somebody else has locked.
type lockWaits struct {
	left    map[int]bool // this run has left rows of theirs that are locked, or has no room for them to wait in
	waiting int          // buckets that wait
	rows    int          // that those have in memory
}

// runOptions is how a slot is run.
type runOptions struct {
	by         ledger.By
	parallel   int  // buckets at a time, at most
	background bool // what is due now comes first; a slot that is much too early is left
	beforeRead func(ctx context.Context, rows int) error
	stay       bool   // wait for the leases of others to end, to take over what a dead worker left
	place      *place // is given to another run while this one only waits
	// clocks, where given, is told of a clock that was set: by which the slot has not come, and the run ends with errSetBack then, as one in
	// the background does; or that is ahead of the one that is known. Otherwise the run waits for the slot.
	clocks chan<- store.Clock
	known  store.Clock
	// finished, where given, has whether a try before this one has finished a bucket for the first time.
	finished *atomic.Bool
}

// errSetBack is returned by a run that found the clock before its slot, and left it.
var errSetBack = errors.New("the database's clock was set back")

// runSlot runs one slot: it returns when nothing of it is left that this worker may do. Ending ctx stops it gracefully.
func (w *Worker) runSlot(ctx context.Context, slot time.Time, how runOptions) (books.Figures, error) {
	defer how.place.give()
	figures, err := w.tryRun(ctx, slot, how)
	w.watched.After(figures, time.Now())
	w.observeRun(figures, err)
	return figures, err
}

// tryRun is one try of runSlot, which nobody is told of yet.
func (w *Worker) tryRun(ctx context.Context, slot time.Time, how runOptions) (books.Figures, error) {
	began := time.Now()
	calls, work, cancel := w.scope(ctx)
	defer cancel()
	seen, err := w.awaitSlot(ctx, slot, how)
	if err != nil || seen.Paused.All() {
		return books.Figures{Slot: slot, Paused: err == nil}, err
	}
	w.ledger.GiveBackLate(work)
	how.finished = cmp.Or(how.finished, new(atomic.Bool))
	r := &slotRun{w: w, slot: slot, State: seen, runOptions: how, ends: ends{stop: ctx.Done(), calls: calls, work: work},
		leases: make(map[*ledger.Lease]context.CancelFunc), waits: lockWaits{left: make(map[int]bool)}, figures: books.Figures{Slot: slot}}
	if seen.Due {
		err = r.run(ctx)
	} else {
		err = r.noteEmpty()
	}
	if err == nil && r.served && r.finished.Load() && w.tellsServed() {
		w.options.Observer.Served(slot)
	}
	r.figures.Troubles = books.Troubles(r.figures.Troubles).Sorted()
	r.figures.Took = time.Since(began)
	return r.figures, err
}

// noteEmpty notes that the slot held nothing. Where somebody is told of served slots, it looks first whether that was noted before, which the statement
// does not tell; what it cannot look at it does not note, as once it is noted nobody is told.
func (r *slotRun) noteEmpty() error {
	if r.w.tellsServed() {
		list, err := r.w.ledger.Rows(r.work, r.slot)
		if err != nil {
			return err
		}
		if len(list) == 0 {
			r.finished.Store(true)
		}
		r.served = len(list) == 0 || finished(list)
	}
	if _, err := r.w.send.Exec(r.work, r.w.tables.Stmt.Get("slotrun/open_empty"), r.slot, r.w.options.Name, r.by, r.slot); err != nil {
		return fmt.Errorf("noting the empty slot %s: %w", slots.Stamp(r.slot), err)
	}
	return nil
}

// awaitSlot looks at the slot once it has come by the database's clock. It does not wait where that is much too early and the run
// is in the background, or there is somebody to be told.
func (w *Worker) awaitSlot(ctx context.Context, slot time.Time, how runOptions) (look.State, error) {
	for {
		seen, err := w.look.At(ctx, slot)
		if err != nil {
			return look.State{}, err
		}
		early, set := slot.Sub(seen.Clock.Now()), inexact(w.tables.Grid)
		if early > set || seen.Clock.Now().Sub(how.known.Now()) > set {
			select {
			case how.clocks <- seen.Clock:
			default: // it is being told already, or nobody asks
			}
		}
		if early <= 0 {
			return seen, nil
		}
		if (how.background || how.clocks != nil) && early > set {
			return look.State{}, errSetBack
		}
		if err := store.Sleep(ctx, early); err != nil {
			return look.State{}, err
		}
	}
}

func (r *slotRun) run(ctx context.Context) error {
	list, err := r.w.ledger.Open(r.work, r.slot, r.by)
	if err != nil {
		return err
	}
	if len(list) > r.parallel {
		r.widen(ctx)
	}
	r.pace = r.newPace(list)
	running, ended := context.WithCancel(r.work)
	var beside sync.WaitGroup
	beside.Go(func() { r.renew(running) })
	if opened := list; r.pace.Adapts() {
		beside.Go(func() { r.keepPace(running, opened) })
	}
	purging, letPurge := context.WithCancel(running)
	r.giving.letPurge = letPurge
	if len(list) > 1 && !r.background {
		beside.Go(func() { r.w.purge.PutOff(purging, r.slot) })
	}
	defer beside.Wait()
	defer ended()
	defer r.stopStaying()
	defer func() { r.giving.tail.give() }()
	giveUp := time.Now().Add(2 * r.w.options.Times.Lease)
	idle := time.Now() // since when there was nothing to do
	for {
		if slices.ContainsFunc(list, ledger.Row.Free) && !r.place.retake(ctx) {
			return nil
		}
		did := r.workThroughAll(list)
		if err := errors.Join(r.errs...); err != nil {
			return err
		}
		if ctx.Err() != nil {
			r.lookServed()
			return nil
		}
		if list, err = r.w.ledger.Reopened(r.work, r.slot, r.by); err != nil {
			return err
		}
		r.served = finished(list)
		list = slices.DeleteFunc(list, func(row ledger.Row) bool { return r.waits.left[row.Bucket] })
		if did > 0 {
			idle = time.Now()
			giveUp = idle.Add(2 * r.w.options.Times.Lease)
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
			if _, err := r.w.look.At(r.work, r.slot); err != nil {
				return err
			}
		}
		if !r.stay || time.Now().After(giveUp) || !r.mayStay() {
			r.figures.Held = held
			return nil
		}
		if store.Sleep(ctx, napFor(time.Since(idle), next.lapses)) != nil {
			return nil
		}
	}
}

// lookServed looks whether the slot was served by what was done before the worker was told to stop, where somebody is told of that.
func (r *slotRun) lookServed() {
	if !r.w.tellsServed() || !r.finished.Load() {
		return
	}
	list, err := r.w.ledger.Rows(r.work, r.slot)
	r.served = err == nil && finished(list)
}

// finished says whether all buckets of a slot are.
func finished(list []ledger.Row) bool {
	return len(list) > 0 && !slices.ContainsFunc(list, func(row ledger.Row) bool { return !row.Finished })
}

// shortestNap and longestNap are how long to wait for others at least, and at most: what one that stops gives back is taken up by then.
const shortestNap, longestNap = 50 * time.Millisecond, time.Second

// napFor is how long to wait for buckets that others hold, after having waited for a time. Whoever holds one is mostly about
// to finish, and a dead one is waited for in longer and longer naps: none makes the wait longer by more than an eighth, or
// goes on when a lease has lapsed.
func napFor(waited, lapses time.Duration) time.Duration {
	return max(min(waited/8, lapses, longestNap), shortestNap)
}

// prospect is what the ledger promises.
type prospect struct {
	free   int           // buckets to be had now
	lapses time.Duration // when the next lease of another ends
}

// outlook counts the unfinished buckets that others hold, and says when there is something to be had.
func outlook(list []ledger.Row) (held int, next prospect) {
	for _, row := range list {
		switch {
		case row.Finished:
		case row.LivesFor == 0:
			next.free++
		default:
			held++
			if next.lapses == 0 || row.LivesFor < next.lapses {
				next.lapses = row.LivesFor
			}
		}
	}
	return held, next
}

// renew keeps the leases of this run alive until ctx ends. Where one is lost, the calls under it are told to end.
func (r *slotRun) renew(ctx context.Context) {
	ticker := time.NewTicker(max(r.w.options.Times.Lease/20, 50*time.Millisecond))
	defer ticker.Stop()
	for {
		select {
		case <-ctx.Done():
			return
		case <-ticker.C:
		}
		r.mu.Lock()
		leases := maps.Clone(r.leases)
		r.mu.Unlock()
		for l, cancel := range leases {
			if l.IsDue(time.Now()) {
				one, done := context.WithTimeout(ctx, l.TTL()/3)
				err := r.w.ledger.Renew(one, l)
				done()
				if err != nil && ctx.Err() == nil && !errors.Is(err, ledger.ErrLost) {
					r.w.log.Warn().Err(err).Msg("a lease could not be renewed yet")
				}
			}
			if !l.Alive(time.Now()) {
				cancel()
			}
		}
	}
}

// inexact is by how much a timer may be early.
func inexact(grid slots.Grid) time.Duration { return min(2*time.Second, grid.Resolution()/10) }
