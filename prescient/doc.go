// Package prescient is the vocabulary of the packages in its folder.
//
// # The life of a row
//
// Once the slot of a row has come by the database's clock, a worker that has the bucket's lease calls the function that is registered for it. Then the
// row moves to a later slot, or ends: the README of the module says after which answer. Uncalled, a row
//
//	is put off         where its job_exec is unknown or paused, or too many calls of it are abandoned
//	ends as expired    before the call, or a retry
//	ends as cancelled  by the app
//	ends as crashed    where it killed its worker before, running alone
//	ends as missed, too_soon, overlapped, quota or superseded, where it is a run of a schedule (package schedule)
//
// One transaction deletes a row from future_job and inserts its end into job_history.
//
// # What a function has to bear
//
// A call may happen more than once, when a worker dies or loses its lease before the commit. Only what a [TxFunc] or [TxBatchFunc] does in its
// transaction happens exactly once. The checks of a slot have no order. A call that never comes back costs a goroutine.
//
// # Terms
//
// What an app sees:
//
//	check        the row and what it is about; a FutureJob while it is pending
//	entity       what a check is about, such as order/42
//	tag          tells apart checks of one job_exec on one entity; one of each may be pending
//	job_exec     the name of a function in the Registry, its handler
//	due          from the time on that was asked for
//	slot         an instant on a grid from midnight UTC; the resolution is their distance
//	job_key      16 bytes that name a check, and order the rows
//	revision     a number that every change of a row changes
//	spread       a time over which checks that are due at once are put
//	guard        a bound on a check; the horizon: how far ahead it may be
//	expiry       from when on a check is not called
//
// How a slot is run:
//
//	agent        a process that stays up under one name
//	worker       the part of it that runs slots; its assignment says which
//	runner       the part of it that has its long runs
//	slot run     what executes the checks of a slot; a sweep runs slots that are over
//	bucket       a range of job_key in a slot, which a worker holds
//	ledger       slot_run, a row a bucket; its counts are the books
//	lease        what a claim takes: a term by the database's clock, to be renewed
//	token        a number that a claim raises; a takeover is a claim after a lapse
//	fence        the statement of a commit that proves the lease by its token
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
//	tolerance    how much sooner than its interval a run may follow
//	quota        how long a run may take
//	long run     a check that outlives its slot: offered, claimed, started, handed on, ended
//	pool         agents that share long runs
//	checkpoint   what a long run saves for whoever goes on with it
//	event        what is told to others; it waits in the outbox for the forwarder
//	job          a list of steps: job_execs with arguments
//
// A role is what an account is for, and its rights.
package prescient
