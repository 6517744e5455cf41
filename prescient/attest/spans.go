package attest

import (
	"slices"
	"time"
)

// How many spans a report has at most: of those that are in order, and of others.
const (
	plainSpans = 200
	oddSpans   = 200
)

// spans makes spans of slots that come in their order.
type spans struct {
	report     *Report
	last       *Span // not in the report yet
	plain, odd int
}

// merges says whether slots of a state are alike enough for one span: each that is unfinished is its own.
func (s State) merges() bool { return s != Unfinished && s != OffGrid }

// plain says whether a state is in order.
func (s State) plain() bool { return s == Served || s == NotYet }

// add adds the next slot. r is nil where the ledger has nothing.
func (s *spans) add(in era, slot time.Time, r *row, waits bool, state State, reason string) {
	totals := &s.report.Totals
	totals.Slots++
	totals.States[state]++
	by := ""
	if r != nil && state != NotKnown {
		by = r.by()
		totals.add(r)
	}
	l := s.last
	if l == nil || !state.merges() || l.State != state || l.By != by || l.Waits != waits || l.Reason != reason || l.grid != in.grid {
		s.flush()
		l = &Span{State: state, First: slot, By: by, Waits: waits, Reason: reason, grid: in.grid}
		s.last = l
	}
	l.Last, l.Slots = slot, l.Slots+1
	if by == "" {
		return
	}
	l.Counts.add(r)
	l.BegunMS = max(l.BegunMS, r.begun().Milliseconds())
	if r.Finished != nil && (l.Finished == nil || r.Finished.After(*l.Finished)) {
		l.Finished = r.Finished
	}
	for _, name := range []string{r.FirstWorker, r.LastWorker} {
		if name != "" && len(l.Workers) <= namedWorkers && !slices.Contains(l.Workers, name) {
			l.Workers = append(l.Workers, name)
		}
	}
}

// flush puts the last span into the report.
func (s *spans) flush() {
	if s.last == nil {
		return
	}
	l := *s.last
	s.last = nil
	count, most := &s.odd, oddSpans
	if l.State.plain() {
		count, most = &s.plain, plainSpans
	}
	if *count++; *count <= most {
		s.report.Spans = append(s.report.Spans, l)
		return
	}
	if s.report.MoreSpans == nil {
		s.report.MoreSpans = make(map[State]int)
	}
	s.report.MoreSpans[l.State]++
}

// verdict is what the report comes to.
func (r *Report) verdict() Verdict {
	if r.Totals.States[Missed] > 0 || r.Ends.Differ > 0 {
		return Refuted
	}
	for state, n := range r.Totals.States {
		if n > 0 && !state.plain() {
			return NotProven
		}
	}
	if r.Unread > 0 || r.Totals.States[Served] == 0 || r.Ends.Compared && !r.Ends.Whole {
		return NotProven
	}
	return Proven
}
