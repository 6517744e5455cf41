// Package apart decides whether the long runs of one schedule kept to what that says of them: how they keep apart, and how long one
// may take. It knows no tables and no journal, and nothing of the code that it checks: package checker tells it what happened.
//
// The rules, each the name of a finding:
//
//   - too-soon: a run started sooner after the start before it than the interval less the tolerance; or one ended as too_soon that was not
//   - overlapped: a run ended as overlapped, and none before it was under way; or one that may wait for that, and no other waited
//   - quota: a call began a step when the quota was used up, and nothing had frozen it; or a run ended as quota that had some left
//   - retry: a run was tried again when the next occurrence was due, or failed although it could have been tried again before that
//   - outcome: a run that had started ended as one that had not, or crashed though too few agents let it lapse
//   - fenced: a run is done, and its last call did not say so; or an agent was given it when it had ended
//   - checkpoint: a run went on from another step than the one before it had come to
//   - cancelled: a call went on for longer than a lease after an app had ended its run
package apart

import "time"

// Terms are what the definition that was in force says of a run.
type Terms struct {
	Apart     bool // from the other runs of the schedule: it forbids overlap, or has one wait
	Queue     bool
	Interval  time.Duration // from its occurrence to the next
	Tolerance time.Duration
	Next      time.Time     // when the next is due
	Quota     time.Duration // 0 for none
}

// Run is the row of a run, until it ended. When it was inserted nobody knows: a later definition sets that anew.
type Run struct {
	Due     time.Time
	Slot    time.Time // in which it ended
	Outcome string    // empty while it is pending
	Ended   time.Time
	Worker  string // that ended it
	Terms   Terms  // as it started, or ended without that
	Goes    Terms  // as it was called last, under a later definition maybe
	Ends    Terms  // as it ended, or now
	Calls   []Call // by time: each is of a start
}

// Call is that an agent was given a run, and what it told of its call. Times are the database's.
type Call struct {
	Worker string
	Token  uint64
	At     time.Time
	First  time.Time // when the run started for the first time
	Told   bool      // it was called; the rest is known only then
	Errors int       // of the run, before
	From   int       // the step of its checkpoint
	Steps  []Step
	Kept   int // the last step of which it was told that it was saved; 0 for none
	Done   bool
	Failed bool
}

// Step is a step that a call began.
type Step struct {
	N      int
	At     time.Time
	Moment time.Duration // the same, since the journal began
}

// Rules are what runs are held against.
type Rules struct {
	Resolution time.Duration
	Lease      time.Duration
	Within     time.Duration // by how much what is told may be later than what it tells of
	MaxErrors  int
	// Held says whether a worker may have been frozen between two moments.
	Held func(worker string, from, to time.Duration) bool
	// Find notes a finding about a run.
	Find func(rule string, r *Run, format string, args ...any)
}

// The outcomes that the rules speak of.
const (
	done       = "done"
	failed     = "failed"
	crashed    = "crashed"
	missed     = "missed"
	tooSoon    = "too_soon"
	overlapped = "overlapped"
	quota      = "quota"
)

// Knows says whether the rules decide about an outcome.
func Knows(outcome string) bool {
	switch outcome {
	case done, failed, crashed, missed, tooSoon, overlapped, quota:
		return true
	}
	return false
}

// byApp says whether an app has ended it.
func (r *Run) byApp() bool { return r.Outcome != "" && !Knows(r.Outcome) }

// first is when it started; zero where it did not.
func (r *Run) first() time.Time {
	if len(r.Calls) == 0 {
		return time.Time{}
	}
	return r.Calls[0].First
}

// steps are how many were kept for sure after some calls, and how many may have been; ok is false where none of them told of itself.
func steps(calls []Call) (kept, tried int, ok bool) {
	for _, c := range calls {
		if !c.Told {
			continue
		}
		if !ok {
			kept, tried, ok = c.From, c.From, true
		}
		kept = max(kept, c.Kept)
		for _, s := range c.Steps {
			tried = max(tried, s.N+1)
		}
	}
	return kept, tried, ok
}
