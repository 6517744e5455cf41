// Package commit writes what becomes of rows, in one READ COMMITTED transaction behind the fence of a lease. It gets a
// session, rows and verdicts, and returns what it did with each row.
//
// # Ways to the tables
//
// The plain way takes the rows by their keys. It locks those that nobody else has locked, moves those that go on, writes the
// others to history, and deletes them one by one: it waits for nobody, and reads no other row of the slot
// (TestATxFuncWhoseRowStaysLockedIsCalledOnce and TestAnOpenInsertBetweenTheRowsHoldsNothingUp fail where one list of keys
// deletes them). A transaction of a function takes its rows in the same way, before the calls, and ends with the fence.
//
// Whatever goes another way needs a licence. These have a promise, or a server that lacks something:
//
//	way                when                                   needed for
//	free in UNIQUE     a commit of the slot has waited for a  An app holds up no rows but those that it has locked, also where
//	                   lock, or functions work in             its lock shows only there: 20 s against 3 s, in
//	                   transactions on rows of the bucket:    TestALockThatDoesNotShowByThePrimaryKeyHoldsUpItsRowOnly. Nor does such
//	                   it looks for locks there, too          a transaction: TestAFunctionInATransactionMayTakeItsTime.
//	moves at once      rows move, on MariaDB                  The same: a move locks the row after it in UNIQUE (job_key). It
//	                                                          fails at once, or each try waits for a second: 10 s against 0.4 s,
//	                                                          in TestRowsThatMoveBesideWhatAnAppHoldsAreAllThatWait.
//	in parts           a commit meets a lock all the same,    The other rows go on, whatever one row is held up by: the same
//	                   or the server refuses one of its       test, and TestARowThatCannotBeWrittenIsSetApart.
//	                   rows
//	copied, one row    its payload is longer than 64 KB, or   No statement grows with what a row holds, and a row ends that
//	                   too long to be read, or refused        cannot be read or written: TestARowWithAHugePayloadEndsLikeAnyOther,
//	                                                          TestARowThatIsTooLongToBeReadEndsAsFailed.
//	a savepoint each   a call of a transaction has failed     The failed one undoes its own effects only:
//	                                                          TestTheEffectsOfATxFunctionCommitWithTheRowsEndAndAFailedOneRollsBackAlone.
//	plain              the dialect plain                      TiDB and Vitess have neither SKIP LOCKED nor JSON_TABLE: there
//	                                                          NOWAIT refuses a batch that has a locked row, which is divided;
//	                                                          rows move one by one, and one list of keys deletes them.
//
// These are for speed. Each was measured by leaving it out, on a server of 2 cores that the worker shares, M for MariaDB 10.11 and
// Y for MySQL 9.7: rows a second without it against with it, and CPU a row, of
//
//	scripts/bench/run --scale 0.2 --rounds 4 --only 'prescient, ends, alone on its server' --only 'Tx' ends
//
//	way                when                                   without it
//	by ranges          rows follow one another, as they       ends 0.57 (M), 0.49 (Y) at 2.0 and 1.6 times the CPU; half ends, half
//	                   were read, and none is locked          moves 0.95, 0.64 at 1.3 and 1.2 times
//	copied, a range    such rows were done, and called        ends 0.33 (M), 0.47 (Y) at 1.7 and 1.2 times the CPU
//	                   together
//	by ranges, Tx      the same, in a transaction of          Tx handler 0.75 (M), 0.77 (Y), Tx batch handler 0.74, 0.83, at 1.0 to
//	                   functions                              1.2 times the CPU
//	one savepoint      calls of a transaction do not fail     Tx handler 0.31 (M), 0.40 (Y) at 3.0 and 2.5 times the CPU
//	moves together     all of a batch, by one statement       the way of plain: a statement a row
//
// One went: on MariaDB a single statement locked rows, wrote their ends to history and returned them. Without it the same bench
// gave 1.06 (M), at 0.93 times the CPU; and it wanted a right that a worker's account does not have.
package commit
