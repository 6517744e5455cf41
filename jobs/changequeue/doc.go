// Package changequeue consumes a table of changes: an app appends rows, and a function is called with them, a batch at a time.
//
//	CREATE TABLE change_log (id BIGINT UNSIGNED NOT NULL AUTO_INCREMENT PRIMARY KEY, payload JSON);
//
// The queue is a check that never ends: a [longrun.Run], which one agent has at a time. It reads a batch above its position, calls the function,
// and saves the position. After an error (last_error of the check) the same changes come again in the next open slot; the function has to put aside what
// can never be handled.
//
// With [Queue.RegisterTx] effects and position commit in one transaction, so each change is handled exactly once; with [Queue.Register], at least
// once. The position is a row of queue_position: a queue that was cancelled goes on where it was.
//
// # Gaps
//
// A missing id may still commit, or was rolled back. A gap is waited for GapWait by the database's clock, also across agents. Then a locking read
// looks whether somebody has something under way there: if so, the gap stays open; if not, it is passed over, counted and logged. A change that comes
// there all the same, as from another node, is counted, logged as an error, and handled within some ten seconds.
//
// # Ids
//
// They begin with 1. Tidy up with DELETE. TRUNCATE gives handled ids anew: the queue fails until the owner deletes its row of queue_position. The worker
// needs SELECT, before MySQL 8.0.22 also UPDATE.
package changequeue
