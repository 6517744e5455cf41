// Package delayq is a delay queue: Run calls a function with what Delay took, when it is due, until it returns nil. What is delayed is a check,
// whose job_exec is the name of the queue. It promises:
//
//   - Never early, by the database's clock.
//   - Nothing lost: data is pending until handle has returned nil, or [prescient.Final], or it is cancelled. No number of errors ends it, no horizon.
//   - At least once: handle is called again after an error, a timeout (beside a call that ignores it), and where its worker died before the commit.
//   - Exactly once: the end in job_history, and what a [prescient.TxFunc] does by [ItemOf] and [DelayQueue.Guards].
//   - No order among what is ready in the same slot.
//
// After an error of Delay the data may be delayed or not; a second try may delay it twice, under two ids.
package delayq
