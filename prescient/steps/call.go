package steps

import (
	"context"
	"errors"
	"fmt"
	"sync/atomic"
	"time"

	"github.com/jmoiron/sqlx"

	"prescient/prescient"
	"prescient/prescient/internal/caught"
	"prescient/prescient/longrun"
	"prescient/prescient/output"
)

// MaxOutput is how much is kept of the output of a call, in bytes: the end.
const MaxOutput = 16 << 10

// overtime is how long a call may take to come back, once its context has ended. Then it is abandoned, and the run goes on beside it. A command
// may have half a minute from TERM to KILL, which is to be over by then.
const overtime = 40 * time.Second

// Call is what a step may know of the run that it is called in.
type Call struct {
	// Job is the name of the job, Occurrence the run of it, and Version that of the job.
	Job        string
	Occurrence string
	Version    uint64
	// Step is its name, and Seq counts the calls of the run: the same step of the same run has the same name in each.
	Step string
	Seq  int
}

type callKey struct{}

// CallOf says in which run a job_exec is called as a step; false where it is not.
func CallOf(ctx context.Context) (Call, bool) {
	c, is := ctx.Value(callKey{}).(Call)
	return c, is
}

// attempt is one call of a step. Once it is over nothing more is saved by it.
type attempt struct {
	*walk
	step  Step
	state state // as it was when it began
	own   []byte
	most  int // times that it may answer with
	tail  *output.Tail
	over  atomic.Bool
	part  atomic.Pointer[longrun.Run] // of a step that is a long run
}

// checkpoint is that of the step, as it saved it last.
func (c *attempt) checkpoint() []byte {
	if part := c.part.Load(); part != nil {
		return part.Checkpoint()
	}
	return c.own
}

// calls is how a step is called: it returns what the job_exec answered.
type calls func(ctx context.Context, c *attempt, job prescient.FutureJob) answered

// handler returns how a job_exec is called, and its guards; nil where it is not registered.
func (j *Jobs) handler(name string) (do calls, guards prescient.Guards) {
	if fn, guards := j.runner.Function(name); fn != nil {
		return callLong(fn), guards
	}
	guards = j.registry.GuardsOf(name, j.options.Guards)
	switch h := j.registry.Handler(name).(type) {
	case prescient.Func:
		return func(ctx context.Context, _ *attempt, job prescient.FutureJob) (a answered) {
			a.next, a.err = h(ctx, job)
			return a
		}, guards
	case prescient.BatchFunc:
		return func(ctx context.Context, _ *attempt, job prescient.FutureJob) (a answered) {
			batch := prescient.NewBatch(job)
			if a.err = h(ctx, batch); a.err == nil {
				a.next, a.err = batch.Answer(0)
			}
			return a
		}, guards
	case prescient.TxFunc:
		return callTx(func(ctx context.Context, tx *sqlx.Tx, job prescient.FutureJob) (*time.Time, func(bool), error) {
			next, err := h(ctx, tx, job)
			return next, nil, err
		}), guards
	case prescient.TxBatchFunc:
		return callTx(func(ctx context.Context, tx *sqlx.Tx, job prescient.FutureJob) (*time.Time, func(bool), error) {
			batch := prescient.NewBatch(job)
			if err := h(ctx, tx, batch); err != nil {
				return nil, batch.TxEnded, err
			}
			next, err := batch.Answer(0)
			return next, batch.TxEnded, err
		}), guards
	}
	return nil, guards
}

// errOver is why a call that was abandoned can save nothing.
var errOver = errors.New("the call of the step is over")

// callLong calls a function of long runs, whose checkpoint is kept behind that of the run.
func callLong(fn longrun.Func) calls {
	return func(ctx context.Context, c *attempt, job prescient.FutureJob) (a answered) {
		part := c.long.Part(job, c.own, func(own []byte) ([]byte, error) {
			switch {
			case c.over.Load():
				return nil, errOver
			case len(own) > MaxCheckpoint:
				return nil, fmt.Errorf("%w: %d bytes; a step may have %d", longrun.ErrCheckpoint, len(own), MaxCheckpoint)
			}
			return c.state.encode(own)
		})
		c.part.Store(part)
		a.next, a.err = fn(ctx, part)
		return a
	}
}

// callTx calls a function with effects in the database: they commit with what becomes of the run.
func callTx(fn func(ctx context.Context, tx *sqlx.Tx, job prescient.FutureJob) (next *time.Time, ended func(committed bool), err error)) calls {
	return func(ctx context.Context, c *attempt, job prescient.FutureJob) answered {
		var done settled
		var ended func(bool)
		err := c.long.SaveTx(ctx, func(ctx context.Context, tx *sqlx.Tx) ([]byte, error) {
			var a answered
			var err error
			if a.next, ended, err = fn(ctx, tx, job); err != nil {
				return nil, err
			}
			done.state, done.outcome = c.state.advance(c.step, c.most, a, c.long.Now())
			if done.reason != "" { // a time that it may not answer with: nothing of it stays
				return nil, errors.New(done.reason)
			}
			return done.state.encode(nil)
		}, func(ctx context.Context, tx *sqlx.Tx) error { return c.logs(ctx, tx, c, done.outcome, done.state) })
		committed := err == nil || errors.Is(err, longrun.ErrHandOn)
		if ended != nil {
			ended(committed)
		}
		if !committed {
			return answered{err: err}
		}
		return answered{err: err, done: &done}
	}
}

// guarded calls a step, and waits for it until its time is over, and a little longer.
func guarded(ctx context.Context, timeout time.Duration, do func(ctx context.Context) answered) answered {
	if timeout > 0 {
		var cancel context.CancelFunc
		ctx, cancel = context.WithTimeoutCause(ctx, timeout, fmt.Errorf("%w: it took longer than %s", prescient.ErrTimeout, timeout))
		defer cancel()
	}
	came := caught.Go(func() answered {
		a := do(ctx)
		a.err = caught.Quoted(a.err, longrun.ErrLost, longrun.ErrHandOn, context.DeadlineExceeded)
		return a
	}, func(err error) answered { return answered{err: err} })
	var a answered
	select {
	case a = <-came:
	case <-ctx.Done():
		select {
		case a = <-came:
		case <-time.After(overtime):
			return answered{err: fmt.Errorf("%w, and it ignored the end of its context", context.Cause(ctx))}
		}
	}
	if why := context.Cause(ctx); errors.Is(why, prescient.ErrTimeout) && a.done == nil { // what was committed is
		if a.err != nil && !errors.Is(a.err, context.DeadlineExceeded) {
			why = fmt.Errorf("%w: %w", why, a.err)
		}
		return answered{err: why, late: true}
	}
	return a
}

// contextOf is that of a call: its output goes to the tail.
func (c *attempt) contextOf(ctx context.Context) context.Context {
	call := Call{Job: c.name, Occurrence: c.state.Occurrence, Version: c.state.Version, Step: c.step.Name, Seq: c.state.Seq}
	return output.With(context.WithValue(ctx, callKey{}, call), c.tail)
}
