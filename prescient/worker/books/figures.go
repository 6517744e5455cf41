package books

import (
	"time"

	"github.com/rs/zerolog"

	"prescient/prescient"
)

// Counts are the books of committed outcomes; slot_run has a column for each.
type Counts struct {
	// Moved rows went to a later slot after a call: a returned time, or an error to be retried.
	Moved int `json:"moved"`
	// PutOff rows went to a later slot without a call, or were rolled forward.
	PutOff        int `json:"put_off"`
	Done          int `json:"done"`
	MaxChecks     int `json:"max_checks"`
	PastReturn    int `json:"past_return"`
	BeyondHorizon int `json:"beyond_horizon"`
	Failed        int `json:"failed"`
	TimedOut      int `json:"timed_out"`
	Crashed       int `json:"crashed"`
	// Of these none was called: they came too late, or, runs of a schedule, too close to others.
	Expired    int `json:"expired"`
	Missed     int `json:"missed"`
	TooSoon    int `json:"too_soon"`
	Overlapped int `json:"overlapped"`
	Quota      int `json:"quota"`
	// Dropped answers were thrown away: the app had cancelled or changed the row meanwhile.
	Dropped int `json:"dropped"`
}

// Fields lists the counts in the order in which the statements take them.
func (c *Counts) Fields() []*int {
	return []*int{&c.Moved, &c.PutOff, &c.Done, &c.MaxChecks, &c.PastReturn, &c.BeyondHorizon, &c.Failed, &c.TimedOut,
		&c.Crashed, &c.Expired, &c.Missed, &c.TooSoon, &c.Overlapped, &c.Quota, &c.Dropped}
}

// Args are the counts as arguments of the statements.
func (c *Counts) Args() []any {
	args := make([]any, 0, 15)
	for _, field := range c.Fields() {
		args = append(args, *field)
	}
	return args
}

// Add adds other counts to these.
func (c *Counts) Add(other Counts) {
	theirs := other.Fields()
	for i, field := range c.Fields() {
		*field += *theirs[i]
	}
}

// Count adds n to the count of a verdict.
func (c *Counts) Count(v prescient.Verdict, cause prescient.Cause, n int) {
	switch v.Outcome {
	case "":
		if cause == prescient.CauseCalled {
			c.Moved += n
		} else {
			c.PutOff += n
		}
	case prescient.Done:
		c.Done += n
	case prescient.MaxChecks:
		c.MaxChecks += n
	case prescient.PastReturn:
		c.PastReturn += n
	case prescient.BeyondHorizon:
		c.BeyondHorizon += n
	case prescient.Failed:
		c.Failed += n
	case prescient.TimedOut:
		c.TimedOut += n
	case prescient.Crashed:
		c.Crashed += n
	case prescient.Expired:
		c.Expired += n
	case prescient.Missed:
		c.Missed += n
	case prescient.TooSoon:
		c.TooSoon += n
	case prescient.Overlapped:
		c.Overlapped += n
	case prescient.Quota:
		c.Quota += n
	case prescient.Cancelled, prescient.Superseded: // by the app, never by a slot run
	}
}

// Ended is how many checks ended.
func (c Counts) Ended() int {
	return c.Done + c.MaxChecks + c.PastReturn + c.BeyondHorizon + c.Failed + c.TimedOut + c.Crashed +
		c.Expired + c.Missed + c.TooSoon + c.Overlapped + c.Quota
}

// Rows is how many rows were committed, dropped ones aside.
func (c Counts) Rows() int { return c.Ended() + c.Moved + c.PutOff }

// Figures are what one slot run of one worker did.
type Figures struct {
	// Slot that was run.
	Slot time.Time `json:"slot"`
	// Buckets that this worker finished, and of those how many it took over from another.
	Buckets   int `json:"buckets"`
	Takeovers int `json:"takeovers"`
	Counts
	// Lateness is that of the last call to start, against the slot.
	Lateness time.Duration `json:"lateness_ns"`
	// OverSLA counts the calls that started later than their SLA.
	OverSLA int `json:"over_sla"`
	// LateByRule counts the checks whose rules would have had them called sooner by now: their delay was made shorter.
	LateByRule int `json:"late_by_rule,omitempty"`
	// Retries of commits, after deadlocks, lock waits and lost connections.
	Retries int `json:"retries"`
	// LeasesLost to another worker; what was in flight there runs again.
	LeasesLost int `json:"leases_lost"`
	// Locked rows were left behind for later, since open transactions of others have them locked.
	Locked int `json:"locked"`
	// Stuck rows were left behind since what became of them could not be written; the log names them.
	Stuck int `json:"stuck"`
	// CrowdedOut are the buckets that were left unfinished for later, since too many rows wait already for the calls of a
	// job_exec that takes its time; their other rows were run.
	CrowdedOut int `json:"crowded_out"`
	// Held buckets were left to the workers that hold them.
	Held int `json:"held"`
	// Paused: everything is paused, and the slot was left as it is.
	Paused bool `json:"paused,omitempty"`
	// Troubles are what went wrong with rows, by job_exec and kind, an example of each: ten job_execs of each kind, and the
	// rest of the kind together.
	Troubles []Trouble `json:"troubles,omitempty"`
	// Took is the elapsed time.
	Took time.Duration `json:"took_ns"`
}

// Add adds the figures of another part of the same slot run.
func (f *Figures) Add(other Figures) {
	f.Buckets += other.Buckets
	f.Takeovers += other.Takeovers
	f.Counts.Add(other.Counts)
	f.Lateness = max(f.Lateness, other.Lateness)
	f.OverSLA += other.OverSLA
	f.LateByRule += other.LateByRule
	f.Retries += other.Retries
	f.LeasesLost += other.LeasesLost
	f.Locked += other.Locked
	f.Stuck += other.Stuck
	f.CrowdedOut += other.CrowdedOut
	f.Held += other.Held
	(*Troubles)(&f.Troubles).Add(other.Troubles)
}

// Idle says whether there was nothing to be done.
func (f Figures) Idle() bool {
	return f.Rows()+f.Dropped+f.Buckets+f.Takeovers+f.OverSLA+f.LateByRule+f.Retries+f.LeasesLost+f.Locked+f.Stuck+f.CrowdedOut+f.Held == 0
}

// MarshalZerologObject writes the figures that are not zero.
func (f Figures) MarshalZerologObject(e *zerolog.Event) {
	troubles := Troubles(f.Troubles)
	e.Time("slot", f.Slot).Int("rows", f.Rows())
	for _, n := range []struct {
		name string
		n    int
	}{
		{"done", f.Done}, {"moved", f.Moved}, {"put_off", f.PutOff}, {"max_checks", f.MaxChecks},
		{"past_return", f.PastReturn}, {"beyond_horizon", f.BeyondHorizon}, {"failed", f.Failed}, {"timed_out", f.TimedOut},
		{"crashed", f.Crashed}, {"expired", f.Expired}, {"missed", f.Missed}, {"too_soon", f.TooSoon}, {"overlapped", f.Overlapped},
		{"quota", f.Quota}, {"errors", troubles.Rows(TroubleError)}, {"timeouts", troubles.Rows(TroubleTimeout)},
		{"panics", troubles.Rows(TroublePanic)}, {"unregistered", troubles.Rows(TroubleUnregistered)}, {"dropped", f.Dropped}, {"buckets", f.Buckets}, {"takeovers", f.Takeovers},
		{"locked", f.Locked}, {"stuck", f.Stuck}, {"crowded_out", f.CrowdedOut}, {"held", f.Held}, {"over_sla", f.OverSLA}, {"late_by_rule", f.LateByRule}, {"retries", f.Retries}, {"leases_lost", f.LeasesLost},
	} {
		if n.n != 0 {
			e.Int(n.name, n.n)
		}
	}
	if f.Paused {
		e.Bool("paused", true)
	}
	e.Dur("lateness_ms", f.Lateness).Dur("took_ms", f.Took)
}
