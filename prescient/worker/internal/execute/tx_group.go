package execute

import (
	"time"
)

// How many rows share a transaction at first: of a TxFunc, and of a TxBatchFunc.
const firstGroup, firstBatchGroup = 50, 500

// MaxTxTries is how often a row is tried whose transaction comes to nothing for a reason that passes by itself.
const MaxTxTries = 10

// firstTxWait is how long to wait before a transaction is tried for the second time, and maxTxWait bounds the growing time between
// two tries.
const firstTxWait, maxTxWait = 100 * time.Millisecond, 3 * time.Second

// TxWait is how long to wait before a row is called again whose transactions came to nothing so many times before this one.
func TxWait(tries int) time.Duration { return min(time.Duration(tries+1)*firstTxWait, maxTxWait) }

// maxGroup is how many rows share a transaction at most. A bucket has about 1800 rows at the defaults, and they come in parts of
// 1000 and what is left: with 500 at most, what is left took two transactions.
const maxGroup = 1000

// quickGroup and LongGroup bound for how long a transaction has its rows locked, which a cancel of one of them waits for:
// after less than the one the next will have more rows; at the other no more of its rows are called.
const quickGroup, LongGroup = 400 * time.Millisecond, 2 * time.Second

// nextGroup is how many rows are to share a transaction after one of some rows had them locked for a time; 0 where it came
// to nothing. Transactions that took long at the same time make it half of what they had, and not half of each other's half.
func nextGroup(group, rows int, locked time.Duration) int {
	switch {
	case locked > LongGroup && rows > 1:
		return max(min(group, rows/2), 1)
	case locked > 0 && locked < quickGroup && rows >= group:
		return min(2*group, maxGroup)
	}
	return group
}
