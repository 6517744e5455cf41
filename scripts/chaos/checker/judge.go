package checker

import (
	"cmp"
	"fmt"
	"maps"
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
	MaxChecks  int
	MaxErrors  int
	InFlight   time.Duration     // how long after a cancel a call may still start that was read before
	Lease      time.Duration     // of a bucket: what was called before the machine stood still may be called again for as long
	Outcomes   map[string]string // by job_exec
	Crashes    bool              // rows may end as crashed
	Tx         map[string]bool   // job_execs that are a TxFunc
	Long       map[string]bool   // job_execs that have long runs
	// Callers says of the job_execs of a pool which workers may call them.
	Callers    map[string]func(worker string) bool
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
}

func (f Finding) String() string {
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
	Planned Planned
	Long    Long
	Jobs    jobs.Report
	Changes evidence.Changes
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
	tables  evidence.Tables
	stories map[int64]*story
	plans   map[string]*plan
	byKey   []*story // that were asked for, in the order of UNIQUE (job_key)
	buckets map[time.Time]int
	claims  map[time.Time][]evidence.Claim
	starts  map[string][]evidence.Start // by schedule
	jobs    map[evidence.RunOf][]called // calls of steps
	report  Report
}

// Judge decides whether the promises were kept.
func Judge(rules Rules, events []Event, tables evidence.Tables) Report {
	j := &judgement{rules: rules, tables: tables, stories: make(map[int64]*story), plans: make(map[string]*plan), buckets: make(map[time.Time]int),
		claims: make(map[time.Time][]evidence.Claim), starts: make(map[string][]evidence.Start), jobs: make(map[evidence.RunOf][]called), report: Report{Ended: make(map[string]int), Faults: make(map[string]int)}}
	j.gather(events)
	j.orderByKey()
	for _, id := range slices.Sorted(maps.Keys(j.stories)) {
		s := j.stories[id]
		if id < 0 {
			j.fenced(s)
			continue
		}
		j.ends(s)
		j.times(s)
		j.cancels(s)
		j.counts(s)
		j.outcome(s)
		j.effects(s)
		j.fenced(s)
		j.expiry(s)
	}
	j.longRuns()
	j.planned()
	j.jobsOfSteps()
	j.changes()
	j.repeats()
	j.books()
	return j.report
}

// gather groups events and rows by check.
func (j *judgement) gather(events []Event) {
	numbers := make(map[int64]*called)
	var calls, steps []*called
	var stalls []Event
	for _, e := range events {
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
	j.rules.MaxLate += j.report.StoodStill
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
		j.buckets[r.Slot] = r.Buckets
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

// ends decides I2 and I3: every committed insert is pending or has one end.
func (j *judgement) ends(s *story) {
	there := len(s.pending) + len(s.ended)
	replaced := s.replacedBy != nil && s.replacedBy.Result == Committed
	perhaps := s.replacedBy != nil && s.replacedBy.Result == Unknown
	if there > 1 {
		j.find("ended-twice", s.id, "%d pending, ended as %v", len(s.pending), s.ended)
	}
	switch result := s.insert.Result; {
	case result == "":
		j.find("phantom", s.id, "nobody inserted it: %d pending, ended as %v, %d calls", len(s.pending), s.ended, len(s.calls))
	case result == RolledBack && (there > 0 || len(s.calls) > 0):
		j.find("phantom", s.id, "its insert was rolled back: %d pending, ended as %v, %d calls", len(s.pending), s.ended, len(s.calls))
	case result == Committed || result == Unknown && len(s.calls) > 0:
		j.report.Rows++
		if there == 0 && !replaced && !perhaps {
			j.find("lost", s.id, "%s, due at %s, called %d times", s.insert.Exec, s.insert.Due.Format(time.RFC3339Nano), len(s.calls))
		}
		if there > 0 && replaced {
			j.find("ended-twice", s.id, "it was replaced by %d, and yet: %d pending, ended as %v", s.replacedBy.ID, len(s.pending), s.ended)
		}
	case result == Unknown && there > 0:
		j.report.Rows++
	}
	for _, p := range s.pending {
		if _, now := j.clock.at(j.last); now.Sub(p.Next) > 0 {
			j.find("waits", s.id, "%s is still pending for %s, %s ago", s.insert.Exec, p.Next.Format(time.TimeOnly), now.Sub(p.Next))
		}
	}
}

// outcome decides whether a row ended as its job_exec answers.
func (j *judgement) outcome(s *story) {
	for _, e := range s.ended {
		want := j.rules.Outcomes[s.insert.Exec]
		if j.rules.Tx[s.insert.Exec] && s.failedThroughout(e, j.rules.MaxErrors) {
			want = "failed"
		}
		switch {
		case e.Outcome == want:
		case e.Outcome == "cancelled":
			// Somebody has to have asked for it.
			if !slices.ContainsFunc(s.cancels, func(c Event) bool { return c.Result == Committed || c.Result == Unknown }) {
				j.find("outcome", s.id, "%s ended as cancelled, and nobody did that", s.insert.Exec)
			}
		case e.Outcome == "expired": // see expiry
		case e.Outcome == "crashed" && j.rules.Crashes:
		case j.isLong(s) && j.mayEndAs(s, e):
		default:
			j.find("outcome", s.id, "%s ended as %s; want %s", s.insert.Exec, e.Outcome, want)
		}
	}
}

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

// effects decides whether what a TxFunc wrote is there once for each outcome that was committed.
func (j *judgement) effects(s *story) {
	if !j.rules.Tx[s.insert.Exec] {
		return
	}
	committed := 0 // outcomes
	for _, e := range s.ended {
		committed = e.Checks
		if e.Outcome != "cancelled" && e.Outcome != "crashed" && e.Outcome != "failed" && e.Outcome != "expired" {
			committed++
		}
	}
	for _, p := range s.pending {
		committed = p.Checks
	}
	if len(s.ended)+len(s.pending) == 0 {
		// It was replaced: at most what was called.
		for check, n := range s.effects {
			if n != 1 {
				j.find("effect", s.id, "check %d left %d effects", check, n)
			}
		}
		return
	}
	for check := range max(committed, len(s.effects)) {
		if want := 1; s.effects[check] != want && check < committed {
			j.find("effect", s.id, "check %d of %d left %d effects", check, committed, s.effects[check])
		} else if check >= committed && s.effects[check] != 0 {
			j.find("effect", s.id, "check %d left %d effects, and only %d were committed", check, s.effects[check], committed)
		}
	}
}
