package checker

import (
	"cmp"
	"maps"
	"slices"
	"strings"
	"time"

	"prescient/scripts/chaos/checker/apart"
	"prescient/scripts/chaos/checker/evidence"
)

// fenced decides whether a row's end is the answer of a worker that had the lease: whoever calls the row later has it,
// and whoever had it before may not commit any more.
//
// A worker that has lost its lease, and does not know it yet, may start a call after the one that has it; that call does
// not count, but its end would. Where the last claims alone are known, whoever has claimed a bucket last may end its rows,
// and so may others where that is neither of the two.
func (j *judgement) fenced(s *story) {
	if j.isLong(s) {
		return // see longEnds
	}
	for _, e := range s.ended {
		var first, last *called // the first of who ended it
		for i := range s.calls {
			if c := &s.calls[i]; c.Revision == e.Revision {
				last = c
				if c.Worker == e.Worker && first == nil {
					first = c
				}
			}
		}
		if last == nil || e.Outcome == "cancelled" || e.Outcome == superseded || e.Outcome == "crashed" {
			continue
		}
		claims := j.claimsOf(s, last.Slot)
		switch {
		case last.Worker != e.Worker && !j.claimedAfter(claims, e.Worker, last):
			j.find("fenced", s.id, "%s ended it, but %s had called it later", e.Worker, last.Worker)
		case first != nil && j.tables.AllClaims && j.overtaken(claims, first):
			j.find("fenced", s.id, "%s ended it, but another had claimed the bucket before it called it", e.Worker)
		}
	}
}

// heldUp says whether the worker of a call may not have known yet that it had lost the lease to the worker of the call before: a fault
// held it up from before that on, and it had not claimed the bucket again.
func (j *judgement) heldUp(s *story, before, again called) bool {
	_, high := j.clock.at(again.At)
	known := slices.DeleteFunc(j.claimsOf(s, again.Slot), func(c evidence.Claim) bool { return c.At.After(high) })
	return slices.ContainsFunc(j.faults, func(f Event) bool {
		return f.hits(again.Worker) && f.At <= before.At && f.At+f.Took >= again.At
	}) && !(j.tables.AllClaims && j.claimedAfter(known, again.Worker, &before))
}

// claimsOf are the claims of the bucket that a check is in at a slot.
func (j *judgement) claimsOf(s *story, slot time.Time) (list []evidence.Claim) {
	place := evidence.PlaceOf(j.entityOf(s), s.insert.Key)
	for _, c := range j.claims[slot] {
		if c.Bucket == c.Keys.Bucket(place, c.Buckets) {
			list = append(list, c)
		}
	}
	return list
}

// claimedAfter says whether a worker claimed a bucket after a claim that a call may have been made under.
func (j *judgement) claimedAfter(claims []evidence.Claim, worker string, call *called) bool {
	_, high := j.clock.at(call.At)
	var callers *evidence.Claim // the first that it may have been made under
	for _, c := range claims {
		if c.Worker == call.Worker && (j.rules.ClockSteps || !c.At.After(high)) && (callers == nil || callers.LaterThan(c)) {
			callers = &c
		}
	}
	its := lastClaim(claims, worker)
	if !j.tables.AllClaims && slices.ContainsFunc(claims, func(c evidence.Claim) bool { return c.Worker != call.Worker }) {
		return true // also where a third has claimed it last: who had it in between is not known
	}
	return callers != nil && its != nil && its.LaterThan(*callers)
}

// overtaken says whether another had claimed the bucket before a call, and its worker did not claim it again.
func (j *judgement) overtaken(claims []evidence.Claim, call *called) bool {
	low, _ := j.clock.at(call.At)
	its := lastClaim(claims, call.Worker)
	return !j.rules.ClockSteps && slices.ContainsFunc(claims, func(c evidence.Claim) bool {
		return (its == nil || c.LaterThan(*its)) && c.At.Before(low)
	})
}

// lastClaim is a worker's last claim; nil without one.
func lastClaim(claims []evidence.Claim, worker string) (last *evidence.Claim) {
	for _, c := range claims {
		if c.Worker == worker && (last == nil || c.LaterThan(*last)) {
			last = &c
		}
	}
	return last
}

// stopsWithin is how long after another has begun a call may be noted to begin a step: what ends its lease is looked at every
// twentieth of that, and both cores are busy.
func (j *judgement) stopsWithin() time.Duration { return j.rules.Lease / 4 }

// longRuns decides about the calls of long runs. Those of one key are one run after the other, also where the app has put another
// check in the place of one.
func (j *judgement) longRuns() {
	byKey := make(map[string][]called)
	for _, id := range slices.Sorted(maps.Keys(j.stories)) {
		s := j.stories[id]
		if id < 0 || !j.isLong(s) {
			continue
		}
		slices.SortStableFunc(s.calls, func(a, b called) int { return cmp.Compare(a.Token, b.Token) })
		byKey[s.insert.Key] = append(byKey[s.insert.Key], s.calls...)
		j.checkpoints(s)
		j.longEnds(s)
		j.longStops(s)
		j.pools(s)
	}
	for _, key := range slices.Sorted(maps.Keys(byKey)) {
		calls := byKey[key]
		slices.SortStableFunc(calls, func(a, b called) int { return cmp.Compare(a.Token, b.Token) })
		j.atOnce(calls)
	}
	for _, id := range slices.Sorted(maps.Keys(j.plans)) {
		j.runsAtOnce(j.plans[id])
	}
	j.stuck()
}

// pools decides whether the runs of a pool are called by its agents alone.
func (j *judgement) pools(s *story) {
	may := j.rules.Callers[s.insert.Exec]
	for _, c := range s.calls {
		if may != nil && !may(c.Worker) {
			j.find("pool", s.id, "%s called it, which does not serve its pool", c.Worker)
		}
	}
}

// stuck decides whether the runs ended whose checks are not there any more. Of a check that the app ended, or put another in the place
// of, while nobody called it, the row stays until prune takes it.
func (j *judgement) stuck() {
	byApp := make(map[[16]byte]bool)
	for _, s := range j.stories {
		ended := slices.ContainsFunc(s.ended, func(e evidence.Ended) bool { return e.Outcome == superseded || e.Outcome == "cancelled" })
		byApp[s.jobKey] = byApp[s.jobKey] || ended || s.id > 0 && len(s.cancels) > 0 || s.replacedBy != nil
	}
	for _, r := range j.tables.LongRuns {
		if !r.Ended && !r.Pending && !byApp[[16]byte(r.Key)] {
			j.find("stuck", 0, "the run of %x, which %s had until %s, has not ended, and its check is gone", r.Key, r.Agent, stamp(r.Until))
		}
	}
}

// atOnce decides whether a call stops when one has begun that was given the run later, or another that keeps apart from it: by then
// its lease was over by its own clock, too. A call that was frozen between its look and its step may begin that one; what it saves then is refused, so that it
// begins no second one, whatever was broken.
func (j *judgement) atOnce(calls []called) {
	for i, c := range calls {
		j.report.Long.Calls++
		j.report.Long.Steps += len(c.steps)
		j.report.Long.Saved += len(c.saved)
		if c.Step > 0 {
			j.report.Long.WentOn++
		}
		again := i > 0 && calls[i-1].ID == c.ID && calls[i-1].Tag == c.Tag
		if again {
			j.report.Long.Takings++
		}
		find := func(format string, args ...any) {
			if j.find("at-once", c.ID, format, args...); c.Tag != "" {
				j.report.Findings[len(j.report.Findings)-1].Key = c.Key
			}
		}
		if again && calls[i-1].Token == c.Token {
			find("%s and %s called it under the same token, %d", calls[i-1].Worker, c.Worker, c.Token)
			continue
		}
		later := calls[i+1:]
		if len(later) == 0 {
			continue
		}
		first := slices.MinFunc(later, func(a, b called) int { return cmp.Compare(a.At, b.At) })
		stale := slices.DeleteFunc(slices.Clone(c.steps), func(e Event) bool { return e.At <= first.At })
		switch {
		case len(stale) == 0:
		case len(stale) > 1:
			find("%s began %d steps more after %s had begun later, the last of them %s after", c.Worker, len(stale), first.Worker,
				stale[len(stale)-1].At-first.At)
		case stale[0].At <= first.At+j.stopsWithin():
		case j.heldFast(c.Worker, first.At, stale[0].At):
			j.report.Long.Stale++
		default:
			find("%s began step %d %s after %s had begun later, and it was not frozen", c.Worker, stale[0].Step, stale[0].At-first.At,
				first.Worker)
		}
	}
}

// heldFast says whether between two moments a worker may not have been able to notice that its lease was over: it was frozen, the
// machine stood still, or leases were over before their time by the clock of the worker.
func (j *judgement) heldFast(worker string, from, to time.Duration) bool {
	return slices.ContainsFunc(j.faults, func(f Event) bool {
		if !f.hits(worker) || f.At > to || f.At+f.Took < from {
			return false
		}
		return slices.ContainsFunc([]string{"SIGSTOP", "freeze", "the machine stood still", "leases lapse", "server's clock set"}, func(what string) bool {
			return strings.HasPrefix(f.What, what)
		})
	})
}

// checkpoints decides whether each call of a check went on from the last checkpoint: at least from the last of which Save said that it
// was kept, at most from the last that anybody tried to save.
func (j *judgement) checkpoints(s *story) {
	kept, tried := 0, 0
	for _, c := range s.calls {
		if c.Of != 0 && c.Of != s.id {
			j.find("checkpoint", s.id, "%s got the checkpoint of check %d", c.Worker, c.Of)
		}
		switch {
		case c.Step == 0 && j.begunAnew(s): // what the app has moved begins anew
			kept = 0
		case c.Step < kept:
			j.find("checkpoint", s.id, "%s went on from step %d, and %d had been saved", c.Worker, c.Step, kept)
		case c.Step > tried:
			j.find("checkpoint", s.id, "%s went on from step %d, and nobody saved more than %d", c.Worker, c.Step, tried)
		}
		for _, e := range c.steps {
			tried = max(tried, e.Step+1)
		}
		for _, e := range c.saved {
			kept = max(kept, e.Step)
		}
	}
}

// begunAnew says whether the app may have moved a check.
func (j *judgement) begunAnew(s *story) bool {
	return slices.ContainsFunc(s.moves, func(e Event) bool { return e.Result == Committed || e.Result == Unknown })
}

// longEnds decides whether a check ended by the answer of the last call of its run, and not by one whose run was another's by then.
func (j *judgement) longEnds(s *story) {
	for _, e := range s.ended {
		if len(s.calls) == 0 || !slices.Contains([]string{"done", "max_checks", "past_return", "beyond_horizon", "failed"}, e.Outcome) {
			continue
		}
		last := s.calls[len(s.calls)-1]
		switch {
		case last.Worker != e.Worker || !last.Slot.Equal(e.Slot):
			j.find("fenced", s.id, "%s ended it in slot %s, and %s had called it later, in slot %s", e.Worker, e.Slot.Format(time.TimeOnly), last.Worker,
				last.Slot.Format(time.TimeOnly))
		case e.Outcome == "done" && (last.answer == nil || last.answer.Failed || last.answer.Next != nil):
			j.find("fenced", s.id, "it ended as done, and its last call, by %s, did not say so: %+v", last.Worker, last.answer)
		}
	}
}

// longStops decides whether the calls of a check stop once it was cancelled: the renewal of their leases tells them.
func (j *judgement) longStops(s *story) {
	for _, cancel := range s.cancels {
		if cancel.Result != Committed {
			continue
		}
		until := cancel.At + j.rules.Lease + j.stopsWithin()
		for _, c := range s.calls {
			for _, e := range c.steps {
				if e.At > until && !j.heldFast(c.Worker, cancel.At, e.At) {
					j.find("cancelled", s.id, "%s began step %d %s after it was cancelled", c.Worker, e.Step, e.At-cancel.At)
				}
			}
		}
	}
}

// mayEndAs says whether a fault explains that a long run's check ended as crashed, whose agents died, or as failed, whose calls did.
func (j *judgement) mayEndAs(s *story, e evidence.Ended) bool {
	if e.Outcome == "crashed" {
		return len(j.faults) > 0
	}
	for n := range j.rules.MaxErrors + 1 {
		if !slices.ContainsFunc(s.calls, func(c called) bool {
			return c.Checks == e.Checks && c.Errors == n && c.answer != nil && c.answer.Failed
		}) {
			return false
		}
	}
	return e.Outcome == "failed" && len(j.faults) > 0
}

// runsAtOnce decides whether no two calls of a schedule were under way at once, where its runs keep apart; else of a run.
func (j *judgement) runsAtOnce(p *plan) {
	at := make(map[uint64]time.Time) // when it was given to its agent, by token
	for _, s := range j.starts[p.id] {
		at[s.Token] = s.At
	}
	byTag := make(map[string][]called)
	for tag, r := range p.runs {
		if apart := len(p.changes) > 0 && p.changes[0].Change.Definition != nil && p.changes[0].Change.Definition.Overlap != "allow"; apart {
			tag = ""
		}
		if j.isLong(r.story) && j.tables.AllClaims {
			byTag[tag] = append(byTag[tag], r.calls...)
		}
	}
	for _, calls := range byTag {
		slices.SortStableFunc(calls, func(a, b called) int { return at[a.Token].Compare(at[b.Token]) })
		j.atOnce(calls)
	}
}

// toldOf is what is known of the call of a start.
func (j *judgement) toldOf(s *story, start evidence.Start) apart.Call {
	told := apart.Call{Worker: start.Agent, Token: start.Token, At: start.At, First: start.First}
	for _, c := range s.calls {
		if c.Token != start.Token {
			continue
		}
		told.Told, told.Errors, told.From = true, c.Errors, c.Step
		told.Failed, told.Done = c.answer != nil && c.answer.Failed, c.answer != nil && !c.answer.Failed && c.answer.Next == nil
		for _, e := range c.steps {
			low, _ := j.clock.at(e.At)
			told.Steps = append(told.Steps, apart.Step{N: e.Step, At: low, Moment: e.At})
		}
		for _, e := range c.saved {
			told.Kept = max(told.Kept, e.Step)
		}
	}
	return told
}
