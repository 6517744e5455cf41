package changequeue

import (
	"slices"
	"time"
)

// span is a range of ids, both ends included.
type span struct{ first, last uint64 }

func (s span) count() uint64 { return s.last - s.first + 1 }

// mark says when ids were found missing: those up to one, and above that of the mark before it.
type mark struct {
	upTo uint64
	at   time.Time
}

// position is how far a queue has come. Every id up to high was handled, or was never there when it was looked for: then it is open, or was
// passed over. It is changed as a copy, which takes its place once that is committed.
type position struct {
	begin  uint64 // ids up to it are nobody's concern
	high   uint64
	open   []span // missing, and waited for; ascending, apart
	marks  []mark // since when; ascending
	over   []span // passed over lately: who comes late is noticed
	passed uint64 // ids that were passed over so far
	late   uint64 // those of them that came all the same
}

// startAt is the position of a queue that has handled nothing.
func startAt(after uint64) position { return position{begin: after, high: after} }

func (p position) clone() position {
	p.open, p.marks, p.over = slices.Clone(p.open), slices.Clone(p.marks), slices.Clone(p.over)
	return p
}

// lookAgain is into how many times the wait for a gap is divided: gaps that are found in the same part share a mark, and are waited for
// until its end.
const lookAgain = 60

// advance takes in ids above high, ascending, as they were there at a time: what is missing between them is open from then on.
func (p *position) advance(ids []uint64, now time.Time, wait time.Duration) {
	before := len(p.open)
	for _, id := range ids {
		if id > p.high+1 {
			p.open = append(p.open, span{p.high + 1, id - 1})
		}
		p.high = id
	}
	if len(p.open) > before {
		p.noticed(p.open[len(p.open)-1].last, now, wait)
	}
}

// block takes in that the first id above high is missing, and that next is the first that is there: for a queue that keeps the order.
func (p *position) block(next uint64, now time.Time, wait time.Duration) {
	p.open = append(p.open, span{p.high + 1, next - 1})
	p.high = next - 1
	p.noticed(p.high, now, wait)
}

// noticed has the ids up to one be missing since a time, rounded up to a part of the wait.
func (p *position) noticed(upTo uint64, now time.Time, wait time.Duration) {
	at := now
	if part := wait / lookAgain; part > 0 {
		if at = now.Truncate(part); at.Before(now) {
			at = at.Add(part)
		}
	}
	if n := len(p.marks); n > 0 && !p.marks[n-1].at.Before(at) { // the same part, or a clock that went back
		p.marks[n-1].upTo = upTo
		return
	}
	p.marks = append(p.marks, mark{upTo, at})
}

// found takes in ids that were missing, and have come. It returns how many of them had been passed over.
func (p *position) found(ids []uint64) (late int) {
	for _, id := range ids {
		var is bool
		if p.open, is = without(p.open, id); is {
			continue
		}
		if p.over, is = without(p.over, id); is {
			late++
		}
	}
	p.late += uint64(late)
	p.forget()
	return late
}

// without returns spans without an id, and whether it was in them.
func without(spans []span, id uint64) ([]span, bool) {
	i, is := at(spans, id)
	if !is {
		return spans, false
	}
	s := spans[i]
	var rest []span
	if s.first < id {
		rest = append(rest, span{s.first, id - 1})
	}
	if id < s.last {
		rest = append(rest, span{id + 1, s.last})
	}
	return slices.Replace(spans, i, i+1, rest...), true
}

// at returns the span that an id is in.
func at(spans []span, id uint64) (i int, is bool) {
	return slices.BinarySearchFunc(spans, id, func(s span, id uint64) int {
		switch {
		case s.last < id:
			return -1
		case s.first > id:
			return 1
		}
		return 0
	})
}

// isOld says whether the oldest gap has been waited for long enough.
func (p *position) isOld(now time.Time, wait time.Duration) bool {
	return len(p.open) > 0 && len(p.marks) > 0 && now.Sub(p.marks[0].at) >= wait
}

// watched is how many spans that were passed over are watched for who comes late.
const watched = 100

// pass passes over the gaps that have been waited for long enough, and returns those that count: before the first change of a table that was
// there before the queue nothing was lost.
func (p *position) pass(now time.Time, wait time.Duration) (passed []span) {
	for p.isOld(now, wait) {
		s := p.open[0]
		p.open = p.open[1:]
		if s.first != p.begin+1 {
			passed = append(passed, s)
			p.passed += s.count()
		}
		p.forget()
	}
	p.over = append(p.over, passed...)
	if extra := len(p.over) - watched; extra > 0 {
		p.over = slices.Clone(p.over[extra:])
	}
	return passed
}

// forget forgets marks that no gap has any more.
func (p *position) forget() {
	for len(p.marks) > 0 && (len(p.open) == 0 || p.marks[0].upTo < p.open[0].first) {
		p.marks = p.marks[1:]
	}
}

// next is how many of some ids, which were missing and have come, are the next ones of a queue that keeps the order.
func (p *position) next(ids []uint64) (n int) {
	if len(p.open) == 0 {
		return 0
	}
	for want := p.open[0].first; n < len(ids) && ids[n] == want; want++ {
		n++
	}
	return n
}

// ranges returns a few ranges in which all of some spans are. Ids between spans are in them, too.
func ranges(spans []span, most int) (few []span) {
	if len(spans) <= most {
		return spans
	}
	for some := range slices.Chunk(spans, (len(spans)+most-1)/most) {
		few = append(few, span{some[0].first, some[len(some)-1].last})
	}
	return few
}
