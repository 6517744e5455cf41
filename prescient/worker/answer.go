package worker

import (
	"errors"
	"time"

	"prescient/prescient"
)

// answer is what came of one row in a slot run.
type answer struct {
	cause   prescient.Cause
	fate    fate
	next    *time.Time
	err     error
	started time.Time          // by the database's clock
	ended   time.Time          // the same
	ran     time.Duration      // elapsed
	verdict *prescient.Verdict // of a committed one
	wait    time.Duration      // before it is called again
	locked  bool               // it was not called, since somebody else has the row locked
}

// fate is what is left to be done about a row that came back from the executor.
type fate uint8

const (
	answers    fate = iota // its verdict is to be committed
	notStarted             // the worker stops, or lost the lease: the row stays as it is
	again                  // its transaction came to nothing: it is called again, by itself
	committed              // its transaction has committed what became of it
	dropped                // its transaction found that the app had changed it
)

// called says whether the row has an answer of its job_exec that is to be committed.
func (a *answer) called() bool { return a.fate == answers && a.cause == prescient.CauseCalled }

// given is the answer as the rules take it.
func (a *answer) given() prescient.Answer {
	return prescient.Answer{Next: a.next, Err: a.err, Cause: a.cause}
}

// trouble says what went wrong with a row; empty where nothing did.
func (a *answer) trouble(outcome prescient.Outcome) TroubleKind {
	switch {
	case outcome == prescient.Done:
		return ""
	case a.cause == prescient.CauseUnregistered:
		return TroubleUnregistered
	case a.cause == prescient.CauseAbandoned:
		return TroublePutOff
	case a.err != nil && errors.Is(a.err, prescient.ErrTimeout):
		return TroubleTimeout
	case a.err != nil && errors.Is(a.err, prescient.ErrPanic):
		return TroublePanic
	case a.err != nil:
		return TroubleError
	}
	return TroubleKind(outcome)
}
