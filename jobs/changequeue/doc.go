// Package changequeue consumes a table of changes: an app appends rows, and a function is called with them, some hundred at a time, each
// exactly once.
//
//	CREATE TABLE change_log (id BIGINT UNSIGNED NOT NULL AUTO_INCREMENT PRIMARY KEY, payload JSON);
//
// # How it works
//
// The queue is a check that never ends: a [longrun.Run], which one agent has at a time, and which another goes on with from its checkpoint. The run
// reads a batch above the id that it has reached, calls the function, and saves its position, until there is no more; then it is called again
// in the next open slot, or, with Watch, looks again by itself. A batch has at most so many rows and bytes, so that a backlog of any
// length is never in memory.
//
// With [Queue.RegisterTx] the function works in a transaction, in which the position is saved under the token of the run: its effects and the
// position commit together, or neither does. So each change is handled exactly once, whoever dies or freezes at any time. With
// [Queue.Register] effects are elsewhere, and changes are handled at least once.
//
// # Gaps
//
// Ids do not commit in their order: one may be given to a transaction that commits after the ids behind it, or rolls back. So an id that is missing is
// a gap, which is waited for until GapWait is over, 5 minutes by default. The position has every gap, and since when it has been missing by
// the database's clock: an agent that goes on with it does not wait anew. Changes behind a gap are handled at once; with InOrder they wait for it.
// (Changes of one thing mostly have their order without it: who writes the second has waited for the lock of the thing until the
// first was committed.)
//
// A gap that was waited for long enough is passed over, counted and logged. The 100 that were passed over last are watched: a change that comes
// there all the same is counted, logged as an error, and handled. So GapWait should be longer than the longest transaction that writes changes,
// and the id should never come back: no TRUNCATE, no ids by hand.
//
// Bulk inserts take more ids than they use, and nodes of a Galera cluster take every third id each (auto_increment_increment), so that there
// are gaps for ever. They need no setting: gaps are kept compressed, a hundred thousand where they follow a pattern, twenty
// thousand where they do not. Where there are more within GapWait, the queue says so and waits until some are passed over; nothing is lost.
//
// # Operation
//
// [Queue.Start] makes its check pending, once and for ever. An error of the function leaves the position where it was, and stands as
// last_error in the check; the function is called again in the next open slot, for the same changes. What cannot ever be handled is for the
// function to put aside. A check that was cancelled, and is inserted again, goes on where it was, until prune has removed what is left of its
// run; with a payload {"after": 42} a queue without a position begins behind that id.
//
// It takes SELECT on the table from the account of the worker, and locks nothing there. [Queue.Figures] has its counts.
package changequeue
