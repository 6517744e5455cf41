package checker

import (
	"cmp"
	"fmt"
	"maps"
	"slices"
	"time"

	"prescient/prescient/schedule/timeline"
	"prescient/scripts/chaos/checker/apart"
	"prescient/scripts/chaos/checker/evidence"
)

// What schedules have in the tables.
const (
	timerExec  = "schedule.fire" // job_exec of their timers
	superseded = "superseded"    // how what an update or a pause ended has ended
)

// Planned is the verdict's part about schedules.
type Planned struct {
	Schedules  int // that were created
	Changes    int // of them that were committed, other than that
	Events     int
	Runs       int // that ended by themselves, or wait
	Missed     int // of those: ended as missed
	Apart      int // of those: ended as overlapped or too_soon
	Quota      int // of those: ended as quota
	Superseded int // runs that a change ended
	PassedOver int // times that timers passed over occurrences
	Latest     time.Duration
}

// plan is all that is known of one schedule.
type plan struct {
	id      string
	changes []Event // by time; once gathered, those that took effect
	row     *evidence.ScheduleRow
	timers  []evidence.ScheduleJob // that wait
	over    []evidence.ScheduleJob // timers that changes ended, by time
	runs    map[string]*runStory
	events  []evidence.OutboxRow
	spans   []*span
}

// runStory is all that is known of the run of one occurrence.
type runStory struct {
	*story // its calls
	jobs   []evidence.ScheduleJob
}

// span is a time in which a schedule was enabled, and had one definition. The timer says of each what it fired: what is due from
// first on, and before next.
type span struct {
	Definition
	line     shifted
	begin    Event
	kept     bool   // its timeline is that of the span before it, and so is the occurrence that it begins with
	caughtUp bool   // it ended with a pause, which fired what was due
	end      *Event // nil where it was in force at the end
	first    time.Time
	next     time.Time
	passed   int // how often the timer passed over occurrences
}

// shifted is a timeline whose occurrences are due later by the jitter of the schedule.
type shifted struct {
	*timeline.Timeline
	by time.Duration
}

func (s shifted) after(t time.Time) time.Time {
	at, ok := s.Next(t.Add(-s.by))
	if !ok {
		return time.Time{}
	}
	return at.Add(s.by)
}

func (j *judgement) plan(id string) *plan {
	p := j.plans[id]
	if p == nil {
		p = &plan{id: id, runs: make(map[string]*runStory)}
		j.plans[id] = p
	}
	return p
}

// run is the story of a run; its id is below 0.
func (j *judgement) run(schedule, exec, tag string) *story {
	p := j.plan(schedule)
	r := p.runs[tag]
	if r == nil {
		r = &runStory{story: j.story(-1 - int64(len(j.stories)))}
		r.insert = Event{Key: schedule, Exec: exec, Tag: tag}
		p.runs[tag] = r
	}
	return r.story
}

// gatherSchedules groups rows by schedule.
func (j *judgement) gatherSchedules() {
	for _, row := range j.tables.Schedules.Rows {
		j.plan(row.ID).row = &row
	}
	for _, job := range j.tables.Schedules.Jobs {
		p := j.plan(job.Schedule)
		switch {
		case job.Exec == timerExec && job.Outcome == "":
			p.timers = append(p.timers, job)
		case job.Exec == timerExec:
			p.over = append(p.over, job)
		default:
			s := j.run(job.Schedule, job.Exec, job.Tag)
			p.runs[job.Tag].jobs = append(p.runs[job.Tag].jobs, job)
			if job.Outcome != "" {
				s.ended = append(s.ended, job.Ended)
			}
		}
	}
	for _, row := range j.tables.Schedules.Outbox {
		p := j.plan(row.Key)
		p.events = append(p.events, row)
	}
	for _, id := range slices.Sorted(maps.Keys(j.plans)) {
		p := j.plans[id]
		slices.SortFunc(p.over, func(a, b evidence.ScheduleJob) int { return a.At.Compare(b.At) })
		timer := j.story(-1 - int64(len(j.stories)))
		timer.timer, timer.insert, timer.cancels = true, Event{Key: id, Exec: timerExec}, p.changes
		for _, r := range p.runs {
			r.cancels = p.changes
		}
	}
}

// planned decides whether each schedule fired as it says.
func (j *judgement) planned() {
	for _, id := range slices.Sorted(maps.Keys(j.plans)) {
		p := j.plans[id]
		j.settle(p)
		if j.spans(p) {
			j.fired(p)
			j.runs(p)
			j.keptApart(p)
		}
	}
}

// planFinds notes a finding about a schedule.
func (j *judgement) planFinds(rule string, p *plan, format string, args ...any) {
	j.find(rule, 0, format, args...)
	j.report.Findings[len(j.report.Findings)-1].Key = p.id
}

// settle keeps to the changes that took effect. An app leaves a schedule alone once it doesn't know: the row tells.
func (j *judgement) settle(p *plan) {
	p.changes = slices.DeleteFunc(slices.Clone(p.changes), func(e Event) bool {
		switch {
		case e.Result == Committed:
			return false
		case e.Result != Unknown:
			return true
		case e.Change.Do == "delete":
			return p.row != nil
		}
		return p.row == nil || p.row.Version != e.Change.Version
	})
	for _, e := range p.changes {
		if e.Change.Do == "create" {
			j.report.Planned.Schedules++
		} else {
			j.report.Planned.Changes++
		}
	}
	if p.row != nil {
		j.report.Planned.PassedOver += p.row.PassedOver
	}
}

// when returns bounds of the database's time at which a change took effect.
func (j *judgement) when(e Event) (low, high time.Time) {
	low, _ = j.clock.at(e.At - e.Took)
	_, high = j.clock.at(e.At)
	if e.Result == Unknown { // the server may have done it after the connection broke
		high = high.Add(j.rules.InFlight)
	}
	return low, high
}

// life follows a schedule from one change to the next.
type life struct {
	*plan
	definition Definition
	created    time.Time
	there      bool
	enabled    bool
	open       *span  // that is in force; nil for none
	ended      int    // timers
	version    uint64 // the last
}

// take is the next change of a schedule.
func (l *life) take(e Event) error {
	before := l.open
	switch l.version = e.Change.Version; e.Change.Do {
	case "create":
		l.definition, l.created, l.there, l.enabled = *e.Change.Definition, e.Change.CreatedAt, true, true
		return l.begin(e, nil)
	case "update":
		l.definition = *e.Change.Definition
		if err := l.end(e); err != nil || !l.enabled {
			return err
		}
		return l.begin(e, before)
	case "resume":
		l.enabled = true
		return l.begin(e, nil)
	case "pause":
		l.enabled = false
	case "delete":
		l.there, l.enabled = false, false
	}
	return l.end(e)
}

// end ends the span that is in force. The timer that the change ended says what it waited for; what was due before a pause, that fires.
func (l *life) end(e Event) error {
	if l.open == nil {
		return nil
	}
	if l.ended >= len(l.over) {
		return fmt.Errorf("version %d ended a timer, and there are %d such ends", e.Change.Version, len(l.over))
	}
	l.open.end, l.open.next = &e, l.over[l.ended].Due
	if c := e.Change; c.Do == "pause" && !l.open.next.After(c.UpdatedAt) {
		l.open.next, l.open.caughtUp = l.open.line.after(c.UpdatedAt), true
	}
	l.open.passed += e.Change.PassedOver
	l.ended++
	l.open = nil
	return nil
}

// begin begins a span, after another that it follows on, or nil.
func (l *life) begin(e Event, before *span) error {
	line, err := timeline.Parse(l.definition.Crontabs, l.definition.Zone, l.created)
	if err != nil {
		return err
	}
	l.open = &span{Definition: l.definition, begin: e, first: e.Change.First, passed: -e.Change.PassedOver - e.Change.PassedBy,
		line: shifted{line, timeline.Jitter(l.id, l.definition.Jitter).Truncate(time.Second)}}
	l.open.kept = before != nil && slices.Equal(before.Crontabs, l.definition.Crontabs) && before.Zone == l.definition.Zone && before.Jitter == l.definition.Jitter
	l.spans = append(l.spans, l.open)
	return nil
}

// spans makes the spans of a schedule, and decides whether row and timers are what its changes made of them. It says whether they
// are, without which nothing else can be told.
func (j *judgement) spans(p *plan) (sound bool) {
	l := life{plan: p}
	for _, e := range p.changes {
		if err := l.take(e); err != nil {
			j.planFinds("timer", p, "%v", err)
			return false
		}
	}
	findings := len(j.report.Findings)
	switch {
	case !l.there && p.row != nil:
		j.planFinds("plan", p, "it is there, version %d, and should not be", p.row.Version)
	case l.there && p.row == nil:
		j.planFinds("plan", p, "it is gone")
	case l.there && (p.row.Version != l.version || p.row.Enabled != l.enabled):
		j.planFinds("plan", p, "version %d, enabled: %t; want %d, %t", p.row.Version, p.row.Enabled, l.version, l.enabled)
	}
	if want := map[bool]int{true: 1}[l.enabled]; len(p.timers) != want || len(p.over) != l.ended {
		j.planFinds("timer", p, "%d timers wait, and %d have ended; want %d and %d", len(p.timers), len(p.over), want, l.ended)
	}
	if len(j.report.Findings) > findings {
		return false
	}
	if l.open != nil {
		l.open.next, l.open.passed = p.timers[0].Due, l.open.passed+p.row.PassedOver
	}
	for i := range p.spans {
		j.edges(p, i)
	}
	return true
}

// termsAt are those of the long run of an occurrence, by the definition that was in force at a time.
func (p *plan) termsAt(due, at time.Time) (t apart.Terms) {
	var s *span
	for _, o := range p.spans {
		if s == nil || !o.begin.Change.UpdatedAt.After(at) {
			s = o
		}
	}
	if s == nil {
		return t
	}
	t = apart.Terms{Apart: s.Overlap != "allow", Queue: s.Overlap == "queue", Next: s.line.after(due), Tolerance: s.Tolerance, Quota: max(s.Quota, 0)}
	if !s.isDue(due) { // of another definition: the next is as far from it as that from the one behind it
		t.Next = due.Add(s.line.after(t.Next).Sub(t.Next))
	}
	// The shorter of the distances to the occurrences before and after it: crontabs need not fire at equal ones.
	t.Interval = t.Next.Sub(due)
	quota := t.Interval / 2
	for before := s.line.after(due.Add(-t.Interval)); before.Before(due); before = s.line.after(before) {
		t.Interval = due.Sub(before)
	}
	if t.Tolerance == 0 {
		t.Tolerance = t.Interval / 10
	}
	if s.Quota == 0 {
		t.Quota = quota
	}
	return t
}

// edges decides whether a span's first occurrence is the one after it began, and whether at its end the timer waited for the one
// after what was due.
func (j *judgement) edges(p *plan, i int) {
	s := p.spans[i]
	low, high := j.when(s.begin)
	version := s.begin.Change.Version
	switch from, to := s.line.after(low), s.line.after(high); {
	case s.kept && !s.first.Equal(p.spans[i-1].next):
		j.planFinds("timer", p, "version %d waits for %s, and that before it for %s", version, stamp(s.first), stamp(p.spans[i-1].next))
	case s.kept:
	case s.first.Before(from) || s.first.After(to) || !s.isDue(s.first):
		j.planFinds("timer", p, "version %d waits first for %s; want %s to %s", version, stamp(s.first), stamp(from), stamp(to))
	}
	low, high = j.clock.at(j.last)
	if s.end != nil {
		low, high = j.when(*s.end)
	}
	switch {
	case !s.isDue(s.next) || s.next.Before(s.first):
		j.planFinds("timer", p, "the timer of version %d waits for %s, which is no occurrence of it", version, stamp(s.next))
	case s.next.After(s.first) && s.next.After(s.line.after(high)):
		j.planFinds("early", p, "at %s the timer of version %d waited for %s, not for %s", stamp(high), version, stamp(s.next), stamp(s.line.after(high)))
	case low.Sub(j.ceil(s.next)) > j.rules.MaxLate:
		j.planFinds("waits", p, "at %s the timer of version %d still waited for %s", stamp(low), version, stamp(s.next))
	}
}

// isDue says whether a time is an occurrence.
func (s *span) isDue(t time.Time) bool { return s.line.after(t.Add(-1)).Equal(t) }

func stamp(t time.Time) string { return t.UTC().Format("15:04:05.999") }

// keptApart decides about the runs of a schedule that are long, where all their starts are known.
func (j *judgement) keptApart(p *plan) {
	var runs []*apart.Run
	rules := apart.Rules{Resolution: j.rules.Resolution, Lease: j.rules.Lease, Within: j.stopsWithin(), MaxErrors: j.rules.MaxErrors, Held: j.heldFast,
		Find: func(rule string, r *apart.Run, format string, args ...any) {
			j.planFinds(rule, p, "the run of %s: "+format, append([]any{stamp(r.Due)}, args...)...)
		}}
	for _, tag := range slices.Sorted(maps.Keys(p.runs)) {
		r := p.runs[tag]
		if !j.isLong(r.story) || !j.tables.AllClaims {
			continue
		}
		starts := slices.DeleteFunc(slices.Clone(j.starts[p.id]), func(s evidence.Start) bool { return s.Tag != tag })
		for _, c := range r.calls {
			if !slices.ContainsFunc(starts, func(s evidence.Start) bool { return s.Token == c.Token && s.Agent == c.Worker }) {
				j.planFinds("fenced", p, "%s called the run of %s, which it was not given, under the token %d", c.Worker, stamp(c.Due), c.Token)
			}
		}
		slices.SortFunc(r.jobs, func(a, b evidence.ScheduleJob) int { // the last one first; when one was inserted, a later definition changes
			if (a.Outcome == "") != (b.Outcome == "") {
				return cmp.Compare(a.Outcome, b.Outcome)
			}
			return b.At.Compare(a.At)
		})
		for i, job := range r.jobs {
			run := &apart.Run{Due: job.Due, Slot: job.Slot, Outcome: job.Outcome, Ended: job.At, Worker: job.Worker}
			for len(starts) > 0 && (i == len(r.jobs)-1 || starts[len(starts)-1].At.After(r.jobs[i+1].At)) {
				last := starts[len(starts)-1]
				run.Calls, starts = slices.Insert(run.Calls, 0, j.toldOf(r.story, last)), starts[:len(starts)-1]
			}
			_, now := j.clock.at(j.last)
			if job.Outcome != "" {
				now = job.At
			}
			run.Ends = p.termsAt(job.Due, now)
			run.Terms, run.Goes = run.Ends, run.Ends
			if n := len(run.Calls); n > 0 { // its retries go by the definition that there is by then
				run.Terms, run.Goes = p.termsAt(job.Due, run.Calls[0].First), p.termsAt(job.Due, run.Calls[n-1].At)
			}
			runs = append(runs, run)
		}
	}
	rules.Judge(runs)
}
