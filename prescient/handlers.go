package prescient

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"reflect"
	"time"

	"github.com/jmoiron/sqlx"
)

// Handler is the function of a job_exec in one of its forms: a Func, BatchFunc, TxFunc or TxBatchFunc.
type Handler interface{ handler() }

func (Func) handler()        {}
func (BatchFunc) handler()   {}
func (TxFunc) handler()      {}
func (TxBatchFunc) handler() {}

// BatchFunc is a job_exec for many rows in one call: all those of one batch that are due and registered under one
// name, so that "has it shipped?" is one query with IN. It answers for each row by its index; a row without an answer
// counts as an error, and so do all rows where the error returned is not nil. The timeout is for the call.
type BatchFunc func(ctx context.Context, batch *Batch) error

// Batch is what a BatchFunc is called with.
type Batch struct {
	jobs    []FutureJob
	answers []batchAnswer
	after   []func(committed bool)
}

type batchAnswer struct {
	given bool
	Answer
}

// NewBatch returns a batch of rows, for tests of a BatchFunc or TxBatchFunc: Answer tells what it answered.
func NewBatch(jobs ...FutureJob) *Batch {
	return &Batch{jobs: jobs, answers: make([]batchAnswer, len(jobs))}
}

// Jobs returns the rows; they are the callee's to keep.
func (b *Batch) Jobs() []FutureJob { return b.jobs }

// Settle answers for row i that its matter is settled, as a nil time does.
func (b *Batch) Settle(i int) { b.Give(i, Answer{}) }

// Next answers for row i that it is to be looked at again at t.
func (b *Batch) Next(i int, t time.Time) { b.Give(i, Answer{Next: &t}) }

// Fail answers for row i that it could not be checked; it is tried again as after a Func that returned the error.
func (b *Batch) Fail(i int, err error) {
	if err == nil {
		err = errUnsaid
	}
	b.Give(i, Answer{Err: err})
}

// Give answers for row i with what became of it elsewhere: a Cause for which its job_exec was not called, as those rooms of the
// library know that decide when to call. The causes that move or end a row are described with them; only a job_exec whose
// guards are Endless may give one, since no guard bounds what it moves.
func (b *Batch) Give(i int, a Answer) { b.answers[i] = batchAnswer{given: true, Answer: a} }

// Given returns the answer for row i so far; an error where it has none yet.
func (b *Batch) Given(i int) Answer {
	if a := b.answers[i]; a.given {
		return a.Answer
	}
	return Answer{Err: errUnanswered}
}

// AfterTx has fn called when the transaction of a TxBatchFunc is over: whether what it did was committed, with the moves and ends of its
// rows, or came to nothing, its own error and its panic included. Where the answer to the COMMIT was lost, it may have been committed all
// the same. It should return at once, since other rows wait for it. Batches of a BatchFunc, which have no transaction, do not call it.
func (b *Batch) AfterTx(fn func(committed bool)) { b.after = append(b.after, fn) }

// TxEnded calls what AfterTx was given: for workers, and for tests of a TxBatchFunc.
func (b *Batch) TxEnded(committed bool) {
	for _, fn := range b.after {
		fn(committed)
	}
	b.after = nil
}

// Answer returns the answer for row i so far, as a Func would give it: a time, nil where it is settled, or an error, which is
// one too where the row has no answer yet.
func (b *Batch) Answer(i int) (*time.Time, error) {
	a := b.Given(i)
	return a.Next, a.Err
}

// errUnanswered is the error of a row that a BatchFunc left out.
var errUnanswered = errors.New("the batch was answered without this row")

// TxFunc is a job_exec whose effects in this database commit together with the row's end or move: exactly once. It
// works on the transaction that it gets, which has the row locked, and must neither commit nor roll it back, nor run
// statements that do so by themselves, as DDL does. Where it returns an error, all that it did is rolled back, to a
// savepoint, and nothing of others: up to 1000 rows share the transaction, as many as take less than about a second.
//
// An error of a statement must be returned, not swallowed (a duplicate key aside): after a deadlock the transaction is gone. A
// deadlock, and a lock that could not be had in time, count as no error of the row: it is called again, ten times at most.
// A call may be repeated, whenever its transaction was rolled back as a whole, or another that shares it failed or met an
// error; what it does elsewhere than in tx is then done again. While it runs, a cancel of the row waits, at most for the
// timeout and for what the COMMIT may take, which is half of the lease. The connection is a worker's: UTC, strict mode, READ
// COMMITTED.
type TxFunc func(ctx context.Context, tx *sqlx.Tx, job FutureJob) (*time.Time, error)

// TxBatchFunc is a TxFunc for many rows in one call, up to 1000, so that an effect for all of them is one statement. It
// answers row by row, as a BatchFunc does. Where it returns an error, all that it did is rolled back, and it is called
// again for each row by itself, so that none answers for another; what it did for a row that it fails by itself, or leaves
// out, is not. While it runs, a cancel of any of its rows waits.
type TxBatchFunc func(ctx context.Context, tx *sqlx.Tx, batch *Batch) error

// RegisterBatch adds a job_exec that takes all due rows of a batch in one call. Its errors are those of Register.
func (r *Registry) RegisterBatch(name string, fn BatchFunc, guards Guards) error {
	return r.register(name, registered{handler: fn, guards: guards}, fn == nil)
}

// RegisterTx adds a job_exec whose effects commit with the row's end. Its errors are those of Register.
func (r *Registry) RegisterTx(name string, fn TxFunc, guards Guards) error {
	return r.register(name, registered{handler: fn, guards: guards}, fn == nil)
}

// RegisterTxBatch adds a job_exec that takes many due rows in one call, whose effects commit with the rows' ends. Its
// errors are those of Register.
func (r *Registry) RegisterTxBatch(name string, fn TxBatchFunc, guards Guards) error {
	return r.register(name, registered{handler: fn, guards: guards}, fn == nil)
}

// Typed returns a job_exec that gets its payload decoded into a T. A payload that is absent or does not fit is an error
// that says why; for an absent one to be allowed, let T be a pointer. Keys that T has no field for are passed over.
//
//	registry.Register("invoice-unpaid", prescient.Typed(func(ctx context.Context, job prescient.FutureJob, p Invoice) (*time.Time, error) { … }), guards)
func Typed[T any](fn func(ctx context.Context, job FutureJob, payload T) (*time.Time, error)) Func {
	return func(ctx context.Context, job FutureJob) (*time.Time, error) {
		payload, err := decodePayload[T](job)
		if err != nil {
			return nil, err
		}
		return fn(ctx, job, payload)
	}
}

// TypedTx is Typed for a TxFunc.
func TypedTx[T any](fn func(ctx context.Context, tx *sqlx.Tx, job FutureJob, payload T) (*time.Time, error)) TxFunc {
	return func(ctx context.Context, tx *sqlx.Tx, job FutureJob) (*time.Time, error) {
		payload, err := decodePayload[T](job)
		if err != nil {
			return nil, err
		}
		return fn(ctx, tx, job, payload)
	}
}

// PayloadOf decodes the payload of a row, as Typed does: for a BatchFunc.
func PayloadOf[T any](job FutureJob) (T, error) { return decodePayload[T](job) }

func decodePayload[T any](job FutureJob) (payload T, err error) {
	if job.Payload == nil || string(job.Payload) == "null" {
		// Unmarshal would take null for anything and leave it zero.
		if kind := reflect.TypeFor[T]().Kind(); kind != reflect.Pointer && kind != reflect.Interface {
			return payload, fmt.Errorf("the payload of %s is absent; want a %T", job.Entity(), payload)
		}
		return payload, nil
	}
	if err := json.Unmarshal(job.Payload, &payload); err != nil {
		return payload, fmt.Errorf("the payload of %s does not fit a %T: %w", job.Entity(), payload, err)
	}
	return payload, nil
}
