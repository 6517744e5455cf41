package steps

import (
	"cmp"
	"context"
	"database/sql"
	"errors"
	"fmt"
	"time"

	"github.com/jmoiron/sqlx"

	"prescient/prescient"
	"prescient/prescient/internal/store"
	"prescient/prescient/longrun"
	"prescient/prescient/output"
	"prescient/slots"
)

// walk is a call of a run: it goes from step to step.
type walk struct {
	*Jobs
	long  *longrun.Run
	name  string // of the job
	job   Job    // in the version that the run keeps
	state state
	own   []byte // the checkpoint of the step
}

// call is the job_exec of jobs.
func (j *Jobs) call(ctx context.Context, long *longrun.Run) (*time.Time, error) {
	check := long.Job()
	name, is := jobOf(check)
	if !is {
		return nil, prescient.Final(fmt.Errorf("%w: %s of %s is no run of a job", prescient.ErrInvalid, check.JobExec, check.Entity()))
	}
	w := &walk{Jobs: j, long: long, name: name}
	w.state, w.own = decodeState(long.Checkpoint(), check.Tag)
	if err := w.begin(ctx); err != nil {
		return nil, err
	}
	for w.state.Step < len(w.job.Steps) {
		if next, err := w.step(ctx, w.job.Steps[w.state.Step]); next != nil || err != nil {
			return next, err
		}
	}
	return nil, nil
}

// begin reads the version that the run keeps, which is the current one where it has none, and logs that it begins or goes on.
func (w *walk) begin(ctx context.Context) error {
	fresh, called := w.state.Version == 0, w.state.Called
	return w.long.SaveTx(ctx, func(ctx context.Context, tx *sqlx.Tx) ([]byte, error) {
		version := w.state.Version
		if fresh {
			found, err := w.find(ctx, tx, []string{w.name}, store.Plainly)
			if err != nil {
				return nil, err
			}
			if len(found) == 0 {
				return nil, prescient.Final(fmt.Errorf("%w: job %q", ErrNotFound, w.name))
			}
			version = found[0].version
		}
		one, err := w.GetVersion(ctx, tx, w.name, version)
		if err != nil {
			return nil, err
		}
		w.job, w.state.Version, w.state.Called = one.Job, version, false
		return w.state.encode(w.own)
	}, func(ctx context.Context, tx *sqlx.Tx) error {
		if fresh {
			return w.logBegin(ctx, tx)
		}
		return w.logGoOn(ctx, tx, called)
	})
}

// step calls the step that comes next. It returns when the run is to go on, or why it does not, where that is not at once.
func (w *walk) step(ctx context.Context, step Step) (next *time.Time, err error) {
	if err := w.wait(ctx); err != nil {
		return nil, err
	}
	do, guards := w.handler(step.JobExec)
	leave, err := w.lanes.enter(ctx, w.long, step.JobExec, guards.Concurrency)
	if err != nil {
		return nil, err
	}
	paused, err := w.announce(ctx, step, do != nil)
	if err != nil || paused || do == nil {
		leave()
	}
	switch {
	case err != nil:
		return nil, err
	case paused:
		later := slots.Later(w.long.Now(), w.long.Job().NextCheckAt).Add(time.Microsecond)
		return &later, nil
	case do == nil:
		return nil, fmt.Errorf("step %q: job_exec %q is not registered with agent %s", step.Name, step.JobExec, w.long.Agent())
	}
	c := &attempt{walk: w, step: step, state: w.state, own: w.own, most: max(guards.MaxChecks, 0), tail: output.NewTail(MaxOutput)}
	job := w.check(step)
	a := guarded(c.contextOf(ctx), cmp.Or(step.Timeout, guards.Timeout), func(ctx context.Context) answered {
		defer leave() // also of a call that was abandoned, once it returns
		return do(ctx, c, job)
	})
	c.over.Store(true)
	if a.done != nil {
		w.state, w.own = a.done.state, nil
		return a.done.next, a.err
	}
	return w.settle(ctx, c, a)
}

// wait waits until the step is to be called.
func (w *walk) wait(ctx context.Context) error {
	if w.state.At == nil {
		return nil
	}
	timer := time.NewTimer(w.state.At.Sub(w.long.Now()))
	defer timer.Stop()
	return comes(ctx, w.long, timer.C)
}

// announce logs that a step is called, unless its job_exec is paused. One that is not registered is logged as such.
func (w *walk) announce(ctx context.Context, step Step, registered bool) (paused bool, err error) {
	before := w.state
	w.state.Seq++
	w.state.Called = registered
	err = w.long.SaveTx(ctx, func(ctx context.Context, tx *sqlx.Tx) ([]byte, error) {
		var n int
		if err := tx.QueryRowContext(ctx, w.tables.Stmt.Get("steps/paused"), step.JobExec, prescient.AllExecs).Scan(&n); err != nil {
			return nil, fmt.Errorf("looking whether job_exec %q is paused: %w", step.JobExec, err)
		}
		if paused = n > 0; paused {
			return before.encode(w.own)
		}
		return w.state.encode(w.own)
	}, func(ctx context.Context, tx *sqlx.Tx) error {
		if paused {
			return nil
		}
		if err := w.logCall(ctx, tx, step); err != nil || registered {
			return err
		}
		return w.logAnswer(ctx, tx, outcome{result: ResultUnregistered, reason: "job_exec " + step.JobExec + " is not registered with this agent"}, output.NewTail(0))
	})
	if paused {
		w.state = before
	}
	return paused, err
}

// check is what a step is called with.
func (w *walk) check(step Step) prescient.FutureJob {
	run := w.long.Job()
	return prescient.FutureJob{EntityName: "job", EntityKey: w.name, JobExec: step.JobExec, Tag: step.Name, DueAt: scheduledAt(run),
		FirstCheckAt: run.FirstCheckAt, NextCheckAt: run.NextCheckAt, CalledAt: run.CalledAt, InsertedAt: run.InsertedAt,
		CheckCount: w.state.Checks, ErrorCount: w.state.Failures, Payload: step.Arguments}
}

// saveTime is how long the answer of a call may take to be written whose context has ended.
const saveTime = 10 * time.Second

// settle commits what became of a call.
func (w *walk) settle(ctx context.Context, c *attempt, a answered) (next *time.Time, err error) {
	why := context.Cause(ctx)
	var o outcome
	after := w.state
	switch {
	case errors.Is(why, longrun.ErrLost) || errors.Is(a.err, longrun.ErrLost):
		return nil, longrun.ErrLost
	case a.err != nil && (why != nil || errors.Is(a.err, longrun.ErrHandOn)):
		// It was ended from without, and did not fail: whoever goes on with the run calls it again.
		if why == nil {
			why = longrun.ErrHandOn
		}
		o = outcome{result: endedAs(why), reason: prescient.ReasonText(why)}
		after.Called = false
	default:
		why = nil
		after, o = w.state.advance(c.step, c.most, a, w.long.Now())
	}
	own := c.checkpoint()
	if after.Step != w.state.Step {
		own = nil
	}
	if ctx.Err() != nil {
		saving, cancel := context.WithTimeout(context.WithoutCancel(ctx), saveTime)
		defer cancel()
		ctx = saving
	}
	err = w.long.SaveTx(ctx, func(ctx context.Context, tx *sqlx.Tx) ([]byte, error) {
		if a.err != nil || c.part.Load() != nil {
			kept, err := w.unanswered(ctx, tx)
			if err != nil {
				return nil, err
			}
			if after.Step == w.state.Step {
				own = kept
			}
		}
		return after.encode(own)
	}, func(ctx context.Context, tx *sqlx.Tx) error { return w.logs(ctx, tx, c, o, after) })
	var kept *keptError
	if errors.As(err, &kept) {
		return w.goOnFrom(kept, why)
	}
	if o.reason != "" {
		w.options.Log.Warn().Str("job", w.name).Str("run", w.state.Occurrence).Str("step", c.step.Name).Str("result", o.result).Str("error", o.reason).Msg("a step did not end well")
	}
	if err != nil && !errors.Is(err, longrun.ErrHandOn) {
		return nil, errors.Join(why, err)
	}
	w.state, w.own = after, own
	switch {
	case o.stop != nil:
		return nil, prescient.Final(o.stop)
	case why != nil:
		return nil, why
	}
	return o.next, err
}

// keptError is that of a call which looked as if it had failed, and whose effects and answer were committed all the same: the answer of its COMMIT
// was lost, or came too late.
type keptError struct {
	state state
	own   []byte
}

func (*keptError) Error() string { return "the answer of the call was committed" }

// unanswered makes sure that no answer was committed of the call that is under way, and returns the checkpoint of the step as it is stored: the
// answer to a save of it may have been lost. A COMMIT that is not over yet is waited for. The error is a *keptError.
func (w *walk) unanswered(ctx context.Context, tx *sqlx.Tx) (own []byte, err error) {
	key := w.long.Job().Key()
	var checkpoint []byte
	err = tx.QueryRowContext(ctx, w.tables.Stmt.Get("steps/kept"), key[:], w.long.Token()).Scan(&checkpoint)
	if errors.Is(err, sql.ErrNoRows) {
		return nil, nil // it is lost, as the save finds
	}
	if err != nil {
		return nil, fmt.Errorf("looking for what was committed of a step: %w", err)
	}
	is, own := decodeState(checkpoint, w.state.Occurrence)
	if is.Seq == w.state.Seq && !is.Called {
		return nil, &keptError{is, own}
	}
	return own, nil
}

// goOnFrom goes on from what was committed of a call. why is why its context ended, if it did so from without.
func (w *walk) goOnFrom(kept *keptError, why error) (next *time.Time, err error) {
	answeredWithTime := kept.state.Checks > w.state.Checks
	w.state, w.own = kept.state, kept.own
	switch {
	case why != nil:
		return nil, why
	case answeredWithTime:
		return w.state.At, nil
	}
	return nil, nil
}

// endedAs is the result of a call that was ended from without.
func endedAs(why error) string {
	switch {
	case errors.Is(why, longrun.ErrQuota):
		return string(prescient.Quota)
	case errors.Is(why, longrun.ErrDropped):
		return string(prescient.Cancelled)
	}
	return ResultHandedOn
}

// logs logs what became of a call, in the transaction that saves the state after it.
func (w *walk) logs(ctx context.Context, tx *sqlx.Tx, c *attempt, o outcome, after state) error {
	if err := w.logAnswer(ctx, tx, o, c.tail); err != nil || !o.noted {
		return err
	}
	return w.log(ctx, tx, "steps/note", after.notes(), w.name, w.state.Occurrence)
}
