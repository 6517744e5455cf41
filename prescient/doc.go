// Package prescient calls a function at the time that an app asked for, if what it waits for has not happened by then, such as the shipment of
// an order. The app inserts a check in the transaction of its own change. When its slot has come, a worker calls the function that is
// registered for it. The function looks, acts, and answers with the next time to look, or with nil when the matter is settled.
//
// This package is the vocabulary. Packages client, worker and connect work with it; schedule, longrun, steps and event are built on it.
//
// # The life of a row
//
//	client.Insert                 (keep, replace, earlier, later: what to do when it is pending already)
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
//	 ├── expired before the call, or a retry ─────► expired
//	 ├── a schedule's run, not called ────────────► missed, too_soon, overlapped, quota, superseded
//	 └── client.Cancel ───────────────────────────► cancelled
//
// One transaction deletes a row from future_job and inserts its end into job_history. A row that moves stays the same row, under a new
// revision.
//
// # What a function has to bear
//
// A call may happen more than once, when a worker dies or loses its lease before the commit. Only what a [TxFunc] or [TxBatchFunc] does in its
// transaction happens exactly once. The checks of a slot have no order. A call that never comes back costs a goroutine. A panic is an error
// of that call; what ends the process (a concurrent map write, os.Exit, too little memory) ends all its calls.
//
// A plain UPDATE or DELETE of future_job breaks the promises of README.md: use package client or the command. A plain INSERT does not.
//
// # Terms
//
// What an app sees:
//
//	check        the row and what it is about; a FutureJob while it is pending
//	entity       what a check is about, such as order/42
//	tag          tells apart checks of one job_exec on one entity; one of each may be pending
//	job_exec     the name of a function in the Registry
//	handler      the function: a Func, BatchFunc, TxFunc or TxBatchFunc
//	due          from the time on that was asked for
//	slot         an instant on a grid from midnight UTC; the resolution is their distance
//	job_key      16 bytes that name a check, and order the rows
//	revision     a number that every change of a row changes
//	spread       a time over which checks that are due at once are put
//	guard        a bound on a check; the horizon bounds how far ahead it may be
//	expiry       from when on a check is not called any more
//
// How a slot is run:
//
//	agent        a process that stays up under one name
//	worker       the part of it that runs slots; its assignment says which
//	slot run     what executes the checks of a slot
//	sweep        slot runs of past slots that still hold rows
//	bucket       a range of job_key in a slot, which a worker holds
//	ledger       slot_run, a row a bucket; its counts are the books
//	lease        what a claim takes: a term by the database's clock, to be renewed
//	token        a number that a claim raises
//	fence        the statement of a commit that proves the lease by its token
//	takeover     a claim after a lapsed lease
//	dialect      the SQL that a server gets; plain is what all have
//	batch        rows that are read and committed together; a span of them is contiguous
//	stream       rows of a bucket that are read in order; the window is those in memory
//	lane         the queue of a job_exec in a worker
//	linger       to wait for calls, with a lease, without a place
//	pace         what a slot run takes of the server: an effort at a time
//
// What becomes of a row:
//
//	call         one run of a handler; one that ignores its timeout is abandoned
//	answer       what it returned, or why it was not called; Decide makes a verdict of it: an end or a move
//	put off      moved without a call
//	contested    locked by somebody else; hidden is a lock beside the row
//	dropped      an answer thrown away, since the app changed the row
//	stuck        refused by the server, whatever is to be written
//	lateness     from the slot to the start of the call
//	overdue      in a slot that is over, and not run; such rows are the backlog, which catch-up works off
//
// What is built on checks:
//
//	schedule     crontabs in a zone, and the job_exec or event that they fire
//	occurrence   one firing, <schedule>-<unix>; one that is later than allowed is missed
//	timer        the check that waits for the next occurrence
//	run          the check of an occurrence; superseded when the schedule changes
//	tolerance    how much sooner than its interval a run may follow; else it is too soon
//	quota        how long a run may take
//	overlapped   not run, since the run before was under way
//	long run     a check that outlives its slot: offered, claimed, started, ended
//	pool         agents that share long runs
//	checkpoint   what a long run saves for whoever goes on with it
//	hand on      to leave a long run to another agent
//	event        what is told to others; it waits in the outbox for the forwarder
//	job          a list of steps: job_execs with arguments
//
// What operators do:
//
//	pause        to put off the checks of a job_exec
//	requeue      to insert ended checks anew
//	roll forward to move what is overdue to the next slot, uncalled
//	reslot       to change the resolution
//	role         what an account is for, and its rights
//	finding      what an examination of package doctor says
package prescient
