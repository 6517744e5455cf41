// Package worker runs slots: it claims the buckets of a slot, reads their rows, calls the job_execs, and commits what they
// answered. Run is for a timer, Work stays up, Sweep catches up what was left behind, RollForward moves it to the next slot.
//
// # What is sent
//
// A slot run looks whether the slot holds anything, opens its ledger rows, claims a bucket (under a higher token, only as it
// was seen, only where it is free or its lease is over), reads a batch by the primary key, and hands the rows to the
// functions. What they answer is committed when it is a batch, when nothing else is running, or after a tenth of a
// second, in one READ COMMITTED transaction:
//
//	the fence       UPDATE slot_run … WHERE token = ours AND batch_seq = the last: no row, no commit
//	the lock        SELECT … FOR UPDATE, by a range of the primary key; it must find just the rows that were read
//	the moves       UPDATE future_job, each by primary key and revision
//	the ends        INSERT INTO job_history, DELETE, by the range; each must hit as many rows as ended
//	COMMIT
//
// Where the rows do not follow one another, or another is among them, or somebody has one locked, the same is done by the
// list of their keys, with those that are still the same. The next batch is read while one is committed.
//
// A function that returns at once is called for row after row by one goroutine. Calls that follow one another within a
// millisecond share started_at and ended_at in job_history.
//
// The text of every statement is in package prescient/sql, each with the index that serves it.
//
// # What happens when
//
//   - A worker dies, before a call, in one, or between any two statements: its transaction is rolled back, its leases
//     end, and another worker or the sweeper takes the buckets over. What was called and not committed is called again:
//     mostly the answers of a tenth of a second and the calls under way, never more than the bucket has in memory, which is
//     a batch, and one more for each job_exec that holds up the others.
//   - A row kills its worker each time: a bucket that was taken over twice is run row by row, each attempt noted before
//     the call. The row that was noted when the next worker dies ends as crashed.
//   - A worker is frozen past its lease and wakes up: by its own monotonic clock its lease is over, and it starts and
//     commits nothing more. Should it have sent a COMMIT's statements already, the fence refuses them. Meanwhile its
//     connections have been closed by the server, whose wait_timeout is below the lease, so that it holds no locks.
//   - A lease is lost while calls run: their contexts end, and their answers are thrown away.
//   - An app's open transaction holds a row that is to be committed (1205): the others are committed without it. Its
//     answer is kept and tried again each second; the function is not called again. A bucket that has nothing else left
//     makes place for another, as one with slow calls does, and waits for a lease, or for two slots where that is less; a
//     sweep waits a tenth of it. Then it is given back unfinished, and Figures.Locked counts the rows. The sweeper passes over
//     such rows, without a call, until they are free; then the function is called once more.
//   - A deadlock, a failover, a lost connection: the commit is rolled back and done again, with the same answers. Other
//     statements are repeated for Options.Patience.
//   - The answer to a COMMIT is lost: batch_seq in the ledger, read under a lock, tells whether it was done. Where another
//     has taken the bucket over, the rows decide: those that are still there run again.
//   - The answer to a claim is lost: the token went up by a random step, so that the ledger tells whose claim it was; the
//     bucket is run at once, and nobody counts a takeover.
//   - A lease lapses in an outage that the worker outlives: it gives the lease back, and nobody counts a takeover.
//   - A row cannot be written, whatever the rest of its batch: the batch is divided until it is alone. It ends without its
//     payload where the server says what it refuses, and stays, and is named in the log, where it does not.
//   - A cancel, replace or reschedule commits before the row is read: the function is not called, or at the new time. One
//     that commits later may find it called already: then the answer is dropped and counted, and what the app did stands.
//     The call itself is not interrupted.
//   - A row is inserted or moved into the range of a commit that is under way: the DELETE counts one too many, and the
//     commit is rolled back and done by the keys of its rows.
//   - An insert commits after its slot was run: the sweeper finds it, so it is late by the slot and the sweep interval.
//   - A slot was not run at all, since nobody was there or nobody is assigned: the sweeper runs it, oldest first, once it
//     is older than the sweep grace.
//   - A call ignores the end of its context: a quarter of a second after its timeout it is abandoned as timed out, its
//     place goes to another call, and its late answer is thrown away. When as many calls of a job_exec are abandoned as
//     it may run at a time, its other rows are put off to the next slot until one of them comes back.
//   - A bucket has nothing left but calls that take their time: after a fiftieth of a second it makes place for another, so
//     that a slow job_exec makes only its own rows late. As many may wait as Options.Buckets, or more where they have no
//     more rows in memory than those that run.
//   - The worker is told to stop: nothing new is started, running calls have Options.StopGrace, what is answered is
//     committed and the leases are given back. A call that takes longer is called again by the next worker.
//   - The machine's clock is wrong: nothing. Slots and leases go by the database's clock, elapsed time by the monotonic one.
//   - The database's clock is set back: at its next look, a second before a slot or in the run of one, Work warns and goes on
//     with the slots that come by the new time. Those that come once more are run once more, for the rows that they hold now.
//   - slot_config was changed: inserts, claims and looks notice by its version, and end with [prescient.ErrConfigChanged].
package worker
