// Package prescient calls a function at the time that an app asked for, if what it waits for has not happened by then:
// an order that should have shipped, an invoice that should have been paid. The app inserts a row in the transaction of
// its own change; a worker calls the function registered for the row when its slot has come; the function looks, acts,
// and answers with the next time to look, or with nil when the matter is settled.
//
// This package is the vocabulary: what a check is, what becomes of it, and the functions that look after it. What works with
// it lies in rooms of its own: package client inserts and cancels, package connect opens connections, package worker runs
// slots, and packages doctor, prune and reslot are for who operates it.
//
// # Terms
//
//   - slot: an instant on a grid that divides a day, counted from midnight UTC. Times are rounded up to a slot.
//   - entity: what a check is about, such as order/42.
//   - job_exec: the name under which a function is registered: a [Func], or a [BatchFunc] that takes many rows in one
//     call, or a [TxFunc] whose effects commit with the row.
//   - job: a pending check, a row of future_job. One may be pending for each entity, job_exec and tag.
//   - slot run: what executes the jobs of a slot; Run, Work and Sweep of package worker differ only in the slots
//     that they ask for.
//   - bucket: a range of job_key within a slot. A slot run works bucket by bucket, each under a lease, so that workers
//     can share a slot. How many there are is decided when the slot is opened, and stands in the ledger, slot_run.
//   - revision: a number that every change of a row changes. An answer counts only for the revision that was called.
//
// # The life of a row
//
//	Client.Insert                 (keep, replace, earlier, later: what to do when it is pending already)
//	     │  due_at rounded up to a slot
//	     ▼
//	 ┌─ pending ◄───────────────────────────────────────────────────────────────────────┐
//	 │   │  its slot has come by the database's clock; a worker has the bucket's lease  │
//	 │   ▼                                                                              │
//	 │  called ── a later time ── it is over already: the next open slot ───────────────┤ moved: check_count + 1
//	 │   │    ├── an error, a panic, a timeout: 1, 2, 4, 8, 16 slots on ────────────────┤ moved: error_count + 1
//	 │   │    └── not called: unknown, paused, or too many of its calls abandoned ──────┘ put off
//	 │   │
//	 │   ├── nil ─────────────────────────────────► done
//	 │   ├── one time more than MaxChecks ────────► max_checks
//	 │   ├── a time not after its own slot ───────► past_return
//	 │   ├── a time beyond Horizon ───────────────► beyond_horizon    job_history,
//	 │   ├── one error in a row too many ─────────► failed, timed_out one row for each end
//	 │   └── killed its worker, running alone ────► crashed
//	 └── Client.Cancel ───────────────────────────► cancelled
//
// A row ends in the transaction that deletes it from future_job and inserts it into job_history. A row that is moved
// stays the same row under a new revision. Reschedule of a client and RollForward of a worker move pending rows without a call.
//
// # What it promises, and what it does not
//
// A job is never called before its slot. A row whose insert committed is pending or has exactly one end in history. An
// outcome is committed once, but a call may happen more than once, when a worker died or lost its lease between the call
// and the commit: a function has to bear that, for instance by an insert under a unique key. Only what a [TxFunc] does in
// its transaction happens exactly once, since it commits with the end or the move. There is no order among the jobs of a
// slot. Rounding up makes a job late by up to one slot, an outage by as long as it lasts. A job_exec whose calls never
// come back costs a goroutine for each call that was abandoned. A panic is an error of that call, but what ends the
// process (a concurrent map write, os.Exit, too little memory) ends it for every call that runs.
//
// The tables are for everybody to read, and for plain INSERTs into future_job from any language. A plain UPDATE or
// DELETE there would break the promises: go through package client, or the command.
package prescient
