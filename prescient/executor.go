package prescient

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"runtime/debug"
	"sync"
	"sync/atomic"
	"time"
)

// executor calls job_execs: at most limit at a time, and at most its own limit of each. Every job_exec has a lane of
// its own, served in turn, and lanes that run nothing have places kept free for them (up to half of all), so that slow
// ones do not hold up the rest.
type executor struct {
	limit int
	lanes map[string]*lane

	mu       sync.Mutex // taken before the mutex of a bucketRun, never after
	order    []*lane
	turn     int // the lane in order that is served next
	running  int // calls, abandoned ones aside
	sweeping int // those of them that catch up
}

// lane is one job_exec's queue.
type lane struct {
	name      string
	fn        Func
	guards    Guards
	queue     []*task // of current slots
	backlog   []*task // of slots that are caught up; served when queue is empty, by half the places
	running   int
	sweeping  int
	abandoned int // calls that ignored their timeout and have not come back
}

// task is one row to be called.
type task struct {
	row     row
	lane    *lane
	bucket  *bucketRun
	settled atomic.Bool // the answer was delivered, or the call was abandoned
}

// patience is how long after its timeout a call may take to notice that its context is over.
const patience = 250 * time.Millisecond

func newExecutor(limit int, registry *Registry, guards Guards) *executor {
	e := &executor{limit: limit, lanes: make(map[string]*lane)}
	for _, name := range registry.Names() {
		l := &lane{name: name, fn: registry.execs[name].fn, guards: registry.guardsOf(name, guards)}
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
		if t.bucket.background {
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
	idle := 0
	for _, l := range e.order {
		if l.abandoned >= l.guards.Concurrency {
			l.putOff()
		}
		if l.running == 0 {
			idle++
		}
	}
	room := e.running+min(idle, e.limit/2) < e.limit
	for _, background := range []bool{false, true} {
		for i := range e.order {
			l := e.order[(e.turn+i)%len(e.order)]
			if l.running > 0 && !room || l.running+l.abandoned >= l.guards.Concurrency {
				continue
			}
			if background && (e.sweeping >= half(e.limit) || l.sweeping >= half(l.guards.Concurrency)) {
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
	(*queue)[0] = nil
	*queue = (*queue)[1:]
	return t
}

// count notes that a call started (1) or gave its place back (-1). Called with the mutex held.
func (e *executor) count(t *task, n int) {
	t.lane.running += n
	e.running += n
	if t.bucket.background {
		t.lane.sweeping += n
		e.sweeping += n
	}
}

// putOff answers for the queues of a lane that has too many abandoned calls. Called with the mutex held.
func (l *lane) putOff() {
	for _, t := range append(l.queue, l.backlog...) {
		if t.settled.CompareAndSwap(false, true) {
			t.bucket.deliver(t, answer{kind: abandoned})
		}
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
	next := e.pick()
	e.start()
	return next
}

// call calls the job_exec of t and delivers the answer. It returns false where this goroutine has no place any more:
// the call was abandoned meanwhile.
func (e *executor) call(t *task) (placed bool) {
	b := t.bucket
	if !b.mayStart() {
		t.settled.Store(true)
		b.deliver(t, answer{kind: notStarted})
		return true
	}
	started := time.Now()
	timeout := t.lane.guards.Timeout
	ctx, cancel := context.WithTimeout(b.calls, timeout)
	defer cancel()
	watchdog := time.AfterFunc(timeout+patience, func() { e.abandon(t, started) })
	defer watchdog.Stop()

	returned := false
	var next *time.Time
	var err error
	// Settles the call however it ends: by its answer, by a panic, or by runtime.Goexit, after which deferred calls
	// are all that this goroutine still does.
	defer func() {
		goexit := false
		if !returned {
			if p := recover(); p != nil {
				err = fmt.Errorf("%w: %v\n%s", ErrPanic, p, debug.Stack())
			} else {
				goexit = true
				err = fmt.Errorf("%w: it called runtime.Goexit", ErrPanic)
			}
		}
		placed = e.settle(t, started, next, err)
		if placed && goexit {
			if another := e.finish(t); another != nil {
				go e.work(another)
			}
		}
	}()
	job := t.row.FutureJob
	job.Payload = bytes.Clone(job.Payload) // its own, should it write on it
	next, err = t.lane.fn(ctx, job)
	err = saidBy(err)
	returned = true
	return true
}

// said is what an error of a job_exec said.
type said struct {
	text    string
	timeout bool
}

func (s said) Error() string        { return s.text }
func (s said) Is(target error) bool { return s.timeout && target == ErrTimeout }

// saidBy asks an error all that is wanted of it. Its methods are the job_exec's own and may panic as well, as those of
// a nil pointer do: so they are called in here, where that is caught, and nowhere else.
func saidBy(err error) error {
	if err == nil {
		return nil
	}
	return said{text: err.Error(), timeout: errors.Is(err, ErrTimeout)}
}

// settle delivers the answer of a call that came back. It returns false where the call had been abandoned.
func (e *executor) settle(t *task, started time.Time, next *time.Time, err error) bool {
	ended := time.Now()
	ran := ended.Sub(started)
	if !t.settled.CompareAndSwap(false, true) {
		e.mu.Lock()
		defer e.mu.Unlock()
		t.lane.abandoned--
		e.start()
		return false
	}
	b := t.bucket
	a := answer{next: next, err: err, started: b.clock.when(started), ended: b.clock.when(ended), ran: ran}
	switch timeout := t.lane.guards.Timeout; {
	case b.calls.Err() != nil:
		// The worker's patience was over, or the lease was lost: what the call made of that is not its answer.
		a = answer{kind: notStarted}
	case ran >= timeout:
		a.next, a.err = nil, timeoutError(timeout, err)
	}
	b.deliver(t, a)
	return true
}

// abandon gives up a call that ignores the end of its context: its place goes to another, its late answer is thrown
// away.
func (e *executor) abandon(t *task, started time.Time) {
	if !t.settled.CompareAndSwap(false, true) {
		return
	}
	e.mu.Lock()
	e.count(t, -1)
	t.lane.abandoned++
	e.start()
	e.mu.Unlock()
	ended := time.Now()
	b := t.bucket
	b.deliver(t, answer{
		err:     fmt.Errorf("%w after %s, and ignored it", ErrTimeout, t.lane.guards.Timeout),
		started: b.clock.when(started), ended: b.clock.when(ended), ran: ended.Sub(started),
	})
}

func timeoutError(timeout time.Duration, err error) error {
	if err == nil {
		return fmt.Errorf("%w: it took longer than %s", ErrTimeout, timeout)
	}
	return fmt.Errorf("%w after %s: %w", ErrTimeout, timeout, err)
}
