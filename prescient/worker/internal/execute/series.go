package execute

import (
	"context"
	"fmt"
	"slices"
	"sync"
	"time"

	"prescient/prescient"
	"prescient/prescient/worker/internal/check"
	"prescient/slots"
)

// Calls of a Func come in series: one goroutine calls row after row, so that a job_exec that returns at once costs no
// goroutine, timer and wake-up of its own. A series is as long as its calls are quick, and one call that turns out slow
// holds up nothing: after a few milliseconds what was answered before it is delivered, and the rest goes back to the queue.
const (
	// LongestSeries bounds a series; quickSeries is how long it may take to be made longer.
	LongestSeries = 1024
	quickSeries   = 500 * time.Microsecond
	// SlowSeries is how long a series may take before the rest of it is taken back.
	SlowSeries = 5 * time.Millisecond
	// Moment is the time within which calls that follow one another are noted as one: they share the times at which
	// they started and ended, in history.
	Moment = time.Millisecond
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

// splitOff takes the first n rows as a task of their own.
func (t *Task) splitOff(n int) *Task {
	head := &Task{Rows: t.Rows[:n:n], Lane: t.Lane, Sink: t.Sink}
	t.Rows = t.Rows[n:]
	return head
}

// learn makes the series of a lane longer or shorter by what one of them took, or its transactions larger or smaller.
// Called with the executor's mutex held.
func (l *Lane) learn(t *Task) {
	if l.InTx() {
		l.Group.Store(int32(NextGroup(int(l.Group.Load()), len(t.Rows), t.LockedFor)))
	}
	if l.Fn == nil {
		return
	}
	s := &t.series
	s.mu.Lock()
	defer s.mu.Unlock()
	switch took := time.Since(s.began); {
	case s.began.IsZero():
	case s.cut || took > 4*quickSeries:
		l.Length = max(l.Length/2, 1)
	case took < quickSeries && len(t.Rows) >= l.Length:
		l.Length = min(2*l.Length, LongestSeries)
	}
}

// callSeries calls a Func for one row of a task after the other. It returns false where this goroutine has no place any
// more: a call was abandoned, or ended its goroutine, and another has gone on.
func (e *Executor) callSeries(t *Task) (placed bool) {
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
	t.Sink.Deliver(rows...)
	return true
}

// begin takes the next row to be called; nil where there is none, or nothing may be started any more.
func (t *Task) begin(e *Executor) *check.Answered {
	s := &t.series
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.next == len(t.Rows) {
		return nil
	}
	if !t.Sink.MayStart() {
		for _, r := range t.Rows[s.next:] {
			r.Answer = check.Answer{Fate: check.NotStarted}
		}
		s.next, s.done = len(t.Rows), len(t.Rows)
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
	return t.Rows[s.next-1]
}

// lookAgain is when the call that runs is to be looked after: soon, where it may hold up others, else when its time is
// over. Called with the mutex held.
func (t *Task) lookAgain(now time.Time) time.Duration {
	s := &t.series
	end := s.started.Add(t.Lane.Guards.Timeout + Overtime)
	if s.next < len(t.Rows) || s.delivered < s.done {
		if soon := s.began.Add(SlowSeries); soon.After(now) && soon.Before(end) {
			end = soon
		}
	}
	return end.Sub(now)
}

// callOne makes one call, and takes note of its answer, however it ends: by an answer, by a panic, or by runtime.Goexit,
// after which deferred calls are all that this goroutine still does.
func (e *Executor) callOne(t *Task, r *check.Answered) (placed bool) {
	ctx := &CallContext{Parent: t.Sink.Context(), Until: t.series.started.Add(t.Lane.Guards.Timeout)}
	returned := false
	var next *time.Time
	var err error
	defer func() {
		goexit := false
		if !returned {
			goexit, err = notReturned(recover())
		}
		ctx.End()
		placed = e.deliverOne(t, r, next, err)
		if placed && goexit {
			go e.work(t) // what is left of the series
		}
	}()
	next, err = t.Lane.Fn(ctx, r.Own(t.Sink.Time().When(t.series.started)))
	err = check.Quoted(err)
	returned = true
	return true
}

// deliverOne takes note of the answer of the call that runs. It returns false where that had been abandoned.
func (e *Executor) deliverOne(t *Task, r *check.Answered, next *time.Time, err error) bool {
	clock, s, timeout := t.Sink.Time(), &t.series, t.Lane.Guards.Timeout
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
	case t.Sink.Context().Err() != nil:
		// The worker's patience was over, or the lease was lost: what the call made of that is not its answer.
		r.Answer = check.Answer{Fate: check.NotStarted}
	case ran >= timeout:
		r.Answer = check.Answer{Err: TimeoutError(timeout, err), Started: clock.When(s.started), Ended: clock.When(ended), Ran: ran}
	default:
		r.Answer = check.Answer{Next: next, Err: err, Started: clock.When(s.started), Ended: clock.When(ended), Ran: ran}
	}
	var rows []*check.Answered
	if ended.Sub(s.first) >= Moment {
		rows = t.undelivered()
		s.first = s.started
	}
	s.done++
	if ran >= Moment {
		rows = append(rows, t.undelivered()...)
	}
	s.mu.Unlock()
	if len(rows) > 0 {
		t.Sink.Deliver(rows...)
	}
	return true
}

// undelivered takes the rows that are answered and that the bucket does not have. They were called within a moment,
// and share their times. Called with the mutex held.
func (t *Task) undelivered() []*check.Answered {
	s := &t.series
	rows := t.Rows[s.delivered:s.done:s.done]
	s.delivered = s.done
	var started, ended time.Time
	for _, r := range rows {
		if r.Answer.Called() {
			started, ended = slots.Earlier(started, r.Answer.Started), slots.Later(ended, r.Answer.Ended)
		}
	}
	for _, r := range rows {
		if r.Answer.Called() {
			r.Answer.Started, r.Answer.Ended = started, ended
		}
	}
	return rows
}

// watch looks after a series: one that is slow loses the rest of it, and a call that ignores the end of its context is
// abandoned.
func (e *Executor) watch(t *Task) {
	s, limit := &t.series, t.Lane.Guards.Timeout+Overtime
	s.mu.Lock()
	now := time.Now()
	if !s.running {
		if s.next < len(t.Rows) { // between two calls
			s.watch.Reset(Moment)
		}
		s.mu.Unlock()
		return
	}
	ran := now.Sub(s.started)
	var rest *Task
	var rows []*check.Answered
	gone := ran >= limit
	if gone || now.Sub(s.began) >= SlowSeries {
		rows = t.undelivered()
		if s.next < len(t.Rows) {
			rest = &Task{Rows: t.Rows[s.next:], Lane: t.Lane, Sink: t.Sink}
			t.Rows = t.Rows[:s.next]
			s.cut = true
		}
	}
	if gone {
		s.abandoned = true
		r := t.Rows[s.next-1]
		r.Answer = check.Answer{Err: fmt.Errorf("%w after %s, and ignored it", prescient.ErrTimeout, t.Lane.Guards.Timeout),
			Started: t.Sink.Time().When(s.started), Ended: t.Sink.Time().When(now), Ran: ran}
		rows = append(rows, r)
	} else {
		s.watch.Reset(t.lookAgain(now))
	}
	s.mu.Unlock()
	if gone || rest != nil {
		e.takeBack(t, rest, gone)
	}
	if len(rows) > 0 {
		t.Sink.Deliver(rows...)
	}
}

// takeBack puts the rest of a series at the head of its queue; gone says that the call that ran was abandoned.
func (e *Executor) takeBack(t, rest *Task, gone bool) {
	e.Mu.Lock()
	defer e.Mu.Unlock()
	l := t.Lane
	l.Length = 1
	if gone {
		e.count(t, -1)
		l.Abandoned++
	}
	if rest != nil {
		queue := &l.queue
		if t.Sink.CatchesUp() {
			queue = &l.backlog
		}
		*queue = slices.Insert(*queue, 0, rest)
	}
	e.start()
}

// CallContext is the context of a call. Most job_execs that return at once never ask for its end, so that what it takes
// to notice that is made when they do.
type CallContext struct {
	Parent context.Context
	Until  time.Time

	mu     sync.Mutex
	made   context.Context
	cancel context.CancelFunc
	over   bool
}

func (c *CallContext) make() context.Context {
	c.mu.Lock()
	defer c.mu.Unlock()
	if c.made == nil {
		c.made, c.cancel = context.WithDeadline(c.Parent, c.Until)
		if c.over {
			c.cancel()
		}
	}
	return c.made
}

// End cancels it: the call is over.
func (c *CallContext) End() {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.over = true
	if c.cancel != nil {
		c.cancel()
	}
}

// Deadline implements context.Context.
func (c *CallContext) Deadline() (time.Time, bool) {
	if earlier, ok := c.Parent.Deadline(); ok && earlier.Before(c.Until) {
		return earlier, true
	}
	return c.Until, true
}

// Done implements context.Context.
func (c *CallContext) Done() <-chan struct{} { return c.make().Done() }

// Err implements context.Context.
func (c *CallContext) Err() error { return c.make().Err() }

// Value implements context.Context.
func (c *CallContext) Value(key any) any { return c.make().Value(key) }
