package worker

import (
	"context"
	"fmt"
	"slices"
	"sync"
	"time"

	"prescient/prescient"
	"prescient/slots"
)

// Calls of a Func come in series: one goroutine calls row after row, so that a job_exec that returns at once costs no
// goroutine, timer and wake-up of its own. A series is as long as its calls are quick, and one call that turns out slow
// holds up nothing: after a few milliseconds what was answered before it is delivered, and the rest goes back to the queue.
const (
	// longestSeries bounds a series; quickSeries is how long it may take to be made longer.
	longestSeries = 1024
	quickSeries   = 500 * time.Microsecond
	// slowSeries is how long a series may take before the rest of it is taken back.
	slowSeries = 5 * time.Millisecond
	// moment is the time within which calls that follow one another are noted as one: they share the times at which
	// they started and ended, in history.
	moment = time.Millisecond
)

// series is what is known of the calls of a task.
type series struct {
	mu        sync.Mutex
	began     time.Time   // the first call
	watch     *time.Timer // looks after the call that runs
	next      int         // row to be called
	done      int         // rows that are answered
	delivered int         // those of them that the bucket has
	running   bool        // rows[next-1] is being called
	started   time.Time   // since when
	first     time.Time   // start of the first call that is not delivered
	abandoned bool        // that call was given up: whoever makes it has no place any more
	cut       bool        // the rest was taken away
}

// divide takes the first n rows as a task of their own.
func (t *task) divide(n int) *task {
	head := &task{rows: t.rows[:n:n], lane: t.lane, sink: t.sink}
	t.rows = t.rows[n:]
	return head
}

// learn makes the series of a lane longer or shorter by what one of them took, or its transactions larger or smaller.
// Called with the executor's mutex held.
func (l *lane) learn(t *task) {
	if l.inTx() {
		l.group.Store(int32(nextGroup(int(l.group.Load()), len(t.rows), t.held)))
	}
	if l.fn == nil {
		return
	}
	s := &t.series
	s.mu.Lock()
	defer s.mu.Unlock()
	switch took := time.Since(s.began); {
	case s.began.IsZero():
	case s.cut || took > 4*quickSeries:
		l.length = max(l.length/2, 1)
	case took < quickSeries && len(t.rows) >= l.length:
		l.length = min(2*l.length, longestSeries)
	}
}

// callSeries calls a Func for one row of a task after the other. It returns false where this goroutine has no place any
// more: a call was abandoned, or ended its goroutine, and another has gone on.
func (e *executor) callSeries(t *task) (placed bool) {
	for r := t.begin(e); r != nil; r = t.begin(e) {
		if !e.callOne(t, r) {
			return false
		}
	}
	s := &t.series
	s.mu.Lock()
	if s.watch != nil {
		s.watch.Stop()
	}
	rows := t.undelivered()
	s.mu.Unlock()
	t.sink.deliver(rows...)
	return true
}

// begin takes the next row to be called; nil where there is none, or nothing may be started any more.
func (t *task) begin(e *executor) *answered {
	s := &t.series
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.next == len(t.rows) {
		return nil
	}
	if !t.sink.mayStart() {
		for _, r := range t.rows[s.next:] {
			r.answer = answer{fate: notStarted}
		}
		s.next, s.done = len(t.rows), len(t.rows)
		return nil
	}
	s.next++
	s.running, s.started = true, time.Now()
	if s.done == s.delivered {
		s.first = s.started
	}
	if s.watch == nil {
		s.began = s.started
		s.watch = time.AfterFunc(t.lookAgain(s.started), func() { e.watch(t) })
	}
	return t.rows[s.next-1]
}

// lookAgain is when the call that runs is to be looked after: soon, where it may hold up others, else when its time is
// over. Called with the mutex held.
func (t *task) lookAgain(now time.Time) time.Duration {
	s := &t.series
	end := s.started.Add(t.lane.guards.Timeout + patience)
	if s.next < len(t.rows) || s.delivered < s.done {
		if soon := s.began.Add(slowSeries); soon.After(now) && soon.Before(end) {
			end = soon
		}
	}
	return end.Sub(now)
}

// callOne makes one call, and takes note of its answer, however it ends: by an answer, by a panic, or by runtime.Goexit,
// after which deferred calls are all that this goroutine still does.
func (e *executor) callOne(t *task, r *answered) (placed bool) {
	ctx := &callContext{parent: t.sink.context(), deadline: t.series.started.Add(t.lane.guards.Timeout)}
	returned := false
	var next *time.Time
	var err error
	defer func() {
		goexit := false
		if !returned {
			goexit, err = notReturned(recover())
		}
		ctx.end()
		placed = e.settleOne(t, r, next, err)
		if placed && goexit {
			go e.work(t) // what is left of the series
		}
	}()
	next, err = t.lane.fn(ctx, r.own(t.sink.time().When(t.series.started)))
	err = saidBy(err)
	returned = true
	return true
}

// settleOne takes note of the answer of the call that runs. It returns false where that had been abandoned.
func (e *executor) settleOne(t *task, r *answered, next *time.Time, err error) bool {
	clock, s, timeout := t.sink.time(), &t.series, t.lane.guards.Timeout
	ended := time.Now()
	s.mu.Lock()
	if s.abandoned {
		s.mu.Unlock()
		e.cameBack(t)
		return false
	}
	s.running = false
	ran := ended.Sub(s.started)
	switch {
	case t.sink.context().Err() != nil:
		// The worker's patience was over, or the lease was lost: what the call made of that is not its answer.
		r.answer = answer{fate: notStarted}
	case ran >= timeout:
		r.answer = answer{err: timeoutError(timeout, err), started: clock.When(s.started), ended: clock.When(ended), ran: ran}
	default:
		r.answer = answer{next: next, err: err, started: clock.When(s.started), ended: clock.When(ended), ran: ran}
	}
	var rows []*answered
	if ended.Sub(s.first) >= moment {
		rows = t.undelivered()
		s.first = s.started
	}
	s.done++
	if ran >= moment {
		rows = append(rows, t.undelivered()...)
	}
	s.mu.Unlock()
	if len(rows) > 0 {
		t.sink.deliver(rows...)
	}
	return true
}

// undelivered takes the rows that are answered and that the bucket does not have. They were called within a moment,
// and share their times. Called with the mutex held.
func (t *task) undelivered() []*answered {
	s := &t.series
	rows := t.rows[s.delivered:s.done:s.done]
	s.delivered = s.done
	var started, ended time.Time
	for _, r := range rows {
		if r.answer.called() {
			started, ended = slots.Earlier(started, r.answer.started), slots.Later(ended, r.answer.ended)
		}
	}
	for _, r := range rows {
		if r.answer.called() {
			r.answer.started, r.answer.ended = started, ended
		}
	}
	return rows
}

// watch looks after a series: one that is slow loses the rest of it, and a call that ignores the end of its context is
// abandoned.
func (e *executor) watch(t *task) {
	s, limit := &t.series, t.lane.guards.Timeout+patience
	s.mu.Lock()
	now := time.Now()
	if !s.running {
		if s.next < len(t.rows) { // between two calls
			s.watch.Reset(moment)
		}
		s.mu.Unlock()
		return
	}
	ran := now.Sub(s.started)
	var rest *task
	var rows []*answered
	gone := ran >= limit
	if gone || now.Sub(s.began) >= slowSeries {
		rows = t.undelivered()
		if s.next < len(t.rows) {
			rest = &task{rows: t.rows[s.next:], lane: t.lane, sink: t.sink}
			t.rows = t.rows[:s.next]
			s.cut = true
		}
	}
	if gone {
		s.abandoned = true
		r := t.rows[s.next-1]
		r.answer = answer{err: fmt.Errorf("%w after %s, and ignored it", prescient.ErrTimeout, t.lane.guards.Timeout),
			started: t.sink.time().When(s.started), ended: t.sink.time().When(now), ran: ran}
		rows = append(rows, r)
	} else {
		s.watch.Reset(t.lookAgain(now))
	}
	s.mu.Unlock()
	if gone || rest != nil {
		e.takeBack(t, rest, gone)
	}
	if len(rows) > 0 {
		t.sink.deliver(rows...)
	}
}

// takeBack puts the rest of a series at the head of its queue; gone says that the call that ran was abandoned.
func (e *executor) takeBack(t, rest *task, gone bool) {
	e.mu.Lock()
	defer e.mu.Unlock()
	l := t.lane
	l.length = 1
	if gone {
		e.count(t, -1)
		l.abandoned++
	}
	if rest != nil {
		queue := &l.queue
		if t.sink.catchesUp() {
			queue = &l.backlog
		}
		*queue = slices.Insert(*queue, 0, rest)
	}
	e.start()
}

// callContext is the context of a call. Most job_execs that return at once never ask for its end, so that what it takes
// to notice that is made when they do.
type callContext struct {
	parent   context.Context
	deadline time.Time

	mu     sync.Mutex
	made   context.Context
	cancel context.CancelFunc
	over   bool
}

func (c *callContext) make() context.Context {
	c.mu.Lock()
	defer c.mu.Unlock()
	if c.made == nil {
		c.made, c.cancel = context.WithDeadline(c.parent, c.deadline)
		if c.over {
			c.cancel()
		}
	}
	return c.made
}

// end cancels it: the call is over.
func (c *callContext) end() {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.over = true
	if c.cancel != nil {
		c.cancel()
	}
}

// Deadline implements context.Context.
func (c *callContext) Deadline() (time.Time, bool) {
	if earlier, ok := c.parent.Deadline(); ok && earlier.Before(c.deadline) {
		return earlier, true
	}
	return c.deadline, true
}

// Done implements context.Context.
func (c *callContext) Done() <-chan struct{} { return c.make().Done() }

// Err implements context.Context.
func (c *callContext) Err() error { return c.make().Err() }

// Value implements context.Context.
func (c *callContext) Value(key any) any { return c.make().Value(key) }
