package check

import (
	"errors"
	"time"

	"prescient/prescient"
	"prescient/prescient/internal/caught"
	"prescient/prescient/worker/books"
)

// Answer is what came of one row in a slot run.
type Answer struct {
	Cause   prescient.Cause
	Outcome prescient.Outcome // with CauseEnds
	Version uint32            // with CauseMoved: of its rule
	Began   bool              // with CauseWaits: its call did, and goes on beside the slot run
	Fate    Fate
	Next    *time.Time
	Err     error
	Started time.Time          // by the database's clock
	Ended   time.Time          // the same
	Ran     time.Duration      // elapsed
	Verdict *prescient.Verdict // of a committed one
	Wait    time.Duration      // before it is called again
	Kept    error              // why the server refuses to end the row; nil for not
	Locked  bool               // somebody else has locked the row, or what its call needs
	After   func(bool)         // is called when the transaction of its call is over: whether that was committed; nil for nothing
}

// Fate is what is left to be done about a row that came back from the executor.
type Fate uint8

const (
	Answers    Fate = iota // its verdict is to be committed
	NotStarted             // the worker stops, or lost the lease: the row stays as it is
	Again                  // its transaction came to nothing: it is called again, by itself
	Committed              // its transaction has committed what became of it
	Dropped                // its transaction found that the app had changed it
)

// Called says whether the row has an answer of its job_exec that is to be committed.
func (a *Answer) Called() bool { return a.Fate == Answers && a.Cause == prescient.CauseCalled }

// Lapsed says whether it was not called since it came too late, or too soon: history says then that nothing started.
func (a *Answer) Lapsed() bool {
	switch a.Cause {
	case prescient.CauseExpired, prescient.CauseMissed, prescient.CauseEnds:
		return true
	}
	return false
}

// Of is an answer as the rules take it, before its call is told of.
func Of(a prescient.Answer) Answer {
	return Answer{Cause: a.Cause, Outcome: a.Outcome, Began: a.Began, Version: a.RuleVersion, Next: a.Next, Err: caught.Quoted(a.Err)}
}

// Given is the answer as the rules take it.
func (a *Answer) Given() prescient.Answer {
	return prescient.Answer{Next: a.Next, Err: a.Err, Cause: a.Cause, Outcome: a.Outcome, Began: a.Began, RuleVersion: a.Version}
}

// Trouble says what went wrong with a row; empty where nothing did.
func (a *Answer) Trouble(outcome prescient.Outcome) books.TroubleKind {
	switch {
	case outcome == prescient.Done:
		return ""
	case a.Cause == prescient.CauseUnregistered:
		return books.TroubleUnregistered
	case a.Cause == prescient.CauseAbandoned, a.Cause == prescient.CauseRefused:
		return books.TroublePutOff
	case a.Err != nil && errors.Is(a.Err, prescient.ErrTimeout):
		return books.TroubleTimeout
	case a.Err != nil && errors.Is(a.Err, prescient.ErrPanic):
		return books.TroublePanic
	case a.Err != nil && a.Cause == prescient.CauseCalled:
		return books.TroubleError
	}
	return books.TroubleKind(outcome)
}
