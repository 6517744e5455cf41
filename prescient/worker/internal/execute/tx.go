package execute

import (
	"context"
	"slices"
	"sync/atomic"
	"time"

	"github.com/jmoiron/sqlx"

	"prescient/prescient"
	"prescient/prescient/internal/caught"
	"prescient/prescient/internal/errno"
	"prescient/prescient/worker/internal/check"
)

// Tx is a TxFunc or TxBatchFunc: one transaction for the rows of a task, which the sink runs.
type Tx struct {
	TxHandler
	Apart atomic.Int32 // transactions yet in which each call has a savepoint of its own
	group atomic.Int32 // rows that share a transaction: more while they are quick
}

// TxHandler is a function that works in the transaction of its rows: a TxFunc or a TxBatchFunc.
type TxHandler interface {
	// Share divides rows among calls.
	Share(rows []int) [][]int
	// Call calls it for the rows of one call. After a failure all of them have that for an answer; their fate is to be called again
	// where it was a lock of others.
	Call(ctx context.Context, tx *sqlx.Tx, rows []*check.Answered, called time.Time) (answers []check.Answer, failure error)
}

func newTx(fn TxHandler, group int32) *Tx {
	h := &Tx{TxHandler: fn}
	h.group.Store(group)
	return h
}

// InTx implements Handler.
func (h *Tx) InTx() bool { return true }

func (h *Tx) atOnce() int { return int(h.group.Load()) }

func (h *Tx) begin(e *Executor, t Task) calls {
	c := &TxCall{Tx: h, call: call{Task: t, executor: e}}
	c.waits.Store(true)
	c.do = func(ctx context.Context) ([]check.Answer, error) { return t.Sink.RunTx(ctx, c) }
	return c
}

// TxCall is what runs in one transaction.
type TxCall struct {
	*Tx
	call
	lockedFor time.Duration // how long the transaction had its rows locked until the functions had answered
}

// Calling takes note that a function is called for some rows.
func (c *TxCall) Calling(rows []*check.Answered) {
	c.waits.Store(false)
	c.executor.tell(rows...)
}

// Waits says whether no function was called yet.
func (c *TxCall) Waits() bool { return c.waits.Load() }

// Answered takes note that the functions have answered, and for how long the rows were locked until then. It returns false
// where the call was abandoned before.
func (c *TxCall) Answered(lockedFor time.Duration) bool {
	c.lockedFor = lockedFor
	return c.watchdog.Stop()
}

// TooMany says that the rows were too many for the time of one call.
func (c *TxCall) TooMany() { c.group.Store(max(min(c.group.Load(), int32(len(c.Rows)/2)), 1)) }

func (c *TxCall) learn() {
	c.group.Store(int32(nextGroup(int(c.group.Load()), len(c.Rows), c.lockedFor)))
}

type txFunc prescient.TxFunc

// Share implements TxHandler: a call for each row.
func (txFunc) Share(rows []int) [][]int { return slices.Collect(slices.Chunk(rows, 1)) }

// Call implements TxHandler.
func (fn txFunc) Call(ctx context.Context, tx *sqlx.Tx, rows []*check.Answered, called time.Time) (answers []check.Answer, failure error) {
	answers = make([]check.Answer, 1)
	failure, locked := recovered(func() (err error) {
		answers[0].Next, err = fn(ctx, tx, rows[0].Own(called))
		return err
	})
	if failure != nil {
		answers[0] = failed(failure, locked, rows)
	}
	return answers, failure
}

type txBatchFunc prescient.TxBatchFunc

// Share implements TxHandler: one call for all rows.
func (txBatchFunc) Share(rows []int) [][]int {
	if len(rows) == 0 {
		return nil
	}
	return [][]int{rows}
}

// Call implements TxHandler.
func (fn txBatchFunc) Call(ctx context.Context, tx *sqlx.Tx, rows []*check.Answered, called time.Time) (answers []check.Answer, failure error) {
	b := check.NewBatch(rows, called)
	failure, locked := recovered(func() error { return fn(ctx, tx, b) })
	if failure == nil {
		answers = answersOf(b, len(rows))
		for i := range answers {
			if answers[i].Cause == prescient.CauseContested {
				answers[i] = check.Answer{Fate: check.Again, Locked: true}
			}
		}
		answers[0].After = b.TxEnded // once for all
		return answers, nil
	}
	b.TxEnded(false)
	return slices.Repeat([]check.Answer{failed(failure, locked, rows)}, len(rows)), failure
}

// failed is the answer for rows whose call failed. One that met a lock of others is called again, which is no error of theirs.
func failed(failure error, locked bool, rows []*check.Answered) check.Answer {
	a := check.Answer{Err: caught.Quoted(failure)}
	if tries := rows[0].Tries; locked && tries < MaxTxTries {
		a.Fate, a.Wait = check.Again, TxWait(tries)
	}
	return a
}

// recovered makes an error of a panic. It says whether an error is that others had locked what the call wanted.
func recovered(call func() error) (err error, locked bool) {
	defer func() {
		if p := recover(); p != nil {
			err, locked = caught.Error(p), false
		}
	}()
	err = call()
	return err, errno.Is(err, errno.LockWaitTimeout, errno.NoWait)
}
