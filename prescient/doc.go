// Package prescient calls a function at the time that an app asked for, if what it waits for has not happened by then:
// an order that should have shipped, an invoice that should have been paid. The app inserts a row in the transaction of
// its own change; a worker calls the function registered for the row when its slot has come; the function looks, acts,
// and answers with the next time to look, or with nil when the matter is settled.
//
// This package is the vocabulary: what a check is, what becomes of it, and the functions that look after it. What works with
// it lies in rooms of its own: package client inserts and cancels, package connect opens connections, package worker runs
// slots, and packages agent, audit, blocking, doctor, prune and reslot are for those who operate it. On checks are built
// schedules, long runs, jobs of steps and events: packages schedule, longrun, steps and event.
//
// # Terms
//
// One word stands for one thing, in code, pages and messages.
//
// What an app sees:
//
//   - check: the row, and what it is about: "look at order 42 in three hours". One may be pending for each entity, job_exec
//     and tag. It is a [FutureJob] while it is pending; the commands and the tables also say job.
//   - entity: the thing in the app's domain that a check is about, such as order/42.
//   - tag: tells apart several checks of one job_exec on one entity.
//   - job_exec: the name of a function, under which it is registered. The [Registry] has all of a worker.
//   - handler: the function, in one of its forms: [Func] for one row, [BatchFunc] for many, [TxFunc] and [TxBatchFunc] for
//     effects that commit with the row.
//   - due: the time that was asked for. A check is due from then on.
//   - slot: an instant on a grid that divides a day, counted from midnight UTC. Due times are rounded up to a slot. The
//     distance between two slots is the resolution.
//   - job_key: 16 bytes that name a check, by which rows lie in the tables. See [Key].
//   - revision: a number that every change of the row changes. An answer counts only for the revision that was called.
//   - payload: JSON of the app's own that goes with a check.
//   - policy: what an insert does where the check is pending already. See [OnPending].
//   - direct insert: one without a look at what is pending before it.
//   - spread: a length of time over which checks that are due at once are put to places of their own.
//   - guard: a bound that keeps a check from living for ever. See [Guards]. The horizon is the one for how far ahead it may be.
//   - expiry: from when on a check is not called any more, by the database's clock. See [Expiry].
//   - settled: said of the matter of a check that needs no further look. A handler answers nil for it.
//
// How a slot is run:
//
//   - slot run: what executes the checks of a slot. Run, Work and Sweep of package worker differ only in the slots that they
//     ask for.
//   - assignment: which slots a worker serves.
//   - sweep: slot runs of the slots that are past and still hold rows. The sweeper is what a worker does it with.
//   - grace: a time that is left to others: to whoever runs a slot, before it is swept; and to running calls, once a worker is
//     told to stop.
//   - bucket: a range of job_key within a slot. Workers share a slot by its buckets. Whoever opens the slot decides how many
//     there are. A slot that was opened as one bucket is divided later where many rows have come since.
//   - ledger: the table slot_run, a row for each bucket of each served slot. The books are its counts by outcome.
//   - claim: to take the lease of a bucket. A lease ends by the database's clock unless it is renewed. Whoever has it holds the
//     bucket.
//   - token: the number that a claim raises, by which the ledger refuses the commits of whoever held the bucket before.
//   - fence: the statement in a commit that proves the lease by its token.
//   - takeover: a claim of a bucket whose lease lapsed.
//   - killer: a row whose call ended its worker. A bucket that was taken over twice is run row by row, to find it.
//   - dialect: which SQL a server is spoken to in: plain keeps to what all servers have. See package prescient/sql.
//   - stream: the rows of a bucket that are read in one order: those of a job_exec that is slow have a stream of their own.
//   - batch: rows that are read and committed together.
//   - window: the rows of a stream that are in memory at a time.
//   - span: a range of rows of a batch that follow one another in the table.
//   - lane: the queue of one job_exec in a worker. Each lane has a bound of its own.
//   - linger: to wait, with a lease but without a place among the buckets that are worked on, for calls that take their time.
//   - pace: what a slot run takes of the server, which is an effort at a time: buckets that are worked on, rows of a commit, and
//     rests between commits. A look at the ledger says whether that ends the slot in time.
//   - patience: for how long something is tried again while a server is away, or somebody else is in the way.
//
// What becomes of a row:
//
//   - call: one run of a handler. One that ignores its timeout is abandoned.
//   - answer: what a handler returned, or why it was not called. See [Answer].
//   - verdict: what becomes of the row. [Decide] makes it of the answer.
//   - end: the row leaves future_job for job_history, with an [Outcome].
//   - move: the row goes to a later slot, after a call. It is put off where there was none.
//   - contested: somebody else has the row locked. The lock is hidden where the row itself is free, and yet cannot be moved: of a
//     neighbour in UNIQUE (job_key), say.
//   - dropped: said of an answer that is thrown away, since the app changed the row meanwhile.
//   - stuck: said of a row for which the server refuses whatever is to be written.
//
// How late it is:
//
//   - lateness: the time from a slot to the start of a call.
//   - overdue: said of a row whose slot is over and that nobody has run. All these rows are the backlog.
//   - catch-up: a sweep that works the backlog off.
//
// What is built on checks, in packages schedule and longrun:
//
//   - schedule: crontabs in a zone, and what fires when one of them does: a job_exec, or an event.
//   - occurrence: one firing of a schedule, at a time to the second. Its id is <schedule>-<unix>.
//   - timer: the check of a schedule that waits for its next occurrence.
//   - run: the check of an occurrence. It is superseded where its schedule changes before it is due, or while it is under way.
//   - missed: said of an occurrence that is later than its schedule allows.
//   - long run: a check that outlives its slot. Its agent has it for the term of a lease, and calls it, beside all slots. See
//     package longrun.
//   - agent: a process that stays up under one name: its worker, and the long runs that it calls. See package agent.
//   - pool: the name of agents that share long runs, which nobody else calls. A slot run offers such a run, and an agent of the
//     pool claims it: it takes the lease of the run.
//   - checkpoint: what a long run saves, for whoever goes on with it.
//   - hand on: to leave a long run to another agent, at a checkpoint.
//   - tolerance, quota: how much sooner than its interval a run may follow another, and how long it may take.
//   - overlapped, too soon: said of an occurrence that was not run since the run before it was under way, or too near.
//   - event, outbox: what an occurrence tells others, and the table in which it waits to be published.
//
// What is built on long runs, in packages steps and changequeue:
//
//   - job, of steps: what takes several job_execs one after another, whenever its crontabs say so. Each change of it makes a version,
//     and a run keeps the one that it began with.
//   - step: a job_exec and its arguments, as one part of a job. A shared step is one of several jobs.
//   - output: what a job_exec writes for people. What runs it keeps the end with its log.
//   - change: a row that an app appends to a table for a function to handle. A gap is an id that is missing there, since its
//     transaction has not committed yet, or never will.
//
// What is built on checks, in package delayq:
//
//   - delay queue: what delays data under a name, which is its job_exec, and calls a function with it. Data is ready from the time
//     on that was asked for.
//
// What operators do:
//
//   - pause: to have the checks of a job_exec put off, uncalled, until it is resumed.
//   - requeue: to insert checks that ended anew.
//   - roll forward: to move what is overdue to the next slot, uncalled.
//   - reslot: to change the resolution.
//   - prune: to delete what is old from history and ledger.
//   - audit: who changed what, when, from where and why. An entry is written in the transaction of the change.
//   - operator: who changes something by a command, and not by an app. An entry of the audit has the person and the reason.
//   - blocking chain: sessions of the database that wait for one another. Its root waits for nobody. See package blocking.
//   - role: what an account of the database is for, and which rights it needs for that. See package prescient/sql.
//   - examination, finding: one thing that package doctor looks at, and what it says about it.
//   - damage: something that the migrations made and that is missing or another now.
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
// A row ends in the transaction that deletes it from future_job and inserts it into job_history. A row that is moved
// stays the same row under a new revision. An app reschedules a pending row with a client; RollForward of a worker takes what is
// overdue to the next slot, without a call.
//
// # What it promises, and what it does not
//
// A check is never called before its slot. A row whose insert committed is pending or has exactly one end in history. An
// outcome is committed once, but a call may happen more than once, when a worker died or lost its lease between the call
// and the commit: a function has to bear that, for instance by an insert under a unique key. Only what a [TxFunc] does in
// its transaction happens exactly once, since it commits with the end or the move. There is no order among the checks of
// a slot. Rounding up makes a check late by up to one slot, an outage by as long as it lasts. A job_exec whose calls never
// come back costs a goroutine for each call that was abandoned. A panic is an error of that call, but what ends the
// process (a concurrent map write, os.Exit, too little memory) ends it for every call that runs.
//
// The tables are for everybody to read, and for plain INSERTs into future_job from any language. A plain UPDATE or
// DELETE there would break the promises: go through package client, or the command.
package prescient
