package checker

import (
	"slices"
	"time"
)

// fenced decides whether a row's end is the answer of a worker that had the lease: whoever calls the row later has it,
// and whoever had it before may not commit any more.
//
// A worker that has lost its lease, and does not know it yet, may start a call after the one that has it; that call does
// not count, but its end would. Where the last claims alone are known, whoever has claimed a bucket last may end its rows.
func (j *judgement) fenced(s *story) {
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
		if last == nil || e.Outcome == "cancelled" || e.Outcome == "crashed" {
			continue
		}
		claims := j.claimsOf(s.insert, last.Slot)
		switch {
		case last.Worker != e.Worker && !j.claimedAfter(claims, e.Worker, last):
			j.find("fenced", s.id, "%s ended it, but %s had called it later", e.Worker, last.Worker)
		case first != nil && j.tables.AllClaims && j.overtaken(claims, first):
			j.find("fenced", s.id, "%s ended it, but another had claimed the bucket before it called it", e.Worker)
		}
	}
}

// claimsOf are the claims of the bucket that a check is in at a slot.
func (j *judgement) claimsOf(insert Event, slot time.Time) (list []Claim) {
	for _, c := range j.claims[slot] {
		if c.Bucket == bucketOf(j.rules.Entity, insert.Key, insert.Exec, c.Buckets) {
			list = append(list, c)
		}
	}
	return list
}

// claimedAfter says whether a worker claimed a bucket after a claim that a call may have been made under.
func (j *judgement) claimedAfter(claims []Claim, worker string, call *called) bool {
	_, high := j.clock.at(call.At)
	var callers *Claim // the first that it may have been made under
	for _, c := range claims {
		if c.Worker == call.Worker && (j.rules.ClockSteps || !c.At.After(high)) && (callers == nil || callers.laterThan(c)) {
			callers = &c
		}
	}
	its := lastClaim(claims, worker)
	if !j.tables.AllClaims && its != nil {
		return true
	}
	return callers != nil && its != nil && its.laterThan(*callers)
}

// overtaken says whether another had claimed the bucket before a call, and its worker did not claim it again.
func (j *judgement) overtaken(claims []Claim, call *called) bool {
	low, _ := j.clock.at(call.At)
	its := lastClaim(claims, call.Worker)
	return !j.rules.ClockSteps && slices.ContainsFunc(claims, func(c Claim) bool {
		return (its == nil || c.laterThan(*its)) && c.At.Before(low)
	})
}

// lastClaim is a worker's last claim; nil without one.
func lastClaim(claims []Claim, worker string) (last *Claim) {
	for _, c := range claims {
		if c.Worker == worker && (last == nil || c.laterThan(*last)) {
			last = &c
		}
	}
	return last
}
