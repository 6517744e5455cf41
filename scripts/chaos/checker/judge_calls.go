package checker

import (
	"slices"
	"time"

	"prescient/scripts/chaos/checker/evidence"
	"prescient/scripts/chaos/checker/jobs"
)

// times decides I1, and how late the first call was.
func (j *judgement) times(s *story) {
	for i, c := range s.calls {
		high := j.clock.highest(c.At, j.rules.Resolution)
		if high.Before(c.Slot) {
			j.find("early", s.id, "called %s before its slot %s", c.Slot.Sub(high), c.Slot.Format(time.TimeOnly))
			continue
		}
		if asked := j.asked(s, c); high.Before(asked) {
			j.find("early", s.id, "called %s before %s, which was asked for", asked.Sub(high), asked.Format(time.RFC3339Nano))
		}
		if i == 0 && len(s.moves) == 0 {
			low, _ := j.clock.at(c.At)
			from := j.ceil(s.insert.Due)
			if _, inserted := j.clock.at(s.insert.At); inserted.After(from) {
				from = inserted
			}
			late := low.Sub(from)
			if !j.rules.ClockSteps {
				j.report.Latest = max(j.report.Latest, late)
			}
			if late > j.rules.Beside && !j.rules.ClockSteps {
				j.find("late", s.id, "first called %s after %s; %s are allowed", late, from.Format(time.RFC3339Nano), j.rules.Beside)
			}
		}
	}
}

// asked is the earliest slot that a call may have, by what was asked for: the app's time for the first, a returned one
// after that. Where the app may have moved it, the earliest of its times.
func (j *judgement) asked(s *story, c called) time.Time {
	if c.Checks == 0 {
		due := s.insert.Due
		for _, move := range s.moves {
			// One that was surely done before the row's slot began, and before this call, is in force.
			_, high := j.clock.at(move.At)
			if move.Result == Committed && high.Before(j.ceil(due)) && move.At < c.At {
				due = move.Due
			} else if move.Result != Nothing && move.Result != RolledBack && move.Due.Before(due) {
				due = move.Due
			}
		}
		return j.ceil(due)
	}
	if len(s.moves) > 0 {
		return c.Slot
	}
	var earliest time.Time
	for _, before := range s.calls {
		if before.Checks == c.Checks-1 && before.answer != nil && before.answer.Next != nil {
			if at := j.ceil(*before.answer.Next); earliest.IsZero() || at.Before(earliest) {
				earliest = at
			}
		}
	}
	return earliest
}

// cancels decides I4.
func (j *judgement) cancels(s *story) {
	for _, cancel := range s.cancels {
		if cancel.Result != Committed {
			continue
		}
		if len(s.pending) > 0 {
			j.find("cancelled", s.id, "cancelled, and pending again for %s", s.pending[0].Next.Format(time.TimeOnly))
		}
		if len(s.ended) == 1 && s.ended[0].Outcome != "cancelled" {
			j.find("cancelled", s.id, "cancelled, and ended as %s", s.ended[0].Outcome)
		}
		_, high := j.clock.at(cancel.At)
		inTime := len(s.moves) == 0 && high.Before(j.ceil(s.insert.Due))
		for _, c := range s.calls {
			if inTime && (!j.rules.ClockSteps || c.At > cancel.At) {
				j.find("cancelled", s.id, "cancelled before its slot, and called")
			} else if c.At > cancel.At+j.rules.InFlight {
				j.find("cancelled", s.id, "called %s after it was cancelled", c.At-cancel.At)
			}
		}
	}
}

// counts decides whether check_count is the number of returned times that were committed, and guards are kept.
func (j *judgement) counts(s *story) {
	returned := make(map[int]bool) // a time, by check_count before
	for _, c := range s.calls {
		if c.answer != nil && c.answer.Next != nil {
			returned[c.Checks] = true
		}
		if c.Checks > j.rules.MaxChecks {
			j.find("guard", s.id, "called with check_count %d; %d are allowed", c.Checks, j.rules.MaxChecks)
		}
		if c.Errors > j.rules.MaxErrors {
			j.find("guard", s.id, "called with error_count %d; %d are allowed", c.Errors, j.rules.MaxErrors)
		}
	}
	check := func(count int) {
		for n := range count {
			if !returned[n] {
				j.find("checks", s.id, "check_count is %d, but check %d never returned a time", count, n)
			}
		}
		for _, c := range s.calls {
			if c.Checks > count {
				j.find("checks", s.id, "check_count is %d, but it was called with %d", count, c.Checks)
			}
		}
	}
	for _, p := range s.pending {
		check(p.Checks)
	}
	for _, e := range s.ended {
		check(e.Checks)
	}
}

// repeats counts the calls that were repeated, and decides whether faults, or locks of others, explain them.
func (j *judgement) repeats() {
	type place struct {
		fault  int
		worker string
		slot   time.Time
		bucket int
	}
	inFlight := make(map[place]int)
	for _, s := range j.stories {
		if j.isLong(s) {
			continue // see atOnce
		}
		latest := make(map[uint64]called)
		for _, c := range s.calls {
			before, again := latest[c.Revision]
			latest[c.Revision] = c
			if !again {
				continue
			}
			fault := j.explains(before, c)
			if fault < 0 && j.rules.Tx[s.insert.Exec] {
				j.report.Redone++ // its transaction was rolled back, and what it did with it
				continue
			}
			j.report.Twice++
			if fault < 0 && j.heldUp(s, before, c) {
				continue
			}
			if fault < 0 && j.lockedBetween(s, before, c) {
				j.report.Locked++
				continue
			}
			if fault < 0 {
				j.find("twice", s.id, "%s of slot %s: %s called it again %s after %s did, and neither a fault nor a stop was between, nor a lock of another's", s.insert.Exec,
					c.Slot.Format(time.TimeOnly), c.Worker, c.At-before.At, before.Worker)
				continue
			}
			at := place{fault, before.Worker, c.Slot, j.bucketOf(s, c.Slot)}
			inFlight[at]++
			if inFlight[at] == j.rules.Batch*j.rules.Streams+1 {
				j.find("in-flight", s.id, "%s made more than %d calls of bucket %d of slot %s be repeated", j.faults[fault].What, j.rules.Batch*j.rules.Streams,
					at.bucket, c.Slot.Format(time.TimeOnly))
			}
		}
	}
}

// explains returns a fault that hit the worker of a call between this call and the next one, or -1.
func (j *judgement) explains(before, again called) int {
	for i := len(j.faults) - 1; i >= 0; i-- {
		if f := j.faults[i]; f.hits(before.Worker) && f.At <= again.At && f.At+f.Took >= before.At {
			return i
		}
	}
	return -1
}

// hits says whether a fault hit a worker.
func (e Event) hits(worker string) bool { return e.Worker == "" || e.Worker == worker }

// bucketOf is the bucket of a check in a slot, by the ledger that was the last to have it.
func (j *judgement) bucketOf(s *story, slot time.Time) (bucket int) {
	place, era := evidence.PlaceOf(j.entityOf(s), s.insert.Key), -1
	for _, r := range j.ledger[slot] {
		if r.Keys.Have(place) && r.Era >= era {
			bucket, era = r.Keys.Bucket(place, r.Buckets), r.Era
		}
	}
	return bucket
}

// startsWithin is how long after a worker has looked at the clock a call may be noted that it then starts: both cores are busy.
const startsWithin = time.Second

// expiry decides whether what had expired was not called, and what ended as expired had.
func (j *judgement) expiry(s *story) {
	for _, c := range s.calls {
		if s.insert.Expires == 0 {
			if c.ExpiresAt != nil {
				j.find("expired", s.id, "nobody asked that it expires, and it was called with an expiry of %s", c.ExpiresAt.Format(time.RFC3339Nano))
			}
			continue
		}
		// Whatever moved it, and however often it was tried: it expires so long after it is due.
		want := c.Due.Add(s.insert.Expires)
		if c.ExpiresAt == nil || !c.ExpiresAt.Equal(want) {
			j.find("expired", s.id, "called with an expiry of %v; want %s", c.ExpiresAt, want.Format(time.RFC3339Nano))
			continue
		}
		low, _ := j.clock.at(c.At)
		if !j.rules.ClockSteps && low.After(want.Add(startsWithin)) && !j.hit(c) {
			j.find("expired", s.id, "called %s after it had expired at %s", low.Sub(want), want.Format(time.RFC3339Nano))
		}
	}
	for _, e := range s.ended {
		want := e.Due.Add(s.insert.Expires)
		switch {
		case (e.ExpiresAt != nil) != (s.insert.Expires > 0), e.ExpiresAt != nil && !e.ExpiresAt.Equal(want):
			j.find("expired", s.id, "it ended with an expiry of %v; it was to expire %s after %s", e.ExpiresAt, s.insert.Expires, e.Due.Format(time.RFC3339Nano))
		case e.Outcome != "expired":
		case s.insert.Expires == 0:
			j.find("expired", s.id, "it ended as expired, and nobody asked for that")
		case e.Started:
			j.find("expired", s.id, "it ended as expired, and history says that a call had started")
		case e.At.Before(want) && !j.rules.ClockSteps:
			j.find("expired", s.id, "it ended as expired at %s, and was to expire at %s", e.At.Format(time.RFC3339Nano), want.Format(time.RFC3339Nano))
		}
	}
}

// hit says whether a fault may have held up the worker of a call between its look at the clock and the call.
func (j *judgement) hit(c called) bool {
	for _, f := range j.faults {
		if f.hits(c.Worker) && f.At <= c.At && f.At+f.Took >= c.At-startsWithin {
			return true
		}
	}
	return false
}

// jobsOfSteps decides about jobs.
func (j *judgement) jobsOfSteps() {
	calls := make(map[evidence.RunOf][]jobs.Call)
	for of, some := range j.jobs {
		for _, c := range some {
			call := jobs.Call{Worker: c.Worker, Step: c.Exec, Seq: c.Step, Version: c.Revision, At: c.At}
			if c.answer != nil {
				call.Returned, call.Failed = c.answer.At, c.answer.Failed
			}
			calls[of] = append(calls[of], call)
		}
	}
	explains := func(before, again jobs.Call) bool {
		return j.explains(called{Event: Event{Worker: before.Worker, At: before.At}}, called{Event: Event{At: again.At}}) >= 0
	}
	report, found := jobs.Judge(jobs.Rules{Steps: j.rules.Steps, Tx: j.rules.StepTx, Broke: len(j.faults) > 0, Explains: explains}, calls, j.tables.Jobs)
	j.report.Jobs = report
	for _, f := range found {
		j.find(f.Rule, 0, "%s", f.Text)
	}
}

// changes decides whether each change that was committed was handled, once.
func (j *judgement) changes() {
	c := j.tables.Changes
	j.report.Changes = c
	for rule, n := range map[string]int{"change-skipped": c.Skipped, "change-twice": c.Twice, "change-phantom": c.Phantom} {
		if n > 0 {
			j.find(rule, 0, "%d of %d changes", n, c.Written)
		}
	}
}

// startedUncalled says whether an agent was given a run by a time, and died before it noted a call.
func (j *judgement) startedUncalled(p *plan, r *runStory, by time.Time) bool {
	return len(r.calls) == 0 && slices.ContainsFunc(j.starts[p.id], func(s evidence.Start) bool { return s.Tag == r.jobs[0].Tag && !s.At.After(by) })
}

// firstInserted is when the first of some runs was inserted that a definition has inserted since it began: what the one before has inserted tells
// nothing of its timer. Zero for none.
func firstInserted(list []time.Time, begun time.Time, insertedAt func(time.Time) time.Time) time.Time {
	for _, due := range list {
		if at := insertedAt(due); !at.Before(begun) {
			return at
		}
	}
	return time.Time{}
}
