package prescient

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"math"
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
	name string
	registered
	group     atomic.Int32 // rows that share a transaction, of a TxFunc; fewer once they took too long together
	queue     []*task      // of current slots
	backlog   []*task      // of slots that are caught up; served when queue is empty, by half the places
	running   int
	sweeping  int
	abandoned int // calls that ignored their timeout and have not come back
}

// task is one call: of one row, or of several for a BatchFunc or TxFunc.
type task struct {
	rows    []row
	lane    *lane
	bucket  *bucketRun
	settled atomic.Bool // the answer was delivered, or the call was abandoned
}

// patience is how long after its timeout a call may take to notice that its context is over.
const patience = 250 * time.Millisecond

func newExecutor(limit int, registry *Registry, guards Guards) *executor {
	e := &executor{limit: limit, lanes: make(map[string]*lane)}
	for _, name := range registry.Names() {
		l := &lane{name: name, registered: registry.execs[name]}
		l.guards = registry.guardsOf(name, guards)
		l.group.Store(maxGroup)
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

// most is how many rows one call takes.
func (l *lane) most() int {
	switch {
	case l.batch != nil:
		return math.MaxInt
	case l.tx != nil:
		return int(l.group.Load())
	}
	return 1
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
			t.deliverAll(answer{kind: abandoned})
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
		t.deliverAll(answer{kind: notStarted})
		return true
	}
	started := time.Now()
	timeout := t.lane.guards.Timeout
	ctx, cancel := context.WithTimeout(b.calls, timeout)
	defer cancel()
	watchdog := time.AfterFunc(timeout+patience, func() { e.abandon(t, started) })
	defer watchdog.Stop()

	returned := false
	var answers []answer
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
		placed = e.settle(t, started, answers, err)
		if placed && goexit {
			if another := e.finish(t); another != nil {
				go e.work(another)
			}
		}
	}()
	answers, err = t.call(ctx)
	returned = true
	return true
}

// call calls the function of the task's lane. Without an error there is an answer for each row.
func (t *task) call(ctx context.Context) ([]answer, error) {
	switch l := t.lane; {
	case l.tx != nil:
		return t.bucket.runTx(ctx, l, t.rows)
	case l.batch != nil:
		return t.callBatch(ctx)
	default:
		next, err := l.fn(ctx, t.rows[0].own())
		return []answer{{next: next, err: saidBy(err)}}, nil
	}
}

func (t *task) callBatch(ctx context.Context) ([]answer, error) {
	batch := &Batch{jobs: make([]FutureJob, len(t.rows)), answers: make([]batchAnswer, len(t.rows))}
	for i := range t.rows {
		batch.jobs[i] = t.rows[i].own()
	}
	if err := t.lane.batch(ctx, batch); err != nil {
		return nil, saidBy(err)
	}
	answers := make([]answer, len(t.rows))
	for i, a := range batch.answers {
		answers[i] = answer{next: a.next, err: saidBy(a.err)}
		if !a.given {
			answers[i].err = errUnanswered
		}
	}
	return answers, nil
}

// own is the row for a job_exec, with a payload that it may write on.
func (r *row) own() FutureJob {
	job := r.FutureJob
	job.Payload = bytes.Clone(job.Payload)
	return job
}

// deliverAll delivers the same answer for every row.
func (t *task) deliverAll(a answer) {
	for _, r := range t.rows {
		t.bucket.deliver(r, a)
	}
}

// failed is the answer of every row where the call as a whole failed. Rows that shared a transaction are tried again,
// each by itself, so that none answers for another.
func (t *task) failed(a answer) answer {
	if t.lane.tx != nil && len(t.rows) > 1 {
		return answer{kind: again}
	}
	return a
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

// settle delivers the answers of a call that came back. It returns false where the call had been abandoned.
func (e *executor) settle(t *task, started time.Time, answers []answer, err error) bool {
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
	timeout := t.lane.guards.Timeout
	whole := answer{started: b.clock.when(started), ended: b.clock.when(ended), ran: ran}
	switch {
	case err == nil && t.lane.tx != nil:
		// What was committed is; for the rest runTx has seen to the timeout.
	case b.calls.Err() != nil:
		// The worker's patience was over, or the lease was lost: what the call made of that is not its answer.
		t.deliverAll(answer{kind: notStarted})
		return true
	case ran >= timeout:
		if err == nil && len(answers) == 1 {
			err = answers[0].err
		}
		whole.err = timeoutError(timeout, err)
		t.deliverAll(t.failed(whole))
		return true
	case err != nil:
		whole.err = err
		t.deliverAll(t.failed(whole))
		return true
	}
	for i, a := range answers {
		if a.started.IsZero() {
			a.started, a.ended, a.ran = whole.started, whole.ended, whole.ran
		}
		b.deliver(t.rows[i], a)
	}
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
	t.deliverAll(t.failed(answer{
		err:     fmt.Errorf("%w after %s, and ignored it", ErrTimeout, t.lane.guards.Timeout),
		started: t.bucket.clock.when(started), ended: t.bucket.clock.when(ended), ran: ended.Sub(started),
	}))
}

func timeoutError(timeout time.Duration, err error) error {
	if err == nil {
		return fmt.Errorf("%w: it took longer than %s", ErrTimeout, timeout)
	}
	return fmt.Errorf("%w after %s: %w", ErrTimeout, timeout, err)
}
