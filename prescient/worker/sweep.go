package worker

import (
	"context"
	"errors"
	"math/rand/v2"
	"slices"
	"strings"
	"sync"
	"time"

	"prescient/prescient"
	"prescient/prescient/internal/errno"
	"prescient/prescient/internal/store"
	"prescient/prescient/worker/books"
	"prescient/prescient/worker/internal/bucket"
	"prescient/prescient/worker/internal/ledger"
	"prescient/prescient/worker/internal/look"
)

// errPaused ends a sweep once everything is paused; it never leaves the package.
var errPaused = errors.New("everything is paused")

// Sweep runs what earlier slots left behind, oldest first, each under its own leases: rows whose insert committed after
// their slot had run, slots that nobody served, buckets of dead workers. What a live worker holds it leaves alone. It
// takes slots that are older than the sweep grace, as many buckets at a time as Run does, and gives way to the slot that
// is now. That one it takes, too, and first, where it is older than the grace and nobody runs it. What comes to be overdue
// meanwhile comes before what is left. Of the places for calls it takes half; all where this worker has run no slots of its own. A slot of which nothing is left but slow calls does not hold up the next; it passes
// over one whose rows all wait for calls of which too many wait already. It returns the figures of each slot that it ran.
// Where everything is paused it does nothing.
func (w *Worker) Sweep(ctx context.Context) ([]books.Figures, error) {
	var all []books.Figures
	var running sync.WaitGroup
	s := &sweeping{w: w, running: &running, did: func(figures books.Figures) { all = append(all, figures) }}
	err := s.sweep(ctx)
	running.Wait()
	if err == nil {
		err = s.outcome()
	}
	slices.SortFunc(all, func(a, b books.Figures) int { return a.Slot.Compare(b.Slot) })
	return all, err
}

// sweepEvery sweeps until ctx ends. The first sweep comes soon, so that a restart catches up; the others are jittered,
// so that workers do not sweep in step. Where something was left to the sweeper it comes as soon as the grace is over.
// Runs that outlast their sweep go on beside the next.
func (w *Worker) sweepEvery(ctx context.Context, running *sync.WaitGroup, fail context.CancelCauseFunc) {
	every := w.options.Sweep.Every
	var known time.Time
	for wait := min(every, time.Second); w.sleepUntilLeft(ctx, wait) == nil; wait = every*9/10 + rand.N(every/5+1) {
		// It keeps no figures: after an outage there may be millions of slots.
		s := &sweeping{w: w, running: running, did: func(books.Figures) {}, logs: true, known: known}
		err := s.sweep(ctx)
		known = s.known
		switch {
		case ctx.Err() != nil:
			return
		case errors.Is(err, prescient.ErrConfigChanged):
			fail(err)
			return
		case err != nil && !errors.Is(err, s.mayGoOn()):
			w.log.Error().Err(err).Msg("sweep")
		}
	}
}

// leaveToSweeper has the sweeper look soon for what was left behind.
func (w *Worker) leaveToSweeper() { w.sweepSoon.Ring() }

// sleepUntilLeft sleeps for a time, or until what was left to the sweeper is older than the grace.
func (w *Worker) sleepUntilLeft(ctx context.Context, d time.Duration) error {
	ended := time.Now().Add(d)
	timer := time.NewTimer(d)
	defer timer.Stop()
	select {
	case <-timer.C:
		return nil
	case <-ctx.Done():
		return ctx.Err()
	case <-w.sweepSoon:
		return store.Sleep(ctx, min(w.options.Sweep.Grace+askEvery, time.Until(ended)))
	}
}

// sweeping is one sweep.
type sweeping struct {
	w       *Worker
	running *sync.WaitGroup     // its runs, some of which may outlast it
	did     func(books.Figures) // of each slot that it ran
	logs    bool                // what runs fail with, of which it returns only what ended it
	known   time.Time           // overdue slots before it were known when it looked last; zero where it never did
	paused  store.Pauses
	more    int      // overdue slots after that which it is at, about
	passed  int      // slots that were passed over
	crowded []string // the job_execs that their rows wait for

	mu      sync.Mutex
	failed  error // the first of a run
	stopped error // what ends the sweep
}

// note takes note of what a run failed with. One that fails for what is in its slot holds up no others; where the server
// is away, or slots are not to be run any more, the sweep ends. Called with the mutex held.
func (s *sweeping) note(ctx context.Context, err error) {
	switch {
	case s.failed == nil && !s.logs:
		s.failed = err // what the sweep returns
	case ctx.Err() == nil && !errors.Is(err, prescient.ErrConfigChanged) && !errors.Is(err, errPaused):
		s.w.log.Error().Err(err).Msg("sweep")
	}
	if s.stopped == nil && (errno.Passing(err) || ctx.Err() != nil || errors.Is(err, prescient.ErrConfigChanged) || errors.Is(err, errPaused)) {
		s.stopped = err
	}
}

// outcome is the error of the sweep so far.
func (s *sweeping) outcome() error {
	s.mu.Lock()
	defer s.mu.Unlock()
	switch {
	case errors.Is(s.stopped, errPaused):
		return nil
	case s.stopped != nil:
		return s.stopped
	}
	return s.failed
}

// mayGoOn is what ended the sweep; nil while it goes on.
func (s *sweeping) mayGoOn() error {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.stopped
}

// sweep starts a run for each slot that is overdue, one at a time, those aside that only wait for slow calls.
func (s *sweeping) sweep(ctx context.Context) error {
	w := s.w
	seen, err := w.look.Now(ctx)
	if err != nil || seen.Paused.All() {
		return err
	}
	s.paused = seen.Paused
	before := w.look.OverdueBefore(seen.Clock.Now())
	if s.known.IsZero() || before.Before(s.known) { // it never looked, or the clock was set back since
		s.known = before
	}
	backlog := s.known
	n := 0
	err = s.sweepNew(ctx, seen.Clock)
	if err == nil {
		err = w.look.EachOverdue(ctx, prescient.EarliestDue, backlog, func(slot time.Time, more int) error {
			s.more = more
			if n++; n%look.Page == 0 {
				if err := s.sweepNew(ctx, seen.Clock); err != nil {
					return err
				}
			}
			return s.start(ctx, slot, more)
		})
	}
	if s.passed > 0 {
		w.log.Warn().Int("slots", s.passed).Strs("job_execs", s.crowded).
			Msg("a sweep passed over slots whose rows wait for slow job_execs; it comes again when there is room")
	}
	if err != nil && s.mayGoOn() == nil {
		return err
	}
	if last, _ := w.bounds.sweepers.take(ctx); last != nil { // the last run is done, or only waits
		last.give()
	}
	err = s.outcome()
	if err == nil {
		w.backlog.Ends()
	}
	return err
}

// sweepNew runs the slot that is now, where nobody does, and those that came to be overdue since it looked last. They are
// late by little as yet, and there may be much before them that has to wait for other reasons.
func (s *sweeping) sweepNew(ctx context.Context, c store.Clock) error {
	if err := s.sweepCurrent(ctx, c); err != nil {
		return err
	}
	from := s.known
	s.known = s.w.look.OverdueBefore(c.Now())
	return s.w.look.EachOverdue(ctx, from, s.known, func(slot time.Time, more int) error { return s.start(ctx, slot, more+s.more) })
}

// sweepCurrent runs the slot that is now, where it is older than the grace and nobody runs it: whoever should have did not
// come, or gave up.
func (s *sweeping) sweepCurrent(ctx context.Context, c store.Clock) error {
	w := s.w
	now := c.Now()
	slot := w.tables.Grid.Floor(now)
	if now.Sub(slot) <= w.options.Sweep.Grace {
		return nil
	}
	seen, err := w.look.At(ctx, slot)
	if err != nil || !seen.Due || seen.Paused.All() {
		return err
	}
	list, err := w.ledger.Rows(ctx, slot)
	if err != nil {
		return err
	}
	if held, _ := outlook(list); held > 0 {
		return nil
	}
	return s.start(ctx, slot, s.more)
}

// start starts the run of a slot, which about so many follow, when the one before it is done, or only waits.
func (s *sweeping) start(ctx context.Context, slot time.Time, more int) error {
	place, err := s.w.bounds.sweepers.take(ctx)
	if err != nil {
		return err
	}
	if err := s.mayGoOn(); err != nil || s.onlyCrowdedOut(ctx, slot) {
		place.give()
		return err
	}
	s.w.backlog.Starts(time.Now(), more)
	s.running.Go(func() { s.run(ctx, slot, place) })
	return nil
}

// onlyCrowdedOut says whether a slot has no other rows than those of job_execs for which as many buckets wait as may. A run
// would leave them as they are, and while an endpoint is dead there may be thousands of such slots. Where it cannot find out,
// the slot is run.
func (s *sweeping) onlyCrowdedOut(ctx context.Context, slot time.Time) bool {
	crowded := s.w.shared.CrowdedOut(s.paused)
	if len(crowded) == 0 {
		return false
	}
	args := []any{slot}
	for _, name := range crowded {
		args = append(args, name)
	}
	ctx, cancel := context.WithTimeout(ctx, s.w.send.Timeout)
	defer cancel()
	others := true
	err := s.w.send.DB.QueryRowContext(ctx, s.w.tables.Fill("sweep/others", "{job_execs}", "?"+strings.Repeat(", ?", len(crowded)-1)), args...).Scan(&others)
	if err != nil || others {
		return false
	}
	s.passed++
	s.crowded = crowded
	return true
}

// run runs one slot.
func (s *sweeping) run(ctx context.Context, slot time.Time, place *place) {
	w := s.w
	figures, err := w.runSlot(ctx, slot, runOptions{by: ledger.Sweep, parallel: w.buckets(), background: true, place: place,
		beforeRead: func(_ context.Context, rows int) error { return w.beforeCatchUp(ctx, rows) }})
	s.mu.Lock()
	defer s.mu.Unlock()
	switch {
	case errors.Is(err, errSetBack):
	case err != nil:
		if !figures.Idle() {
			w.report(figures, nil, "slot swept in part")
		}
		s.note(ctx, err)
	case figures.Paused:
		s.note(ctx, errPaused)
	case figures.Buckets > 0:
		w.report(figures, nil, "slot swept")
		s.did(figures)
	}
}

// askEvery is how often a sweep looks whether the slot that is now is done.
const askEvery = 100 * time.Millisecond

// beforeCatchUp waits before rows are caught up: for the slot that is now, at most a second, so that the backlog moves at all;
// and for the configured rate.
func (w *Worker) beforeCatchUp(ctx context.Context, rows int) error {
	for waited := time.Duration(0); waited < time.Second && len(w.bounds.runs) > 0; waited += askEvery {
		if store.Sleep(ctx, askEvery) != nil {
			return bucket.ErrStopped
		}
	}
	if w.sweeps != nil && w.sweeps.WaitN(ctx, rows) != nil {
		return bucket.ErrStopped
	}
	return nil
}
