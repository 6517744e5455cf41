package steps

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"time"

	"prescient/prescient"
	"prescient/prescient/longrun"
)

// MaxCheckpoint is how long the checkpoint of a step may be that is a long run, in bytes.
const MaxCheckpoint = longrun.MaxCheckpoint - maxState

// maxState bounds what the checkpoint of a run says of the run itself.
const maxState = 8 << 10

// Results of the calls of steps, beside those of prescient.Outcomes, as step_run_log has them.
const (
	ResultDone     = string(prescient.Done)
	ResultFailed   = string(prescient.Failed)
	ResultTimedOut = string(prescient.TimedOut)
	ResultCrashed  = string(prescient.Crashed)
	// ResultAgain is that of a call that answered with a time, and ResultHandedOn that of one whose agent has stopped.
	ResultAgain    = "again"
	ResultHandedOn = "handed_on"
	// ResultUnregistered is that of a step whose job_exec the agent does not have.
	ResultUnregistered = "unregistered"
)

// state is where a run stands: the first line of its checkpoint, behind which comes that of the step.
type state struct {
	Occurrence string `json:"occurrence"`
	Version    uint64 `json:"version"`
	// Step is the one that is under way, or comes next, counted from 0.
	Step int `json:"step"`
	// Failures and Checks are how often it has failed, and answered with a time.
	Failures int `json:"failures,omitempty"`
	Checks   int `json:"checks,omitempty"`
	// At is when it is to be called; nil for at once.
	At *time.Time `json:"at,omitempty"`
	// Seq counts the calls of the run. Called says that the last one was begun, and that nothing was committed of it.
	Seq    int  `json:"seq"`
	Called bool `json:"called,omitempty"`
	// Failed counts the steps that failed, after which the run went on, and FirstFailed names one.
	Failed      int    `json:"failed,omitempty"`
	FirstFailed string `json:"first_failed,omitempty"`
}

// encode returns the checkpoint of a run, with that of its step.
func (s state) encode(step []byte) ([]byte, error) {
	line, err := json.Marshal(s)
	if err != nil {
		return nil, err
	}
	return append(append(line, '\n'), step...), nil
}

// decodeState reads what encode wrote. Another occurrence's says nothing of this one: a run begins at its first step.
func decodeState(checkpoint []byte, occurrence string) (s state, step []byte) {
	line, step, found := bytes.Cut(checkpoint, []byte("\n"))
	if err := json.Unmarshal(line, &s); !found || err != nil || s.Occurrence != occurrence || s.Version == 0 {
		return state{Occurrence: occurrence}, nil
	}
	return s, step
}

// answered is what a call of a step came to.
type answered struct {
	next *time.Time
	err  error
	late bool // for its timeout: what the error says of another try does not count
	// done is what was committed already, with the effects of the step; nil for nothing.
	done *settled
}

// settled is what becomes of a run by an answer.
type settled struct {
	state state
	outcome
}

// outcome is what is logged of a call, and what becomes of the run.
type outcome struct {
	result string
	reason string
	// next is when the run is to go on; nil for at once.
	next *time.Time
	// stop is why the run ends; nil where it goes on.
	stop error
	// noted says that the step has failed, and the run goes on.
	noted bool
}

// advance says what the answer of a step makes of a run. maxChecks is how many times the step may answer with one. It is a pure function.
func (s state) advance(step Step, maxChecks int, a answered, now time.Time) (state, outcome) {
	s.Called, s.At = false, nil
	switch {
	case a.err == nil && a.next == nil:
		return s.passed(), outcome{result: ResultDone}
	case a.err == nil && !a.next.After(now):
		a.err = fmt.Errorf("it answered with a time that is over: %s", a.next.UTC().Format(time.RFC3339))
	case a.err == nil && s.Checks >= maxChecks:
		a.err = fmt.Errorf("it answered with a time for the %d. time; %d are allowed", s.Checks+1, maxChecks)
	case a.err == nil:
		s.Checks++
		s.At = a.next
		return s, outcome{result: ResultAgain, next: a.next}
	}
	o := outcome{result: ResultFailed, reason: prescient.ReasonText(a.err)}
	if errors.Is(a.err, prescient.ErrTimeout) {
		o.result = ResultTimedOut
	}
	switch {
	case s.Failures < step.Retries && (a.late || !errors.Is(a.err, prescient.ErrFinal)):
		s.Failures++
		wait := step.RetryWait
		if in, stated := prescient.RetryIn(a.err); stated && !a.late {
			wait = min(max(in, 0), longestTime)
		}
		at := now.Add(wait)
		s.At = &at
		if wait > max(step.RetryWait, mostHeld) { // whoever is called may say for how long, but not keep others from the place
			o.next = &at
		}
	case step.OnFailure == Continue:
		if s.Failed++; s.FirstFailed == "" {
			s.FirstFailed = step.Name
		}
		o.noted = true
		s = s.passed()
	default:
		// Who has the run done again begins with this step, and all its tries.
		s.Failures, s.Checks = 0, 0
		o.stop = fmt.Errorf("step %q: %s", step.Name, o.reason)
	}
	return s, o
}

// passed is the state of a run that goes on with the next step.
func (s state) passed() state {
	s.Step++
	s.Failures, s.Checks = 0, 0
	return s
}

// notes is what the log of a run says of the steps that failed in it; empty for none.
func (s state) notes() string {
	switch s.Failed {
	case 0:
		return ""
	case 1:
		return fmt.Sprintf("step %q failed; the run went on", s.FirstFailed)
	}
	return fmt.Sprintf("%d steps failed, the first of them %q; the run went on", s.Failed, s.FirstFailed)
}
