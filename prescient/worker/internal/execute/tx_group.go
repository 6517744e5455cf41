package execute

import (
	"time"
)

// firstGroup is how many rows of a TxFunc share a transaction at first; those of a TxBatchFunc start with maxGroup.
const firstGroup = 50

// MaxTxTries is how often a row is tried whose transaction comes to nothing for a reason that passes by itself.
const MaxTxTries = 10

// maxGroup is how many rows share a transaction at most.
const maxGroup = 500

// quickGroup and LongGroup bound for how long a transaction has its rows locked, which a cancel of one of them waits for:
// after less than the one the next will have more rows; at the other no more of its rows are called.
const quickGroup, LongGroup = 400 * time.Millisecond, 2 * time.Second

// nextGroup is how many rows are to share a transaction after one of some rows had them locked for a time; 0 where it came
// to nothing.
func nextGroup(group, rows int, locked time.Duration) int {
	switch {
	case locked > LongGroup && rows > 1:
		return max(min(group, rows)/2, 1)
	case locked > 0 && locked < quickGroup && rows >= group:
		return min(2*group, maxGroup)
	}
	return group
}
