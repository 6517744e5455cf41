package longrun

import (
	"context"
	"errors"
	"time"

	"prescient/prescient"
	"prescient/prescient/internal/errno"
	"prescient/prescient/internal/store"
	"prescient/prescient/longrun/internal/check"
)

// maxWaiting is how many waiting checks an agent remembers. The slots that meet the others again start them.
const maxWaiting = 10000

// waiting is a check that is due, and has no place here, or comes behind another run of its schedule. It waits in future_job like any
// other, for whichever worker runs its next slot; this agent remembers it, so that it starts when a place comes free.
type waiting struct {
	start  func(w waiting) error
	job    prescient.FutureJob
	behind string        // the schedule; empty where it waits for a place
	other  prescient.Key // the run that it comes behind
	ours   bool          // which is this agent's
}

// waitingList are those that an agent remembers.
type waitingList map[prescient.Key]waiting

// remember remembers a check.
func (l waitingList) remember(w waiting) {
	key := w.job.Key()
	if _, is := l[key]; is || len(l) < maxWaiting {
		l[key] = w
	}
}

// take takes the check that is to start next, the earliest first: one that waits for a place, or for a run of a schedule that has ended.
func (l waitingList) take(ended string) (next waiting, ok bool) {
	for _, w := range l {
		if w.behind != "" && w.behind != ended {
			continue
		}
		if !ok || w.job.DueAt.Before(next.job.DueAt) {
			next, ok = w, true
		}
	}
	if ok {
		delete(l, next.job.Key())
	}
	return next, ok
}

// wait remembers checks that a slot run has met. It says whether one of them need not wait, since what it waits for has come about
// meanwhile: the caller has resume start it.
func (r *Runner) wait(some ...waiting) (need bool) {
	r.mu.Lock()
	defer r.mu.Unlock()
	for _, w := range some {
		if w.ours && r.runs[w.other] == nil {
			w.behind = "" // that has ended
		}
		r.waiting.remember(w)
		need = need || w.behind == "" && r.placesLeft("") > 0
	}
	if need {
		r.resuming++
	}
	return need
}

// resume starts checks that wait. A run of a schedule has ended, so that what came behind it need not wait for that any more.
// The caller has counted it.
func (r *Runner) resume(ended string) {
	r.startWaiting(ended)
	r.mu.Lock()
	defer r.mu.Unlock()
	r.resuming--
	r.still()
}

// startWaiting starts checks that wait, the earliest first, as far as there are places.
func (r *Runner) startWaiting(ended string) {
	began, wait := time.Now(), store.NewBackOff()
	for {
		w, ok := r.nextWaiting(ended)
		if !ok {
			return
		}
		err := w.start(w)
		switch {
		case err == nil || errors.Is(err, check.ErrMoved): // a slot run has met it again
			wait.Reset()
		case errno.Passing(err) && time.Since(began) < r.options.Lease:
			r.mu.Lock()
			r.waiting.remember(w)
			r.mu.Unlock()
			select {
			case <-r.stopped:
			case <-time.After(wait.NextBackOff()):
			}
		default: // the next slot run that meets it starts it
			r.options.Log.Warn().Err(err).Str("job_exec", w.job.JobExec).Stringer("entity", w.job.Entity()).Msg("a long run that waits could not be started")
		}
	}
}

// nextWaiting takes the check that is to start next. It keeps a place for it.
func (r *Runner) nextWaiting(ended string) (next waiting, ok bool) {
	r.mu.Lock()
	defer r.mu.Unlock()
	if r.placesLeft("") <= 0 {
		return next, false
	}
	if next, ok = r.waiting.take(ended); ok {
		r.places.starting[""]++
	}
	return next, ok
}

// claim starts a check that waits, by the rules by which a slot run would.
func (e *exec) claim(w waiting) error {
	m := &meeting{exec: e, jobs: []prescient.FutureJob{w.job}, before: time.Now(), places: 1}
	defer e.unreserve("", m.places)
	ctx, cancel := context.WithTimeout(context.Background(), e.send.Timeout)
	defer cancel()
	if found, err := e.startAlone(ctx, m); err != nil || found != checkThere {
		return err
	}
	// What waits still, waits for the next slot, or for the end of another run.
	e.mu.Lock()
	defer e.mu.Unlock()
	for _, w := range m.waiting {
		if w.behind != "" {
			e.waiting.remember(w)
		}
	}
	return nil
}
