package commit

import (
	"prescient/prescient"
	"prescient/prescient/internal/literal"
	"prescient/prescient/worker/internal/check"
)

// Rows that follow one another in the table are locked, written to history and deleted by their range: the statements
// stay short, and the servers read them in one pass. What is committed is the same as row by row, since nothing is taken
// on trust: the lock returns each row, and must return exactly those that were read; whatever comes between them
// afterwards makes a count too large, and the commit is rolled back and done by the rows' keys.

// How many rows a range should have on average for it to pay, and how many a statement that copies ends into history.
const (
	minRange  = 16
	minCopied = 32
)

// Span is a range of rows that follow one another.
type Span struct {
	First, Last prescient.Key
	N           int
}

// SpansOf cuts rows, in the order of their keys, into ranges that had no other rows when they were read; nil where
// that is not known, or where they are too many to pay.
func SpansOf(batch []*check.Answered) []Span {
	var spans []Span
	var seq uint64
	for _, a := range batch {
		switch {
		case a.Seq == 0:
			return nil
		case seq != 0 && a.Seq == seq+1:
			s := &spans[len(spans)-1]
			s.Last, s.N = a.JobKey, s.N+1
		default:
			if (len(spans)+1)*minRange > max(len(batch), 2*minRange) {
				return nil
			}
			spans = append(spans, Span{First: a.JobKey, Last: a.JobKey, N: 1})
		}
		seq = a.Seq
	}
	return spans
}

// LockOf is how the rows of a batch are locked first.
func LockOf(batch []*check.Answered) Lock {
	if SpansOf(batch) == nil {
		return ByKeys
	}
	return ByRanges
}

// LockOfTx is LockOf in a transaction of functions.
func LockOfTx(batch []*check.Answered) Lock {
	if len(batch) < minRange {
		return ByKeys
	}
	return LockOf(batch)
}

// AppendRanges appends the condition that holds for the rows of ranges; below leaves out the last of each.
func AppendRanges(to []byte, column string, spans []Span, below bool) []byte {
	last := " <= "
	if below {
		last = " < "
	}
	for i, s := range spans {
		if i > 0 {
			to = append(to, " OR "...)
		}
		to = literal.AppendKey(append(append(to, column...), " >= "...), s.First)
		to = literal.AppendKey(append(append(append(to, " AND "...), column...), last...), s.Last)
	}
	return to
}

// spansOfEnds keeps of ranges what is left of them once the other rows have moved: from the first to the last that ended.
// Both are in the order of the keys.
func spansOfEnds(spans []Span, ends []*check.Answered) []Span {
	var left []Span
	for _, s := range spans {
		of := Span{}
		for len(ends) > 0 && string(ends[0].JobKey[:]) <= string(s.Last[:]) {
			if of.N == 0 {
				of.First = ends[0].JobKey
			}
			of.Last, of.N = ends[0].JobKey, of.N+1
			ends = ends[1:]
		}
		if of.N > 0 {
			left = append(left, of)
		}
	}
	return left
}

// spansOfMoments cuts the ranges of ended rows where the time of the call differs, so that one statement can write the history
// of each; nil where they are too small to pay, or a row ended otherwise than done.
func spansOfMoments(ends []*check.Answered, spans []Span) []Span {
	var parts []Span
	most := len(ends)/minCopied + 1
	for _, s := range spans {
		of := ends[:s.N]
		ends = ends[s.N:]
		for i, a := range of {
			if a.Verdict.Outcome != prescient.Done || a.Bare {
				return nil
			}
			if i > 0 && sameCall(of[i-1], a) {
				p := &parts[len(parts)-1]
				p.Last, p.N = a.JobKey, p.N+1
				continue
			}
			if len(parts) == most {
				return nil
			}
			parts = append(parts, Span{First: a.JobKey, Last: a.JobKey, N: 1})
		}
	}
	return parts
}

// sameCall says whether history has the same times for two rows.
func sameCall(x, y *check.Answered) bool {
	a, b := &x.Answer, &y.Answer
	return a.Started.Equal(b.Started) && a.Ended.Equal(b.Ended) && literal.Millis(a.Ran) == literal.Millis(b.Ran)
}
