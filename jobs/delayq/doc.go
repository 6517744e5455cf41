// Package delayq is a delay queue: Delay takes some bytes and the time from which on they are ready, and Run calls a function
// with them when that time has come, again and again until it returns nil.
//
// # How it works
//
// What is delayed is a check like any other. Its entity is ([EntityName], a random id), its job_exec is the name of the queue,
// and its payload is the data in base64: {"data":"aGVsbG8="}. So pause, list, requeue and doctor work on it by the queue's name,
// and plain SQL of any language can delay something, too.
//
//	Delay(readyTime, data)       future_job: due at readyTime, in the slot after it, or in the next open slot where that is over
//	slot → handle(data) → nil    job_history: done
//	     └──────────────→ error  future_job: 1, 2, 4, … slots later, with last_error and error_count; a minute at most, or one slot
//	Cancel(id)                   job_history: cancelled
//
// Slots bound how exact a queue is: with slots of a second handle is called within about a second of the ready time, with the
// default of 15 minutes up to 15 minutes later.
//
// # What it promises, and what it does not
//
//   - Never early: handle is not called before the ready time, by the database's clock. It may be called late, by the slot and
//     after an outage.
//   - Nothing lost: what Delay returned no error for, or what the caller's transaction committed, is pending until handle has
//     returned nil for it, or until it is cancelled. No number of errors ends it, no horizon, and no worker that dies in it.
//   - At least once: handle is called more than once for the same data where it returned an error, ran into its timeout, or where
//     its worker died, or was cut off from the database, between the call and the commit. [Item] has an ID that is the same in
//     all these calls, for handles that have to notice.
//   - Exactly once: the end in job_history, and what a [prescient.TxFunc] does in its transaction. [ItemOf] and
//     [DelayQueue.Guards] are for making one.
//   - After an error of Delay itself nobody knows whether the data is delayed, where the connection broke: it may be delayed
//     twice if the caller tries again, under two ids. In the caller's transaction, DelayTx, it is delayed as the rest is committed.
//   - There is no order among what is ready in the same slot.
//
// # Several queues
//
// Queues with names of their own lie beside each other in the same tables, and none is called with what another delayed. But
// every worker of an installation has to know all its job_execs: what it does not know it puts off, longer each time, up to a
// day. [DelayQueue.Run] is a worker that knows one queue. It is for tables (a prefix) that hold nothing else. Where there are
// several queues, or other job_execs, [DelayQueue.Register] puts each into the registry of one worker.
package delayq
