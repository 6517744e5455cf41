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
	until, _ := j.served()
	switch {
	case !s.isDue(s.next) || s.next.Before(s.first):
		j.planFinds("timer", p, "the timer of version %d waits for %s, which is no occurrence of it", version, stamp(s.next))
	case s.next.After(s.first) && s.next.After(s.line.after(high)):
		j.planFinds("early", p, "at %s the timer of version %d waited for %s, not for %s", stamp(high), version, stamp(s.next), stamp(s.line.after(high)))
	case min(low.Sub(j.ceil(s.next)), until.Sub(j.ceil(s.next))) > j.rules.MaxLate:
		j.planFinds("waits", p, "at %s the timer of version %d still waited for %s", stamp(low), version, stamp(s.next))
	}
}

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
