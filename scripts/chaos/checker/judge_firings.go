package checker

import (
	"slices"
	"strconv"
	"time"

	"prescient/scripts/chaos/checker/apart"
	"prescient/scripts/chaos/checker/evidence"
)

// whenCalled bounds how long before a row's insert the call began that inserted it, by the clock that the worker has.
const whenCalled = 50 * time.Millisecond

// fires are the occurrences of a span before its next, and until it where runs are inserted one ahead.
func (s *span) fires() (list []time.Time) {
	for t := s.first; t.Before(s.next) || t.Equal(s.next) && s.Topic == "" && !s.caughtUp; t = s.line.after(t) {
		list = append(list, t)
		if len(list) > 1_000_000 {
			break
		}
	}
	return list
}

// gaps decides whether occurrences that did not fire are such that their policy passes over. insertedAt is when the event or the run
// of one was inserted; zero where it was not.
func (j *judgement) gaps(p *plan, s *span, list []time.Time, insertedAt func(time.Time) time.Time) {
	_, end := j.clock.at(j.last)
	if s.end != nil {
		_, end = j.when(*s.end)
	}
	begun, _ := j.when(s.begin)
	groups, absent := 0, 0
	for i := 0; i < len(list); i++ {
		if !insertedAt(list[i]).IsZero() {
			continue
		}
		from := i
		for i < len(list) && insertedAt(list[i]).IsZero() {
			i++
		}
		gap := list[from:i]
		groups, absent = groups+1, absent+len(gap)
		// When the timer was called that passed over them: with once it fired the event before them, or inserted the run after them.
		called := end
		if s.Topic != "" && s.CatchUp == "once" && from > 0 {
			called = insertedAt(list[from-1])
		} else if at := firstInserted(list[i:], begun, insertedAt); !at.IsZero() {
			called = at
		}
		// The first that is skipped was missed by the slot of the call, the others by the one after it.
		after := j.ceil(called.Add(whenCalled + time.Microsecond))
		late := after.Sub(gap[len(gap)-1])
		if s.Topic != "" && s.CatchUp == "skip" {
			late = min(late, after.Sub(gap[0])-j.rules.Resolution)
		}
		switch {
		case s.CatchUp == "all", s.CatchUp == "once" && from == 0:
			j.planFinds("unfired", p, "%d occurrences from %s on, which its policy, %s, passes over never", len(gap), stamp(gap[0]), s.CatchUp)
		case late <= s.Within:
			j.planFinds("unfired", p, "%d occurrences to %s, which were late by less than %s at %s", len(gap), stamp(gap[len(gap)-1]), s.Within, stamp(called))
		}
	}
	most := groups
	if s.CatchUp == "skip" {
		most = absent
		if s.Topic == "" { // an occurrence is skipped whose run was there
			most = s.passed
		}
	}
	if s.passed < groups || s.passed > most {
		j.planFinds("passed-over", p, "version %d passed over %d times; %d gaps, %d occurrences", s.begin.Change.Version, s.passed, groups, absent)
	}
}

// fired decides about events: each there once, in order, with the payload of its definition, not early, not late.
func (j *judgement) fired(p *plan) {
	at := make(map[time.Time]*evidence.OutboxRow)
	var before time.Time
	for i := range p.events {
		e := &p.events[i]
		j.report.Planned.Events++
		if at[e.Due] != nil {
			j.planFinds("event-twice", p, "the event of %s is there again", stamp(e.Due))
			continue
		}
		if at[e.Due] = e; e.Due.Before(before) {
			j.planFinds("order", p, "the event of %s stands behind that of %s", stamp(e.Due), stamp(before))
		}
		before = e.Due
		if want := p.id + "-" + strconv.FormatInt(e.Due.Unix(), 10); e.ID != want {
			j.planFinds("unasked", p, "its event has the id %s; want %s", e.ID, want)
		}
		if slot := j.ceil(e.Due); e.InsertedAt.Before(slot) && !j.sentByPause(p, e) && !j.sentByUpdate(p, e) {
			j.planFinds("early", p, "the event of %s was sent at %s", stamp(e.Due), stamp(e.InsertedAt))
		}
	}
	for _, s := range p.spans {
		if s.Topic == "" {
			continue
		}
		list := s.fires()
		for _, t := range list {
			if e := at[t]; e != nil {
				delete(at, t)
				j.firedEvent(p, s, e)
			} else {
				continue
			}
		}
		inserted := make(map[time.Time]time.Time)
		for _, e := range p.events {
			inserted[e.Due] = e.InsertedAt
		}
		j.gaps(p, s, list, func(t time.Time) time.Time { return inserted[t] })
	}
	for _, e := range p.events {
		if at[e.Due] != nil && !j.sentByUpdate(p, &e) {
			delete(at, e.Due)
			j.planFinds("unasked", p, "the event of %s, which nothing that was in force says", stamp(e.Due))
		}
	}
}

// sentByPause says whether an event that was due may have been sent by a pause, which waits for no slot.
func (j *judgement) sentByPause(p *plan, e *evidence.OutboxRow) bool {
	return slices.ContainsFunc(p.changes, func(c Event) bool {
		_, high := j.when(c)
		return c.Change.Do == "pause" && !e.Due.After(c.Change.UpdatedAt) && !e.InsertedAt.Before(c.Change.UpdatedAt) && !e.InsertedAt.After(high)
	})
}

// sentByUpdate says whether an event was due when an update came, which sent it by the new definition.
func (j *judgement) sentByUpdate(p *plan, e *evidence.OutboxRow) bool {
	return slices.ContainsFunc(p.spans, func(s *span) bool {
		if s.end == nil || s.end.Change.Do != "update" || e.Due.Before(s.next) || e.Payload != s.end.Change.Definition.Payload {
			return false
		}
		low, high := j.when(*s.end) // the row may have been waited for since it was sent
		return !e.Due.After(e.InsertedAt) && !e.InsertedAt.Before(low) && !e.InsertedAt.After(high)
	})
}

// metUnderWay says whether an update or a pause came while a run was under way: whoever ends it, or takes it over, ends it as superseded.
func (j *judgement) metUnderWay(p *plan, r *runStory) bool {
	return slices.ContainsFunc(p.changes, func(e Event) bool {
		_, high := j.when(e)
		return (e.Change.Do == "update" || e.Change.Do == "pause") && (j.startedUncalled(p, r, high) || slices.ContainsFunc(r.calls, func(c called) bool {
			return c.At <= e.At+j.rules.InFlight && (c.answer == nil || c.answer.At+j.rules.InFlight >= e.At-e.Took || j.isLong(r.story))
		}))
	})
}

// insertedByUpdate is the span that begins with the update which inserted a run that was due before it, by the definition until then; nil
// for none.
func (j *judgement) insertedByUpdate(p *plan, r *runStory) *span {
	due, inserted := r.jobs[0].Due, r.insertedAt()
	for i, s := range p.spans {
		if s.end == nil || s.end.Change.Do != "update" || i+1 == len(p.spans) || s.Topic != "" || due.Before(s.next) || !s.isDue(due) {
			continue
		}
		// A later update sets anew when it was inserted.
		by := func(e Event) bool {
			low, high := j.when(e)
			return e.Change.Do == "update" && !inserted.Before(low) && !inserted.After(high)
		}
		if !due.After(inserted) && slices.ContainsFunc(p.changes[slices.IndexFunc(p.changes, func(e Event) bool { return e.At == s.end.At }):], by) {
			return p.spans[i+1]
		}
	}
	return nil
}

// firedEvent decides about an event that a span says.
func (j *judgement) firedEvent(p *plan, s *span, e *evidence.OutboxRow) {
	if e.Payload != s.Payload {
		j.planFinds("payload", p, "the event of %s has %s; want %s", stamp(e.Due), e.Payload, s.Payload)
	}
	late := j.lateAt(s, e.Due, e.InsertedAt)
	if s.CatchUp == "skip" && late > s.Within+j.rules.InFlight {
		j.planFinds("missed", p, "the event of %s was sent at %s, and should have been skipped", stamp(e.Due), stamp(e.InsertedAt))
	}
	if late > j.rules.Beside {
		j.planFinds("late", p, "the event of %s was sent at %s", stamp(e.Due), stamp(e.InsertedAt))
	}
}

// lateAt is how late something is that is due at a time, or when its span began.
func (j *judgement) lateAt(s *span, due, at time.Time) time.Duration {
	from := j.ceil(due)
	if _, begun := j.when(s.begin); begun.After(from) {
		from = begun
	}
	late := at.Sub(from)
	j.report.Planned.Latest = max(j.report.Planned.Latest, late)
	return late
}

// runs decides about runs: each there, one end, called in force, not early, not late.
func (j *judgement) runs(p *plan) {
	says := make(map[string][]*span) // by tag
	for _, s := range p.spans {
		if s.Topic != "" {
			continue
		}
		list := s.fires()
		inserted := func(t time.Time) time.Time {
			r := p.runs[tagOf(t)]
			if r == nil || !j.thereIn(p, r, s, t) {
				return time.Time{}
			}
			return r.insertedAt()
		}
		for _, t := range list {
			if !inserted(t).IsZero() {
				says[tagOf(t)] = append(says[tagOf(t)], s)
			}
		}
		if last := list[len(list)-1]; inserted(last).IsZero() {
			j.planFinds("unfired", p, "the run of %s, which its timer waits for, is not there", stamp(last))
		}
		j.gaps(p, s, list, inserted)
	}
	for tag, r := range p.runs {
		if len(says[tag]) == 0 && len(r.jobs) > 0 {
			if s := j.insertedByUpdate(p, r); s != nil {
				says[tag] = append(says[tag], s)
			}
		}
		if len(says[tag]) == 0 {
			j.planFinds("unasked", p, "the run %s, which nothing that was in force says: %d calls, %v", tag, len(r.calls), r.jobs)
			continue
		}
		j.runEnds(p, r, says[tag])
		j.runCalls(p, r, says[tag])
	}
}

func tagOf(t time.Time) string { return strconv.FormatInt(t.Unix(), 10) }

// thereIn says whether a run was there in a span after the change that began it, or before that, where the span begins with an
// occurrence that had begun.
func (j *judgement) thereIn(p *plan, r *runStory, s *span, t time.Time) bool {
	low, high := j.when(s.begin)
	return slices.ContainsFunc(r.jobs, func(job evidence.ScheduleJob) bool {
		underWay := job.Outcome == superseded && job.Worker != "" && (len(r.calls) > 0 || j.startedUncalled(p, r, job.At)) && !job.At.Before(low) // who ends it read the time before it waited for the change
		return job.Outcome == "" || job.At.After(s.begin.Change.UpdatedAt) || underWay || s.kept && t.Equal(s.first) && !t.After(high)
	})
}

// insertedAt is when the first row of a run was inserted.
func (r *runStory) insertedAt() (first time.Time) {
	for _, job := range r.jobs {
		if first.IsZero() || job.InsertedAt.Before(first) {
			first = job.InsertedAt
		}
	}
	return first
}

// runEnds decides how a run ended.
func (j *judgement) runEnds(p *plan, r *runStory, says []*span) {
	one := 0
	for _, job := range r.jobs {
		changed := func(dos ...string) bool {
			return slices.ContainsFunc(p.changes, func(e Event) bool {
				low, high := j.when(e)
				return slices.Contains(dos, e.Change.Do) && !job.At.Before(low) && !job.At.After(high)
			})
		}
		switch want := j.rules.Outcomes[job.Exec]; {
		case job.Outcome == superseded || job.Outcome == "cancelled":
			j.report.Planned.Superseded++
			if job.Outcome == superseded && !changed("update", "pause") && !j.metUnderWay(p, r) || job.Outcome == "cancelled" && !changed("delete") {
				j.planFinds("outcome", p, "the run of %s ended as %s at %s, and nobody did that", stamp(job.Due), job.Outcome, stamp(job.At))
			}
			continue
		case job.Outcome == "", job.Outcome == want, job.Outcome == "crashed" && j.rules.Crashes:
		case job.Outcome == "missed":
			j.report.Planned.Missed++
			j.missed(p, r, job, says)
		case j.isLong(r.story) && apart.Knows(job.Outcome): // see keptApart
			switch job.Outcome {
			case "too_soon", "overlapped":
				j.report.Planned.Apart++
			case "quota":
				j.report.Planned.Quota++
			}
		case (job.Outcome == "failed" || job.Outcome == "timed_out") && r.failedThroughout(job.Ended, j.rules.MaxErrors):
		default:
			j.planFinds("outcome", p, "the run of %s ended as %s; want %s", stamp(job.Due), job.Outcome, want)
		}
		if one++; one > 1 {
			j.planFinds("run-twice", p, "the run of %s is there again: %v", stamp(job.Due), r.jobs)
		}
		if _, until := j.served(); job.Outcome == "" && until.Sub(job.Slot) > j.rules.MaxLate {
			j.planFinds("waits", p, "the run of %s still waits for %s", stamp(job.Due), stamp(job.Slot))
		}
	}
	j.report.Planned.Runs += one
	last := says[len(says)-1]
	_, begun := j.when(last.begin)
	if one == 0 && last.end == nil && !j.metUnderWay(p, r) && !(last.kept && tagOf(last.first) == r.insert.Tag && !last.first.After(begun)) {
		j.planFinds("lost", p, "the run %s is gone: %v", r.insert.Tag, r.jobs)
	}
}

// missed decides whether a run may have ended as missed: it is to be skipped, was too late, and nothing that a call of it answered was
// committed. Of a call whose answer was lost nothing is left in the tables, and so the next worker takes the run for one that was never
// called. That is allowed where the call would have been allowed to be made again.
func (j *judgement) missed(p *plan, r *runStory, job evidence.ScheduleJob, says []*span) {
	if !slices.ContainsFunc(says, func(s *span) bool { return s.CatchUp == "skip" && job.At.Sub(job.Due) > s.Within }) {
		j.planFinds("missed", p, "the run of %s ended as missed at %s, too early, or by a policy that does not say so", stamp(job.Due), stamp(job.At))
	}
	if job.Checks > 0 || job.Errors > 0 {
		j.planFinds("missed", p, "the run of %s ended as missed, and an answer of it had been committed: %d checks, %d errors", stamp(job.Due), job.Checks, job.Errors)
	}
	for _, c := range r.calls {
		if j.isLong(r.story) {
			break // that a long run has started stands in the tables: see keptApart
		}
		if !j.answerLost(r.story, c, job) {
			low, _ := j.clock.at(c.At)
			j.planFinds("missed", p, "the run of %s ended as missed at %s by %s, and %s had called it at %s: nothing says that its answer was lost", stamp(job.Due),
				stamp(job.At), job.Worker, c.Worker, stamp(low))
		}
	}
}

// answerLost says whether the answer of a call may have been lost before its row ended without another: a fault, or somebody else's
// lock, came between the two, and the worker that ended the row claimed the bucket after the claim under which the call was made. A
// call after that end may come only of a worker that a fault held up since before it.
func (j *judgement) answerLost(s *story, c called, end evidence.ScheduleJob) bool {
	ended := called{Event: Event{At: j.clock.momentOf(end.At, j.last), Worker: end.Worker, Slot: end.Slot}}
	if c.At > ended.At {
		return j.heldUp(s, ended, c)
	}
	if j.explains(c, ended) < 0 && !j.lockedBetween(s, c, ended) {
		return false
	}
	// A row that was rolled forward meanwhile is in another bucket, whose claims say nothing about that of the call.
	return !c.Slot.Equal(end.Slot) || j.claimedAfter(j.claimsOf(s, c.Slot), end.Worker, &c)
}

// runCalls decides about the calls of a run.
func (j *judgement) runCalls(p *plan, r *runStory, says []*span) {
	for i, c := range r.calls {
		low, high := j.clock.at(c.At)
		if slot := j.ceil(c.Due); high.Before(slot) || high.Before(c.Slot) {
			j.planFinds("early", p, "the run of %s was called at %s, and its slot is %s", stamp(c.Due), stamp(high), stamp(c.Slot))
		}
		if !slices.ContainsFunc(says, func(s *span) bool { return j.inForce(p, s, c) }) {
			j.planFinds("unasked", p, "the run of %s was called at %s, when nothing in force said so any more", stamp(c.Due), stamp(low))
		}
		if i == 0 {
			if late := j.lateAt(says[0], c.Due, low); late > j.rules.MaxLate {
				j.planFinds("late", p, "the run of %s was first called at %s", stamp(c.Due), stamp(low))
			} else if says[0].CatchUp == "skip" && len(says) == 1 && c.Errors == 0 && late > says[0].Within+j.rules.InFlight {
				j.planFinds("missed", p, "the run of %s was first called at %s, and should have been skipped", stamp(c.Due), stamp(low))
			}
		}
		if c.answer != nil && !c.answer.Failed && !j.payloadAt(p, *c.answer) {
			j.planFinds("payload", p, "the run of %s got %s at %s", stamp(c.Due), c.answer.Payload, stamp(low))
		}
	}
}

// inForce says whether a call may have been made in a span: before it was over, or so soon after that as what had been read; or of
// what had begun when the schedule was paused or changed, and goes on.
func (j *judgement) inForce(p *plan, s *span, c called) bool {
	for _, e := range p.changes {
		if e.At < s.begin.At || e.At == s.begin.At && e.Change.Version == s.begin.Change.Version {
			continue
		}
		_, high := j.when(e)
		stays := e.Change.Do == "pause" || e.Change.Do == "update" && e.Change.Definition.Topic == ""
		if goesOn := stays && !c.Due.After(high) || e.Change.Do == "resume"; !goesOn && c.At > e.At+j.rules.InFlight {
			return false
		}
	}
	return c.At >= s.begin.At-s.begin.Took
}

// payloadAt says whether the payload of a call is that of a definition which was in force when it was read.
func (j *judgement) payloadAt(p *plan, answer Event) bool {
	for i, e := range p.changes {
		if e.Change.Definition == nil || e.Change.Definition.Payload != answer.Payload || e.At-e.Took > answer.At {
			continue
		}
		// Until the next definition, or the end.
		for _, later := range p.changes[i+1:] {
			if later.Change.Definition != nil || later.Change.Do == "delete" {
				return later.At+j.rules.InFlight >= answer.At
			}
		}
		return true
	}
	return false
}
