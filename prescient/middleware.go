package prescient

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"time"

	"github.com/jmoiron/sqlx"
)

// Form is in which form a job_exec is called.
type Form string

// The forms. What a configuration registers, over HTTP or as a command, is of OneRow or LongRun.
const (
	OneRow  Form = "row"      // a Func
	InBatch Form = "batch"    // a BatchFunc
	InTx    Form = "tx"       // a TxFunc
	TxBatch Form = "tx batch" // a TxBatchFunc
	LongRun Form = "long run"
)

// Call is one call of a job_exec, as a middleware sees it.
type Call struct {
	JobExec string
	Form    Form
	// Jobs are its rows: one, or all those of a batch. They are not to be changed.
	Jobs []FutureJob
	// Tx is the transaction in which it is made; nil for one without. What a middleware writes there commits with the call.
	Tx *sqlx.Tx
}

// Middleware is what is around calls, such as a log or a span. The error of next is that of the call as a whole; rows of a batch that fail alone
// have none. It calls next, once, before it returns, with a context that comes of its own. It is
// within the timeout of the call, and may be called again as the job_exec is. The answer is that of the job_exec, whatever the middleware
// returns; but where next was not called, or did not return, the middleware's error is the answer of all rows, for want of another.
type Middleware = func(next func(ctx context.Context, call Call) error) func(ctx context.Context, call Call) error

// Errors of a call whose middleware made no call of it.
var (
	errNotCalled   = errors.New("a middleware did not call its job_exec, and gave no reason")
	errCalledAgain = fmt.Errorf("%w: a middleware called next more than once", ErrInvalid)
)

// Use has a middleware around each call of each job_exec, whether it was registered before or after. The first is the outermost. Steps of jobs are
// calls; timers of schedules, starts of long runs and runs of jobs, which call others, are none. It is not for concurrent use.
func (r *Registry) Use(middleware Middleware) { r.around = append(r.around, middleware) }

// SetPart says that a job_exec is a part of this library, whose calls have no middleware: packages schedule and longrun do.
func (r *Registry) SetPart(name string) {
	exec := r.execs[name]
	exec.part = true
	r.execs[name] = exec
}

// Around makes a call with the middleware around it: for workers and package longrun. do is what the job_exec does.
func (r *Registry) Around(ctx context.Context, call Call, do func(ctx context.Context) error) error {
	if r == nil || len(r.around) == 0 {
		return do(ctx)
	}
	var called, returned bool
	var answer error
	next := func(ctx context.Context, _ Call) error {
		if called {
			return errCalledAgain
		}
		called = true
		answer = do(ctx)
		returned = true
		return answer
	}
	for _, middleware := range slices.Backward(r.around) {
		next = middleware(next)
	}
	switch err := next(ctx, call); {
	case returned:
		return answer
	case err != nil:
		return err
	case called:
		return fmt.Errorf("%w, and a middleware kept that to itself", ErrPanic)
	}
	return errNotCalled
}

// with is a function with the middleware around it.
func (r *Registry) with(name string, handler Handler) Handler {
	switch fn := handler.(type) {
	case Func:
		return Func(func(ctx context.Context, job FutureJob) (next *time.Time, err error) {
			err = r.Around(ctx, Call{JobExec: name, Form: OneRow, Jobs: []FutureJob{job}}, func(ctx context.Context) (err error) {
				next, err = fn(ctx, job)
				return err
			})
			return next, err
		})
	case BatchFunc:
		return BatchFunc(func(ctx context.Context, batch *Batch) error {
			return r.Around(ctx, Call{JobExec: name, Form: InBatch, Jobs: batch.Jobs()}, func(ctx context.Context) error { return fn(ctx, batch) })
		})
	case TxFunc:
		return TxFunc(func(ctx context.Context, tx *sqlx.Tx, job FutureJob) (next *time.Time, err error) {
			err = r.Around(ctx, Call{JobExec: name, Form: InTx, Jobs: []FutureJob{job}, Tx: tx}, func(ctx context.Context) (err error) {
				next, err = fn(ctx, tx, job)
				return err
			})
			return next, err
		})
	case TxBatchFunc:
		return TxBatchFunc(func(ctx context.Context, tx *sqlx.Tx, batch *Batch) error {
			return r.Around(ctx, Call{JobExec: name, Form: TxBatch, Jobs: batch.Jobs(), Tx: tx}, func(ctx context.Context) error { return fn(ctx, tx, batch) })
		})
	}
	return handler
}
