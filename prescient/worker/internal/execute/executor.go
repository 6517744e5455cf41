package execute

import (
	"context"
	"sync"
	"sync/atomic"
	"time"

	"prescient/prescient"
	"prescient/prescient/internal/store"
	"prescient/prescient/worker/internal/check"
)

// Executor calls job_execs: at most limit at a time, and at most its own limit of each. Every job_exec has a lane of
// its own, served in turn, and lanes that run nothing have places kept free for them (up to half of all), so that slow
// ones do not hold up the rest.
type Executor struct {
	limit int
	Lanes map[string]*Lane

	Mu       sync.Mutex // taken before any mutex of a sink, never after
	Order    []*Lane
	nextLane int // the lane in order that is served next
	Running  int // calls, abandoned ones aside
	Sweeping int // those of them that catch up
}

// Lane is one job_exec's queue.
type Lane struct {
	Name   string
	Guards prescient.Guards
	handlers
	Group     atomic.Int32 // rows that share a transaction, of a TxFunc or TxBatchFunc: more while they are quick
	Apart     atomic.Int32 // transactions yet in which each call of a TxFunc has a savepoint of its own
	Length    int          // calls that make a series, of a Func: more while they are quick
	queue     []*Task      // of current slots
	backlog   []*Task      // of slots that are caught up; served when queue is empty, by half the places
	running   int
	sweeping  int
	Abandoned int // calls that ignored their timeout and have not come back
}

// handlers is the function of a job_exec: one of the four.
type handlers struct {
	Fn      prescient.Func
	batch   prescient.BatchFunc
	Tx      prescient.TxFunc
	TxBatch prescient.TxBatchFunc
}

func handlersOf(handler prescient.Handler) (h handlers) {
	switch fn := handler.(type) {
	case prescient.Func:
		h.Fn = fn
	case prescient.BatchFunc:
		h.batch = fn
	case prescient.TxFunc:
		h.Tx = fn
	case prescient.TxBatchFunc:
		h.TxBatch = fn
	}
	return h
}

// InTx says whether its calls are made in the transaction that ends their rows.
func (h *handlers) InTx() bool { return h.Tx != nil || h.TxBatch != nil }

// Sink is where the rows of a task come from and their answers go.
type Sink interface {
	// MayStart says whether a call may still be started.
	MayStart() bool
	// Context ends when nothing is wanted of the calls any more.
	Context() context.Context
	// Time tells the database's time.
	Time() store.Clock
	// CatchesUp says whether what is due now comes first.
	CatchesUp() bool
	// Deliver takes rows with their answers, which stand with them.
	Deliver(rows ...*check.Answered)
	// RunTx calls the function of a task in the transaction that ends its rows.
	RunTx(ctx context.Context, t *Task) ([]check.Answer, error)
}

// Task is one call of several rows for a BatchFunc or TxFunc, or a series of calls of one row each.
type Task struct {
	Rows    []*check.Answered
	Lane    *Lane
	Sink    Sink
	settled atomic.Bool // the answer was delivered, or the call was abandoned
	// watchdog abandons the call once its time is over; not of a series.
	Watchdog  *time.Timer
	series    series        // where the lane's is a Func
	LockedFor time.Duration // how long a transaction had its rows locked until the functions had answered
}

// Overtime is how long after its timeout a call may take to notice that its context is over.
const Overtime = 250 * time.Millisecond

func New(limit int, registry *prescient.Registry, guards prescient.Guards) *Executor {
	e := &Executor{limit: limit, Lanes: make(map[string]*Lane)}
	for _, name := range registry.Names() {
		l := &Lane{Name: name, handlers: handlersOf(registry.Handler(name)), Guards: registry.GuardsOf(name, guards)}
		l.Group.Store(firstGroup)
		if l.TxBatch != nil {
			l.Group.Store(maxGroup)
		}
		l.Length = 1
		l.Guards.Concurrency = min(l.Guards.Concurrency, limit)
		e.Lanes[name] = l
		e.Order = append(e.Order, l)
	}
	return e
}

// Submit queues tasks and starts what may start.
func (e *Executor) Submit(tasks []*Task) {
	e.Mu.Lock()
	defer e.Mu.Unlock()
	for _, t := range tasks {
		if t.Sink.CatchesUp() {
			t.Lane.backlog = append(t.Lane.backlog, t)
		} else {
			t.Lane.queue = append(t.Lane.queue, t)
		}
	}
	e.start()
}

// start starts calls while there is something to call and room for it. Called with the mutex held.
func (e *Executor) start() {
	for t := e.pick(); t != nil; t = e.pick() {
		go e.work(t)
	}
}

// pick takes the next task that may start: the lanes in turn, what is due now before what is caught up. Called with
// the mutex held.
func (e *Executor) pick() *Task {
	if e.Running >= e.limit {
		return nil
	}
	idle, caughtUp := 0, 0 // lanes that run nothing, and of those that catch up
	for _, l := range e.Order {
		if l.Abandoned >= l.Guards.Concurrency {
			l.putOff()
		}
		if l.running == 0 {
			idle++
		}
		if l.sweeping == 0 {
			caughtUp++
		}
	}
	room := e.Running+min(idle, e.limit/2) < e.limit
	sweeps := max(e.limit/2, 1)
	sweepRoom := e.Sweeping+min(caughtUp, sweeps/2) < sweeps
	for _, background := range []bool{false, true} {
		for i := range e.Order {
			l := e.Order[(e.nextLane+i)%len(e.Order)]
			if l.running > 0 && !room || l.running+l.Abandoned >= l.Guards.Concurrency {
				continue
			}
			if background && (e.Sweeping >= sweeps || l.sweeping > 0 && !sweepRoom || l.sweeping >= max(l.Guards.Concurrency/2, 1)) {
				continue
			}
			if t := l.pop(background); t != nil {
				e.nextLane = (e.nextLane + i + 1) % len(e.Order)
				e.count(t, 1)
				return t
			}
		}
	}
	return nil
}

// pop takes the first task of the queue or of the backlog; nil where there is none. Called with the mutex held.
func (l *Lane) pop(background bool) *Task {
	queue := &l.queue
	if background {
		queue = &l.backlog
	}
	if len(*queue) == 0 {
		return nil
	}
	t := (*queue)[0]
	if n := l.atOnce(); n > 0 && len(t.Rows) > n {
		return t.splitOff(n)
	}
	(*queue)[0] = nil
	*queue = (*queue)[1:]
	return t
}

// atOnce is how many rows a task of the lane is divided into that is to start; 0 for all.
func (l *Lane) atOnce() int {
	switch {
	case l.Fn != nil:
		return l.Length
	case l.InTx():
		return int(l.Group.Load())
	}
	return 0
}

// count notes that a call started (1) or gave its place back (-1). Called with the mutex held.
func (e *Executor) count(t *Task, n int) {
	t.Lane.running += n
	e.Running += n
	if t.Sink.CatchesUp() {
		t.Lane.sweeping += n
		e.Sweeping += n
	}
}

// putOff answers for the queues of a lane that has too many abandoned calls. Called with the mutex held.
func (l *Lane) putOff() {
	for _, t := range append(l.queue, l.backlog...) {
		t.deliverAll(check.Answer{Cause: prescient.CauseAbandoned})
	}
	l.queue, l.backlog = nil, nil
}

// work calls t and then whatever is next.
func (e *Executor) work(t *Task) {
	for t != nil {
		if !e.call(t) {
			return
		}
		t = e.finish(t)
	}
}

// finish gives the place of a call back and returns the task that takes it.
func (e *Executor) finish(t *Task) *Task {
	e.Mu.Lock()
	defer e.Mu.Unlock()
	e.count(t, -1)
	t.Lane.learn(t)
	next := e.pick()
	e.start()
	return next
}
