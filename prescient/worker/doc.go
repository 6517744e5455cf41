// Package worker claims the buckets of a slot, reads their rows, calls the job_execs, and commits what they answered.
//
// # What happens when
//
//   - A worker dies: its leases lapse, and another worker or the sweeper takes its buckets over.
//   - A row kills its worker each time: a bucket that was taken over twice runs row by row, and notes each attempt before the call. The row
//     that is noted when the next worker dies ends as crashed.
//   - A worker freezes past its lease: the server closes its connections before that, so it holds no locks. On waking the contexts of its calls
//     end; the fence refuses what it had sent.
//   - A worker is told to stop: running calls have Times.StopGrace; answers are committed.
//   - A failover, a lost connection, a deadlock: the worker commits the same answers again. Other statements are repeated for Times.Patience.
//   - The answer to a COMMIT is lost: batch_seq in the ledger, read under a lock, tells whether it was done.
//   - A row is locked by the app while its bucket commits: the other rows are committed. The row's answer is tried again after 0.1 s, then
//     after twice as long each time, up to 1 s. After a lease, or two slots if that is less (a tenth of it in a sweep), the bucket is left
//     unfinished; Figures.Locked counts such rows, and the log names one. Once the row is free the sweeper calls it again. On MariaDB a row that
//     moves also waits for the next row in UNIQUE (job_key), such as an uncommitted insert.
//   - A TxFunc or TxBatchFunc meets a lock or a deadlock: it is called again, ten times before that is an error. For an Endless check an error that
//     passes by itself never counts.
//   - The server refuses what becomes of a row, as a foreign key may: the batch is divided until the row is alone. It ends without its payload where
//     history refused that; else its call is an error. One that cannot move stays in its slot, and the log names it.
//   - The server is away when a slot comes: Work tries the slot until the next one comes; after a failed Run the next sweep takes it.
//   - Nobody ran a slot: the sweeper does after Sweep.Grace, first what became overdue since its last look.
//   - A call ignores the end of its context: it is abandoned as timed out 0.25 s after its timeout. When as many
//     calls of a job_exec are abandoned as may run at a time, its other rows are put off to the next slot until one comes back.
//   - A bucket has only slow calls left: after 0.02 s it lingers, and another has its place. Load.Buckets times Load.Batch rows linger at most.
//   - The database's clock is set back: Work warns, and slots that come again run again.
//
// # What is sent
//
// Files of sql/slotrun, with their indexes and locks:
//
//	once a slot     state, count_few or count_sample, open or open_empty, ledger
//	once a bucket   claim; renew after a third of the lease; release, in the last commit where that leaves nothing
//	once a batch    read, by the primary key, while the batch before is committed
//	by ranges       fence, lock_ranges (NOWAIT), reschedule, history_done or history_insert, end_ranges, end
//	by keys         fence, lock_free (SKIP LOCKED), reschedule, history_insert, end_each
//
// On a shard of Vitess history_each stands in the place of history_insert, and buckets divide the shard's keys.
//
// A commit comes when a batch is answered, when nothing else runs, or after 0.1 s (package commit).
//
// An empty slot costs three statements: the time, one second before; state; open_empty.
//
// # What runs at a time
//
// A slot run takes no more of the server than ends its slot within Load.FinishWithin. It begins with one bucket, commits of 250 rows, and rests of
// up to 0.1 s between them. Where the slot would be late it rests less, then commits more rows and works on more buckets. It takes less where the
// slot would end long before, or where its own commits become three times slower. What is late, swept or run once more has Sweep.FinishWithin
// for all of it; while a slot of now runs here, a sweep takes the least.
//
// The most are 4 buckets at a time, plus one for each millisecond of round trip, up to 8. Each has up to two connections. Load.PutOffPurge
// takes one more for a slot of several buckets: its snapshot holds up the server's purge, for everybody's tables.
//
// Calls within a millisecond share started_at and ended_at. Endless checks of a bucket are called one after another.
//
// # What adapts by itself
//
// What a promise needs, with its test:
//
//	rows of a read, by the size of those before          TestAReadAsksForWhatThereIsRoomFor
//	streams of a bucket whose room a job_exec fills      TestASlowJobExecDoesNotHoldUpTheOthers
//	buckets that linger with slow rows, or locked ones   TestSlowCallsInEverySlotMakeNoOthersLate, TestLockedRowsInEveryBucketHoldUpNothingElse
//	rows of a transaction, by how long it held locks     TestTransactionsAreAsLargeAsTheyAreQuick
//	buckets of a slot, by a count, or a sample           TestTenRowsAreOneBucketAndAMillionAreMany
//	buckets and rows of a commit, by the time left       TestASlotRunTakesNoMoreThanItNeeds, TestASlotRunThatIsLateTakesMore
//	waits of a sweep while a slot of now is run          the slot that is now comes first
//	looks in UNIQUE once a commit waited for a lock      2 s against 13 s, in TestALockThatDoesNotShowByThePrimaryKeyHoldsUpItsRowOnly
//
// What is for speed, and what is left without it, measured as for package commit:
//
//	calls of a goroutine, by how long they take          ends: 0.78 (M), 0.89 (Y) at 1.10 and 1.25 times the CPU
//	savepoints once one of the last 16 failed            Tx, 1 of 100 fails: 0.65 (M), 0.56 (Y) at 1.2, 1.3: section tx
//	buckets at most, by the round trip                   ends, 5 ms away: 0.88 (M), 0.92 (Y): section remote
//	next slot of a sweep, while this one only commits    500 slots: 0.52 (M), 0.57 (Y) at 1.3, 1.2: --only swept ends
package worker
