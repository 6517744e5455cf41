package tally

import (
	"encoding/json"
	"errors"
	"fmt"
	"maps"
	"time"

	"prescient/prescient"
)

// Of is what a line is about.
type Of struct{ JobExec, EntityName string }

// Other stands for the kinds of entity that are too many for lines of their own, and for the job_execs that are. Nothing can be called that.
const Other = "(other)"

// How much is told apart in a bucket: what apps write may fill neither the memory of a worker nor its commits.
const (
	// MaxKinds are kinds of entity of one job_exec.
	MaxKinds = 50
	// MaxExecs are job_execs.
	MaxExecs = 200
	// MaxLines are lines, beside one for the rest of each job_exec.
	MaxLines = 500
	// maxReasons are those of a line of which the commonest is written.
	maxReasons = 20
)

// count is a column that counts checks.
type count int

const (
	calls    count = iota // that were answered, and the answer committed
	failures              // of these: answered with an error, timeouts and panics among them
	timeouts
	panics
	moved // to a later slot after a call
	dropped
	// Put off without a call: the worker does not know the job_exec; it is paused; too many of its calls ignored their timeout; another run or lock is
	// waited for; what is left.
	unregistered
	paused
	abandoned
	waiting
	otherwise
	done
	maxChecks
	pastReturn
	beyondHorizon
	failed
	timedOut
	crashed
	expired
	missed
	tooSoon
	overlapped
	quota
	counts
)

// ends are the columns of the outcomes. Those that apps write have none.
var ends = map[prescient.Outcome]count{prescient.Done: done, prescient.MaxChecks: maxChecks, prescient.PastReturn: pastReturn,
	prescient.BeyondHorizon: beyondHorizon, prescient.Failed: failed, prescient.TimedOut: timedOut, prescient.Crashed: crashed,
	prescient.Expired: expired, prescient.Missed: missed, prescient.TooSoon: tooSoon, prescient.Overlapped: overlapped, prescient.Quota: quota}

// putOff are the columns of why a check was put off without a call.
var putOff = map[prescient.Cause]count{prescient.CauseUnregistered: unregistered, prescient.CausePaused: paused, prescient.CauseAbandoned: abandoned,
	prescient.CauseWaits: waiting, prescient.CauseContested: waiting}

// Line is one of exec_run.
type Line struct {
	counts            [counts]uint64
	runMS, maxRunMS   int64
	lateMS, maxLateMS int64
	runs, lates       Histogram
	reasons           map[string]*reason
}

// reason is one of those for which something went wrong, with how many checks.
type reason struct {
	n       uint64
	example Example
}

// Example is a check with which something went wrong.
type Example struct {
	EntityKey string    `json:"entity_key"`
	Tag       string    `json:"tag,omitempty"`
	DueAt     time.Time `json:"due_at"`
	Checks    int       `json:"check_count"`
	At        time.Time `json:"at"`
	Error     string    `json:"error"`
}

// Noted is what became of a check.
type Noted struct {
	Job     *prescient.FutureJob // with the slot that it was in
	Cause   prescient.Cause
	Err     error // of the call
	Called  bool
	Started time.Time // by the database's clock, where it was called
	Ended   time.Time
	Ran     time.Duration
	Verdict *prescient.Verdict
	Dropped bool // the answer was thrown away
}

func (l *Line) note(n Noted) {
	if n.Called {
		l.noteCall(n)
	}
	v := n.Verdict
	switch at, ended := ends[v.Outcome]; {
	case n.Dropped:
		l.counts[dropped]++
		return
	case ended:
		l.counts[at]++
	case v.Outcome != "": // by the app
	case n.Cause == prescient.CauseCalled:
		l.counts[moved]++
	default:
		at, known := putOff[n.Cause]
		if !known {
			at = otherwise
		}
		l.counts[at]++
	}
	if wrong := n.Err != nil || v.Outcome != "" && v.Outcome != prescient.Done || n.Cause == prescient.CauseUnregistered || n.Cause == prescient.CauseAbandoned; wrong {
		l.noteReason(n)
	}
}

func (l *Line) noteCall(n Noted) {
	l.counts[calls]++
	if n.Err != nil {
		l.counts[failures]++
	}
	switch {
	case errors.Is(n.Err, prescient.ErrTimeout):
		l.counts[timeouts]++
	case errors.Is(n.Err, prescient.ErrPanic):
		l.counts[panics]++
	}
	ran := max(n.Ran.Milliseconds(), 0)
	l.runMS, l.maxRunMS = l.runMS+ran, max(l.maxRunMS, ran)
	l.runs[BucketOf(ran)]++
	late := max(n.Started.Sub(n.Job.NextCheckAt).Milliseconds(), 0)
	l.lateMS, l.maxLateMS = l.lateMS+late, max(l.maxLateMS, late)
	l.lates[BucketOf(late)]++
}

func (l *Line) noteReason(n Noted) {
	text := n.Verdict.Reason
	if text == "" {
		text = string(n.Verdict.Outcome)
	}
	of := ReasonOf(text)
	known := l.reasons[of]
	if known == nil {
		if len(l.reasons) >= maxReasons {
			return
		}
		known = &reason{example: Example{EntityKey: n.Job.EntityKey, Tag: n.Job.Tag, DueAt: n.Job.DueAt, Checks: n.Verdict.CheckCount, At: n.Ended, Error: text}}
		l.reasons[of] = known
	}
	known.n++
}

func (l *Line) clone() *Line {
	c := *l
	c.runs, c.lates, c.reasons = maps.Clone(l.runs), maps.Clone(l.lates), make(map[string]*reason, len(l.reasons))
	for of, one := range l.reasons {
		same := *one
		c.reasons[of] = &same
	}
	return &c
}

func (e Example) json() string {
	text, err := json.Marshal(e)
	if err != nil {
		panic(fmt.Sprintf("an example that is no JSON: %v", err)) // texts, times and numbers always are
	}
	return string(text)
}
