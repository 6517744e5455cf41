package changequeue

import (
	"math"
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
	over   []span // passed over: what comes there all the same is handled; ascending, apart
	passed uint64 // ids that were passed over so far
	late   uint64 // those of them that came all the same
	lost   uint64 // those that are watched no more
}

// startAt is the position of a queue that has handled nothing.
func startAt(after uint64) position { return position{begin: after, high: after} }

// clone returns a copy. Both have the same spans that were passed over: whoever changes those makes others of them.
func (p position) clone() position {
	p.open, p.marks = slices.Clone(p.open), slices.Clone(p.marks)
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
		if _, is = at(p.over, id); !is {
			continue
		}
		if late++; late == 1 {
			p.over = slices.Clone(p.over)
		}
		p.over, _ = without(p.over, id)
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

// old are the gaps that have been waited for long enough.
func (p *position) old(now time.Time, wait time.Duration) []span {
	for len(p.marks) > 1 && now.Sub(p.marks[1].at) >= wait {
		p.marks = p.marks[1:] // it says no more than the next one
	}
	if len(p.marks) == 0 || now.Sub(p.marks[0].at) < wait {
		return nil
	}
	return p.open[:upTo(p.open, p.marks[0].upTo)]
}

// upTo is how many spans end with an id, or before it.
func upTo(spans []span, id uint64) int {
	n, _ := slices.BinarySearchFunc(spans, id, func(s span, id uint64) int {
		if s.last <= id {
			return -1
		}
		return 1
	})
	return n
}

// watched is how many spans that were passed over are watched for what comes late: 16 bytes each. Beyond that the lowest are forgotten.
const watched = 100_000

// pass passes over some gaps, ascending, or parts of them, and returns those that count: before the first change of a table that was there
// before the queue nothing was lost. It watches all of them.
func (p *position) pass(gaps []span) (passed []span) {
	for _, s := range gaps {
		if s.first != p.begin+1 {
			passed = append(passed, s)
			p.passed = sum(p.passed, s.count())
		}
	}
	p.open = cut(p.open, gaps)
	p.over = merged(p.over, gaps)
	if extra := len(p.over) - watched; extra > 0 {
		for _, s := range p.over[:extra] {
			p.lost = sum(p.lost, s.count())
		}
		p.over = slices.Clone(p.over[extra:])
	}
	p.forget()
	return passed
}

// sum adds counts, of which one may be that of all ids there are.
func sum(a, b uint64) uint64 {
	if a+b < a {
		return math.MaxUint64
	}
	return a + b
}

// cut returns spans without parts of them, both ascending.
func cut(spans, parts []span) (left []span) {
	for _, s := range spans {
		gone := false
		for len(parts) > 0 && parts[0].last <= s.last {
			if parts[0].first > s.first {
				left = append(left, span{s.first, parts[0].first - 1})
			}
			if gone = parts[0].last == s.last; !gone {
				s.first = parts[0].last + 1
			}
			parts = parts[1:]
			if gone {
				break
			}
		}
		if !gone {
			left = append(left, s)
		}
	}
	return left
}

// merged puts two lists of spans, each ascending, into one.
func merged(a, b []span) []span {
	all := make([]span, 0, len(a)+len(b))
	for len(a) > 0 || len(b) > 0 {
		from := &a
		if len(a) == 0 || len(b) > 0 && b[0].first < a[0].first {
			from = &b
		}
		s := (*from)[0]
		*from = (*from)[1:]
		if n := len(all); n > 0 && all[n-1].last+1 == s.first {
			all[n-1].last = s.last
			continue
		}
		all = append(all, s)
	}
	return all
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
