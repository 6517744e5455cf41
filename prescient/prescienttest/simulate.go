package prescienttest

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"time"

	"prescient/prescient"
	"prescient/slots"
)

// T is what a simulation needs of a *testing.T.
type T interface {
	Helper()
	Context() context.Context
	Fatalf(format string, args ...any)
}

// Simulation is one check that is to be taken through its life without a server.
type Simulation struct {
	// Job is the check, and Func what it is checked by. Both are needed; where Job has no DueAt, it is due at Now.
	Job  prescient.NewJob
	Func prescient.Func
	// Guards of its job_exec; zero fields mean their defaults.
	Guards prescient.Guards
	// Resolution of the slots; 15 minutes by default.
	Resolution time.Duration
	// Now is when it is inserted. By default it is DefaultStart, and with Wait the time that it is.
	Now time.Time
	// Wait waits for each slot with time.Sleep, for a bubble of testing/synctest: then time.Now says in the Func what a
	// worker's clock would. The CalledAt of a job is its slot in any case. Without it the slots follow one another at once.
	Wait bool
}

// Step is one check of a Life.
type Step struct {
	// At is when it was run, which is its slot.
	At time.Time
	// Job is what the Func was called with.
	Job prescient.FutureJob
	// Next and Err are what it answered.
	Next *time.Time
	Err  error
	// Verdict is what the rules make of it.
	prescient.Verdict
}

// Life is what came of a Simulation so far.
type Life struct {
	t          T
	simulation Simulation
	grid       slots.Grid
	// Steps are the checks that were made.
	Steps []Step
	// Job is the check as it is now.
	Job prescient.FutureJob
	// Outcome is how it ended; empty while it goes on.
	Outcome prescient.Outcome
	// Reason is why it ended.
	Reason string
}

// Simulate begins the life of a check: it is inserted, and nothing has run. The test ends where the insert is refused.
func Simulate(t T, s Simulation) *Life {
	t.Helper()
	s.Resolution = cmp.Or(s.Resolution, 15*time.Minute)
	if s.Now.IsZero() && s.Wait {
		s.Now = time.Now()
	} else if s.Now.IsZero() {
		s.Now = DefaultStart
	}
	s.Now = s.Now.UTC()
	if s.Job.DueAt.IsZero() {
		s.Job.DueAt = s.Now
	}
	s.Guards.Timeout = cmp.Or(s.Guards.Timeout, 30*time.Second)
	l := &Life{t: t, simulation: s}
	var err error
	if l.grid, err = slots.NewGrid(s.Resolution); err == nil {
		l.Job, err = prescient.NewPending(l.grid, s.Guards, s.Job, s.Now)
	}
	if err == nil && s.Func == nil {
		err = errors.New("the simulation has no Func")
	}
	if err == nil {
		err = s.Guards.Validate()
	}
	if err != nil {
		t.Fatalf("prescienttest: %v", err)
	}
	return l
}

// Step runs the next check, at its slot, and returns what came of it; false where the life is over, as that of a check is that
// has expired by then.
func (l *Life) Step() (Step, bool) {
	l.t.Helper()
	if l.Outcome != "" {
		return Step{}, false
	}
	if cause, not := prescient.NotCalled(l.simulation.Guards, l.Job, l.Job.NextCheckAt); not {
		v := prescient.Decide(l.grid, l.simulation.Guards, l.Job, prescient.Answer{Cause: cause}, l.Job.NextCheckAt)
		l.Job, l.Outcome, l.Reason = v.Apply(l.Job), v.Outcome, v.Reason
		return Step{}, false
	}
	s := Step{At: l.Job.NextCheckAt, Job: l.Job}
	s.Job.CalledAt = s.At
	if l.simulation.Wait {
		time.Sleep(time.Until(s.At))
	}
	began := time.Now()
	s.Next, s.Err = l.call(s.Job)
	took := time.Since(began)
	s.Verdict = prescient.Decide(l.grid, l.simulation.Guards, l.Job, prescient.Answer{Next: s.Next, Err: s.Err}, s.At.Add(took))
	l.Job, l.Outcome, l.Reason = s.Apply(l.Job), s.Outcome, s.Reason
	l.Job.TotalMS += took.Milliseconds()
	l.Steps = append(l.Steps, s)
	return s, true
}

// call calls the Func as a worker does, but one that ignores its timeout is waited for.
func (l *Life) call(job prescient.FutureJob) (next *time.Time, err error) {
	timeout := l.simulation.Guards.Timeout
	ctx, cancel := context.WithTimeout(l.t.Context(), timeout)
	defer cancel()
	began := time.Now()
	defer func() {
		if p := recover(); p != nil {
			next, err = nil, fmt.Errorf("%w: %v", prescient.ErrPanic, p)
		}
		if took := time.Since(began); took >= timeout {
			next, err = nil, fmt.Errorf("%w after %s", prescient.ErrTimeout, took)
		}
	}()
	return l.simulation.Func(ctx, job)
}

// mostSteps ends a life that does not.
const mostSteps = 10000

// Run runs checks until the life is over, and returns it.
func (l *Life) Run() *Life {
	l.t.Helper()
	for range mostSteps {
		if _, more := l.Step(); !more {
			return l
		}
	}
	l.t.Fatalf("prescienttest: %s of %s goes on after %d checks", l.Job.JobExec, l.Job.Entity(), mostSteps)
	return l
}

// RunUntil runs the checks of all slots up to a time, and returns the life.
func (l *Life) RunUntil(t time.Time) *Life {
	l.t.Helper()
	for l.Outcome == "" && !l.Job.NextCheckAt.After(t) {
		l.Step()
	}
	return l
}

// RequirePendingAt ends the test unless the check goes on at the slot of a time.
func (l *Life) RequirePendingAt(t time.Time) {
	l.t.Helper()
	switch slot := l.grid.Ceil(t); {
	case l.Outcome != "":
		l.t.Fatalf("%s of %s ended as %s (%s), want it pending at %s", l.Job.JobExec, l.Job.Entity(), l.Outcome, l.Reason, clockTime(slot))
	case !l.Job.NextCheckAt.Equal(slot):
		l.t.Fatalf("%s of %s waits for the slot %s, want %s", l.Job.JobExec, l.Job.Entity(), clockTime(l.Job.NextCheckAt), clockTime(slot))
	}
}

// RequireEnded ends the test unless the check has ended with an outcome.
func (l *Life) RequireEnded(outcome prescient.Outcome) {
	l.t.Helper()
	switch l.Outcome {
	case outcome:
	case "":
		l.t.Fatalf("%s of %s has not ended as %s: it waits for the slot %s%s", l.Job.JobExec, l.Job.Entity(), outcome,
			clockTime(l.Job.NextCheckAt), lastError(l.Job))
	default:
		l.t.Fatalf("%s of %s ended as %s (%s), want %s", l.Job.JobExec, l.Job.Entity(), l.Outcome, l.Reason, outcome)
	}
}

// RequireCalls ends the test unless the Func was called n times.
func (l *Life) RequireCalls(n int) {
	l.t.Helper()
	if len(l.Steps) != n {
		l.t.Fatalf("%d calls of %s for %s, want %d", len(l.Steps), l.Job.JobExec, l.Job.Entity(), n)
	}
}
