// Package changequeue consumes a table of changes: an app appends rows, and a function is called with them, some hundred at a time, each
// exactly once.
//
//	CREATE TABLE change_log (id BIGINT UNSIGNED NOT NULL AUTO_INCREMENT PRIMARY KEY, payload JSON);
//
// # How it works
//
// The queue is a check that never ends: a [longrun.Run], which one agent has at a time, and which another goes on with. The run
// reads a batch above the id that it has reached, calls the function, and saves its position, until there is no more; then it is called again
// in the next open slot, or, with Watch, looks again by itself. A batch has at most so many rows and bytes, so that a backlog of any
// length is never in memory.
//
// The position is a row of queue_position, by the queue's name. Nothing deletes it but the owner of the tables: a queue that was cancelled goes on
// where it was when it is started again, whatever was pruned meanwhile.
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
// After GapWait a gap is passed over, counted and logged, where nobody has anything under way in it. A locking read of its ids says so: it meets
// no row, and no lock. A transaction that is open for longer than GapWait keeps its gaps open, and the log says so; one that rolled
// back does not. What was passed over stays watched: a change that comes there all the same is counted, logged as an error, and handled within
// some ten seconds. Such are an id that was given before the read and inserted after it, and, in a Galera or replication cluster, a transaction on another
// node, whose locks this node does not have. GapWait should be longer than most transactions that write changes take.
//
// # What the locking read locks
//
// It is FOR SHARE NOWAIT, on MariaDB LOCK IN SHARE MODE NOWAIT, in a transaction of its own under READ COMMITTED, whatever the pool is set to, and
// rolled back as soon as it was read. At most 200 such reads are made each second, and only for gaps older than GapWait.
//
//	it locks           the rows that it finds there, which are none or one that was committed a moment ago; on MariaDB and MySQL the row behind
//	                   the gap, too, while it reads that. An UPDATE or DELETE of such a row may wait for it, for the time of one read.
//	it does not lock   gaps: no INSERT waits for it, not even one into the ids that it reads.
//	it waits for       nothing: MariaDB refuses it with 1205, MySQL with 3572, and the gap stays open until the next look. It is refused by an INSERT
//	                   that is open, by an UPDATE or DELETE of a row there or of the row behind the gap, and by LOCK TABLES on MariaDB.
//
// On TiDB it is FOR UPDATE NOWAIT, which does not meet an INSERT that is open: a gap is passed over there after GapWait, and what comes is late.
//
// # Bounds
//
// Gaps are kept as ranges. Two hundred thousand are kept that are waited for, or what fits into 512 KB: a hundred thousand where they follow no
// pattern. Where there are more, the queue says so, and waits until some have come or are passed over; nothing is lost. A hundred thousand ranges are watched that
// were passed over. Beyond that the lowest are forgotten, which the log says: a change that comes there later still is never handled.
//
// Bulk inserts take more ids than they use, and nodes of a Galera cluster take every third id each (auto_increment_increment), so that there
// are gaps for ever. They need no setting, but count as such.
//
// # Ids by plain SQL
//
// Whoever may insert may give any id. One far ahead makes one large gap of what lies between; what comes there is handled, now and after it was passed over,
// also where the owner has put AUTO_INCREMENT back. Changes have ids from 1 on: 0 and negative ids are none, and the log names the first. A change that is deleted
// before it was handled is a gap like any other.
//
// TRUNCATE gives ids anew that were handled, to other changes. The queue fails then, and says so in its check, instead of taking those for handled ones. It looks
// once a minute, when it has nothing to do. To have it begin anew, from After or the payload of its check, the owner deletes its row of queue_position. Tidy
// up with DELETE instead.
//
// # Operation
//
// [Queue.Start] makes its check pending, once and for ever. An error of the function leaves the position where it was, and stands as
// last_error in the check; the function is called again in the next open slot, for the same changes. What cannot ever be handled is for the
// function to put aside. With a payload {"after": 42} a queue without a position begins behind that id. One queue has one check: where there are
// two, each change is handled once all the same, and their calls fail in turn.
//
// It takes SELECT on the table from the account of the worker, before MySQL 8.0.22 UPDATE as well; and the rights of the role worker on queue_position. Agents of a
// release before that table wait while others of the queue have it: they refuse the note that those leave in the run. [Queue.Figures] has its counts.
package changequeue
