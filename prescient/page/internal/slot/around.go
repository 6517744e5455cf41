package slot

import (
	"time"

	"prescient/prescient"
	"prescient/prescient/client"
	"prescient/prescient/forecast"
)

// around is a slot, with what became and becomes of it.
type around struct {
	At time.Time
	// Done are checks that ended or moved, PutOff those that went to a later slot without a call.
	Done, PutOff int64
	// BegunMS is how late the last part of it was begun.
	BegunMS int64
	// Due are those that wait for it, by the forecast.
	Due int64
	// Parts of it are there in the ledger, and Finished of them are.
	Parts, Finished int
	// Hole says that it is over and no worker was there.
	Hole bool
	// Part is what the forecast says of it; nil for nothing.
	Part *forecast.Part
	// Late says that by the forecast it does not end in time.
	Late bool
	// Ahead says that it has not come yet.
	Ahead bool
}

// span is what is known of the slots of a time.
type span struct {
	now         time.Time
	resolution  time.Duration
	first, last time.Time // slots
	// ledger are the buckets of the slots that have come; cut says that there are more than were read, the earliest are missing.
	ledger []client.Bucket
	cut    bool
	// older says that the ledger has slots from before, so that one without a bucket was left out.
	older bool
	parts []forecast.Part
}

// grace is how long after its slot a worker may come before that counts as a hole.
const grace = prescient.DefaultSweepGrace

// slots says what became and becomes of the slots of the span, the earliest first.
func (s span) slots() (all []around) {
	buckets, forecasts := make(map[time.Time][]client.Bucket), make(map[time.Time]forecast.Part)
	for _, b := range s.ledger {
		buckets[b.Slot.UTC()] = append(buckets[b.Slot.UTC()], b)
	}
	for _, p := range s.parts {
		forecasts[p.Start.UTC()] = p
	}
	first := s.first
	if s.cut && len(s.ledger) > 0 { // the earliest that was read may be there in part
		first = s.ledger[len(s.ledger)-1].Slot.UTC().Add(s.resolution)
	}
	seen := s.older || s.cut
	for at := first; !at.After(s.last); at = at.Add(s.resolution) {
		one := around{At: at, Ahead: at.After(s.now)}
		for _, b := range buckets[at] {
			one.Parts++
			if b.FinishedAt != nil {
				one.Finished++
			}
			one.Done += done(b)
			one.PutOff += b.PutOff
			if b.LatenessMS != nil {
				one.BegunMS = max(one.BegunMS, *b.LatenessMS)
			}
		}
		seen = seen || one.Parts > 0
		one.Hole = seen && one.Parts == 0 && !one.Ahead && s.now.Sub(at) > grace
		if part, is := forecasts[at]; is && at.Add(s.resolution).After(s.now) {
			one.Due = max(0, part.Due+part.Occurrences-one.Done)
			one.Part = &part
			one.Late = part.Verdict.Late()
		}
		all = append(all, one)
	}
	return all
}

// done are the checks of a bucket that ended, or moved after a call.
func done(b client.Bucket) int64 {
	n := b.Moved
	for _, ended := range b.Ends {
		n += ended
	}
	return n
}

// What says what became or becomes of it, in a word.
func (a around) What() string {
	switch {
	case a.Hole:
		return "no worker was there"
	case a.Late && a.Ahead:
		return "will be late"
	case a.Ahead:
		return "to come"
	case a.Finished < a.Parts:
		return "under way"
	case a.Parts > 0:
		return "served"
	}
	return "–"
}
