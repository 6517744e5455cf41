package longrun

import (
	"context"
	"errors"
	"fmt"
	"time"

	"github.com/jmoiron/sqlx"

	"prescient/prescient"
	"prescient/prescient/internal/errno"
	"prescient/prescient/internal/literal"
	"prescient/prescient/internal/reserved"
	"prescient/prescient/internal/store"
	"prescient/prescient/longrun/internal/check"
	"prescient/prescient/longrun/internal/claimer"
)

// conclude commits what a call answered, unless the run is lost. It tries while the lease lives, which goes on being renewed.
func (e *exec) conclude(run *Run, a prescient.Answer, ran time.Duration) {
	log := e.options.Log.With().Str("job_exec", run.job.JobExec).Stringer("entity", run.job.Entity()).Str("tag", run.job.Tag).Logger()
	wait := store.NewBackOff()
	for run.alive(time.Now()) {
		ctx, cancel := context.WithTimeout(context.Background(), e.send.Timeout)
		err := e.tryConclude(ctx, run, a, ran)
		cancel()
		switch {
		case err == nil:
			run.became = claimer.Ended
			if a.Cause == prescient.CauseWaits {
				run.became = claimer.HandedOn
			}
			return
		case errors.Is(err, ErrLost):
			run.lose(ErrLost)
		case errno.Passing(err) || errors.Is(err, check.ErrMoved):
			time.Sleep(wait.NextBackOff())
		case errno.KeepsRow(err) && a.Cause == prescient.CauseCalled && a.Err == nil:
			a = prescient.Answer{Err: fmt.Errorf("it could not end: %w", err)}
			log.Error().Err(err).Msg("a long run cannot be ended; its call counts as an error")
		case errno.KeepsRow(err) && a.Cause != prescient.CauseRefused && a.Cause != prescient.CauseWaits:
			run.failed = a.Cause == prescient.CauseCalled
			a = prescient.Answer{Cause: prescient.CauseRefused, Err: err}
			log.Error().Err(err).Msg("a long run cannot be ended; its check is put off, and not called any more")
		default:
			// It lapses, and is called again: as any check whose end cannot be written.
			log.Error().Err(err).Msg("the end of a long run could not be written")
			run.lose(ErrLost)
		}
	}
	log.Warn().Err(a.Err).Msg("a long run is lost; nothing of its call was committed")
}

// tryConclude commits the end or the move of a check together with the end of its run, in one transaction: first the check is locked, as
// a slot run does, then the run's token proved.
func (e *exec) tryConclude(ctx context.Context, run *Run, a prescient.Answer, ran time.Duration) error {
	tx, err := e.send.DB.BeginTxx(ctx, nil)
	if err != nil {
		return err
	}
	defer func() { _ = tx.Rollback() }() // does nothing once it is committed
	p, err := check.Find(ctx, tx.Tx, &e.tables, e.options.Name, run.job)
	if err != nil {
		return err
	}
	c := conclusion{Present: p, exec: e, tx: tx, run: run, ran: ran}
	if run.row.schedule != "" && run.row.check.isRenewed(&p) {
		if err := p.Lock(ctx); err != nil {
			return err
		}
		if err := c.supersede(ctx, a); err != nil {
			return err
		}
		return committed(tx.Commit())
	}
	if !run.row.check.is(&p) {
		v := prescient.Verdict{Outcome: prescient.Cancelled, Reason: ErrDropped.Error(), DueAt: run.row.check.dueAt, CheckCount: run.row.check.checkCount}
		if err := c.fence(ctx, v, false); err != nil {
			return err
		}
		if err := c.offerNext(ctx); err != nil {
			return err
		}
		if err := e.tell(ctx, tx, e.endOf(run.job, v, c.Now)...); err != nil {
			return err
		}
		return committed(tx.Commit())
	}
	if err := p.Lock(ctx); err != nil {
		return err
	}
	if err := c.write(ctx, a); err != nil {
		return err
	}
	return committed(tx.Commit())
}

// committed wraps the error of a COMMIT. One whose answer was lost is tried again: the fence then tells that it was done.
func committed(err error) error {
	if err != nil {
		return fmt.Errorf("committing: %w", err)
	}
	return nil
}

// conclusion is what is written at the end of a call.
type conclusion struct {
	check.Present
	*exec
	tx  *sqlx.Tx
	run *Run
	ran time.Duration
}

// supersede ends a run whose schedule was changed while it was under way: its check, which goes on where it waits, ends with it.
func (c *conclusion) supersede(ctx context.Context, a prescient.Answer) error {
	job := c.run.job
	c.Count(&job)
	job.TotalMS += literal.Millis(c.ran)
	v := reserved.Superseded(job)
	v.CheckCount = c.run.row.check.checkCount
	if a.Cause == prescient.CauseRefused {
		v = c.keep(job, a)
	}
	return c.settle(ctx, job, v)
}

// write writes what becomes of the check and of the run.
func (c *conclusion) write(ctx context.Context, a prescient.Answer) error {
	job := c.run.job // with the slot in which it started
	c.Count(&job)
	v := prescient.Decide(c.tables.Grid, c.guards, job, a, c.Now)
	switch a.Cause {
	case prescient.CauseWaits: // handed on
		if err := c.fence(ctx, v, true); err != nil {
			return err
		}
		c.run.row.allocatedUntil = c.Now
		return c.Move(ctx, job, v)
	case prescient.CauseRefused:
		v = c.keep(job, a)
	}
	job.TotalMS += literal.Millis(c.ran)
	if next := c.run.terms.Next; a.Err != nil && a.Cause == prescient.CauseCalled && v.Outcome == "" && !next.IsZero() && !v.Slot.Before(next) {
		v.Outcome, v.Reason = prescient.Failed, fmt.Sprintf("%s (not tried again: the next occurrence is due at %s)", v.Reason, next.UTC().Format(time.RFC3339))
	}
	return c.settle(ctx, job, v)
}

// keep is what becomes of a check that the server refuses to end: a foreign key of the app keeps it, or a trigger. It waits, and is not called; the
// slot runs that meet it try to end it.
func (c *conclusion) keep(job prescient.FutureJob, a prescient.Answer) prescient.Verdict {
	v := prescient.Decide(c.tables.Grid, c.guards, job, a, c.Now)
	if c.run.failed {
		v.ErrorCount++
	}
	return v
}

// settle writes the end or the move of the check, and the end of its run or that it waits to be called again.
func (c *conclusion) settle(ctx context.Context, job prescient.FutureJob, v prescient.Verdict) error {
	if err := c.fence(ctx, v, false); err != nil {
		return err
	}
	if v.Outcome == "" {
		return c.Move(ctx, job, v)
	}
	if err := c.offerNext(ctx); err != nil {
		return err
	}
	if err := c.End(ctx, job, v, &c.run.clock.Told, c.ran); err != nil {
		return err
	}
	return c.tell(ctx, c.tx, c.endOf(job, v, c.Now)...)
}

// fence proves the run's token, and says what becomes of the run: it ends, is handed on, or waits to be called again.
func (c *conclusion) fence(ctx context.Context, v prescient.Verdict, handOn bool) error {
	var until, ended *time.Time
	var as *string
	agent := c.options.Name
	if v.Outcome != "" {
		name := string(v.Outcome)
		ended, as = &c.Now, &name
	} else if handOn {
		until, agent = &c.Now, ""
	}
	keeps := v.Outcome != prescient.Done
	n, err := store.Affected(ctx, c.tx, c.tables.Stmt.Get("longrun/fence"), until, agent, ended, as, keeps, v.DueAt, v.CheckCount, c.run.row.key[:], c.run.row.token)
	switch {
	case err != nil:
		return fmt.Errorf("fence: %w", err)
	case n == 0:
		return ErrLost
	}
	return nil
}

// offerNext offers the run that waits for the end of this one, where both are those of a pool.
func (c *conclusion) offerNext(ctx context.Context) error {
	if c.run.terms.Overlap != Queue {
		return nil
	}
	first, last := c.run.job.Entity().KeyRange()
	if _, err := c.tx.ExecContext(ctx, c.tables.Stmt.Get("longrun/offer_next"), c.Now, first[:], last[:]); err != nil {
		return fmt.Errorf("offering the next long run of the schedule: %w", err)
	}
	return nil
}

// Ended is the end of a run, or of a check that was not run.
type Ended struct {
	// Job is the check, with the slot in which its run started last.
	Job     prescient.FutureJob
	Outcome prescient.Outcome
	// Reason is the text of the error; empty where all went well.
	Reason string
	// At is by the database's clock.
	At time.Time
	// Agent is the one that wrote the end.
	Agent string
}

// OnEnd is told of ends, in the transaction that writes them, last of all. After an error nothing of that is written, and it is tried again.
//
// It is not told of a check that was cancelled or changed while nobody had its run: that is for who did that to know.
type OnEnd func(ctx context.Context, db prescient.DB, ended []Ended) error

// RegisterWithEnds is Register for a job_exec that keeps books on the ends of its runs.
func (r *Runner) RegisterWithEnds(registry *prescient.Registry, name string, fn Func, guards prescient.Guards, onEnd OnEnd) error {
	return r.register(registry, "", name, fn, guards, onEnd)
}

// tell tells of ends.
func (e *exec) tell(ctx context.Context, db prescient.DB, ended ...Ended) error {
	if e.onEnd == nil || len(ended) == 0 {
		return nil
	}
	if err := e.onEnd(ctx, db, ended); err != nil {
		return fmt.Errorf("noting the end of long runs: %w", err)
	}
	return nil
}

// endOf is the end of a check by a verdict; none where that moves it.
func (e *exec) endOf(job prescient.FutureJob, v prescient.Verdict, at time.Time) []Ended {
	if v.Outcome == "" || e.onEnd == nil {
		return nil
	}
	return []Ended{{Job: job, Outcome: v.Outcome, Reason: v.Reason, At: at, Agent: e.options.Name}}
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
	var locked []waiting // what somebody else's locks are in the way of, which come after the others
	for {
		w, ok := r.nextWaiting(ended)
		if !ok && len(locked) == 0 {
			return
		}
		if !ok {
			r.mu.Lock()
			for _, w := range locked {
				r.waiting.remember(w)
			}
			r.mu.Unlock()
			locked = nil
			if time.Since(began) > r.options.Lease {
				return
			}
			select {
			case <-r.stopped:
				return
			case <-time.After(wait.NextBackOff()):
			}
			continue
		}
		err := w.start(w)
		switch {
		case err == nil || errors.Is(err, check.ErrMoved): // a slot run has met it again
			wait.Reset()
		case contested(err):
			locked = append(locked, w)
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
