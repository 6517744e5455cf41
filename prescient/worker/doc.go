// Package worker runs slots: it claims the buckets of a slot, reads their rows, calls the job_execs, and commits what they
// answered. Run is for a timer, Work stays up, Sweep catches up what was left behind, RollForward moves it to the next slot.
//
// # Rooms
//
// This package decides which slots are run, when, and for how long at most. The rest lies in packages of their own
// below internal, in the order in which a row meets them: ledger opens the slot and claims the bucket, bucket reads its rows,
// execute calls their job_execs, and commit writes what becomes of them. Package check is the row on its way. Package pace
// decides what a run takes of the server, and package purge whether the server's purge waits. Package books, which observers
// see, is what a slot run did.
//
// # What is sent
//
// A slot run sends what follows, and nothing else. The text of every statement is in package prescient/sql, each with the
// index that serves it and the locks that it takes.
//
// Once a slot it asks whether anything is due, what time it is, and whether the configuration is still the same. Then it
// counts the rows, decides by that how many buckets the slot has, and opens the ledger rows of all of them at once. A slot that
// another worker has opened goes by the ledger.
//
//	SELECT UTC_TIMESTAMP(6), EXISTS (SELECT 1 FROM future_job WHERE next_check_at = ?), (SELECT version FROM slot_config …)
//	SELECT COUNT(*) FROM (SELECT 1 FROM future_job WHERE next_check_at = ? LIMIT ?) few
//	INSERT INTO slot_run (slot, bucket, buckets, run_by) SELECT …
//	SELECT bucket, buckets, token, … FROM slot_run WHERE slot = ?
//
// Once a bucket it takes the lease: under a higher token, only as the bucket was seen, only where it is free or its lease
// is over, and only once the slot has come.
//
//	UPDATE slot_run SET token = token + ?, worker = ?, allocated_until = UTC_TIMESTAMP(6) + INTERVAL ? MICROSECOND, …
//	 WHERE slot = ? AND bucket = ? AND token = ? AND batch_seq = ?
//	   AND (allocated_until IS NULL OR allocated_until < UTC_TIMESTAMP(6) OR …) AND slot <= UTC_TIMESTAMP(6) AND …
//
// Once a batch it reads by the primary key, and hands the rows to the functions. It reads the next batch while one is
// committed.
//
//	SELECT … FROM future_job WHERE next_check_at = ? AND job_key >= X'…' AND job_key <= X'…' ORDER BY job_key LIMIT ?
//
// It commits what they answered when that is a batch, when nothing else is running, or after a tenth of a second, in one
// READ COMMITTED transaction. First comes the fence, which changes no row where the lease is lost, and then nothing is
// committed:
//
//	UPDATE slot_run SET batch_seq = batch_seq + 1, … WHERE slot = ? AND bucket = ? AND worker = ? AND token = ? AND batch_seq = ?
//
// Then it locks the rows by their range of the primary key, and looks whether they are those that were read, and no others:
//
//	SELECT job_key, revision FROM future_job WHERE next_check_at = ? AND (job_key >= X'…' AND job_key <= X'…')
//	 ORDER BY job_key LIMIT ? FOR UPDATE NOWAIT
//
// It moves those that go on, by primary key and revision:
//
//	UPDATE JSON_TABLE(…) moved STRAIGHT_JOIN future_job job ON job.next_check_at = ? AND job.job_key = … AND job.revision = … SET …
//
// It writes those that ended to history, the done ones that were called together by a range and others each for itself,
// and deletes them, the last of each range by its key:
//
//	INSERT INTO job_history … SELECT … FROM future_job WHERE next_check_at = ? AND job_key >= X'…' AND job_key <= X'…'
//	INSERT INTO job_history … VALUES …
//	DELETE job FROM future_job job … WHERE job.next_check_at = ? AND (job.job_key >= X'…' AND job.job_key < X'…')
//	DELETE job FROM future_job job … WHERE job.next_check_at = ? AND job.job_key IN (…)
//	COMMIT
//
// Each count must be that of the rows that were read. Where it is not, where the rows do not follow one another, or where
// somebody has one of them locked, the commit goes by the list of their keys in place of the range. It takes those that are
// still the same and that nobody else has locked, waits for no others, and deletes them one by one:
//
//	SELECT job_key, revision FROM future_job WHERE next_check_at = ? AND job_key IN (…) FOR UPDATE SKIP LOCKED
//	DELETE job FROM JSON_TABLE(…) ended STRAIGHT_JOIN future_job job ON job.next_check_at = ? AND job.job_key = …
//
// With Options.PutOffPurge, a slot of several buckets has one connection more. It holds a snapshot open that reads nothing, so
// that the server's purge waits for the end of the run: for everybody's tables. The snapshot ends with the run, after that
// time, or after a third of the lease, whichever is first. There is none in a sweep, on TiDB, or where the pool has a limit
// of connections.
//
//	SET TRANSACTION ISOLATION LEVEL REPEATABLE READ; START TRANSACTION WITH CONSISTENT SNAPSHOT; … ROLLBACK
//
// Before that, and each second while it is open, the worker looks whether the server keeps up with its purge:
//
//	SELECT …, (… INNODB_METRICS … 'trx_rseg_history_len'), (… MAX(…trx_started…) … INNODB_TRX …), (… SUM(batch_seq…) FROM slot_run …)
//
// It opens no snapshot while the history list has more than 10,000 transactions that are to be purged, or one of anybody is open
// for longer than Options.PutOffPurge, as this run may have it. It ends the snapshot as soon as a transaction is, or the list has
// grown by more than 1,000 beside the commits of the slot, which all its workers' count. Without the right PROCESS it cannot
// look: then it puts nothing off, and the log says so once. MySQL shows no transaction at all while somebody's statement is no
// text. The worker asks again for a second then, and where it has seen nothing until then leaves purge alone.
//
// An empty slot costs three statements: a question for the time a second before, the first statement above, and the row in the
// ledger; and one for each connection that has to be made for them.
//
// # What runs at a time
//
// A slot run takes no more of the server than ends its slot in time, which is Options.FinishWithin. It begins with one bucket at
// a time, commits of 250 rows, and between two of them a rest three times as long as the first took, 0.1 s at most. Again and
// again, each second at least, it reads in the ledger how far the buckets of all workers are. Where the slot would be late it
// rests shorter, then not at all; larger commits and more buckets at a time follow in turns. Where it would end long before, it
// takes less again. Where the run's fences and COMMITs come to take three times as long as at their best with the same effort,
// somebody else needs the server. The run then takes less, and asks for more a few looks later. Pace governs no calls, and not how
// many buckets a slot has. The transactions of Tx functions have the size that theirs allow, and no rests between them.
//
// What a sweep runs is late, and so are rows that come to a slot whose buckets were all finished: they take the most from the
// start. Options.SweepRate bounds sweeps.
//
// The most are 4 buckets at a time, plus one for each millisecond of round trip to the server, up to 8, and commits of a batch:
// a bucket sends one statement after the other. The run measures the round trip at the start of a large slot. With PaceFull it
// takes the most from the start. Each bucket has up to two connections.
//
// A function that returns at once is called for row after row by one goroutine. Calls that follow one another within a
// millisecond share started_at and ended_at in job_history.
//
// # What adapts by itself
//
// A worker changes the following while it runs. Each has the promise that needs it, or the figure that it is for.
//
//	what                   by what                           where                      needed for
//	rows of a read         the size of the rows before       bucket/read.go             Memory is bounded, whatever rows hold:
//	                                                                                    TestAReadAsksForWhatThereIsRoomFor.
//	streams of a bucket    a job_exec whose rows fill the    bucket/memory.go           A slow job_exec makes only its own rows late:
//	                       room                                                         TestASlowJobExecDoesNotHoldUpTheOthers.
//	buckets that linger    nothing but slow calls, or        bucket/linger.go,          The same, over all buckets and slots:
//	                       locked rows, is left in them      crowd.go, locked.go        TestSlowCallsInEverySlotMakeNoOthersLate,
//	                                                                                    TestLockedRowsInEveryBucketHoldUpNothingElse.
//	rows of a transaction  for how long it had them locked   execute/tx_group.go        A cancel waits for it:
//	                                                                                    TestTransactionsAreAsLargeAsTheyAreQuick.
//	buckets of a slot      a count of its rows, or a sample  ledger/open.go             Cost follows what is due, and workers share it:
//	                                                                                    TestTenRowsAreOneBucketAndAMillionAreMany.
//	buckets at a time,     what remains of the slot, and     pace, keep_pace.go         An app beside a run notices little:
//	rows of a commit       in what time it is to end                                    TestASlotRunTakesNoMoreThanItNeeds,
//	                                                                                    TestASlotRunThatIsLateTakesMore.
//	waits of a sweep       whether a slot of now is run      sweep.go                   The slot that is now comes first.
//	locks that are looked  a commit of the slot waited for   bucket/commit_batch.go     An app's locks cost a slot one wait: 2 s against
//	for in UNIQUE          one                                                          13 s, in TestALockThatDoesNotShowByThePrimaryKeyHoldsUpItsRowOnly.
//
// These are for speed, and were measured as the ways of package commit were, by leaving them out:
//
//	what                   by what                           where                      without it
//	calls of a goroutine   how long they take                execute/series.go          ends 0.78 (M), 0.89 (Y) at 1.10 and 1.25 times the CPU
//	savepoints of a        a call failed in one of the last  commit/tx_call.go          Tx handler that fails for 1 row in 100 0.65 (M), 0.56 (Y) at
//	transaction            16                                                           1.2 and 1.3 times the CPU: section tx
//	buckets at most        the round trip to the server      keep_pace.go               ends with 5 ms of round trip 0.88 (M), 0.92 (Y): section remote
//	the next slot of a     this one has only to be           slot_run_pass.go           a sweep of 500 slots 0.52 (M), 0.57 (Y) at 1.3 and 1.2
//	sweep                  committed                                                    times the CPU: ... --only swept ends
//
// Waits grow from try to try, and depend on nothing else: those before a commit is tried again, before locked rows are, and
// before a run looks again at what other workers hold.
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
//     answer is kept and tried again after a tenth of a second, then after twice the time before, up to a second; the function
//     is not called again. A bucket that has nothing else left makes place for another, as one with slow calls does, and waits
//     for a lease, or for two slots where that is less; a sweep waits a tenth of it. Then it is given back unfinished, and
//     Figures.Locked counts the rows; the log names one of them, and who has it, where the account may see that. The sweeper
//     passes over such rows, without a call, until they are free; then the function is called once more.
//   - On MariaDB a row that moves also waits for the row after it in UNIQUE (job_key), which may be an insert that an app has
//     not committed. This shows only in the commit: each sweep calls the row again, until the insert is committed.
//   - A deadlock, a failover, a lost connection: the commit is rolled back and done again, with the same answers. Other
//     statements are repeated for Options.Patience.
//   - What a call needs is locked by an open transaction, as the schedule of a long run is by an app: that row is contested. It is tried again
//     as a row that is locked itself, after all calls that are not, and by no more than half of their places. A slot run that has nothing
//     else left, or waits to call a TxFunc again, takes no place.
//   - A TxFunc or TxBatchFunc meets a lock of others, or a deadlock: what it did is undone, and it is called again, ten times at
//     most, before that counts as an error. One of Endless checks is called again after whatever passes by itself: timers and long runs
//     have not failed when the server had no time for them. Calls for Endless checks of a bucket are made one after another, and beside none of its
//     commits: the timers of schedules insert beside the rows that move.
//   - The answer to a COMMIT is lost: batch_seq in the ledger, read under a lock, tells whether it was done. Where another
//     has taken the bucket over, the rows decide: those that are still there run again.
//   - The answer to a claim is lost: the token went up by a random step, so that the ledger tells whose claim it was; the
//     bucket is run at once, and nobody counts a takeover.
//   - A lease lapses in an outage that the worker outlives: it gives the lease back, and nobody counts a takeover.
//   - A row cannot be written, whatever the rest of its batch: the batch is cut up until it is alone. It ends without its
//     payload where the server says what it refuses, three times. Where it does not, the row stays, and is named in the log.
//   - A cancel, replace or reschedule commits before the row is read: the function is not called, or at the new time. One
//     that commits later may find it called already: then the answer is dropped and counted, and what the app did stands.
//     The call itself is not interrupted.
//   - A row is inserted or moved into the range of a commit that is under way: the DELETE counts one too many, and the
//     commit is rolled back and done by the keys of its rows.
//   - An insert commits after its slot was run: the sweeper finds it, so it is late by the slot and the sweep interval.
//   - The server is away as a slot comes: Work tries the slot again until the next one comes; after Run has failed, the next
//     sweep takes it.
//   - A slot was not run at all, since nobody was there, nobody is assigned, or the servers were down over several slots: the
//     sweeper runs it, oldest first, once it is older than the sweep grace. What came to be overdue since its last look comes
//     before the backlog that it has known. RollForward moves it all to the next slot instead.
//   - A call ignores the end of its context: a quarter of a second after its timeout it is abandoned as timed out, its
//     place goes to another call, and its late answer is thrown away. When as many calls of a job_exec are abandoned as
//     it may run at a time, its other rows are put off to the next slot until one of them comes back.
//   - A bucket has nothing left but calls that take their time: after a fiftieth of a second it makes place for another, so
//     that a slow job_exec makes only its own rows late, and takes no place of a slot run, nor of the sweeper. As many may
//     wait as Options.Buckets, or more where they have no more rows in memory than those that run: at most Options.Buckets
//     times Options.Batch rows wait in memory, and the rest stays in the table until there is room. Until then a sweep passes
//     over the slots that have nothing else: it looks once whether they have, and claims nothing. The next sweep comes soon
//     after there is room.
//   - The worker is told to stop: nothing new is started, running calls have Options.StopGrace, what is answered is
//     committed and the leases are given back. A call that takes longer is called again by the next worker.
//   - The machine's clock is wrong: nothing. Slots and leases go by the database's clock, elapsed time by the monotonic one.
//   - The database's clock is set back: when it reads the clock next, a second before a slot or in the run of one, Work warns and
//     goes on with the slots that come by the new time. Those that come once more are run once more, for the rows that they hold now.
//   - slot_config was changed: inserts, claims and whoever reads the state of a slot notice by its version, and end with [prescient.ErrConfigChanged].
package worker
