package execute

import (
	"context"
	"slices"
	"sync"
	"time"

	"prescient/prescient"
	"prescient/prescient/internal/caught"
	"prescient/prescient/worker/internal/check"
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

// each is a Func: a call for each row.
type each struct {
	fn     prescient.Func
	length int // calls that make a series: more while they are quick
}

// InTx implements Handler.
func (*each) InTx() bool { return false }

func (h *each) atOnce() int { return h.length }

func (h *each) begin(e *Executor, t Task) calls { return &series{Task: t, executor: e, each: h} }

// series are the calls of a task.
type series struct {
	Task
	executor *Executor
	each     *each

	mu        sync.Mutex
	began     time.Time   // the first call
	watchdog  *time.Timer // looks after the call that runs
	next      int         // row to be called
	done      int         // rows that are answered
	delivered int         // those of them that the bucket has
	running   bool        // rows[next-1] is being called
	started   time.Time   // since when
	first     time.Time   // start of the first call that is not delivered
	abandoned bool        // that call was given up: whoever makes it has no place any more
	cut       bool        // the rest was taken away
}

func (s *series) learn() {
	s.mu.Lock()
	defer s.mu.Unlock()
	switch took := time.Since(s.began); {
	case s.began.IsZero():
	case s.cut || took > 4*quickSeries:
		s.each.length = max(s.each.length/2, 1)
	case took < quickSeries && len(s.Rows) >= s.each.length:
		s.each.length = min(2*s.each.length, longestSeries)
	}
}

// run calls the function for one row after the other.
func (s *series) run() (placed bool) {
	for r := s.begin(); r != nil; r = s.begin() {
		if !s.call(r) {
			return false
		}
	}
	s.mu.Lock()
	if s.watchdog != nil {
		s.watchdog.Stop()
	}
	rows := s.undelivered()
	s.mu.Unlock()
	s.Sink.Deliver(rows...)
	return true
}

// begin takes the next row to be called; nil where there is none, or nothing may be started any more.
func (s *series) begin() *check.Answered {
	s.mu.Lock()
	defer s.mu.Unlock()
	for s.next < len(s.Rows) {
		if !s.Sink.MayStart() {
			for _, r := range s.Rows[s.next:] {
				r.Answer = check.Answer{Fate: check.NotStarted}
			}
			s.next, s.done = len(s.Rows), len(s.Rows)
			return nil
		}
		r := s.Rows[s.next]
		s.next++
		s.started = time.Now()
		if s.done == s.delivered {
			s.first = s.started
		}
		if a, not := notCalled(s.Lane.Guards, r, s.Sink.Time(), s.started); not {
			r.Answer = check.Of(a)
			s.done++
			continue
		}
		s.running = true
		if s.watchdog == nil {
			s.began = s.started
			s.watchdog = time.AfterFunc(s.nextWatch(s.started), s.watch)
		}
		return r
	}
	return nil
}

// nextWatch is after how long watch comes to the call that runs: soon, where it may hold up others, else when its time is
// over. Called with the mutex held.
func (s *series) nextWatch(now time.Time) time.Duration {
	end := s.started.Add(s.Lane.Guards.Timeout + Overtime)
	if s.next < len(s.Rows) || s.delivered < s.done {
		if soon := s.began.Add(slowSeries); soon.After(now) && soon.Before(end) {
			end = soon
		}
	}
	return end.Sub(now)
}

// call makes one call, and takes note of its answer, however it ends: by an answer, by a panic, or by runtime.Goexit,
// after which deferred calls are all that this goroutine still does.
func (s *series) call(r *check.Answered) (placed bool) {
	ctx := &callContext{parent: s.Sink.Context(), until: s.started.Add(s.Lane.Guards.Timeout)}
	returned := false
	var next *time.Time
	var err error
	defer func() {
		goexit := false
		if !returned {
			goexit, err = notReturned(recover())
		}
		ctx.end()
		placed = s.answer(r, next, err)
		if placed && goexit {
			go s.executor.work(s) // what is left of the series
		}
	}()
	s.executor.tell(r)
	next, err = s.each.fn(ctx, r.Own(s.Sink.Time().When(s.started)))
	err = caught.Quoted(err)
	returned = true
	return true
}

// answer takes note of the answer of the call that runs. It returns false where that had been abandoned.
func (s *series) answer(r *check.Answered, next *time.Time, err error) bool {
	clock, timeout := s.Sink.Time(), s.Lane.Guards.Timeout
	ended := time.Now()
	s.mu.Lock()
	if s.abandoned {
		s.mu.Unlock()
		s.executor.cameBack(s.Lane)
		return false
	}
	s.running = false
	ran := ended.Sub(s.started)
	switch {
	case s.Sink.Context().Err() != nil:
		// The grace of a worker that stops was over, or the lease was lost: what the call made of that is not its answer.
		r.Answer = check.Answer{Fate: check.NotStarted}
	case ran >= timeout:
		r.Answer = check.Answer{Err: TimeoutError(timeout, err), Started: clock.When(s.started), Ended: clock.When(ended), Ran: ran}
	default:
		r.Answer = check.Answer{Next: next, Err: err, Started: clock.When(s.started), Ended: clock.When(ended), Ran: ran}
	}
	var rows []*check.Answered
	if ended.Sub(s.first) >= moment {
		rows = s.undelivered()
		s.first = s.started
	}
	s.done++
	if ran >= moment {
		rows = append(rows, s.undelivered()...)
	}
	s.mu.Unlock()
	if len(rows) > 0 {
		s.Sink.Deliver(rows...)
	}
	return true
}

// undelivered takes the rows that are answered and that the bucket does not have. They were called within a moment,
// and share their times. Called with the mutex held.
func (s *series) undelivered() []*check.Answered {
	rows := s.Rows[s.delivered:s.done:s.done]
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
func (s *series) watch() {
	limit := s.Lane.Guards.Timeout + Overtime
	s.mu.Lock()
	now := time.Now()
	if !s.running {
		if s.next < len(s.Rows) { // between two calls
			s.watchdog.Reset(moment)
		}
		s.mu.Unlock()
		return
	}
	ran := now.Sub(s.started)
	var rest *Task
	var rows []*check.Answered
	gone := ran >= limit
	if gone || now.Sub(s.began) >= slowSeries {
		rows = s.undelivered()
		if s.next < len(s.Rows) {
			rest = &Task{Rows: s.Rows[s.next:], Lane: s.Lane, Sink: s.Sink}
			s.Rows = s.Rows[:s.next]
			s.cut = true
		}
	}
	if gone {
		s.abandoned = true
		r := s.Rows[s.next-1]
		r.Answer = check.Answer{Err: abandonedError(s.Lane.Guards.Timeout),
			Started: s.Sink.Time().When(s.started), Ended: s.Sink.Time().When(now), Ran: ran}
		rows = append(rows, r)
	} else {
		s.watchdog.Reset(s.nextWatch(now))
	}
	s.mu.Unlock()
	if gone || rest != nil {
		s.takeBack(rest, gone)
	}
	if len(rows) > 0 {
		s.Sink.Deliver(rows...)
	}
}

// takeBack puts the rest of a series at the head of its queue; gone says that the call that ran was abandoned.
func (s *series) takeBack(rest *Task, gone bool) {
	e, l := s.executor, s.Lane
	e.mu.Lock()
	defer e.mu.Unlock()
	s.each.length = 1
	if gone {
		e.count(&s.Task, -1)
		l.abandoned++
	}
	if rest != nil {
		queue := &l.queue
		if s.Sink.CatchesUp() {
			queue = &l.backlog
		}
		*queue = slices.Insert(*queue, 0, rest)
	}
	e.start()
}

// callContext is the context of a call. Most job_execs that return at once never ask for its end, so that what it takes
// to notice that is made when they do.
type callContext struct {
	parent context.Context
	until  time.Time

	mu     sync.Mutex
	made   context.Context
	cancel context.CancelFunc
	over   bool
}

func (c *callContext) make() context.Context {
	c.mu.Lock()
	defer c.mu.Unlock()
	if c.made == nil {
		c.made, c.cancel = context.WithDeadline(c.parent, c.until)
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
	if earlier, ok := c.parent.Deadline(); ok && earlier.Before(c.until) {
		return earlier, true
	}
	return c.until, true
}

// Done implements context.Context.
func (c *callContext) Done() <-chan struct{} { return c.make().Done() }

// Err implements context.Context.
func (c *callContext) Err() error { return c.make().Err() }

// Value implements context.Context.
func (c *callContext) Value(key any) any { return c.make().Value(key) }
