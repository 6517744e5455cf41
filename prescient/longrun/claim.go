package longrun

import (
	"context"
	"errors"
	"time"

	"prescient/prescient"
	"prescient/prescient/internal/errno"
	"prescient/prescient/internal/store"
)

// maxWaiting is how many waiting checks an agent remembers. The slots that meet the others again start them.
const maxWaiting = 10000

// waiting is a check that is due, and has no place here, or comes behind another run of its schedule. It waits in future_job like any
// other, for whichever worker runs its next slot; this agent remembers it, so that it starts when a place comes free.
type waiting struct {
	exec   *exec
	job    prescient.FutureJob
	behind string        // the schedule; empty where it waits for a place
	other  prescient.Key // the run that it comes behind
	ours   bool          // which is this agent's
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
		r.remember(w)
		need = need || w.behind == "" && !r.full()
	}
	if need {
		r.resuming++
	}
	return need
}

// remember remembers a check. The lock is held.
func (r *Runner) remember(w waiting) {
	key := w.job.Key()
	if _, is := r.waiting[key]; is || len(r.waiting) < maxWaiting {
		r.waiting[key] = w
	}
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
		err := w.exec.claim(w)
		switch {
		case err == nil || errors.Is(err, errMoved): // a slot run has met it again
			wait.Reset()
		case errno.Passing(err) && time.Since(began) < r.options.Lease:
			r.mu.Lock()
			r.remember(w)
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

// full says whether no run may start: there is no place, or the agent stops. The lock is held.
func (r *Runner) full() bool { return r.placesLeft("") <= 0 }

// nextWaiting takes the check that is to start next. It keeps a place for it.
func (r *Runner) nextWaiting(ended string) (next waiting, ok bool) {
	r.mu.Lock()
	defer r.mu.Unlock()
	if r.full() {
		return next, false
	}
	for _, w := range r.waiting {
		if w.behind != "" && w.behind != ended {
			continue
		}
		if !ok || w.job.DueAt.Before(next.job.DueAt) {
			next, ok = w, true
		}
	}
	if ok {
		delete(r.waiting, next.job.Key())
		r.starting[""]++
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
			e.remember(w)
		}
	}
	return nil
}

// What there is of a check that is to be started by itself.
type presence uint8

const (
	checkThere presence = iota
	checkGone
	checkPaused
)

// startAlone does what a slot run does with a check that it meets, in a transaction of its own, which locks the check first.
func (e *exec) startAlone(ctx context.Context, m *meeting) (found presence, err error) {
	tx, err := e.send.DB.BeginTxx(ctx, nil)
	if err != nil {
		return found, err
	}
	defer func() { _ = tx.Rollback() }() // does nothing once it is committed
	job := &m.jobs[0]
	p, err := find(ctx, tx.Tx, &e.tables, e.options.Name, *job)
	switch {
	case err != nil:
		return found, err
	case !p.is(identityOf(*job)):
		return checkGone, nil
	case p.paused:
		return checkPaused, nil
	}
	if err := p.lock(ctx); err != nil {
		return found, err
	}
	job.CalledAt, job.ErrorCount, job.PutOffCount, job.TotalMS = p.now, int(p.errors.Int64), int(p.putOff.Int64), p.totalMS.Int64
	if m.terms, m.now, err = e.terms(ctx, tx, m.jobs); err != nil {
		return found, err
	}
	answers, err := m.run(ctx, tx)
	if err != nil {
		return found, err
	}
	v := prescient.Decide(e.tables.Grid, prescient.Guards{Endless: true}, *job, answers[0], m.now)
	if v.Outcome == "" {
		err = p.move(ctx, *job, v)
	} else {
		err = p.end(ctx, *job, v, time.Time{}, 0)
	}
	if err != nil {
		return found, err
	}
	if err := tx.Commit(); err != nil {
		return found, err // what was committed all the same lapses, and is taken over
	}
	if late := m.now.Sub(e.tables.Grid.Ceil(job.DueAt)); answers[0].Cause == prescient.CauseStarts && e.guards.SLA > 0 && late > e.guards.SLA {
		// No slot run counts it.
		e.options.Log.Warn().Str("job_exec", job.JobExec).Stringer("entity", job.Entity()).Str("tag", job.Tag).Dur("late", late).
			Msg("a long run starts later than its SLA: it waited for a place, or for the run before it")
	}
	e.launch(m.started)
	e.tellOfOffers(m.offered)
	return found, nil
}
