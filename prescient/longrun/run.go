package longrun

import (
	"context"
	"errors"
	"fmt"
	"maps"
	"slices"
	"sync"
	"time"

	"prescient/prescient"
	"prescient/prescient/internal/caught"
	"prescient/prescient/internal/lease"
	"prescient/prescient/internal/reserved"
	"prescient/prescient/internal/store"
	"prescient/prescient/longrun/internal/ahead"
	"prescient/prescient/longrun/internal/check"
	"prescient/prescient/longrun/internal/claimer"
)

// Run is a call of a long run, as its function gets it. It is for concurrent use.
type Run struct {
	exec  *exec
	job   prescient.FutureJob
	terms Terms
	row   known
	slot  time.Time   // in which it started
	clock store.Clock // the database's, as it was then

	cancel context.CancelCauseFunc
	became claimer.How // of it, once that is committed
	failed bool        // what cannot be ended of it, as a call that counts as an error

	term       lease.Term
	mu         sync.Mutex
	checkpoint []byte
	at         check.Place // where its check waits, until a renewal may have moved that

	placed bool // it has a place; the runner's lock is held
	ending bool // it gave that back, and its end is to be committed; the runner's lock is held

	part *part // nil for a run of its own
}

// part is what a run that is a part of another has of its own.
type part struct {
	of   *Run
	wrap func(checkpoint []byte) ([]byte, error)
}

// ran is what the claimer knows of a run, which is this agent's until a time.
func (r *Run) ran(until time.Time) claimer.Run {
	return claimer.Run{Key: r.row.key, Pool: r.row.pool, JobExec: r.job.JobExec, Token: r.row.token, Until: until}
}

// expiry is when the lease ends, by the database's clock.
func (r *Run) expiry() time.Time {
	return r.clock.When(r.term.Until())
}

// Job returns the check that it is for. Its NextCheckAt is the slot in which the run started.
func (r *Run) Job() prescient.FutureJob { return reserved.InCall(r.job) }

// Takeovers is how often the run was taken over from an agent that let it lapse.
func (r *Run) Takeovers() int { return r.row.takeovers }

// Agent is the name of the one that calls it.
func (r *Run) Agent() string { return r.exec.options.Name }

// Token is the number under which this call has the run. Whoever has the run of this check later has a higher one, so that what keeps the highest it
// has seen can refuse a call that is over and does not know it yet.
func (r *Run) Token() uint64 { return r.row.token }

// StartedAt is when the run started for the first time, by the database's clock. Its quota counts from then.
func (r *Run) StartedAt() time.Time { return r.row.startedAt }

// Now is the database's time: as it told it when the call began, and what has elapsed since. The clock of this machine plays no part.
func (r *Run) Now() time.Time { return r.clock.Now() }

// Left is how much of the quota is left, or of the timeout of the call; ok is false where there is no bound.
func (r *Run) Left() (left time.Duration, ok bool) {
	end := r.end()
	if end.IsZero() {
		return 0, false
	}
	return max(end.Sub(r.Now()), 0), true
}

// end is when the call is to end, by the database's clock; zero for never.
func (r *Run) end() (end time.Time) {
	if r.terms.Quota > 0 {
		end = r.row.startedAt.Add(r.terms.Quota)
	}
	if timeout := r.exec.guards.Timeout; timeout > 0 {
		if at := r.clock.Told.Add(timeout); end.IsZero() || at.Before(end) {
			end = at
		}
	}
	return end
}

// Checkpoint is what was saved last: by this call, by the one before it, or by the last run of the schedule, unless that was done; of a
// job_exec that is Endless, also by a run of the same key whose check was cancelled or changed. Nil for nothing.
func (r *Run) Checkpoint() []byte {
	r.mu.Lock()
	defer r.mu.Unlock()
	return r.checkpoint
}

// waitsAt is where its check waits, as far as is known. The first who asks goes by it: where that does not do, whoever has tried finds the check.
func (r *Run) waitsAt() (at check.Place) {
	r.mu.Lock()
	defer r.mu.Unlock()
	at, r.at = r.at, at
	return at
}

// alive says whether the lease lives. Once over it stays so.
func (r *Run) alive(now time.Time) bool {
	if r.part != nil {
		return r.part.of.alive(now)
	}
	return r.term.Alive(now)
}

// lose ends the call of a run that is not to be committed.
func (r *Run) lose(why error) {
	r.term.Lose()
	r.cancel(why)
}

// launch calls runs that were committed.
func (r *Runner) launch(runs []*Run) {
	contexts := make([]context.Context, len(runs))
	r.mu.Lock()
	for i, run := range runs {
		contexts[i], run.cancel = context.WithCancelCause(context.Background())
		if old := r.runs[run.row.key]; old != nil { // it lapsed, and ignores that
			go old.lose(ErrLost)
			r.places.leave(old)
		}
		r.runs[run.row.key] = run
		r.places.take(run)
		if r.ending {
			run.cancel(ErrHandOn)
		}
	}
	r.mu.Unlock()
	for i, run := range runs {
		r.claimer.Started(run.ran(run.expiry())) // before it says that it has ended
		go run.exec.call(contexts[i], run)
	}
	r.renewing.Do(func() { go r.renew() })
}

// returned gives the place of a run back whose function has returned: the next one is claimed while its end commits.
func (r *Runner) returned(run *Run) {
	r.mu.Lock()
	left := r.places.end(run)
	r.mu.Unlock()
	if left {
		r.claimer.PlaceFree(run.row.pool)
	}
}

// leave forgets a run that has ended.
func (r *Runner) leave(run *Run) {
	r.mu.Lock()
	if r.runs[run.row.key] == run {
		delete(r.runs, run.row.key)
	}
	left := r.places.over(run)
	r.leaving++
	r.mu.Unlock()
	r.claimer.Finished(run.ran(run.row.allocatedUntil), run.became)
	if left {
		r.claimer.PlaceFree(run.row.pool)
	}
	r.mu.Lock()
	defer r.mu.Unlock()
	r.leaving--
	r.still()
}

// call calls the function of a run, and commits what it answers.
func (e *exec) call(ctx context.Context, run *Run) {
	defer e.leave(run)
	defer run.cancel(nil)
	began := time.Now()
	if !run.alive(began) { // the answer to the COMMIT of its claim took that long
		run.lose(ErrLost)
		e.options.Log.Warn().Str("job_exec", run.job.JobExec).Stringer("entity", run.job.Entity()).Str("tag", run.job.Tag).
			Msg("a long run is lost: its lease was over before it was called")
		return
	}
	if end := run.end(); !end.IsZero() {
		cause := ErrQuota
		if run.terms.Quota == 0 || end.Before(run.row.startedAt.Add(run.terms.Quota)) {
			cause = fmt.Errorf("%w: it took longer than %s", prescient.ErrTimeout, e.guards.Timeout)
		}
		defer e.after(end.Sub(run.clock.Now()), func() { run.cancel(cause) })()
	}
	e.options.Observer.calling(run.job)
	answered := caught.Go(func() (a prescient.Answer) {
		if a.Next, a.Err = e.fn(ctx, run); a.Err != nil {
			a.Err = caught.Quoted(a.Err, ErrHandOn)
		}
		return a
	}, func(err error) prescient.Answer { return prescient.Answer{Err: err} })
	var a prescient.Answer
	select {
	case a = <-answered:
	case <-ctx.Done():
		// It has the term of a lease to come back.
		select {
		case a = <-answered:
		case <-time.After(e.options.Lease):
			a = prescient.Answer{Err: fmt.Errorf("%w, and ignored the end of its context", context.Cause(ctx))}
			if errors.Is(context.Cause(ctx), ErrHandOn) {
				run.lose(ErrLost) // for another to take over, when this process is gone
			}
			e.options.Log.Warn().Err(context.Cause(ctx)).Str("job_exec", run.job.JobExec).Stringer("entity", run.job.Entity()).
				Msg("a long run ignores the end of its context; it is abandoned")
		}
	}
	ran := time.Since(began)
	a = e.judge(ctx, run, a)
	e.returned(run)
	e.conclude(run, a, ran)
}

// judge says what the answer of a call comes to, by why its context ended, if it did.
func (e *exec) judge(ctx context.Context, run *Run, a prescient.Answer) prescient.Answer {
	why := context.Cause(ctx)
	switch {
	case errors.Is(why, ErrQuota):
		return prescient.Answer{Cause: prescient.CauseEnds, Outcome: prescient.Quota, Err: quotaError(run.terms.Quota)}
	case errors.Is(why, prescient.ErrTimeout):
		return prescient.Answer{Err: why}
	case a.Err != nil && (errors.Is(why, ErrHandOn) || errors.Is(a.Err, ErrHandOn) && e.isDraining()):
		return prescient.Answer{Cause: prescient.CauseWaits}
	}
	return a
}

// runsPerStatement is how many runs are renewed by one statement.
const runsPerStatement = 500

// renew keeps the leases of all runs alive, a third of the term after they were last, and ends the calls of those whose lease is over.
func (r *Runner) renew() {
	ticker := time.NewTicker(max(r.options.Lease/20, 50*time.Millisecond))
	defer ticker.Stop()
	for {
		select {
		case <-r.idle:
			return
		case <-ticker.C:
		}
		r.renewDue(time.Now())
	}
}

// renewDue renews what is due for it: all runs together, so that a thousand of them are a few statements.
func (r *Runner) renewDue(now time.Time) {
	r.mu.Lock()
	all := slices.Collect(maps.Values(r.runs))
	r.mu.Unlock()
	var due []*Run
	first := false
	for _, run := range all {
		if !run.alive(now) {
			r.claimer.Lapsed(run.row.key)
			continue
		}
		due = append(due, run)
		first = first || run.term.IsDue(now)
	}
	if !first {
		return
	}
	slices.SortFunc(due, func(a, b *Run) int { return slices.Compare(a.row.key[:], b.row.key[:]) })
	for some := range slices.Chunk(due, runsPerStatement) {
		if err := r.renewSome(some); err != nil {
			r.options.Log.Warn().Err(err).Int("runs", len(some)).Msg("leases of long runs could not be renewed yet")
		}
	}
}

// term is that of a run, as lease.Keep has it.
type term struct{ run *Run }

// Renewed implements lease.Held.
func (t term) Renewed(asked time.Time) {
	t.run.term.Renewed(asked)
	_ = t.run.waitsAt() // its check is moved ahead after that
	t.run.exec.claimer.Renewed(t.run.ran(t.run.expiry()))
}

// Gone implements lease.Held; unless the run has ended just now.
func (t term) Gone() { t.run.exec.claimer.Gone(t.run.ran(t.run.expiry())) }

// renewSome renews some runs, finds out which of them are lost, and which are not wanted any more.
func (r *Runner) renewSome(some []*Run) error {
	ctx, cancel := context.WithTimeout(store.Vital(context.Background()), r.options.Lease/3)
	defer cancel()
	terms, runs := make([]term, len(some)), make([]ahead.Run, len(some))
	for i := range some {
		terms[i] = term{some[i]}
		runs[i] = ahead.Run{Key: some[i].row.key, Condition: tokens("", some[i:i+1])}
	}
	var held map[prescient.Key]ahead.Check
	var unknown error // where they are renewed, and not known to be wanted
	err := lease.Keep(terms, func() (func(term) lease.Standing, error) {
		n, locked := 0, []ahead.Run(nil)
		err := r.send.Query(ctx, func(ctx context.Context) (err error) {
			n, locked, err = ahead.Change(ctx, r.send.DB, &r.tables, runs, "longrun/renew", r.options.Lease.Microseconds())
			return err
		})
		if err != nil {
			return nil, err
		}
		if held, err = ahead.Look(ctx, r.send, &r.tables, tokens("run.", some)); err != nil && n == len(some) {
			unknown, err = err, nil
		}
		isLocked := make(map[prescient.Key]bool, len(locked)) // which the next round renews, if it can
		for _, run := range locked {
			isLocked[run.Key] = true
		}
		return func(t term) lease.Standing {
			switch _, is := held[t.run.row.key]; {
			case unknown == nil && !is:
				return lease.Gone
			case isLocked[t.run.row.key]:
				return lease.Waits
			}
			return lease.Kept
		}, err
	})
	if err = errors.Join(err, unknown); err != nil {
		return err
	}
	for _, run := range some {
		if check, is := held[run.row.key]; is && !check.Wanted {
			r.claimer.Unwanted(run.ran(run.expiry()))
		}
	}
	if err := ahead.Move(ctx, r.send.DB, &r.tables, r.options.Lease, held); err != nil {
		r.options.Log.Debug().Err(err).Msg("checks of long runs were not moved ahead; the slot runs that meet them do it")
	}
	return nil
}

// tokens is the condition that holds for runs under their tokens.
func tokens(table string, some []*Run) string {
	return ahead.Tokens(table, some, func(run *Run) (prescient.Key, uint64) { return run.row.key, run.row.token })
}
