package execute

import (
	"fmt"

	"prescient/prescient"
)

// New returns an executor with a lane for each job_exec of a registry.
func New(limit int, registry *prescient.Registry, guards prescient.Guards) *Executor {
	e := &Executor{limit: limit, Lanes: make(map[string]*Lane)}
	for _, name := range registry.Names() {
		l := &Lane{Name: name, Handler: handlerOf(registry.Handler(name)), Guards: registry.GuardsOf(name, guards)}
		l.Guards.Concurrency = min(l.Guards.Concurrency, limit)
		e.Lanes[name] = l
		e.Order = append(e.Order, l)
	}
	return e
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
