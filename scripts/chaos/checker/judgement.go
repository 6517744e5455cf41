package checker

import (
	"cmp"
	"fmt"
	"slices"
	"time"

	"prescient/scripts/chaos/checker/evidence"
	"prescient/scripts/chaos/checker/jobs"
)

// Rules are what a scenario asks for.
type Rules struct {
	Resolution time.Duration
	Entity     string        // entity_name of all checks
	Batch      int           // worker.batch
	Streams    int           // how many batches of a bucket may be in memory: one, and one for each job_exec that is slow
	MaxLate    time.Duration // of a first call, after its slot or, if that is later, the commit of its insert
	Beside     time.Duration // the same, and of an event, on a shard where nothing is broken while another is; 0 for MaxLate
	MaxChecks  int
	MaxErrors  int
	InFlight   time.Duration     // how long after a cancel a call may still start that was read before
	Lease      time.Duration     // of a bucket: what was called before the machine stood still may be called again for as long
	Outcomes   map[string]string // by job_exec
	Crashes    bool              // rows may end as crashed
	Tx         map[string]bool   // job_execs that are a TxFunc
	Long       map[string]bool   // job_execs that have long runs
	// Callers says of the job_execs of a pool which workers may call them.
	Callers map[string]func(worker string) bool
	// Stopped is when the workers were told to stop, by the journal: what waits then waits for nobody. Zero is its last event.
	Stopped    time.Duration
	ClockSteps bool // the database's clock is set while it runs: lateness says nothing
	// Steps are those of the jobs, in their order, and StepTx is the one whose effect commits with it.
	Steps  []string
	StepTx string
	// LocksNeighbours says that the server has whoever moves a row lock the one after it in UNIQUE (job_key), as MariaDB does.
	LocksNeighbours bool
}

// Finding is a promise that was not kept.
type Finding struct {
	Rule string
	ID   int64
	Key  string `json:",omitempty"` // of a schedule, or a run or event of one
	Text string
	// Shard is that of a Vitess on which it was not kept.
	Shard string `json:",omitempty"`
}

func (f Finding) String() string {
	if f.Shard != "" {
		shard := f.Shard
		f.Shard = ""
		return "shard " + shard + ": " + f.String()
	}
	if f.Key != "" {
		return fmt.Sprintf("%s: schedule %s: %s", f.Rule, f.Key, f.Text)
	}
	return fmt.Sprintf("%s: check %d: %s", f.Rule, f.ID, f.Text)
}

// Report is the verdict.
type Report struct {
	Rows    int // inserts that were committed
	Unknown int // inserts and cancels whose COMMIT had no answer
	Calls   int
	Pending int
	Ended   map[string]int // by outcome
	Faults  map[string]int // how often each was tried
	Twice   int            // calls that were repeated
	Locked  int            // of those: somebody else had the row locked, or one beside it
	Redone  int            // calls of a TxFunc whose transaction the server had rolled back
	Lost    int
	Early   int
	Latest  time.Duration // of a first call
	Beside  time.Duration // of that, on shards where nothing was broken
	Planned Planned
	Long    Long
	Jobs    jobs.Report
	Changes evidence.Changes
	Summed  Summed
	// StoodStill is how long the machine stood still: MaxLate and InFlight are longer by that, and it explains calls that are repeated.
	StoodStill time.Duration
	Findings   []Finding
}

// called is a call and what it answered; answer is nil where it never came to an end.
type called struct {
	Event
	answer *Event
	steps  []Event // of a long run, by time: that began
	saved  []Event // and whose checkpoints were saved
}

// story is all that is known of one check.
type story struct {
	id         int64 // of a run or timer of a schedule: below 0
	timer      bool
	jobKey     [16]byte
	insert     Event
	replacedBy *Event
	cancels    []Event
	moves      []Event
	calls      []called // by time
	pending    []evidence.Pending
	ended      []evidence.Ended
	effects    map[int]int // by check_count
}

// judgement is a verdict in the making.
type judgement struct {
	rules   Rules
	clock   clock
	last    time.Duration // when the last event was
	faults  []Event
	made    map[string]int // calls, by job_exec
	tables  evidence.Tables
	stories map[int64]*story
	plans   map[string]*plan
	byKey   []*story // that were asked for, in the order of UNIQUE (job_key)
	ledger  map[time.Time][]evidence.Run
	claims  map[time.Time][]evidence.Claim
	starts  map[string][]evidence.Start // by schedule
	jobs    map[evidence.RunOf][]called // calls of steps
	report  Report
}

// gather groups events and rows by check.
func (j *judgement) gather(events []Event) {
	numbers := make(map[int64]*called)
	var calls, steps []*called
	var stalls []Event
	for _, e := range events {
		if e.Kind == Call {
			j.made[e.Exec]++
		}
		j.last = max(j.last, e.At)
		switch e.Kind {
		case Insert:
			j.story(e.ID).insert = e
			if e.Replaced != 0 {
				j.story(e.Replaced).replacedBy = &e
			}
			if e.Result == Unknown {
				j.report.Unknown++
			}
		case Cancel:
			s := j.story(e.ID)
			s.cancels = append(s.cancels, e)
			if e.Result == Unknown {
				j.report.Unknown++
			}
		case Reschedule:
			s := j.story(e.ID)
			s.moves = append(s.moves, e)
		case Plan:
			p := j.plan(e.Key)
			p.changes = append(p.changes, e)
			if e.Result == Unknown {
				j.report.Unknown++
			}
		case Call:
			c := &called{Event: e}
			numbers[e.N] = c
			calls = append(calls, c)
		case Called:
			c := &called{Event: e}
			numbers[e.N] = c
			steps = append(steps, c)
		case Answer, Returned:
			if c := numbers[e.N]; c != nil {
				c.answer = &e
			}
		case Step:
			if c := numbers[e.N]; c != nil {
				c.steps = append(c.steps, e)
			}
		case Saved:
			if c := numbers[e.N]; c != nil {
				c.saved = append(c.saved, e)
			}
		case Fault:
			j.faults = append(j.faults, e)
			if e.What != EndedWorker {
				j.report.Faults[e.What]++
			}
		case Clock:
			j.clock = append(j.clock, e)
		case Stall:
			stalls = append(stalls, e)
		}
	}
	for _, c := range calls {
		s := j.storyOf(c.Event)
		s.calls = append(s.calls, *c)
	}
	for _, c := range steps {
		of := evidence.RunOf{Job: c.Key, Occurrence: c.Tag}
		j.jobs[of] = append(j.jobs[of], *c)
	}
	j.report.Calls = len(calls)
	j.stoodStill(stalls)
	j.gatherRows()
	j.gatherSchedules()
}

// served is until when somebody ran what came due, by the database's clock.
func (j *judgement) served() (low, high time.Time) {
	until := j.last
	if j.rules.Stopped > 0 {
		until = min(until, j.rules.Stopped)
	}
	return j.clock.at(until)
}

// stoodStill takes note of when the machine stood still, which is a fault of nobody that hit everybody.
func (j *judgement) stoodStill(stalls []Event) {
	slices.SortFunc(stalls, func(a, b Event) int { return cmp.Compare(a.At-a.Took, b.At-b.Took) })
	until := time.Duration(0)
	for _, e := range stalls {
		began := e.At - e.Took
		j.faults = append(j.faults, Event{Kind: Fault, What: "the machine stood still", At: began, Took: e.Took + j.rules.Lease})
		if e.At > until {
			j.report.StoodStill += e.At - max(began, until)
			until = e.At
		}
	}
	slices.SortStableFunc(j.faults, func(a, b Event) int { return cmp.Compare(a.At, b.At) })
	if j.rules.Beside == 0 {
		j.rules.Beside = j.rules.MaxLate
	}
	j.rules.MaxLate += j.report.StoodStill
	j.rules.Beside += j.report.StoodStill
	j.rules.InFlight += j.report.StoodStill
}

// gatherRows groups the rows of checks by check, and those of the ledger by slot.
func (j *judgement) gatherRows() {
	for _, p := range j.tables.Pending {
		s := j.story(p.ID)
		s.pending = append(s.pending, p)
	}
	for _, e := range j.tables.Ended {
		s := j.story(e.ID)
		s.ended = append(s.ended, e)
		j.report.Ended[e.Outcome]++
	}
	for _, e := range j.tables.Effects {
		j.story(e.ID).effects[e.Checks]++
	}
	for _, r := range j.tables.Runs {
		j.ledger[r.Slot] = append(j.ledger[r.Slot], r)
	}
	for _, c := range j.tables.Claims {
		j.claims[c.Slot] = append(j.claims[c.Slot], c)
	}
	for _, s := range j.tables.Starts {
		j.starts[s.Schedule] = append(j.starts[s.Schedule], s)
	}
	j.report.Pending = len(j.tables.Pending)
}

// storyOf is the story that a call belongs to.
func (j *judgement) storyOf(call Event) *story {
	if call.Tag != "" {
		return j.run(call.Key, call.Exec, call.Tag)
	}
	return j.story(call.ID)
}

func (j *judgement) story(id int64) *story {
	s := j.stories[id]
	if s == nil {
		s = &story{id: id, effects: make(map[int]int)}
		j.stories[id] = s
	}
	return s
}

// find notes a finding.
func (j *judgement) find(rule string, id int64, format string, args ...any) {
	j.report.Findings = append(j.report.Findings, Finding{Rule: rule, ID: id, Text: fmt.Sprintf(format, args...)})
	switch rule {
	case "lost":
		j.report.Lost++
	case "early":
		j.report.Early++
	}
}

// Long is the verdict's part about long runs.
type Long struct {
	Calls   int
	Steps   int
	Saved   int // checkpoints
	WentOn  int // calls that began at a checkpoint
	Takings int // calls of a check after another under a lower token
	Stale   int // steps that a call began when another had begun, which a freeze or a lapse explains
}

func (j *judgement) isLong(s *story) bool { return j.rules.Long[s.insert.Exec] }

// failedThroughout says whether all tries that the guard allows at a check failed by their own report, the last of them that of
// the end: the server may refuse what a TxFunc sends, which then is its error.
func (s *story) failedThroughout(e evidence.Ended, most int) bool {
	for n := range most + 1 {
		if !slices.ContainsFunc(s.calls, func(c called) bool {
			return c.Checks == e.Checks && c.Errors == n && c.answer != nil && c.answer.Failed && (n < most || c.Revision == e.Revision)
		}) {
			return false
		}
	}
	return true
}

// entityOf is the entity_name of a check.
func (j *judgement) entityOf(s *story) string {
	if s.id < 0 {
		return evidence.ScheduleEntity
	}
	return j.rules.Entity
}

// ceil is the slot of a time.
func (j *judgement) ceil(t time.Time) time.Time {
	micros, step := t.UnixMicro(), j.rules.Resolution.Microseconds()
	slot := micros / step * step
	if slot < micros {
		slot += step
	}
	return time.UnixMicro(slot).UTC()
}
