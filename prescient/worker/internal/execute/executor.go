package execute

import (
	"context"
	"slices"
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
	// Serves says that slots are run here as they come, for which half of the places are kept. What only catches up has all of them.
	Serves atomic.Bool
	// Calling is told of each row of a call before it is made; nil for nobody.
	Calling func(prescient.FutureJob)

	mu       sync.Mutex // taken before any mutex of a sink, never after
	Order    []*Lane
	nextLane int           // the lane in order that is served next
	running  int           // calls, abandoned ones aside
	sweeping int           // those of them that come last
	called   time.Duration // for how long calls had their places until then, all together
	then     time.Time
}

// Lane is one job_exec's queue.
type Lane struct {
	Name   string
	Guards prescient.Guards
	Handler
	queue     []*Task // of current slots
	backlog   []*Task // of slots that are caught up, and what is contested; served when queue is empty
	running   int
	sweeping  int
	abandoned int // calls that ignored their timeout and have not come back
}

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
	// RunTx makes a call in the transaction that ends its rows.
	RunTx(ctx context.Context, c *TxCall) ([]check.Answer, error)
}

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

// Task is rows of one job_exec that are to be called.
type Task struct {
	Rows  []*check.Answered
	Lane  *Lane
	Sink  Sink
	Alone bool // they share a transaction with no others
	// Contested says that somebody else had locked what they need, and that they are called again. A call may wait for that once more, and is
	// never in the way of others.
	Contested bool
}

// comesLast says whether others come before it, and keep half of the places.
func (t *Task) comesLast() bool { return t.Contested || t.Sink.CatchesUp() }

func (t *Task) task() *Task { return t }

// Overtime is how long after its timeout a call may take to notice that its context is over.
const Overtime = 250 * time.Millisecond

// tell tells of a call that is about to be made.
func (e *Executor) tell(rows ...*check.Answered) {
	if e.Calling == nil {
		return
	}
	for _, r := range rows {
		e.Calling(r.FutureJob)
	}
}

// Submit queues tasks and starts what may start.
func (e *Executor) Submit(tasks []*Task) {
	e.mu.Lock()
	defer e.mu.Unlock()
	for _, t := range tasks {
		if t.comesLast() {
			t.Lane.backlog = append(t.Lane.backlog, t)
		} else {
			t.Lane.queue = append(t.Lane.queue, t)
		}
	}
	e.start()
}

// start starts calls while there is something to call and room for it. Called with the mutex held.
func (e *Executor) start() {
	for c := e.pick(); c != nil; c = e.pick() {
		go e.work(c)
	}
}

// pick begins the calls of the next task that may start: the lanes in turn, what is due now before what is caught up.
// Called with the mutex held.
func (e *Executor) pick() calls {
	if e.running >= e.limit {
		return nil
	}
	idle, caughtUp := 0, 0 // lanes that run nothing, and of those that catch up
	for _, l := range e.Order {
		if l.abandoned >= l.Guards.Concurrency {
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
	for _, background := range []bool{false, true} {
		for i := range e.Order {
			l := e.Order[(e.nextLane+i)%len(e.Order)]
			if l.running > 0 && !room || l.running+l.abandoned >= l.Guards.Concurrency {
				continue
			}
			if background && !e.mayCatchUp(l, caughtUp) {
				continue
			}
			if t, ok := l.pop(background); ok {
				e.nextLane = (e.nextLane + i + 1) % len(e.Order)
				e.count(&t, 1)
				return l.begin(e, t)
			}
		}
	}
	return nil
}

// mayCatchUp says whether there is a place for the backlog of a lane, where so many lanes catch up with nothing. What is contested may wait for
// the locks of others, and has half of the places at most. Called with the mutex held.
func (e *Executor) mayCatchUp(l *Lane, caughtUp int) bool {
	places, ofLane := e.limit, l.Guards.Concurrency
	if e.Serves.Load() || len(l.backlog) > 0 && l.backlog[0].Contested {
		places, ofLane = max(places/2, 1), max(ofLane/2, 1)
	}
	return e.sweeping < places && l.sweeping < ofLane && (l.sweeping == 0 || e.sweeping+min(caughtUp, places/2) < places)
}

// pop takes the first task of the queue or of the backlog: as many rows of it as have a place together, and, where there is room for
// more, what waits of the same bucket. Called with the mutex held.
func (l *Lane) pop(background bool) (t Task, ok bool) {
	queue := &l.queue
	if background {
		queue = &l.backlog
	}
	if len(*queue) == 0 {
		return t, false
	}
	first := (*queue)[0]
	n := l.atOnce()
	if n > 0 && len(first.Rows) > n {
		return first.splitOff(n), true
	}
	(*queue)[0] = nil
	*queue = (*queue)[1:]
	if !l.InTx() || first.Alone {
		return *first, true
	}
	rows := slices.Clip(first.Rows)
	*queue = slices.DeleteFunc(*queue, func(other *Task) bool {
		if room := n - len(rows); other.Sink == first.Sink && !other.Alone && room > 0 {
			rows = append(rows, other.splitOff(min(room, len(other.Rows))).Rows...)
		}
		return len(other.Rows) == 0
	})
	return Task{Rows: rows, Lane: l, Sink: first.Sink}, true
}

// splitOff takes the first n rows as a task of their own.
func (t *Task) splitOff(n int) Task {
	head := Task{Rows: t.Rows[:n:n], Lane: t.Lane, Sink: t.Sink}
	t.Rows = t.Rows[n:]
	return head
}

// count notes that a call started (1) or gave its place back (-1). Called with the mutex held.
func (e *Executor) count(t *Task, n int) {
	e.callTime(time.Now())
	t.Lane.running += n
	e.running += n
	if t.comesLast() {
		t.Lane.sweeping += n
		e.sweeping += n
	}
}

// CallTime is for how long calls have had their places, all of them together.
func (e *Executor) CallTime() time.Duration {
	e.mu.Lock()
	defer e.mu.Unlock()
	return e.callTime(time.Now())
}

// callTime is CallTime, with the mutex held.
func (e *Executor) callTime(now time.Time) time.Duration {
	if e.running > 0 {
		e.called += time.Duration(e.running) * now.Sub(e.then)
	}
	e.then = now
	return e.called
}

// putOff answers for the queues of a lane that has too many abandoned calls. Called with the mutex held.
func (l *Lane) putOff() {
	for _, t := range append(l.queue, l.backlog...) {
		t.deliverAll(check.Answer{Cause: prescient.CauseAbandoned})
	}
	l.queue, l.backlog = nil, nil
}

// deliverAll delivers the same answer for every row.
func (t *Task) deliverAll(a check.Answer) {
	for _, r := range t.Rows {
		r.Answer = a
	}
	t.Sink.Deliver(t.Rows...)
}

// work makes some calls, and then whatever is next.
func (e *Executor) work(c calls) {
	for c != nil {
		if !c.run() {
			return
		}
		c = e.finish(c)
	}
}

// finish gives the place of some calls back and returns those that take it.
func (e *Executor) finish(c calls) calls {
	e.mu.Lock()
	defer e.mu.Unlock()
	e.count(c.task(), -1)
	c.learn()
	next := e.pick()
	e.start()
	return next
}
