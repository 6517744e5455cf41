package execute

import (
	"fmt"

	"prescient/prescient"
)

// Handler is the function of a job_exec as its lane calls it. There is one for each form of a prescient.Handler: each calls a
// Func, batchFunc a BatchFunc, and Tx those that work in the transaction of their rows, which are told apart by TxHandler.
type Handler interface {
	// InTx says whether its calls are made in the transaction that ends their rows.
	InTx() bool
	// atOnce is how many rows of a task have a place together; 0 for all. Called with the executor's mutex held.
	atOnce() int
	// begin prepares the calls for a task that has a place. Called with the executor's mutex held.
	begin(e *Executor, t Task) calls
}

// calls are those that are made for a task.
type calls interface {
	task() *Task
	// run makes them and delivers the answers. It returns false where this goroutine has no place any more: a call was
	// abandoned, or ended its goroutine, and another has gone on.
	run() (placed bool)
	// learn gives the lane's next tasks more or fewer rows, by how these went. Called with the executor's mutex held.
	learn()
}

// handlerOf returns what calls a function.
func handlerOf(handler prescient.Handler) Handler {
	switch fn := handler.(type) {
	case prescient.Func:
		return &each{fn: fn, length: 1}
	case prescient.BatchFunc:
		return batchFunc(fn)
	case prescient.TxFunc:
		return newTx(txFunc(fn), firstGroup)
	case prescient.TxBatchFunc:
		return newTx(txBatchFunc(fn), firstBatchGroup)
	default:
		panic(fmt.Sprintf("a handler of no known form: %T", handler)) // there are no others: the interface is sealed
	}
}
