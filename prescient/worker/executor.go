package worker

import (
	"context"
	"sync"
	"sync/atomic"
	"time"

	"prescient/prescient"
	"prescient/prescient/internal/store"
)

// executor calls job_execs: at most limit at a time, and at most its own limit of each. Every job_exec has a lane of
// its own, served in turn, and lanes that run nothing have places kept free for them (up to half of all), so that slow
// ones do not hold up the rest.
type executor struct {
	limit int
	lanes map[string]*lane

	mu       sync.Mutex // taken before any mutex of a sink, never after
	order    []*lane
	turn     int // the lane in order that is served next
	running  int // calls, abandoned ones aside
	sweeping int // those of them that catch up
}

// lane is one job_exec's queue.
type lane struct {
	name   string
	guards prescient.Guards
	handlers
	group     atomic.Int32 // rows that share a transaction, of a TxFunc or TxBatchFunc: more while they are quick
	apart     atomic.Int32 // transactions yet in which each call of a TxFunc has a savepoint of its own
	length    int          // calls that make a series, of a Func: more while they are quick
	queue     []*task      // of current slots
	backlog   []*task      // of slots that are caught up; served when queue is empty, by half the places
	running   int
	sweeping  int
	abandoned int // calls that ignored their timeout and have not come back
}

// handlers is the function of a job_exec: one of the four.
type handlers struct {
	fn      prescient.Func
	batch   prescient.BatchFunc
	tx      prescient.TxFunc
	txBatch prescient.TxBatchFunc
}

func handlersOf(handler prescient.Handler) (h handlers) {
	switch fn := handler.(type) {
	case prescient.Func:
		h.fn = fn
	case prescient.BatchFunc:
		h.batch = fn
	case prescient.TxFunc:
		h.tx = fn
	case prescient.TxBatchFunc:
		h.txBatch = fn
	}
	return h
}

// inTx says whether its calls are made in the transaction that ends their rows.
func (h *handlers) inTx() bool { return h.tx != nil || h.txBatch != nil }

// sink is where the rows of a task come from and their answers go.
type sink interface {
	// mayStart says whether a call may still be started.
	mayStart() bool
	// context ends when nothing is wanted of the calls any more.
	context() context.Context
	// time tells the database's time.
	time() store.Clock
	// catchesUp says whether what is due now comes first.
	catchesUp() bool
	// deliver takes rows with their answers, which stand with them.
	deliver(rows ...*answered)
	// runTx calls the function of a task in the transaction that ends its rows.
	runTx(ctx context.Context, t *task) ([]answer, error)
}

// task is one call of several rows for a BatchFunc or TxFunc, or a series of calls of one row each.
type task struct {
	rows    []*answered
	lane    *lane
	sink    sink
	settled atomic.Bool // the answer was delivered, or the call was abandoned
	// watchdog abandons the call once its time is over; not of a series.
	watchdog *time.Timer
	series   series        // where the lane's is a Func
	held     time.Duration // how long a transaction had its rows locked until the functions had answered
}

// patience is how long after its timeout a call may take to notice that its context is over.
const patience = 250 * time.Millisecond

func newExecutor(limit int, registry *prescient.Registry, guards prescient.Guards) *executor {
	e := &executor{limit: limit, lanes: make(map[string]*lane)}
	for _, name := range registry.Names() {
		l := &lane{name: name, handlers: handlersOf(registry.Handler(name)), guards: registry.GuardsOf(name, guards)}
		l.group.Store(firstGroup)
		if l.txBatch != nil {
			l.group.Store(maxGroup)
		}
		l.length = 1
		l.guards.Concurrency = min(l.guards.Concurrency, limit)
		e.lanes[name] = l
		e.order = append(e.order, l)
	}
	return e
}

// submit queues tasks and starts what may start.
func (e *executor) submit(tasks []*task) {
	e.mu.Lock()
	defer e.mu.Unlock()
	for _, t := range tasks {
		if t.sink.catchesUp() {
			t.lane.backlog = append(t.lane.backlog, t)
		} else {
			t.lane.queue = append(t.lane.queue, t)
		}
	}
	e.start()
}

// start starts calls while there is something to call and room for it. Called with the mutex held.
func (e *executor) start() {
	for t := e.pick(); t != nil; t = e.pick() {
		go e.work(t)
	}
}

// pick takes the next task that may start: the lanes in turn, what is due now before what is caught up. Called with
// the mutex held.
func (e *executor) pick() *task {
	if e.running >= e.limit {
		return nil
	}
	idle, caughtUp := 0, 0 // lanes that run nothing, and of those that catch up
	for _, l := range e.order {
		if l.abandoned >= l.guards.Concurrency {
			l.putOff()
		}
		if l.running == 0 {
			idle++
		}
		if l.sweeping == 0 {
			caughtUp++
		}
	}
	room := e.running+min(idle, e.limit/2) < e.limit
	sweeps := half(e.limit)
	sweepRoom := e.sweeping+min(caughtUp, sweeps/2) < sweeps
	for _, background := range []bool{false, true} {
		for i := range e.order {
			l := e.order[(e.turn+i)%len(e.order)]
			if l.running > 0 && !room || l.running+l.abandoned >= l.guards.Concurrency {
				continue
			}
			if background && (e.sweeping >= sweeps || l.sweeping > 0 && !sweepRoom || l.sweeping >= half(l.guards.Concurrency)) {
				continue
			}
			if t := l.pop(background); t != nil {
				e.turn = (e.turn + i + 1) % len(e.order)
				e.count(t, 1)
				return t
			}
		}
	}
	return nil
}

func half(n int) int { return max(n/2, 1) }

// pop takes the first task of the queue or of the backlog; nil where there is none. Called with the mutex held.
func (l *lane) pop(background bool) *task {
	queue := &l.queue
	if background {
		queue = &l.backlog
	}
	if len(*queue) == 0 {
		return nil
	}
	t := (*queue)[0]
	if n := l.atOnce(); n > 0 && len(t.rows) > n {
		return t.divide(n)
	}
	(*queue)[0] = nil
	*queue = (*queue)[1:]
	return t
}

// atOnce is how many rows a task of the lane is divided into that is to start; 0 for all.
func (l *lane) atOnce() int {
	switch {
	case l.fn != nil:
		return l.length
	case l.inTx():
		return int(l.group.Load())
	}
	return 0
}

// count notes that a call started (1) or gave its place back (-1). Called with the mutex held.
func (e *executor) count(t *task, n int) {
	t.lane.running += n
	e.running += n
	if t.sink.catchesUp() {
		t.lane.sweeping += n
		e.sweeping += n
	}
}

// putOff answers for the queues of a lane that has too many abandoned calls. Called with the mutex held.
func (l *lane) putOff() {
	for _, t := range append(l.queue, l.backlog...) {
		t.deliverAll(answer{cause: prescient.CauseAbandoned})
	}
	l.queue, l.backlog = nil, nil
}

// work calls t and then whatever is next.
func (e *executor) work(t *task) {
	for t != nil {
		if !e.call(t) {
			return
		}
		t = e.finish(t)
	}
}

// finish gives the place of a call back and returns the task that takes it.
func (e *executor) finish(t *task) *task {
	e.mu.Lock()
	defer e.mu.Unlock()
	e.count(t, -1)
	t.lane.learn(t)
	next := e.pick()
	e.start()
	return next
}
